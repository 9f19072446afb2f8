"""Sets of rays: formulas in float64, casts with the bits of arrays, and tables."""

import copy
import pickle

import numpy as np
import pytest

import slabcast
from slabcast import RaySet, tables
from slabcast import rays as arrays

RANDOM = np.random.default_rng(58)
QUERIES = ["closest", "nearest", "distance", "any", "count", "interval"]
AROUND = RANDOM.normal(size=(2, 5, 3)).astype(np.float32) * 3
NORMALS = AROUND / np.linalg.norm(AROUND, axis=-1, keepdims=True)
EYE, TARGET, UP = (5, 4, 3), (0, 0.5, 0), (0, 0, 1)
K = np.array([[60, 0.3, 31], [0, 55, 20], [0, 0, 1]])


def poses(count):
    turns = np.linalg.qr(RANDOM.normal(size=(count, 3, 3)))[0]
    return np.concatenate([turns, RANDOM.normal(size=(count, 3, 1))], axis=-1).astype(np.float32)


POSES = poses(6)
# Of each kind one, and with the shapes that tables may have.
SETS = {
    "look_at": RaySet.look_at(EYE, TARGET, UP, 50, (40, 30)),
    "pinhole": RaySet.pinhole(K, (64, 48), pose=np.vstack([POSES[0], [0, 0, 0, 1]])),
    "orthographic": RaySet.orthographic(EYE, TARGET, UP, 7, (30, 20)),
    "fisheye": RaySet.fisheye(EYE, TARGET, UP, 200, (40, 30)).with_range(0.5, 100),
    "beams": RaySet.beams(POSES.reshape(2, 3, 3, 4), tables.beams(np.linspace(-30, 30, 16)[:, None], [0, 5, 10])),
    "directions": RaySet.directions(AROUND, tables.hemisphere(100)).with_range(-1),
    "normals": RaySet.directions(AROUND, tables.hemisphere(100, cosine=True), NORMALS),
    "one point": RaySet.directions((2, 0, -3), tables.sky_patches(1)[0]),
    "pairs": RaySet.pairs(AROUND, RANDOM.normal(size=(70, 3))),
    "some pairs": RaySet.pairs(RANDOM.normal(size=(50, 3)), AROUND)[11:39],
    "some pixels": RaySet.look_at(EYE, TARGET, UP, 50, (40, 30))[7:-3],
}
SHAPES = {
    "look_at": (30, 40),
    "pinhole": (48, 64),
    "orthographic": (20, 30),
    "fisheye": (30, 40),
    "beams": (2, 3, 16, 3),
    "directions": (2, 5, 100),
    "normals": (2, 5, 100),
    "one point": (145,),
    "pairs": (2, 5, 70),
    "some pairs": (28, 2, 5),
    "some pixels": (20, 40),
}


@pytest.fixture(params=SETS)
def name(request):
    return request.param


# ---- casts ----


def test_every_query_has_the_bits_of_the_array(scene, name):
    rays = SETS[name]
    array = rays.array(scene)
    assert array.shape == (*rays.shape, 8) and array.dtype == np.float32 and rays.shape == SHAPES[name]
    for query in QUERIES:
        results, expected = getattr(scene, query)(rays), getattr(scene, query)(array)
        assert results.shape == rays.shape and results.dtype == expected.dtype
        assert results.tobytes() == expected.tobytes(), query
    listed, expected = scene.all(rays), scene.all(array)
    assert len(listed.hits) and listed.hits.tobytes() == expected.hits.tobytes()
    assert (listed.offsets == expected.offsets).all()
    first = scene.all(rays, max_hits=1)
    assert first.hits.tobytes() == scene.all(array, max_hits=1).hits.tobytes() and 0 < len(first.hits)


def test_options_apply(scene, name):
    rays = SETS[name]
    array, hits = rays.array(), scene.nearest(rays)
    assert slabcast.is_hit(hits).any()
    masks = RANDOM.integers(0, 3, rays.shape).astype(np.uint32)
    for named in ({"skip": hits}, {"after": hits}, {"mask": masks}, {"mask": 2}, {"cull": "back"}, {"edges": "closed"}):
        results = scene.closest(rays, face_forward=True, **named)
        assert results.tobytes() == scene.closest(array, face_forward=True, **named).tobytes(), named
    assert not (scene.nearest(rays, after=hits) == hits)[slabcast.is_hit(hits)].any()


def test_results_go_where_the_caller_has_space(scene, name):
    rays = SETS[name]
    space = np.empty(rays.shape, slabcast.HIT)
    assert scene.closest(rays, out=space) is space
    assert space.tobytes() == scene.closest(rays).tobytes()
    with pytest.raises(slabcast.InvalidArgument, match="out is"):
        scene.closest(rays, out=space.ravel()[1:])


def test_a_cast_of_many_tells_its_progress_and_ends():
    scene, told = slabcast.Scene("cpu"), []
    scene.add_spheres((0, 0, 0), 1)
    rays = RaySet.look_at(EYE, TARGET, size=(1000, 600))
    scene.any(rays, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (600000, 600000)
    with pytest.raises(slabcast.Cancelled):
        scene.any(rays, progress=lambda done, total: True)


def test_checks_and_explanations_take_sets(scene):
    rays = SETS["some pixels"]
    report = scene.check("closest", rays, scene.closest(rays))
    assert report.rays == rays.size and (report.mismatches, report.oracle_wrong) == (0, 0)
    one = RaySet.pairs((0, 0, 8), (2, 0, -8))
    assert one.shape == () and one.array().shape == (8,)
    hit = scene.closest(one)
    assert scene.explain(one).hit["t"] == hit["t"] < 1


def test_sets_without_rays_have_no_results(scene):
    for rays in (
        RaySet.pairs(np.empty((0, 3)), AROUND),
        RaySet.directions(AROUND, np.empty((0, 3))),
        SETS["look_at"][5:5],
        SETS["look_at"][9:3],
    ):
        assert rays.size == 0 and rays.array().shape == (*rays.shape, 8)
        assert all(getattr(scene, query)(rays).shape == rays.shape for query in QUERIES)
        offsets, hits = scene.all(rays)
        assert offsets.tolist() == [0] and not len(hits)


# ---- formulas ----


def test_cameras_are_those_of_arrays(scene):
    assert SETS["look_at"].array().tobytes() == arrays.look_at(EYE, TARGET, UP, 50, (40, 30)).tobytes()
    seen = RaySet.overview(scene, UP, 30, (20, 10))
    assert seen.array().tobytes() == arrays.overview(scene, UP, 30, (20, 10)).tobytes()
    pose = np.vstack([POSES[0], [0, 0, 0, 1]])
    ours, theirs = SETS["pinhole"].array(), arrays.pinhole(K, (64, 48), pose=pose)
    assert np.abs(ours[..., :7] - theirs[..., :7]).max() < 1e-6
    inverse = RaySet.pinhole(K, (64, 48), extrinsics=np.linalg.inv(pose)).array()
    assert np.abs(ours[..., :7] - inverse[..., :7]).max() < 1e-5


def test_parallel_rays_begin_in_the_image():
    rays = SETS["orthographic"].array().astype(np.float64)
    view = np.subtract(TARGET, EYE) / np.linalg.norm(np.subtract(TARGET, EYE))
    assert np.abs(rays[..., 4:7] - view).max() < 1e-6
    assert np.abs((rays[..., :3] - EYE) @ view).max() < 1e-5
    assert np.abs(rays[..., :3].mean(axis=(0, 1)) - EYE).max() < 1e-5
    assert np.linalg.norm(rays[0, 0, :3] - rays[1, 0, :3]) == pytest.approx(7 / 20, abs=1e-5)
    assert np.linalg.norm(rays[0, 0, :3] - rays[0, 1, :3]) == pytest.approx(7 / 20, abs=1e-5)
    assert rays[0, 0, 2] > rays[1, 0, 2]  # rows from the top


def test_the_angle_of_a_fisheye_grows_with_the_distance():
    rays = SETS["fisheye"].array().astype(np.float64)
    view = np.subtract(TARGET, EYE) / np.linalg.norm(np.subtract(TARGET, EYE))
    x, y = np.meshgrid((np.arange(40) + 0.5) - 20, 15 - (np.arange(30) + 0.5))
    away = np.hypot(x, y) / 15
    angles = np.degrees(np.arccos(np.clip(rays[..., 4:7] @ view, -1, 1)))
    inside = away < 1
    assert np.abs(angles - 100 * away)[inside].max() < 1e-3
    assert (rays[inside][:, [3, 7]] == [0.5, 100]).all()
    assert (rays[away > 1.001][:, [3, 7]] == [np.inf, -np.inf]).all()


def test_beams_stand_in_their_poses():
    rays = SETS["beams"].array().astype(np.float64)
    table = tables.beams(np.linspace(-30, 30, 16)[:, None], [0, 5, 10])
    frames = POSES.reshape(2, 3, 1, 1, 3, 4)
    assert np.abs(rays[..., :3] - frames[..., 3]).max() < 1e-6
    assert np.abs(rays[..., 4:7] - np.einsum("...ij,...j->...i", frames[..., :3], table[..., 3:])).max() < 1e-6
    moved = table + np.float32([1, 2, 3, 0, 0, 0])
    there = RaySet.beams(np.eye(4), moved).array()
    assert (there[..., :3] == [1, 2, 3]).all() and (there[..., 4:7] == table[..., 3:]).all()


def test_directions_are_the_scenes_or_stand_in_frames():
    plain, framed = SETS["directions"].array(), SETS["normals"].array().astype(np.float64)
    assert (plain[..., :3] == AROUND[:, :, None]).all() and (plain[..., 4:7] == tables.hemisphere(100)).all()
    assert (plain[..., 3] == -1).all() and (plain[..., 7] == np.inf).all()
    z = tables.hemisphere(100, cosine=True)[:, 2]
    assert np.abs(np.einsum("...ci,...i->...c", framed[..., 4:7], NORMALS) - z).max() < 1e-6
    assert np.abs(np.linalg.norm(framed[..., 4:7], axis=-1) - 1).max() < 1e-6
    one = RaySet.directions(AROUND, tables.hemisphere(100, cosine=True), (0, 0, 1)).array()
    assert (one[..., 4:7] == tables.hemisphere(100, cosine=True)).all()


def test_pairs_are_segments(scene):
    rays = RaySet.pairs(AROUND, AROUND)
    array = rays.array().reshape(10, 10, 8)
    points = AROUND.reshape(10, 3)
    assert (array[..., :3] == points[:, None]).all() and (array[..., 4:7] == points[None] - points[:, None]).all()
    assert (array[..., 3] == 0).all() and (array[..., 7] == 1).all()
    hits = scene.nearest(rays)
    assert hits.shape == (2, 5, 2, 5)
    same = np.eye(10, dtype=bool).reshape(hits.shape)
    assert ((hits.geometry == slabcast.INVALID) == same).all()


# ---- what a set is ----


def test_parts_are_those_of_the_array(name):
    rays = SETS[name]
    if len(rays.row_shape) == 0:
        with pytest.raises(TypeError, match="slices"):
            rays[0:1]
        return
    array = rays.array()
    for part in (slice(None), slice(1, None), slice(0, -1), slice(1, 2)):
        assert rays[part].shape == array[part].shape[:-1] and rays[part].array().tobytes() == array[part].tobytes()
    assert rays[1:][1:].array().tobytes() == array[2:].tobytes()
    assert len(rays) == rays.shape[0] and rays.size == array.size // 8


def test_sets_are_kept_copied_and_pickled(scene, name):
    expected = SETS[name].array().tobytes()
    for made in (
        pickle.loads(pickle.dumps(SETS[name])),
        copy.copy(SETS[name]),
        copy.deepcopy(SETS[name]),
        SETS[name].with_range(SETS[name].t_min, SETS[name].t_max),
    ):
        assert made.array(scene).tobytes() == expected and made.shape == SETS[name].shape
    assert np.asarray(SETS[name]).tobytes() == expected
    assert np.array(SETS[name], np.float64).dtype == np.float64
    assert repr(SETS[name]).startswith("<slabcast.RaySet, ") and str(SHAPES[name]) in repr(SETS[name])


def test_tables_are_kept_and_read_where_they_lie(scene):
    rays = RaySet.directions(np.arange(30, dtype=np.float64).reshape(10, 3), tables.hemisphere(3))
    assert rays.array()[9, 2, :3].tolist() == [27, 28, 29]
    points = np.zeros((4, 3), np.float32)
    rays = RaySet.directions(points, tables.hemisphere(3))
    points[2] = 7
    assert (rays.array()[2, :, :3] == 7).all()


def test_ranges():
    rays = SETS["pairs"]
    assert (rays.t_min, rays.t_max) == (0, 1)
    other = rays.with_range(-np.inf, 0.25)
    assert (other.t_min, other.t_max, rays.t_max) == (-np.inf, 0.25, 1)
    assert (other.array()[..., 3] == -np.inf).all() and (other.array()[..., 7] == 0.25).all()
    assert other[1:].t_max == 0.25


def test_rounded_points_are_warned_of():
    far = np.array([[4e6, 0, 0], [4e6 + 0.3, 1, 0]])
    for make in (lambda: RaySet.directions(far, (0, 0, 1)), lambda: RaySet.pairs((0, 0, 0), far - 4e6 + 4e6 + 0.01)):
        with pytest.warns(slabcast.PrecisionWarning):
            make()


# ---- tables ----


def test_tables_are_what_they_say():
    degrees = RANDOM.uniform(-400, 400, (2, 9)).astype(np.float32)
    e, a = np.radians(degrees.astype(np.float64))
    assert np.allclose(
        tables.beams(*degrees)[:, 3:],
        np.stack([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)], -1),
        atol=1e-7,
    )
    assert (tables.beams(*degrees)[:, :3] == 0).all() and tables.beams(90).tolist() == [0, 0, 0, 0, 0, 1]
    sun = tables.sun_directions(*degrees)
    assert np.allclose(sun, np.stack([np.sin(e) * np.cos(a), np.cos(e) * np.cos(a), np.sin(a)], -1), atol=1e-7)
    assert tables.sun_directions(90, 0).tolist() == [1, 0, 0]  # to the east
    assert tables.sun_directions(np.zeros((3, 1)), np.zeros(4)).shape == (3, 4, 3)


def test_poses_are_turned_about_their_own_axis():
    azimuth = np.float32([0, 90, 33])
    c, s = np.cos(np.radians(azimuth)), np.sin(np.radians(azimuth))
    turn = np.zeros((3, 3, 3))
    turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1], turn[:, 2, 2] = c, -s, s, c, 1
    one, each = tables.spun_poses(POSES[0], azimuth), tables.spun_poses(POSES[:3], azimuth)
    assert np.allclose(one[..., :3], POSES[0, :, :3] @ turn, atol=1e-6) and (one[..., 3] == POSES[0, :, 3]).all()
    assert np.allclose(each[..., :3], POSES[:3, :, :3] @ turn, atol=1e-6) and (each[..., 3] == POSES[:3, :, 3]).all()
    drive = tables.spun_poses(POSES[:, None], azimuth)
    assert drive.shape == (6, 3, 3, 4) and (drive[:3][np.arange(3), np.arange(3)] == each).all()
    assert (tables.spun_poses(np.eye(4), 0) == np.eye(4)[:3]).all()


def test_skies_and_hemispheres_weigh_as_they_should():
    for parts, count in ((1, 145), (2, 577), (4, 2305)):
        directions, weights = tables.sky_patches(np.int64(parts))
        assert directions.shape == (count, 3) and weights.shape == (count,)
        assert weights.sum(dtype=np.float64) == pytest.approx(2 * np.pi, abs=1e-5)
        assert (directions[-1] == [0, 0, 1]).all()
    even, cosine = tables.hemisphere(10000), tables.hemisphere(10000, cosine=True)
    assert even[:, 2].mean() == pytest.approx(1 / 2, abs=1e-4) and cosine[:, 2].mean() == pytest.approx(2 / 3, abs=1e-4)
    for made in (even, cosine):
        assert np.abs(np.linalg.norm(made, axis=1) - 1).max() < 1e-6 and np.abs(made[:, :2].mean(axis=0)).max() < 1e-2
    assert tables.hemisphere(0).shape == (0, 3)


# ---- refusals ----

POINT = (0, 0, 0)
REFUSED = [
    (lambda: RaySet.look_at(POINT, POINT), "eye and target are the same point"),
    (lambda: RaySet.look_at(EYE, TARGET, size=((1 << 24) + 1, 2)), r"size is \(16777217, 2\)"),
    (lambda: RaySet.orthographic(EYE, TARGET, height=0), "height is 0"),
    (lambda: RaySet.orthographic(EYE, TARGET, height=np.nan), "height is nan"),
    (lambda: RaySet.orthographic(EYE, TARGET, height=[1, 2]), r"height has shape \(2,\)"),
    (lambda: RaySet.fisheye(EYE, TARGET, fov=361), "fov is 361"),
    (lambda: RaySet.fisheye(EYE, TARGET, up=(0, 0, 0)), "up has length zero"),
    (lambda: RaySet.pinhole(np.eye(4)), r"intrinsics has shape \(4, 4\)"),
    (lambda: RaySet.beams(np.eye(3), tables.beams(0)), r"poses has shape \(3, 3\)"),
    (lambda: RaySet.beams(np.eye(4), np.zeros((4, 3))), r"beams has shape \(4, 3\)"),
    (lambda: RaySet.directions((0, 0), (0, 0, 1)), r"points has shape \(2,\)"),
    (lambda: RaySet.directions(AROUND, (0, 0, 1), normals=np.ones((5, 3))), r"normals\[0\] has length 1.73205"),
    (lambda: RaySet.directions(AROUND, (0, 0, 1), normals=NORMALS[:, :4]), r"normals has shape \(2, 4, 3\)"),
    (lambda: RaySet.pairs(POINT, [[1, 2, "x"]]), "targets"),
    (lambda: RaySet.pairs(POINT, np.full((2, 3), 1e300)), r"targets\[0, 0\] is 1e\+300"),
    (lambda: SETS["pairs"].with_range(np.nan), "t_min is nan"),
    (lambda: SETS["pairs"].with_range(0, 1e300), "t_max is 1e"),
    (lambda: SETS["pairs"][::2], "without a step"),
    (lambda: tables.beams([0, np.nan]), r"elevation\[1\] is nan"),
    (lambda: tables.beams(0, 2e6), "azimuth is 2000000.0"),
    (lambda: tables.sun_directions(np.zeros(3), np.zeros(4)), r"fit each other: azimuth \(3,\), altitude \(4,\)"),
    (lambda: tables.spun_poses(POSES, np.zeros(4)), r"do not fit each other: pose \(6, 3, 4\), azimuth \(4,\)"),
    (lambda: tables.hemisphere(-1), "count is -1"),
    (lambda: tables.hemisphere(1 << 32), "count is 4294967296"),
    (lambda: tables.sky_patches(65), "parts is 65"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_arguments_that_make_no_set_are_named(call, message):
    with pytest.raises(slabcast.InvalidArgument, match=message):
        call()


def test_beside_a_set_nothing_stands(scene):
    rays = SETS["pairs"]
    for named in ({"directions": (0, 0, 1)}, {"t_min": 0}, {"t_max": 1}):
        for query in ("closest", "all"):
            with pytest.raises(slabcast.InvalidArgument, match=r"beside a RaySet .* with_range\(\)"):
                getattr(scene, query)(rays, **named)
    with pytest.raises(slabcast.InvalidArgument, match="mask has shape"):
        scene.any(rays, mask=np.zeros(3, np.uint32))
    with pytest.raises(TypeError, match="a cast takes no 'colour'"):
        scene.any(rays, colour=1)
    with pytest.raises(TypeError, match="RaySet.look_at"):
        RaySet()
    with pytest.raises(TypeError, match="slices"):
        rays[0]
    with pytest.raises(slabcast.InvalidState):
        closed = slabcast.Scene("cpu")
        closed.close()
        rays.array(closed)
