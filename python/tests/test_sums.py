"""Sums over rows of rays, against NumPy's of the rays' own results: all bits, in the order of docs/contract.md."""

import numpy as np
import pytest

import shapes
import slabcast
from slabcast import RaySet, tables

RANDOM = np.random.default_rng(580)
POINTS = RANDOM.normal(size=(3, 4, 3)).astype(np.float32) * 3
NORMALS = POINTS / np.linalg.norm(POINTS, axis=-1, keepdims=True)
ARRAY = shapes.rays_around(shapes.torus()[0], 6000, 3).reshape(2, 3, 1000, 8)
ARRAY[0, 1, 5:70, 4] = np.nan  # invalid
ARRAY[1, 2] = [50, 50, 50, 0, 1, 1, 1, np.inf]  # a row of misses
RAYS = {
    "sky": RaySet.directions(POINTS, tables.sky_patches(1)[0]),
    "hemispheres": RaySet.directions(
        POINTS, tables.hemisphere(2500), POINTS / np.linalg.norm(POINTS, axis=-1)[..., None]
    ),
    "pairs": RaySet.pairs(POINTS, np.concatenate([POINTS.reshape(12, 3), RANDOM.normal(size=(63, 3))])),
    "some rows": RaySet.look_at((5, 4, 3), (0, 0, 0), size=(70, 50))[20:31],
    "one row": RaySet.directions((2, 0, -3), tables.hemisphere(1100)),
    "one ray a row": RaySet.directions(POINTS, (0, 0, 1)),
    "beams": RaySet.beams(np.eye(4)[None, :3], tables.beams(np.linspace(-20, 20, 9)[:, None], np.arange(0, 360, 40))),
    "an array": ARRAY,
    "some of an array": ARRAY[:, ::2, 100:207],
}


@pytest.fixture(params=RAYS)
def rays(request):
    return RAYS[request.param]


def rows_of(rays):
    """The shapes of rows and within a row."""
    return (rays.row_shape, rays.column_shape) if isinstance(rays, RaySet) else (rays.shape[:-2], rays.shape[-2:-1])


def results_of(scene, rays, **named):
    """t and whether a ray is valid, rays of a row in one axis."""
    rows, _ = rows_of(rays)
    hits = scene.nearest(np.asarray(rays), **named)
    return hits["t"].reshape(*rows, -1), (hits["geometry"] != slabcast.INVALID).reshape(*rows, -1)


def mean_of(t):
    """Blocks of 256 by 16 strands and a tree, parts of 1024 in float32, rows in float64."""
    hits = np.where(np.isfinite(t), t, np.float32(0))
    total, zero = np.zeros(t.shape[:-1], np.float64), np.float32(0)
    for part in range(0, t.shape[-1], 1024):
        of_part = np.zeros(t.shape[:-1], np.float32)
        for block in range(part, min(part + 1024, t.shape[-1]), 256):
            own = hits[..., block : min(block + 256, part + 1024)]
            strands = np.zeros((*t.shape[:-1], 16), np.float32)
            for i in range(0, own.shape[-1], 16):
                width = min(16, own.shape[-1] - i)
                strands[..., :width] = strands[..., :width] + own[..., i : i + width]
            while strands.shape[-1] > 1:
                half = strands.shape[-1] // 2
                strands = strands[..., :half] + strands[..., half:]
            of_part = of_part + strands[..., 0]
        total += of_part
    count = np.isfinite(t).sum(axis=-1)
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, (total / np.maximum(count, 1)).astype(np.float32), np.float32(np.inf) + zero)


def shares_of(weights, which):
    """In units of 2^-32, of which a sum has no rounding."""
    units = np.rint(weights.astype(np.float64) * 2.0**32).astype(np.uint64)
    return np.where(which, units, np.uint64(0)).sum(axis=-1, dtype=np.uint64).astype(np.float64) * 2.0**-32


# ---- sums ----


def test_sums_are_those_of_the_rays(scene, rays):
    t, valid = results_of(scene, rays)
    hit = np.isfinite(t)
    found = scene.sums(rays)
    assert found.open.shape == rows_of(rays)[0] and hit.any()
    assert (found.rays == valid.sum(axis=-1)).all() and (found.hits == hit.sum(axis=-1)).all()
    assert (found.open == (valid & ~hit).sum(axis=-1)).all() and (found.blocked == found.hits).all()
    assert (found.least == t.min(axis=-1)).all()
    assert found.mean.tobytes() == mean_of(t).tobytes()
    assert [each.dtype for each in found] == ["f8", "f8", "u4", "u4", "f4", "f4"]


def test_sums_of_any_have_no_t(scene, rays):
    found, expected = scene.sums(rays, query="any"), scene.sums(rays)
    for name in ("open", "blocked", "rays", "hits"):
        assert (getattr(found, name) == getattr(expected, name)).all(), name
    assert np.isnan(found.least).all() and np.isnan(found.mean).all()


def test_weights_are_summed_exactly(scene, rays):
    t, valid = results_of(scene, rays)
    hit = np.isfinite(t)
    weights = RANDOM.uniform(0, 3, rows_of(rays)[1]).astype(np.float32)
    for query in ("any", "distance"):
        found = scene.sums(rays, query=query, weights=weights)
        assert (found.open == shares_of(weights.ravel(), valid & ~hit)).all()
        assert (found.blocked == shares_of(weights.ravel(), hit)).all()
        assert (found.rays == valid.sum(axis=-1)).all() and (found.hits == hit.sum(axis=-1)).all()


def test_the_share_of_a_sky_that_a_point_sees(scene):
    directions, weights = tables.sky_patches(2)
    found = scene.sums(RaySet.directions([[0, 0, 5], [2, 0, 0], [2, 0, -40]], directions), query="any", weights=weights)
    assert found.open[0] == pytest.approx(2 * np.pi, abs=1e-5) and found.open[1] == 0
    assert 0 < found.blocked[2] < 0.05 and found.open[2] + found.blocked[2] == pytest.approx(2 * np.pi, abs=1e-5)


def test_options_apply(scene):
    rays = RAYS["sky"]
    mask = RANDOM.integers(0, 2, rays.shape).astype(np.uint32)
    t, _ = results_of(scene, rays, mask=mask, cull="back")
    found = scene.sums(rays, mask=mask, cull="back")
    assert (found.hits == np.isfinite(t).sum(axis=-1)).all() and (found.least == t.min(axis=-1)).all()
    first = scene.nearest(rays)
    assert (scene.sums(rays, after=first).hits == np.isfinite(scene.distance(rays, after=first)).sum(axis=-1)).all()
    told = []
    scene.sums(RaySet.look_at((5, 4, 3), (0, 0, 0), size=(1000, 600)), progress=lambda *each: told.append(each))
    assert told[-1] == (600000, 600000)


# ---- histograms, bits ----


@pytest.mark.parametrize(("bins", "ends"), [(1, (0, 100)), (7, (0.5, 4)), (1000, (-1, 3.3))])
def test_histograms_are_those_of_the_rays(scene, rays, bins, ends):
    t, _ = results_of(scene, rays)
    begin, end = np.float32(ends)
    scale = np.float32(bins) / (end - begin)
    with np.errstate(invalid="ignore"):
        place = (t - begin) * scale
    counts = np.stack([np.isfinite(t) & (np.floor(place) == i) for i in range(bins)], axis=-1).sum(axis=-2)
    found = scene.histogram(rays, bins=np.int64(bins), range=ends)
    assert found.dtype == np.uint32 and found.shape == (*rows_of(rays)[0], bins)
    assert (found == counts).all() and (bins > 1 or found.sum() == np.isfinite(t).sum() > 0)


def test_who_sees_whom(scene, rays):
    t, valid = results_of(scene, rays)
    rows, within = rows_of(rays)
    expected = valid & ~np.isfinite(t)
    seen = scene.sees(rays)
    assert seen.dtype == np.bool_ and seen.shape == (*rows, *within)
    assert (seen == expected.reshape(seen.shape)).all()
    words = scene.sees(rays, packed=True)
    columns = expected.shape[-1]
    assert words.dtype == np.uint32 and words.shape == (*rows, -(-columns // 32))
    for c in (0, columns // 2, columns - 1):
        assert (words[..., c // 32] >> np.uint32(c % 32) & 1 == expected[..., c]).all()


def test_points_see_each_other_and_not_themselves():
    scene = slabcast.Scene("cpu")
    scene.add_boxes((-1, -1, -1), (1, 1, 1))
    points = np.float32([[0, 0, 2], [0, 0, -2], [9, 0, 0]])
    assert scene.sees(RaySet.pairs(points, points)).tolist() == [
        [False, False, True],
        [False, False, True],
        [True, True, False],
    ]


# ---- rays of other kinds, none, and refusals ----


def test_origins_and_directions_are_rows_as_well(scene):
    rays = RAYS["sky"]
    directions = tables.sky_patches(1)[0]
    found, expected = scene.sums(POINTS[..., None, :], directions), scene.sums(rays)
    assert all(each.tobytes() == other.tobytes() for each, other in zip(found, expected))
    assert (scene.sees(POINTS[..., None, :], directions, 0.5, 2) == scene.sees(rays.with_range(0.5, 2))).all()


def test_rows_without_rays(scene):
    for rays in (RaySet.directions(POINTS, np.empty((0, 3))), np.empty((3, 4, 0, 8), np.float32)):
        found = scene.sums(rays)
        assert found.rays.shape == (3, 4) and not found.open.any() and not found.hits.any()
        assert (found.least == np.inf).all() and (found.mean == np.inf).all()
        assert np.isnan(scene.sums(rays, query="any").least).all()
        assert scene.histogram(rays, bins=3, range=(0, 1)).tolist() == np.zeros((3, 4, 3)).tolist()
        assert scene.sees(rays).shape == (3, 4, 0) and scene.sees(rays, packed=True).shape == (3, 4, 0)
    assert scene.sums(RAYS["sky"][:0]).open.shape == (0, 4)


REFUSED = [
    (lambda s: s.sums(ARRAY[0, 0, 0]), r"rays is one ray; .* \(\.\.\., n, 8\)"),
    (lambda s: s.sums(ARRAY, query="count"), "query is 'count'"),
    (lambda s: s.sums(ARRAY, weights=np.ones(5)), r"weights has shape \(5,\); .* \(1000,\)"),
    (lambda s: s.sums(RAYS["beams"], weights=np.ones(81)), r"weights has shape \(81,\); .* \(9, 9\)"),
    (lambda s: s.sums(RAYS["beams"], weights=-np.eye(9)), r"weights\[0, 0\] is -1"),
    (lambda s: s.sums(ARRAY, weights=np.full(1000, np.nan)), r"weights\[0\] is nan"),
    (lambda s: s.sums(ARRAY, weights=np.full(1000, 1e7)), r"weights are 1e\+10 together"),
    (lambda s: s.sums(ARRAY, out=np.empty(5)), "out is taken by"),
    (lambda s: s.sums(RAYS["sky"], (0, 0, 1)), "beside a RaySet"),
    (lambda s: s.histogram(ARRAY, bins=0, range=(0, 1)), "bins is 0"),
    (lambda s: s.histogram(ARRAY, bins=4097, range=(0, 1)), "bins is 4097"),
    (lambda s: s.histogram(ARRAY, bins=2.5, range=(0, 1)), "bins is 2.5"),
    (lambda s: s.histogram(ARRAY, bins=2, range=(1, 1)), "range is 1 to 1"),
    (lambda s: s.histogram(ARRAY, bins=2, range=(0, np.inf)), "range is 0 to inf"),
    (lambda s: s.histogram(ARRAY, bins=2, range=(0, 1, 2)), r"range has shape \(3,\)"),
    (lambda s: s.sees(ARRAY, packed="no"), "packed is 'no'"),
    (lambda s: s.sees(ARRAY, mask=np.zeros(3, np.uint32)), "mask has shape"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_makes_no_sums_is_named(scene, call, message):
    with pytest.raises(slabcast.InvalidArgument, match=message):
        call(scene)
