"""Results: which rays hit something, by those of every cast, and fields as attributes."""

import copy
import pickle

import numpy as np
import pytest

import slabcast

QUERIES = ["closest", "nearest", "interval", "distance", "any", "count"]
INVALID_RAYS = [
    [np.nan, 0, 9, 0, 0, 0, -1, np.inf],
    [0, 0, 9, 0, 0, 0, 0, np.inf],
    [0, -np.inf, 9, 0, 0, 0, -1, np.inf],
    [0, 0, 9, 0, np.nan, 0, -1, np.inf],
    [0, 0, 9, np.nan, 0, 0, -1, np.inf],
    [0, 0, 9, 0, 0, 0, -1, np.nan],
]


def world(seed):
    """Balls, rays down at them, at gaps between, and invalid ones, in any order; and which of them hit."""
    random = np.random.default_rng(seed)
    scene = slabcast.Scene("cpu")
    scene.add_spheres([[4 * i, 0, 0] for i in range(5)], np.ones(5))
    rays = np.zeros((60, 8), np.float32)
    rays[:, 0], rays[:, 2], rays[:, 6], rays[:, 7] = random.integers(0, 10, 60) * 2, 9, -1, np.inf
    expected = rays[:, 0] % 4 == 0
    expected &= rays[:, 0] <= 16
    wrong = random.choice(60, 12, replace=False)
    rays[wrong] = np.array(INVALID_RAYS, np.float32)[random.integers(len(INVALID_RAYS), size=12)]
    expected[wrong] = False
    return scene, rays, expected


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("query", QUERIES)
def test_is_hit_is_false_for_misses_and_invalid_rays(query, seed):
    scene, rays, expected = world(seed)
    results = getattr(scene, query)(rays)
    assert (slabcast.is_hit(results) == expected).all() and slabcast.is_hit(results).dtype == bool
    assert (slabcast.is_hit(results.reshape(3, 4, 5)) == expected.reshape(3, 4, 5)).all()
    assert [bool(slabcast.is_hit(result)) for result in results] == expected.tolist()
    assert bool(slabcast.is_hit(getattr(scene, query)(rays[0]))) == expected[0]
    listed = scene.all(rays)
    assert (slabcast.is_hit(listed) == expected).all() and slabcast.is_hit(listed.hits).all()
    assert slabcast.is_hit(results[:0]).shape == (0,)


def test_is_hit_refuses_what_no_cast_returned():
    scene, rays, expected = world(0)
    hits = scene.closest(rays)
    for wrong, match in (
        (hits.geometry, "ids of hits, not counts"),
        (hits.primitive, "ids of hits, not counts"),
        (np.zeros(3, "M8[s]"), "dtype datetime64"),
        (np.zeros(3, [("x", "f4")]), "dtype"),
        ("hits", "dtype <U4"),
        (None, "dtype object"),
    ):
        with pytest.raises(slabcast.InvalidArgument, match=match):
            slabcast.is_hit(wrong)


@pytest.mark.parametrize("query, dtype", [("closest", "HIT"), ("nearest", "SHORT_HIT"), ("interval", "INTERVAL")])
def test_fields_are_attributes_and_the_dtype_is_the_same(query, dtype):
    scene, rays, expected = world(1)
    results = getattr(scene, query)(rays)
    assert results.dtype == getattr(slabcast, dtype) and results.flags.c_contiguous and results.flags.writeable
    for some in (results, results[expected], results.reshape(6, 10)[2], results[3], getattr(scene, query)(rays[3])):
        for name in getattr(slabcast, dtype).names:
            assert np.array_equal(getattr(some, name), some[name])
            assert type(getattr(some, name)) in (np.ndarray, np.float32, np.uint32)
    for other in (pickle.loads(pickle.dumps(results)), copy.deepcopy(results)):
        assert other.dtype == results.dtype and other.tobytes() == results.tobytes()
        assert (other.geometry == results.geometry).all()
    assert scene.check(query, rays, results).mismatches == 0
    assert scene.check(query, rays, np.array(results, getattr(slabcast, dtype))).mismatches == 0


def test_paths_and_lists_have_attributes_too():
    scene, rays, expected = world(2)
    placed = slabcast.Scene("cpu")
    placed.add_instances(scene, np.eye(4))
    listed = placed.all(rays)
    assert (listed.hits.t == listed.hits["t"]).all() and listed.hits.dtype == slabcast.HIT
    paths = placed.paths(listed.hits)
    assert (paths.levels == 1).all() and paths.dtype == slabcast.PATH
    assert (placed.path_ids(paths) == listed.hits.geometry).all()
    assert (slabcast.is_hit(placed.paths(placed.closest(rays))) == expected).all()
