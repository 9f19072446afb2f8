"""Worlds: answers are those of a scene of each world alone, with the ids of the whole."""

import copy
import os
import pickle
from typing import Any

import numpy as np
import pytest

import slabcast

WORLDS = 4
QUERIES = ("closest", "nearest", "distance", "any", "count", "interval", "all")
POINT_QUERIES = ("closest_points", "closest_distance", "within", "winding", "signed_distance", "winding_number")


def placed(n: int) -> Any:
    """Rigid transforms of n places."""
    random = np.random.default_rng(5)
    made = np.tile(np.eye(4, dtype=np.float32)[:3], (n, 1, 1))
    made[:, :, 3] = random.uniform(-2, 2, (n, 3))
    return made


PLACES = placed(12)
MORE = placed(14)[12:]
WORLD_OF_PLACE = np.arange(12, dtype=np.uint32) % (WORLDS + 1)


def model() -> slabcast.Scene:
    scene = slabcast.Scene("cpu")
    scene.add_spheres([[0, 0, 0]], [0.3])
    scene.add_boxes([[-0.5, -0.1, -0.1]], [[0.5, 0.1, 0.1]])
    return scene


def built(shown: Any = None) -> slabcast.Scene:
    """A scene of worlds. shown: one that holds this world alone, with the same ids."""
    scene = slabcast.Scene("cpu")
    if shown is None:
        scene.set_worlds(WORLDS)
    of = lambda world: {"world": world} if shown is None else {}
    tetrahedron = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    hidden = []
    for world in range(WORLDS + 1):
        shift = np.float32(0.4 * world - 1)
        ids = (
            scene.add_mesh(tetrahedron + shift, faces, **of(world)),
            scene.add_boxes([[shift, -1, 0]], [[shift + 0.3, 0, 1]], **of(world)),
            scene.add_spheres([[0, shift, -1]], [0.25], **of(world)),
            scene.add_planes([[0, 0, 1]], [-3 - world], **of(world)),
            scene.add_obbs([[1, 1, shift]], [[0.2, 0.3, 0.4]], [np.eye(3)], **of(world)),
        )
        hidden += ids if world not in (0, shown) else []
    if shown is None:
        scene.add_instances(model(), PLACES, world=WORLD_OF_PLACE)
        scene.add_instances(model(), MORE, world=3)
    else:
        far = np.where(np.isin(WORLD_OF_PLACE, (0, shown)), 0, 1e6).astype(np.float32)
        there = PLACES.copy()
        there[:, 0, 3] += far
        scene.add_instances(model(), there)
        last = scene.add_instances(model(), MORE)
        if shown != 3:
            scene.disable(last)
        for geometry in hidden:
            scene.disable(geometry)
    return scene


def bundle(n: int) -> Any:
    random = np.random.default_rng(7)
    rays = np.zeros((n, 8), np.float32)
    rays[:, :3] = random.uniform(-4, 4, (n, 3))
    rays[:, 4:7] = random.uniform(-1.5, 1.5, (n, 3)) - rays[:, :3]
    rays[:, 7] = 3
    return rays


def parts(hits: slabcast.Hits) -> list[bytes]:
    ends = hits.offsets.astype(np.int64)
    return [hits.hits[ends[i] : ends[i + 1]].tobytes() for i in range(len(ends) - 1)]


@pytest.fixture(scope="module")
def whole() -> slabcast.Scene:
    return built()


@pytest.fixture(scope="module")
def alone() -> list[slabcast.Scene]:
    return [built(world) for world in range(WORLDS + 1)]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("n", [1, 40, 6000])
def test_answers_are_those_of_each_world_alone(whole: Any, alone: Any, query: str, n: int) -> None:
    rays, worlds = bundle(n), np.random.default_rng(n).integers(0, WORLDS + 1, n)
    ask = lambda scene, rays, **named: getattr(scene, query)(rays, **named)
    listed = lambda found: parts(found) if query == "all" else [one.tobytes() for one in found]
    found = listed(ask(whole, rays, world=worlds))
    wanted = [listed(ask(scene, rays)) for scene in alone]
    assert found == [wanted[world][i] for i, world in enumerate(worlds)]
    for world in range(WORLDS + 1):
        assert listed(ask(whole, rays, world=world)) == wanted[world]
    assert listed(ask(whole, rays)) == wanted[0]
    assert n < 40 or len({tuple(each) for each in wanted}) == WORLDS + 1
    if n == 40:
        assert whole.check(query, rays, ask(whole, rays, world=worlds), world=worlds).mismatches == 0
        assert whole.check(query, rays, ask(whole, rays, world=2), world=3).mismatches > 0


@pytest.mark.parametrize("query", POINT_QUERIES)
def test_points_see_their_world(whole: Any, alone: Any, query: str) -> None:
    points = np.random.default_rng(3).uniform(-2, 2, (10, 30, 3)).astype(np.float32)
    worlds = np.random.default_rng(4).integers(0, WORLDS + 1, (10, 30))
    named = {"radius": 0.5} if query == "within" else {}
    ask = lambda scene, **world: getattr(scene, query)(points, **named, **world)
    found = ask(whole, world=worlds)
    wanted = [ask(scene) for scene in alone]
    for world in range(WORLDS + 1):
        assert found[worlds == world].tobytes() == wanted[world][worlds == world].tobytes()
        assert ask(whole, world=world).tobytes() == wanted[world].tobytes()
    assert whole.check_points(query, points, found, world=worlds, **named).mismatches == 0
    if query == "winding":
        assert np.array_equal(whole.contains(points, world=worlds), found != 0)
        assert np.array_equal(whole.contains(points, world=3), wanted[3] != 0)
        assert np.array_equal(whole.contains(points[0], world=worlds[0], mode="parity"), found[0] & 1 != 0)


def test_an_open_mesh_of_one_world_is_refused_there_alone() -> None:
    scene = slabcast.Scene("cpu")
    scene.set_worlds(2)
    scene.add_boxes([[-1, -1, -1]], [[1, 1, 1]])
    scene.add_mesh([[-9, -9, 2], [9, -9, 2], [0, 9, 2]], world=2)
    points = np.zeros((2, 3), np.float32)
    assert scene.contains(points, world=[0, 1]).all()
    with pytest.raises(slabcast.InvalidState, match=r"points\[1\]"):
        scene.contains(points, world=[1, 2])


def test_sets_and_sums_have_worlds(whole: Any, alone: Any) -> None:
    rays = slabcast.RaySet.look_at((0, 0, 6), (0, 0, 0), size=(20, 10))
    worlds = np.arange(200, dtype=np.uint16).reshape(10, 20) % (WORLDS + 1)
    assert whole.closest(rays, world=worlds).tobytes() == whole.closest(rays.array(), world=worlds).tobytes()
    assert whole.closest(rays, world=2).tobytes() == alone[2].closest(rays).tobytes()
    rows = np.broadcast_to(np.arange(10)[:, None] % 3, (10, 20))
    t, found = whole.distance(rays, world=rows), whole.sums(rays, world=rows)
    assert np.array_equal(found.hits, np.isfinite(t).sum(1))
    assert np.array_equal(whole.sums(rays, world=4).hits, alone[4].sums(rays).hits)
    assert np.array_equal(whole.sees(rays, world=rows), np.isinf(t))
    histogram = whole.histogram(rays, bins=4, range=(0, 9), world=1)
    assert np.array_equal(histogram, alone[1].histogram(rays, bins=4, range=(0, 9)))


def test_rays_put_together_in_blocks_keep_their_worlds(whole: Any) -> None:
    n = 300000
    origins, directions = bundle(n)[:, :3].astype(np.float64), bundle(n)[:, 4:7]
    worlds = np.arange(n) % (WORLDS + 1)
    rays = np.zeros((n, 8), np.float32)
    rays[:, :3], rays[:, 4:7], rays[:, 7] = origins, directions, np.inf
    found = whole.nearest(origins, directions, world=worlds)
    assert found.tobytes() == whole.nearest(rays, world=worlds).tobytes()
    worlds[250000] = WORLDS + 1
    with pytest.raises(slabcast.InvalidArgument, match=r"world\[250000\] is 5, and the scene has worlds 1 to 4"):
        whole.nearest(origins, directions, world=worlds)


def test_one_ray_and_worlds_that_are_broadcast(whole: Any, alone: Any) -> None:
    ray = bundle(9)[4]
    for world in (2, np.uint8(2), np.array(2)):
        assert whole.closest(ray, world=world) == alone[2].closest(ray)
    rays = bundle(12).reshape(3, 4, 8)
    found = whole.closest(rays, world=[1, 2, 3, 4])
    for k in range(4):
        assert found[:, k].tobytes() == alone[k + 1].closest(rays[:, k]).tobytes()


def test_explain_tells_the_world(whole: Any, alone: Any) -> None:
    rays = bundle(500)
    own = np.flatnonzero(alone[2].closest(rays).geometry != alone[0].closest(rays).geometry)[0]
    told = whole.explain(rays[own], world=2)
    assert told.hit.tobytes() == alone[2].closest(rays[own]).tobytes()
    assert told.steps[0].part == "world" and told.steps[0].value == 2
    other = whole.explain(rays[own], hit=(told.primitive, told.geometry), world=3)
    assert not other.is_hit and "in another world" in str(other)


def test_worlds_can_be_more_and_fewer() -> None:
    scene = slabcast.Scene("cpu")
    assert scene.worlds == 0
    scene.set_worlds(3)
    geometry = scene.add_spheres([[0, 0, 0]], [1], world=2)
    assert scene.worlds == 3 and "3 worlds" in repr(scene)
    ray = np.array([0, 0, -5, 0, 0, 0, 1, np.inf], np.float32)
    assert scene.any(ray, world=2) and not scene.any(ray, world=3) and not scene.any(ray)
    with pytest.raises(slabcast.InvalidArgument, match="geometry 0 has something in world 2, beyond 1"):
        scene.set_worlds(1)
    assert scene.worlds == 3
    scene.set_worlds(2)
    with pytest.raises(slabcast.InvalidArgument, match="world is 3, and the scene has worlds 1 to 2"):
        scene.any(ray, world=3)
    scene.remove(geometry)
    scene.set_worlds(0)
    with pytest.raises(slabcast.InvalidArgument, match="world is 1, and the scene has no worlds"):
        scene.any(ray, world=1)


def test_casts_see_the_worlds_of_the_last_commit() -> None:
    scene = slabcast.Scene("cpu", auto_commit=False)
    scene.set_worlds(2)
    scene.add_spheres([[0, 0, 0]], [1], world=2)
    ray = np.array([0, 0, -5, 0, 0, 0, 1, np.inf], np.float32)
    assert scene.any(ray, world=2)
    scene.set_worlds(5)
    with pytest.raises(slabcast.InvalidArgument, match="world is 3, and the scene has worlds 1 to 2"):
        scene.any(ray, world=3)
    assert not scene.any(ray, world=1)
    scene.commit()
    assert not scene.any(ray, world=5)


def test_copies_have_the_worlds(whole: Any) -> None:
    rays, worlds = bundle(50), np.arange(50) % (WORLDS + 1)
    wanted = whole.closest(rays, world=worlds).tobytes()
    for made in (pickle.loads(pickle.dumps(whole)), copy.copy(whole)):
        assert made.worlds == WORLDS and made.closest(rays, world=worlds).tobytes() == wanted
        made.add_spheres([[0, 0, 0]], [1], world=4)
        with pytest.raises(slabcast.InvalidArgument, match="world is 5"):
            made.add_spheres([[0, 0, 0]], [1], world=5)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.parametrize("is_committed", [True, False])
def test_forks_have_the_worlds(is_committed: bool) -> None:
    scene = slabcast.Scene("cpu")
    scene.set_worlds(2)
    scene.add_spheres([[0, 0, 0]], [1], world=2)
    ray = np.array([0, 0, -5, 0, 0, 0, 1, np.inf], np.float32)
    if is_committed:
        assert scene.any(ray, world=2)
    child = os.fork()
    if child == 0:
        try:
            good = scene.worlds == 2 and scene.any(ray, world=2) and not scene.any(ray, world=1)
        except BaseException:
            good = False
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0


RAYS = bundle(6)

REFUSED = [
    (lambda s: s.set_worlds(-1), "n is -1"),
    (lambda s: s.set_worlds(2.5), "n is 2.5; what is taken is one whole number"),
    (lambda s: s.set_worlds(1048577), "1048577 worlds are too many"),
    (lambda s: s.add_spheres([0, 0, 0], 1, world=5), "world is 5, and the scene has worlds 1 to 4"),
    (lambda s: s.add_boxes([0, 0, 0], [1, 1, 1], world=-1), "world is -1"),
    (lambda s: s.add_planes([0, 0, 1], 1, world=[1, 2]), r"world is \[1, 2\]; what is taken is one whole number"),
    (lambda s: s.add_mesh(np.eye(3), world="1"), "world is '1'; what is taken is one whole"),
    (lambda s: s.add_instances(model(), PLACES, world=5), "world is 5, and the scene has worlds 1 to 4"),
    (lambda s: s.add_instances(model(), PLACES[:3], world=[0, 4, 9]), r"world\[2\] is 9, and the scene has"),
    (lambda s: s.add_instances(model(), PLACES[:3], world=[0, 4]), r"world has shape \(2,\); what is taken for these"),
    (lambda s: s.add_instances(model(), PLACES[:2], world=[1.5, 1]), "world has dtype float64"),
    (lambda s: s.closest(RAYS, world=-1), "world is -1"),
    (lambda s: s.closest(RAYS, world=1 << 32), "world is 4294967296"),
    (lambda s: s.closest(RAYS, world=1.5), "world is 1.5; what is taken is one whole"),
    (lambda s: s.closest(RAYS, world="all"), "world is 'all'; what is taken is one whole"),
    (lambda s: s.closest(RAYS, world=5), "world is 5, and the scene has worlds 1 to 4"),
    (lambda s: s.any(RAYS, world=[0, 1, 2, 3, -4, 0]), r"world\[4\] is -4, which is not within"),
    (lambda s: s.any(RAYS, world=[0, 1, 2, 3, 5, 6]), r"world\[4\] is 5, and the scene has worlds 1 to 4"),
    (lambda s: s.any(RAYS, world=np.ones(6)), "world has dtype float64"),
    (lambda s: s.any(RAYS, world=[1, 2]), r"world has shape \(2,\); what is taken for these rays is \(6,\)"),
    (lambda s: s.all(RAYS, world=5), "world is 5"),
    (lambda s: s.sums(RAYS, world=[5] * 6), r"world\[0\] is 5"),
    (lambda s: s.explain(RAYS[0], (0, 0), world=7), "world is 7"),
    (lambda s: s.check("any", RAYS, np.zeros(6, bool), world=7), "world is 7"),
    (lambda s: s.winding(RAYS[:, :3], world=[[1] * 6, [9] * 6]), r"world\[1, 0\] is 9"),
    (lambda s: s.closest_points(RAYS[:, :3], world=5), "world is 5"),
    (lambda s: s.contains(RAYS[:, :3], world=[1, 2]), r"world has shape \(2,\)"),
    (lambda s: slabcast.Scene("cpu").any(RAYS, world=1), "world is 1, and the scene has no worlds"),
    (lambda s: slabcast.Scene("cpu").add_instances(s, PLACES), "model has 4 worlds, and a model has none"),
]


@pytest.mark.parametrize("call, message", REFUSED)
def test_what_is_no_world_is_refused(call: Any, message: str) -> None:
    scene = built()
    with pytest.raises(slabcast.InvalidArgument, match=message):
        call(scene)


def test_some_instances_move() -> None:
    scene, other = slabcast.Scene("cpu"), slabcast.Scene("cpu")
    scene.set_worlds(WORLDS)
    geometry = scene.add_instances(model(), PLACES, world=WORLD_OF_PLACE)
    other.add_instances(model(), PLACES)
    scene.commit()
    random = np.random.default_rng(9)
    places = PLACES.copy()
    origins = random.uniform(-3, 3, (500, 3)).astype(np.float32)
    worlds = random.integers(0, WORLDS + 1, 500).astype(np.uint32)
    for _ in range(5):
        some = random.choice(12, 5, replace=False)
        places[some, :, 3] += random.uniform(-1, 1, (5, 3)).astype(np.float32)
        scene.update_instances(geometry, places[some], indices=some)
        scene.commit()
        hits = scene.closest(origins, -origins, world=worlds)
        for world in range(WORLDS + 1):
            seen = np.flatnonzero((WORLD_OF_PLACE == 0) | (WORLD_OF_PLACE == world))
            alone = slabcast.Scene("cpu")
            alone.add_instances(model(), places[seen])
            alone.commit()
            t = alone.closest(origins, -origins).t
            assert np.array_equal(hits.t[worlds == world], t[worlds == world])
    with pytest.raises(slabcast.InvalidArgument, match=r"indices\[1\] is 12"):
        scene.update_instances(geometry, places[:2], indices=[0, 12])
    with pytest.raises(slabcast.InvalidArgument, match="2 transforms for 3 indices"):
        scene.update_instances(geometry, places[:2], indices=[0, 1, 2])
