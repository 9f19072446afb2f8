"""explain(): the answers of casts, by steps that can be read."""

import math

import numpy as np
import pytest

import slabcast


@pytest.fixture
def kinds():
    """One primitive of each kind in a row along x, and the ray that hits all."""
    scene = slabcast.Scene("cpu")
    scene.add_boxes([0, 0, 0], [1, 1, 1])
    scene.add_spheres([5, 0.5, 0.5], 1)
    scene.add_planes([2, 0, 0], 20)
    scene.add_obbs([8, 0.5, 0.5], [0.5, 0.5, 0.5], [[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    scene.add_mesh([[-3, -1.5, -1.5], [-3, 6.5, -1.5], [-3, -1.5, 6.5]])
    return scene, np.array([-5, 0.5, 0.5, 0, 1, 0, 0, np.inf], np.float32)


def test_each_hit_of_each_kind_is_explained(kinds):
    scene, ray = kinds
    _, hits = scene.all(ray)
    assert len(hits) == 5
    for hit in hits:
        told = scene.explain(ray, hit)
        assert told.is_hit and told.hit.tobytes() == hit.tobytes()
        assert (told.primitive, told.geometry) == (hit["primitive"], hit["geometry"])
        assert told["answer", "t"].value == hit["t"]
        if hit["geometry"] == 4:
            assert told.interval.tobytes() == scene.interval(ray).tobytes()
    kinds_told = [scene.explain(ray, (0, geometry)).kind for geometry in range(5)]
    assert kinds_told == ["box", "sphere", "plane", "obb", "triangle"]


def test_many_rays_are_explained_as_cast(scene, rays):
    hits = scene.closest(rays)
    for ray, hit in zip(rays[:100], hits):
        if hit["primitive"] < slabcast.INVALID:
            assert scene.explain(ray).hit.tobytes() == hit.tobytes()
            assert scene.explain(ray[:3], hit, ray[4:7]).hit.tobytes() == hit.tobytes()
        else:
            assert not scene.explain(ray, (0, 0)).is_hit


def test_steps_have_values_and_words(kinds):
    scene, _ = kinds
    told = scene.explain([-2, 0, 0.5], (0, 0), [2, 0, 0])
    assert told["x", "near t"].value == 2 and told["scaled ray", "exponent"].value == 1
    assert math.isnan(told["y", "near t"].value) and "constrains nothing" in told["y", "near t"].note
    assert told["box", "is hit"].value is True and told["box", "enter"].note == "axis x decides"
    assert told["x", "near t"].formula == "(near plane - origin) * inverse"
    assert "0x1p+1" in str(told["x", "near t"]) and str(told["x", "near t"]).startswith("near t ")
    with pytest.raises(KeyError):
        told["x", "far away"]
    text = str(told)
    assert text.startswith("box 0 of geometry 0: hit at t = 1\n\nray\n  origin x")
    assert "\n\nanswer\n  hit " in text and all(str(step) in text for step in told.steps)


def test_options_are_those_of_the_cast(kinds):
    scene, ray = kinds
    assert scene.explain(ray, (0, 0), cull="front").hit["t"] == 6
    assert scene.explain(ray, (0, 4), face_forward=True).hit["normal"][0] == -1
    assert not scene.explain(ray, (0, 4), cull="back").is_hit
    hidden = scene.explain(ray, (0, 4), skip=[0, 4])
    assert not hidden.is_hit and "skips" in hidden["answer", "hit"].note


def test_misses_and_invalid_rays_are_told(kinds):
    scene, ray = kinds
    assert "miss" in str(scene.explain(ray + np.float32([0, 9, 0, 0, 0, 0, 0, 0]), (0, 0))).split("\n")[0]
    invalid = scene.explain([np.nan, 0, 0, 0, 1, 0, 0, 1], (0, 0))
    assert invalid.hit["primitive"] == slabcast.INVALID and "the ray is invalid" in str(invalid)


def test_what_is_not_there_is_refused(kinds):
    scene, ray = kinds
    with pytest.raises(slabcast.InvalidArgument, match="hits nothing"):
        scene.explain([0, 9, 9], directions=[0, 1, 0])
    with pytest.raises(slabcast.InvalidArgument, match="one ray"):
        scene.explain([ray, ray])
    with pytest.raises(slabcast.InvalidArgument, match="geometry is 5, the scene has 5"):
        scene.explain(ray, (0, 5))
    with pytest.raises(slabcast.InvalidArgument, match="primitive is 3, geometry 0 has 1"):
        scene.explain(ray, (3, 0))
    with pytest.raises(slabcast.InvalidArgument, match="hit has shape"):
        scene.explain(ray, [[0, 0], [0, 1]])
    with pytest.raises(TypeError, match="takes no 'culling'"):
        scene.explain(ray, (0, 0), culling="back")
