"""Coordinates in float64, far from zero: against formulas in float64, and against the same scene near zero."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import shapes
import slabcast

AT = np.array([5403210.3, 3400000.7, 120.0])
DOWN = np.array([0.0, 0.0, -1.0])
OFF = 1e-3  # what a place may be off by; float32 is off by 0.25
RESULTS = {
    "closest": slabcast.HIT64,
    "nearest": slabcast.SHORT_HIT64,
    "interval": slabcast.INTERVAL64,
    "distance": np.dtype("f8"),
    "any": np.dtype("?"),
    "count": np.dtype("u4"),
}


def terrain(side=21):
    """Hills on a grid of ten metres, and rays that fall on the triangles, with how far they do."""
    x, y = np.meshgrid(np.arange(side) * 10.0, np.arange(side) * 10.0, indexing="ij")
    vertices = np.stack([x, y, 3 * np.sin(x / 30) + y / 50], axis=-1).reshape(-1, 3) + AT
    index = np.arange(side * side).reshape(side, side)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    faces = np.concatenate([np.stack(each, axis=-1).reshape(-1, 3) for each in ((a, b, c), (a, c, d))])
    corners = vertices[faces]
    origins = corners.mean(axis=1) + [0.37, -0.21, 500]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return vertices, faces, origins, np.einsum("ni,ni->n", origins - corners[:, 0], normals) / normals[:, 2]


VERTICES, FACES, ORIGINS, FALL = terrain()


@pytest.fixture
def far():
    made = slabcast.Scene("cpu")
    made.add_mesh(VERTICES, FACES)
    return made


@pytest.fixture(params=["taken", "given"])
def empty(request):
    """A scene that takes its origin from what is added, or has been given one."""
    return slabcast.Scene("cpu", origin=None if request.param == "taken" else np.round(AT))


def falls_on(scene, at, t, **named):
    """Whether a ray that falls from above a place goes so far."""
    return abs(float(scene.distance(at, DOWN, **named)) - t) < OFF


# ---- rays ----


@pytest.mark.parametrize("query", RESULTS)
def test_float64_gives_float64(far, query):
    got = getattr(far, query)(ORIGINS, DOWN)
    assert got.dtype == RESULTS[query] and got.shape == FALL.shape
    if query == "distance":
        assert np.abs(got - FALL).max() < OFF
    if query in ("closest", "nearest"):
        assert np.abs(got.t - FALL).max() < OFF
        assert (got.primitive == np.arange(len(FACES))).all() and slabcast.is_hit(got).all()
    if query == "interval":
        assert np.abs(got.enter - FALL).max() < OFF and (got.enter == got.leave).all()


def test_float32_would_be_off(far):
    far.add_boxes(AT + [0, 0, 50], AT + [9, 9, 59])
    origin, along = AT + [-100.15, 4, 54], np.array([1.0, 0.0, 0.0])
    assert abs(far.distance(origin, along) - 100.15) < OFF
    told = far.distance(origin.astype(np.float32), along.astype(np.float32))
    assert told.dtype == np.float32 and 0.1 < abs(told - 100.15) < 0.5


def test_all_hits_are_float64(far):
    below = far.add_mesh(VERTICES - [0, 0, 50], FACES)
    offsets, hits = far.all(ORIGINS, DOWN)
    assert hits.dtype == slabcast.HIT64 and (np.diff(offsets.astype(int)) == 2).all()
    assert np.abs(hits.t.reshape(-1, 2) - np.stack([FALL, FALL + 50], axis=1)).max() < OFF
    assert (hits.geometry.reshape(-1, 2) == [0, below]).all()
    first = far.all(ORIGINS, DOWN, max_hits=1).hits
    assert (first == hits[::2]).all()
    second = far.closest(ORIGINS, DOWN, after=first)
    assert (second == hits[1::2]).all() and (far.closest(ORIGINS, DOWN, after=second).t == np.inf).all()
    assert (far.closest(ORIGINS, DOWN, skip=first) == hits[1::2]).all()


def test_rows_of_rays_are_seen_past(far):
    rays = ORIGINS.reshape(2, -1, 3) + [0, 0, 1e4]
    assert not far.sees(rays, DOWN).any() and far.sees(rays, -DOWN).all()
    assert far.sums(rays, DOWN, query="any").blocked.tolist() == [len(FACES) / 2] * 2


@pytest.mark.parametrize("query", [*RESULTS, "all"])
@pytest.mark.parametrize("count", [200, 700])
def test_each_form_of_float64_is_cast_alike(far, query, count, monkeypatch):
    """In blocks too."""
    monkeypatch.setattr("slabcast._rays.BLOCK", 128)
    origins = np.resize(ORIGINS, (count, 3))
    rays = np.concatenate([origins, np.zeros((count, 1)), np.tile(DOWN, (count, 1)), np.full((count, 1), 1e9)], axis=1)
    cast = getattr(far, query)
    want = cast(rays)
    narrow = DOWN.astype(np.float32)
    fortran, swapped = np.asfortranarray(rays), rays.astype(">f8")
    for given in (
        (fortran,),
        (swapped,),
        (origins, narrow, 0, 1e9),
        (origins, narrow, np.zeros(count), np.full(count, 1e9)),
    ):
        got = cast(*given)
        for a, b in zip(*((each if query == "all" else (each,)) for each in (got, want))):
            assert a.tobytes() == b.tobytes() and a.dtype == b.dtype


@pytest.mark.parametrize(
    "types, is_double",
    [(("f4", "f4"), False), (("f8", "f4"), True), (("f4", "f8"), True), (("i4", "f4"), True), (("f2", "i2"), False)],
)
def test_types_are_those_that_numpy_makes(far, types, is_double):
    with np.errstate(over="ignore"):
        origins, directions = (each.astype(kind) for each, kind in zip((ORIGINS / 100, DOWN), types))
    assert far.distance(origins, directions).dtype == ("f8" if is_double else "f4")


def test_the_option_says_otherwise(far, scene):
    with pytest.warns(slabcast.PrecisionWarning):
        assert far.distance(ORIGINS, DOWN, double=False).dtype == np.float32
    assert far.closest(ORIGINS.astype("f4"), DOWN.astype("f4"), double=True).dtype == slabcast.HIT64
    near = np.array([2.0, 0.25, 5.0])
    assert scene.closest(near, DOWN).dtype == slabcast.HIT
    for origins in (near, near.astype("f4")):
        for query, dtype in RESULTS.items():
            got = getattr(scene, query)(origins, DOWN, double=True)
            assert got.dtype == dtype
        assert abs(scene.distance(origins, DOWN, double=True) - scene.distance(origins, DOWN)) < 1e-6
    afar = near + [0, 0, 1e9]
    assert abs(scene.distance(afar, DOWN, double=True) - 1e9 - scene.distance(near, DOWN)) < 1e-5


def test_results_go_where_they_are_told(far):
    out = np.empty(len(ORIGINS), slabcast.HIT64)
    assert far.closest(ORIGINS, DOWN, out=out) is out and np.abs(out["t"] - FALL).max() < OFF
    with pytest.raises(slabcast.InvalidArgument, match="'<f8'"):
        far.closest(ORIGINS, DOWN, out=np.empty(len(ORIGINS), slabcast.HIT))


def test_ranges_and_invalid_rays_are_those_of_float64(far):
    t = far.distance(ORIGINS, DOWN)
    assert (far.distance(ORIGINS, DOWN, t, t) == t).all()
    assert not far.any(ORIGINS, DOWN, 0, t - OFF).any()
    for bad in (np.nan, np.inf, 1e18):
        assert far.closest([bad, 0, 0], DOWN)["geometry"] == slabcast.INVALID
    assert far.closest(ORIGINS[:0], DOWN).shape == (0,)


# ---- geometry ----


def test_rows_are_taken_where_they_lie(far):
    apart = np.zeros((len(VERTICES), 5))
    apart[:, 1:4] = VERTICES
    again = slabcast.Scene("cpu")
    again.add_mesh(apart[:, 1:4], FACES)
    assert (again.closest(ORIGINS, DOWN) == far.closest(ORIGINS, DOWN)).all() and again.origin == far.origin


def test_each_kind_stands_where_float64_says(empty):
    x, y, z = AT + [1000, 0, 0]
    empty.add_mesh(VERTICES, FACES)
    sphere = empty.add_spheres([[x, y, z]], 2)
    box = empty.add_boxes([[x + 9.4, y, z]], [[x + 10.4, y + 1, z + 1]])
    obb = empty.add_obbs([[x + 20.7, y, z]], [[1, 2, 3]], axes=np.eye(3))
    posed = empty.add_obbs(None, [[1, 2, 3]], poses=[[0, 1, 0, x + 30.2], [-1, 0, 0, y], [0, 0, 1, z], [0, 0, 0, 1]])
    wall = empty.add_planes([1, 0, 0], x + 40.6)
    along = np.array([1.0, 0.0, 0.0])
    hits = empty.all([x - 10, y + 0.5, z + 0.25], along).hits
    want = [10 - np.sqrt(4 - 0.5**2 - 0.25**2), 19.4, 29.7, 38.2, 50.6]
    assert hits.geometry.tolist() == [sphere, box, obb, posed, wall]
    assert np.abs(hits.t - want).max() < OFF


def test_updates_are_of_float64(empty):
    mesh = empty.add_mesh(VERTICES, FACES)
    side = AT + [3000, 0, 0]
    sphere = empty.add_spheres([side, side + [20, 0, 0]], [2, 2])
    box = empty.add_boxes(side + [40, 0, 0], side + [42, 2, 2])
    obb = empty.add_obbs(side + [61, 1, 1], [1, 1, 1], axes=np.eye(3))
    floor = empty.add_planes([0, 0, 1], float(AT[2]) - 300)
    for step in (0.3, 0.7):  # before the first commit, and after it
        up = np.array([0, 0, step])
        empty.update_mesh(mesh, VERTICES + up)
        empty.update_spheres(sphere, [side + up, side + [20, 0, 0] + up], [2, 2])
        empty.update_spheres(sphere, [side + [20, 0, 0] + 2 * up], [2], first=1)
        empty.update_boxes(box, side + [40, 0, 0] + up, side + [42, 2, 2] + up)
        empty.update_obbs(obb, side + [61, 1, 1] + up, [1, 1, 1], axes=np.eye(3))
        empty.update_planes(floor, [0, 0, 1], AT[2] - 300 + step)
        assert np.abs(empty.distance(ORIGINS, DOWN) - FALL + step).max() < OFF
        assert falls_on(empty, side + [0, 0, 50], 48 - step)
        assert falls_on(empty, side + [20, 0, 50], 48 - 2 * step)
        assert falls_on(empty, side + [41, 1, 50], 48 - step)
        assert falls_on(empty, side + [61, 1, 50], 48 - step)
        assert falls_on(empty, side + [500, 1, 50], 350 - step)
    empty.update_mesh(mesh, VERTICES[:9] + [0, 0, 5.2], first=0)
    assert falls_on(empty, VERTICES[1] + [1e-4, 1e-4, 100], 94.8)


def test_instances_stand_where_float64_says(empty):
    model = slabcast.Scene("cpu")
    model.add_mesh(*shapes.box())
    places = np.tile(np.eye(4), (3, 1, 1))
    places[:, :3, 3] = AT + [[0.25, 0, 0], [100.6, 0, 0], [200.9, 0, 0]]
    first = empty.add_instances(model, places)
    again = empty.add_instances(model, places[:1] + 0.0)
    above = places[:, :3, 3] + [0.001, 0.5, 10]
    assert np.abs(empty.distance(above, DOWN) - 9).max() < OFF
    assert not empty.any(above - [0.01, 0, 0], DOWN).any()
    moved = places.copy()
    moved[:, 2, 3] += 0.3
    empty.update_instances(first, moved)
    assert np.abs(empty.distance(above, DOWN) - [8.7, 8.7, 8.7]).max() < OFF
    moved[:, 2, 3] += 0.3
    empty.update_instances(first, moved[:1], [1])  # onto the first
    assert np.abs(empty.distance(above[[0, 2]], DOWN) - [8.4, 8.7]).max() < OFF
    assert not empty.any(above[1], DOWN)
    empty.update_instances([first, again], np.concatenate([places, moved[2:]]))
    assert np.abs(empty.distance(above, DOWN) - [9, 9, 8.4]).max() < OFF


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_model_that_is_far_is_placed_with_all_its_digits(far, dtype):
    scene = slabcast.Scene("cpu")
    scene.add_instances(far, np.eye(4, dtype=dtype))
    assert np.abs(scene.distance(ORIGINS, DOWN) - FALL).max() < OFF
    assert np.abs(np.subtract(scene.origin, AT)).max() < 1000


# ---- the origin ----


def test_an_origin_is_known_from_the_first_commit_on(far):
    assert far.origin is None
    far.commit()
    assert far.info.origin == far.origin
    assert np.abs(np.subtract(far.origin, (VERTICES.min(0) + VERTICES.max(0)) / 2)).max() < 1
    assert np.abs(np.subtract(far.info.lower, VERTICES.min(0))).max() < OFF
    assert np.abs(np.subtract(far.info.upper, VERTICES.max(0))).max() < OFF
    kept = far.origin
    far.add_spheres([AT + 1e5], 1)
    far.commit()
    assert far.origin == kept
    with pytest.raises(slabcast.InvalidState):
        far.origin = AT


def test_an_origin_can_be_given():
    scene = slabcast.Scene("cpu", origin=AT)
    assert scene.origin == tuple(AT)
    for bad, told in (((1, 2), "shape"), ((np.nan, 0, 0), "origin"), ("here", "origin"), ((0, 1e18, 0), "origin")):
        with pytest.raises(slabcast.InvalidArgument, match=told):
            slabcast.Scene("cpu", origin=bad)
        with pytest.raises((slabcast.InvalidArgument, slabcast.InvalidState)):
            scene.origin = bad
    later = slabcast.Scene("cpu")
    later.add_spheres([AT, AT + 9], [1, 1])
    later.origin = np.round(AT)
    assert falls_on(later, AT + [0, 0, 5], 4) and later.origin == tuple(np.round(AT))


def test_near_zero_all_stays_as_it_was():
    vertices, faces = shapes.torus()
    scene, plain = slabcast.Scene("cpu"), slabcast.Scene("cpu")
    scene.add_mesh(vertices.astype("f8") + 1e-9, faces)
    plain.add_mesh((vertices.astype("f8") + 1e-9).astype("f4"), faces)
    for each in (scene, plain):
        each.add_planes([0.1, 0, 1], -3.3)
    rays = shapes.rays_around(vertices, 200, 7)
    assert (scene.closest(rays.astype("f8")) == plain.closest(rays)).all() and scene.origin == (0, 0, 0)


def test_copies_have_the_origin(far):
    for again in (pickle.loads(pickle.dumps(far)), copy.deepcopy(far)):
        assert again.origin == far.origin
        assert (again.closest(ORIGINS, DOWN) == far.closest(ORIGINS, DOWN)).all()
        again.add_mesh(VERTICES + [0, 0, 10.4], FACES)
        assert np.abs(again.distance(ORIGINS, DOWN) - FALL + 10.4).max() < OFF


def test_points_and_sets_are_of_the_world(far):
    body = slabcast.Scene("cpu", origin=(4096, -8192, 1024))
    body.add_mesh(shapes.box()[0].astype("f8") * 4 + [4096, -8192, 1024], shapes.box()[1])
    inside = np.array([[4098, -8190, 1026], [4098, -8190, 1020.5]])
    assert body.contains(inside).tolist() == [True, False]
    assert body.closest_distance(inside).tolist() == [2, 3.5]
    assert body.sees(slabcast.RaySet.pairs(inside[:1], inside[1:])).tolist() == [[False]]
    assert (body.nearest(slabcast.RaySet.overview(body, size=(9, 9)))["geometry"] == 0).any()


# ---- warnings and refusals ----


def test_nothing_is_told_where_nothing_is_rounded():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for scene in (slabcast.Scene("cpu"), slabcast.Scene("cpu", origin=AT)):
            mesh = scene.add_mesh(VERTICES, FACES)
            scene.closest(ORIGINS, DOWN)
            scene.update_mesh(mesh, VERTICES + 1)
            scene.all(ORIGINS, DOWN)


def test_what_is_still_rounded_is_told(far, scene):
    floats = slabcast.Scene("cpu")
    floats.add_mesh(VERTICES.astype("f4"), FACES)
    for call, name in (
        (lambda: far.closest(ORIGINS, DOWN, double=False), "origins"),
        (lambda: slabcast.RaySet.directions(ORIGINS, DOWN), "points"),
        (lambda: floats.closest(ORIGINS, DOWN), "origins"),
        (lambda: floats.closest_points(ORIGINS), "points"),
    ):
        with pytest.warns(slabcast.PrecisionWarning, match=f"^{name}: rounding"):
            call()
    scene.commit()
    with pytest.warns(slabcast.PrecisionWarning, match=r"^vertices: .*Scene\(origin=\.\.\.\)"):
        scene.add_mesh(VERTICES, FACES)
    away = slabcast.Scene("cpu", origin=AT + [1e8, 0, 0])
    with pytest.warns(slabcast.PrecisionWarning, match=r"^vertices: .*far from the scene's origin"):
        away.add_mesh(VERTICES, FACES)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far.add_spheres([AT + 3000, AT + 3010], 1)  # the origin is of use


REFUSED = [
    (lambda s: s.sums(ORIGINS[None], DOWN), slabcast.Unsupported, "sums of t"),
    (lambda s: s.histogram(ORIGINS[None], DOWN, bins=3, range=(0, 1)), slabcast.Unsupported, "sums of t"),
    (lambda s: s.any(ORIGINS, DOWN, double="yes"), slabcast.InvalidArgument, "double is 'yes'"),
    (
        lambda s: s.any(slabcast.RaySet.pairs((0, 0, 0), (0, 0, 1)), double=True),
        slabcast.InvalidArgument,
        "double is taken by",
    ),
    (
        lambda s: s.any(ORIGINS, DOWN, after=np.zeros(len(ORIGINS), slabcast.SHORT_HIT)),
        slabcast.InvalidArgument,
        "hits of rays in float32",
    ),
    (
        lambda s: s.any(ORIGINS, DOWN, after=s.nearest(ORIGINS, DOWN), double=False),
        slabcast.InvalidArgument,
        "hits in double",
    ),
    (lambda s: s.add_spheres([[1e300, 0, 0]], 1), slabcast.InvalidArgument, "sphere 0"),
    (
        lambda s: s.add_mesh(np.where(VERTICES == VERTICES[4], np.nan, VERTICES), FACES),
        slabcast.InvalidArgument,
        "vert",
    ),
]


@pytest.mark.filterwarnings("ignore::slabcast.PrecisionWarning")
@pytest.mark.parametrize("call, error, told", REFUSED)
def test_what_cannot_be_is_refused(far, call, error, told):
    far.commit()
    with pytest.raises(error, match=told):
        call(far)
    assert np.abs(far.distance(ORIGINS, DOWN) - FALL).max() < OFF


@pytest.mark.parametrize("query", [*RESULTS, "all"])
def test_casts_in_double_are_checked(far, query):
    results = getattr(far, query)(ORIGINS, DOWN)
    assert far.check(query, ORIGINS, results, DOWN).mismatches == 0
    hits = results[1] if query == "all" else results
    if hits.dtype == bool:
        hits[3] = not hits[3]
    else:
        hits.view("u1").reshape(len(hits), -1)[3, 0] ^= 1
    report = far.check(query, ORIGINS, results, DOWN)
    assert report.mismatches == 1 and report.text.startswith(("ray 3", "hit 0 of ray 3"))


def test_float32_is_checked_in_a_far_scene(far):
    origins, down = ORIGINS.astype("f4"), DOWN.astype("f4")
    assert far.check("closest", origins, far.closest(origins, down), down).mismatches == 0


# ---- points ----


def test_points_in_double_find_places(far):
    at = ORIGINS - [0, 0, 500 - 2]
    results = far.closest_points(at)
    assert results.dtype == slabcast.CLOSEST_POINT64
    apart = np.linalg.norm(at - results["point"], axis=-1)
    assert np.abs(apart - results["distance"]).max() < OFF and (results["geometry"] == 0).all()
    assert (far.closest_distance(at) == results["distance"]).all()
    assert far.within(at, 2.5).all() and not far.within(at + [0, 0, 90], 2.5).any()
    rounded = far.closest_points(at.astype("f4"))
    assert rounded.dtype == slabcast.CLOSEST_POINT
    assert far.check_points("closest_points", at, results).mismatches == 0
    assert far.check_points("closest_points", at.astype("f4"), rounded).mismatches == 0
    results["point"][3, 1] += 1e-6
    assert far.check_points("closest_points", at, results).mismatches == 1


def test_points_in_double_are_inside(empty):
    empty.add_boxes(AT, AT + 1)
    inside = AT + [[0.001, 0.001, 0.001], [-0.001, 0.5, 0.5], [0.5, 0.5, 0.999], [0.5, 0.5, 1.001]]
    assert empty.contains(inside).tolist() == [True, False, True, False]
    assert empty.winding(inside).tolist() == [1, 0, 1, 0]
    assert np.abs(empty.signed_distance(inside) - [-0.001, 0.001, -0.001, 0.001]).max() < 1e-5
    assert empty.winding_number(inside).tolist() == [1, 0, 1, 0]


# ---- sets ----


def test_sets_are_moved_in_double(far):
    above = ORIGINS[200]
    near = slabcast.RaySet.directions((0, 0, 0), np.float32([DOWN]))
    t = far.distance(near.moved(above))
    assert t.dtype == np.float32 and abs(t.ravel()[0] - FALL[200]) < OFF
    assert far.distance(near.moved(above - 1).moved([1, 1, 1])).tolist() == t.tolist()
    assert pickle.loads(pickle.dumps(near.moved(above))).array().tolist() == near.moved(above).array().tolist()
    assert near.moved(above).array()[..., :3].ravel().tolist() == np.float32(above).tolist()
    with pytest.raises(slabcast.InvalidArgument, match="offset is"):
        near.moved([1, np.nan, 0])


def test_what_is_cast_in_double_is_explained():
    """The hit of a cast, t and order too; of float32 rays in the same scene that of theirs."""
    scene = slabcast.Scene()
    scene.add_spheres(np.array([[5403210.3, 40.25, -7.1]]), np.array([2.5]))
    ray = np.array([5403210.6, 40.0, 12.7, 0, 0, 0.02, -3, np.inf])
    told = scene.explain(ray)
    assert told.hit.dtype == slabcast.HIT64 and told.interval.dtype == slabcast.INTERVAL64
    assert told.hit.tobytes() == scene.closest(ray).tobytes()
    assert told.interval.tobytes() == scene.interval(ray).tobytes()
    assert f"hit at t = {told.hit['t']:.12g}" in str(told)
    narrow = ray.astype(np.float32)
    assert scene.explain(narrow).hit.tobytes() == scene.closest(narrow).tobytes()
    home = slabcast.Scene()
    home.add_spheres([[0, 0, 0]], [1])
    assert home.explain([0, 0, 3], None, [0, 0, -1], double=True).hit.dtype == slabcast.HIT64


def test_a_lone_solid_far_away_is_taken_in_double():
    """It has a size, where its places have no extent."""
    sphere, box = slabcast.Scene(), slabcast.Scene()
    sphere.add_spheres(np.array([[5403210.3, 40.25, -7.1]]), np.array([2.5]))
    box.add_obbs(np.array([[5403210.3, 40.25, -7.1]]), np.array([[2.5, 2.5, 2.5]]), np.eye(3))
    for scene in (sphere, box):
        t = scene.distance(np.array([5403200.3, 40.25, -7.1]), [1, 0, 0])
        assert scene.origin is not None and abs(t - 7.5) < 1e-6 and t.dtype == np.float64
