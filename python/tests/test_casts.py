"""Results of casts: values, shapes and dtypes, against brute force in float64 and against the library's own check."""

import numpy as np
import pytest

import shapes
import slabcast

EACH = ["closest", "nearest", "distance", "any", "count", "interval"]
DTYPES = {
    "closest": slabcast.HIT,
    "nearest": slabcast.SHORT_HIT,
    "distance": np.float32,
    "any": np.bool_,
    "count": np.uint32,
    "interval": slabcast.INTERVAL,
}


@pytest.fixture
def expected(rays):
    """t of every ray and triangle; rays that pass near an edge are left out."""
    t, near = shapes.hit_distances(*shapes.torus(), rays)
    clear = (near > 1e-5).all(axis=1)
    assert clear.mean() > 0.9
    return t, clear


def test_closest_is_the_least_of_brute_force(scene, rays, expected):
    t, clear = expected
    hits = scene.closest(rays)
    assert np.allclose(hits["t"][clear], t.min(axis=1)[clear], rtol=1e-5)
    struck = clear & np.isfinite(t).any(axis=1)
    assert (hits["primitive"][struck] == t.argmin(axis=1)[struck]).all()
    assert (hits["primitive"][clear & ~struck] == slabcast.MISS).all()


def test_normals_and_weights_are_the_triangles_own(scene, rays):
    vertices, faces = shapes.torus()
    hits = scene.closest(rays)
    struck = hits["geometry"] == 0
    a, b, c = (vertices[faces[hits["primitive"][struck], k]] for k in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    assert np.abs(normals - hits["normal"][struck]).max() < 1e-5
    u, v = hits["u"][struck, None], hits["v"][struck, None]
    points = rays[struck, :3] + hits["t"][struck, None] * rays[struck, 4:7]
    assert np.abs((1 - u - v) * a + u * b + v * c - points).max() < 1e-4


def test_queries_agree_with_each_other(scene, rays, expected):
    t, clear = expected
    closest, (offsets, hits) = scene.closest(rays), scene.all(rays)
    counts = scene.count(rays)
    assert (counts[clear] == np.isfinite(t).sum(axis=1)[clear]).all()
    assert (np.diff(offsets) == counts).all() and len(hits) == counts.sum()
    assert (scene.any(rays) == (counts > 0)).all()
    assert (scene.distance(rays) == closest["t"]).all()
    nearest = scene.nearest(rays)
    for name in slabcast.SHORT_HIT.names:
        assert (nearest[name] == closest[name]).all()
    first = offsets[:-1][counts > 0].astype(int)
    assert hits[first].tobytes() == closest[counts > 0].tobytes()
    for i in range(len(rays)):
        own = hits["t"][int(offsets[i]) : int(offsets[i + 1])]
        assert (np.diff(own) >= 0).all()


@pytest.mark.parametrize("query", [*EACH, "all"])
def test_results_pass_the_check(scene, rays, query):
    report = scene.check(query, rays, getattr(scene, query)(rays))
    assert report.rays == len(rays) and report.oracle_rays > 0
    assert (report.mismatches, report.oracle_wrong, report.text) == (0, 0, "")


def test_check_sees_a_changed_bit(scene, rays):
    hits = scene.closest(rays)
    hits["t"][17] = np.nextafter(hits["t"][17], np.float32(0))
    report = scene.check("closest", rays, hits)
    assert report.mismatches == 1 and report.first == 17 and "17" in report.text


def test_check_holds_options_against_the_results(scene, rays):
    culled = scene.closest(rays, cull="back", face_forward=True)
    assert scene.check("closest", rays, culled, cull="back", face_forward=True).mismatches == 0
    assert scene.check("closest", rays, culled).mismatches > 0


@pytest.mark.parametrize("query", EACH)
@pytest.mark.parametrize("shape", [(), (1,), (0,), (500,), (5, 100), (5, 0, 3), (2, 5, 10, 5)])
def test_results_keep_the_leading_shape(scene, rays, query, shape):
    some = rays[: int(np.prod(shape))].reshape(*shape, 8)
    results = getattr(scene, query)(some)
    assert results.shape == shape and results.dtype == DTYPES[query]
    whole = getattr(scene, query)(rays)
    assert results.tobytes() == whole[: results.size].tobytes()


@pytest.mark.parametrize("shape", [(), (0,), (5, 100), (5, 0, 3)])
def test_all_flattens_the_leading_shape(scene, rays, shape):
    n = int(np.prod(shape))
    offsets, hits = scene.all(rays[:n].reshape(*shape, 8))
    assert offsets.shape == (n + 1,) and offsets.dtype == np.uint64 and hits.dtype == slabcast.HIT
    whole = scene.all(rays[:n])
    assert (offsets == whole.offsets).all() and hits.tobytes() == whole.hits.tobytes()


def test_all_finds_space_for_many_hits():
    scene = slabcast.Scene("cpu")
    scene.add_boxes([[0, 0, k] for k in range(200)], [[1, 1, k + 0.5] for k in range(200)])
    rays = np.tile(np.array([0.5, 0.5, -1, 0, 0, 0, 1, np.inf], np.float32), (300, 1))
    for _ in range(2):
        offsets, hits = scene.all(rays)
        assert (np.diff(offsets) == 200).all()
        assert (hits["primitive"].reshape(300, 200) == np.arange(200)).all()


@pytest.mark.parametrize("k", [1, 2, 3, 17, 1000])
def test_max_hits_gives_the_first_of_all(scene, rays, k):
    whole, first = scene.all(rays), scene.all(rays, max_hits=k)
    counts = np.diff(whole.offsets.astype(int))
    assert (np.diff(first.offsets) == np.minimum(counts, k)).all()
    kept = np.concatenate([whole.hits[b : b + k][:n] for b, n in zip(whole.offsets[:-1].astype(int), counts)])
    assert kept.tobytes() == first.hits.tobytes()
    assert scene.check("all", rays, first, max_hits=k).mismatches == 0


def test_no_ray_through_edges_or_vertices_has_a_wrong_parity(scene):
    rays = shapes.aimed_rays(*shapes.torus(), 20000, 2)
    assert (scene.count(rays) % 2 == 0).all()


def test_closed_edges_see_a_ray_that_touches():
    scene = slabcast.Scene("cpu")
    scene.add_mesh(*shapes.box())
    corners = np.array([[x, y, -1, 0, 0, 0, 1, np.inf] for x in (0, 1) for y in (0, 1)], np.float32)
    assert scene.any(corners, edges="closed").all()
    assert not scene.any(corners).all()
    assert (scene.count(corners) % 2 == 0).all()


def test_range_is_closed_and_part_of_the_ray():
    scene = slabcast.Scene("cpu")
    scene.add_boxes([0, 0, 0], [1, 1, 1])
    origin, direction = [0.5, 0.5, -1.0], [0, 0, 2]
    assert scene.distance(origin, direction) == 0.5
    assert scene.distance(origin, direction, t_max=0.5) == 0.5
    assert not scene.any(origin, direction, t_max=0.49)
    assert scene.distance(origin, direction, t_min=0.6) == 1.0
    assert (scene.any(origin, direction, t_max=[0.4, 0.5, 0.6]) == [False, True, True]).all()


def test_interval_is_clipped_to_the_range():
    scene = slabcast.Scene("cpu")
    scene.add_spheres([0, 0, 0], 1)
    inside = scene.interval([[-3, 0, 0], [0, 0, 0]], [1, 0, 0], t_max=3.5)
    assert inside["enter"].tolist() == [2, 0] and inside["leave"].tolist() == [3.5, 1]
    missed = scene.interval([0, 5, 0], [1, 0, 0])
    assert missed["enter"] == np.inf and missed["leave"] == -np.inf and missed["geometry"] == slabcast.MISS


def test_each_kind_of_geometry_is_hit_and_counted():
    scene = slabcast.Scene("cpu")
    ids = [
        scene.add_planes([0, 0, 1], -5),
        scene.add_spheres([0, 0, 0], 1),
        scene.add_boxes([4, -1, -1], [6, 1, 1]),
        scene.add_obbs([10, 0, 0], [1, 1, 1], np.eye(3)),
        scene.add_mesh([[14, -1, 0], [16, -1, 0], [15, 1, 0]]),
    ]
    assert ids == [0, 1, 2, 3, 4]
    hits = scene.closest([[x, 0, 9] for x in (30, 0, 5, 10, 15)], [0, 0, -1])
    assert hits["geometry"].tolist() == ids and hits["t"].tolist() == [14, 8, 8, 8, 9]
    info = scene.info
    assert (info.geometries, info.planes, info.spheres, info.boxes, info.obbs, info.triangles) == (5, 1, 1, 1, 1, 1)


def test_masks_culling_and_skips_drop_what_they_name():
    scene = slabcast.Scene("cpu")
    triangle = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    scene.add_mesh(triangle, mask=1)
    scene.add_mesh(triangle - [0, 0, 1], mask=2)
    down = np.array([0.25, 0.25, 5, 0, 0, 0, -1, np.inf], np.float32)
    assert scene.closest(down)["geometry"] == 0 and scene.closest(down, mask=2)["geometry"] == 1
    assert not scene.any(down, mask=4) and scene.any(down, mask=0xFFFFFFFF)
    assert not scene.any(down, cull="front") and scene.any(down, cull="back")
    hit = scene.closest(down)
    for skip in (hit, [0, 0], np.array([0, 0], np.int64)):
        assert scene.closest(down, skip=skip)["geometry"] == 1
    scene = slabcast.Scene("cpu")
    scene.add_mesh(np.concatenate([triangle + [9, 9, 9], triangle + [9, 9, 9], triangle]))
    hit = scene.closest(down)
    assert (hit["primitive"], hit["geometry"]) == (2, 0) and not scene.any(down, skip=hit)
    up = np.array([0.25, 0.25, -5, 0, 0, 0, 1, np.inf], np.float32)
    assert scene.closest(up)["normal"][2] == 1 and scene.closest(up, face_forward=True)["normal"][2] == -1


def test_invalid_rays_say_so(scene):
    rays = np.array([[np.nan, 0, 0, 0, 0, 0, 1, 9], [0, 0, 0, 0, 0, 0, 0, 9], [9, 9, 9, 0, 1, 0, 0, 9]], np.float32)
    hits = scene.closest(rays)
    assert hits["geometry"].tolist() == [slabcast.INVALID, slabcast.INVALID, slabcast.MISS]
    assert np.isinf(hits["t"]).all() and not scene.any(rays).any() and not scene.count(rays).any()


def test_contains_is_parity_for_meshes(scene):
    random = np.random.default_rng(3)
    points = random.uniform(-3.5, 3.5, (5, 400, 3)).astype(np.float32)
    vertices, faces = shapes.torus()
    flat = np.zeros((2000, 8), np.float32)
    flat[:, :3], flat[:, 4:7], flat[:, 7] = points.reshape(-1, 3), [0.3, 0.5, 0.8], np.inf
    expected = np.isfinite(shapes.hit_distances(vertices, faces, flat)[0]).sum(axis=1) % 2 == 1
    inside = scene.contains(points)
    assert inside.shape == (5, 400) and inside.dtype == np.bool_ and 0.02 < inside.mean() < 0.9
    assert (inside.ravel() == expected).all()
    assert scene.contains([2, 0, 0]) and not scene.contains([0, 0, 0]) and not scene.contains([np.nan, 0, 0])


def closed_meshes():
    """Scenes of triangles that are closed together, and a point inside each."""
    (v, f), (w, g) = shapes.torus(), shapes.box()
    half = len(f) // 2
    point = np.tile(v[:1], (5, 1))
    kinds = {
        "torus": [(v, f)],
        "soup": [(v[f].reshape(-1, 3), None)],
        "halves": [(v, f[:half]), (v, f[half:])],
        "turned": [(v, f[:, ::-1])],
        "two": [(v, f), (w + np.float32([9, 0, 0]), g)],
        "flat": [(v, f), (point, np.zeros((3, 3), np.uint32))],
    }
    for name, parts in kinds.items():
        scene = slabcast.Scene("cpu")
        for part in parts:
            scene.add_mesh(*part)
        yield name, scene


@pytest.mark.parametrize("n", [1, 300, 9000])
def test_contains_never_takes_a_closed_mesh_for_an_open_one(n):
    v, f = shapes.torus()
    random = np.random.default_rng(n)
    on_it = np.concatenate([v, v[f].mean(axis=1), (v[f[:, 0]] + v[f[:, 1]]) / 2])
    points = np.where(random.random((n, 1)) < 0.5, random.uniform(-4, 4, (n, 3)), random.permuted(on_it[:1]))
    points = np.concatenate(
        [points, on_it[random.integers(len(on_it), size=n)], [[np.nan] * 3, [np.inf, 0, 0], [9, 9, 9]]]
    )
    for name, scene in closed_meshes():
        assert scene.contains(points.astype("f4")).shape == (len(points),), name
        assert scene.contains([2, 0, 0]) and not scene.contains([0, 0, 0]), name


def open_meshes():
    """Vertices and triangles that are open, and triangles in whose middles a hole or something extra is."""
    (v, f), (w, g) = shapes.torus(), shapes.box()
    level = np.flatnonzero(np.abs(np.cross(v[f[:, 1]] - v[f[:, 0]], v[f[:, 2]] - v[f[:, 0]])[:, 2]) > 0.05)
    for k in np.random.default_rng(8).choice(level, size=3):
        yield v, np.delete(f, k, axis=0), f[[k]]
        yield v, np.concatenate([f, f[[k]]]), f[[k]]  # once more
    lid = (w[g][:, :, 2] == w[:, 2].max()).all(axis=1)
    yield w, g[~lid], g[lid]  # a box without a lid
    yield w, g[lid][:1], g[lid][:1]
    x, y = np.meshgrid(np.arange(5), np.arange(5))
    heights = np.stack([x, y, np.sin(x + y)], axis=-1).reshape(-1, 3).astype("f4")
    cells = np.array([k + 5 * j for j in range(4) for k in range(4)])[:, None]
    sheet = np.concatenate([cells + [0, 1, 6], cells + [0, 6, 5]]).astype("u4")
    yield heights, sheet, sheet


def crossings_above(vertices, faces, points):
    """By brute force in float64: how often lines along z leave triangles more than they enter."""
    x, y = np.moveaxis(vertices[faces][None, ..., :2].astype(float) - points[:, None, None, :2], -1, 0)
    edges = x * np.roll(y, -1, axis=-1) - y * np.roll(x, -1, axis=-1)
    return ((edges > 0).all(axis=-1).astype(int) - (edges < 0).all(axis=-1)).sum(axis=1)


@pytest.mark.parametrize("n", [1, 50, 20000])
def test_contains_refuses_an_open_mesh_and_names_a_point_that_tells(n):
    random = np.random.default_rng(n)
    for vertices, faces, odd in open_meshes():
        scene = slabcast.Scene("cpu")
        scene.add_mesh(vertices, faces)
        lines = vertices[odd].mean(axis=1).astype("f4")
        line, number = next((line, k) for line, k in zip(lines, crossings_above(vertices, faces, lines)) if k % 2)
        points = random.uniform(-90, -80, (n, 3)).astype("f4")
        where = int(random.integers(n)) // 5 * 5  # one of the queried ones
        points[where] = line
        points[where, 2] = random.uniform(-2, 2)
        told = rf"the line along z through points%s, below the mesh, the winding number is {number}\. Close it"
        for given, index in (
            (points, rf"\[{where}\]"),
            (points[None, :, None], rf"\[0, {where}, 0\]"),
            (points[where], ""),
        ):
            turned = ", or some of its faces are turned: on "
            with pytest.raises(slabcast.InvalidState, match="is open" + turned + told % index):
                scene.contains(given)
            with pytest.raises(slabcast.InvalidState, match="is open: on " + told % index):
                scene.contains(given, mode="parity")


def test_a_missing_wall_along_z_changes_no_answer():
    v, f = shapes.box()
    wall = (v[f][:, :, 0] == v[:, 0].max()).all(axis=1)
    points = np.random.default_rng(4).uniform(v.min() - 1, v.max() + 1, (2000, 3)).astype("f4")
    whole, open_ = slabcast.Scene("cpu"), slabcast.Scene("cpu")
    whole.add_mesh(v, f)
    open_.add_mesh(v, f[~wall])
    assert wall.sum() == 2 and whole.contains(points).any()
    assert (open_.contains(points) == whole.contains(points)).all()


def test_nothing_is_inside_of_nothing():
    v, f = shapes.torus()
    empty = [slabcast.Scene("cpu") for _ in range(6)]
    empty[1].add_mesh(np.empty((0, 3), "f4"), np.empty((0, 3), "u4"))
    empty[2].add_mesh(v, np.empty((0, 3), "u4"))
    empty[3].disable(empty[3].add_mesh(v, f))
    empty[4].remove(empty[4].add_mesh(v, f))
    empty[5].add_mesh(v, f, mask=2)
    for scene in empty:
        for points in (v, [2, 0, 0], v.reshape(2, -1, 1, 3), np.empty((0, 3)), [np.nan, 0, 0]):
            inside = scene.contains(points, mask=4)
            assert inside.shape == np.shape(points)[:-1] and not inside.any()
    empty[3].enable(0)
    assert empty[3].contains([2, 0, 0]) and empty[5].contains([2, 0, 0], mask=2)


@pytest.mark.parametrize("as_id", [int, np.int64, np.uint32, lambda k: np.array(k)])
def test_what_was_removed_is_not_asked_for_what_lies_inside(as_id):
    v, f = shapes.torus()
    model, scene = slabcast.Scene("cpu"), slabcast.Scene("cpu")
    model.add_spheres([0, 0, 0], 1)
    mesh, ball = scene.add_mesh(v, f), scene.add_spheres([9, 9, 9], 1)
    placed = [scene.add_instances(model, np.tile(np.eye(4), (n, 1, 1))) for n in (1, 3, 2)]
    for gone, left in ((placed[1], "2 geometries, 3 instances"), (placed[0], "2 geometries, 2 instances")):
        scene.remove(as_id(gone))
        assert left in repr(scene)
        assert scene.contains([[2, 0, 0], [0, 0, 0], [9, 9, 9.5]]).all()  # within the model's ball, or within both
    scene.remove(as_id(placed[2]))
    assert scene.contains([[2, 0, 0], [0, 0, 0], [9, 9, 9.5]]).tolist() == [True, False, True]
    scene.remove(as_id(ball))
    assert scene.contains([[2, 0, 0], [0, 0, 0]]).tolist() == [True, False] and "1 geometries," in repr(scene)
    with pytest.raises(slabcast.InvalidArgument, match=rf"geometry {ball} is none of the scene's: it has \[{mesh}\]"):
        scene.update_mesh(ball, v)


def test_contains_takes_solids_and_meshes_together():
    scene = slabcast.Scene("cpu")
    scene.add_spheres([[0, 0, 0], [5, 0, 0]], [1, 2])
    scene.add_boxes([9, 0, 0], [10, 1, 1])
    assert scene.contains([[0, 0, 0.5], [0, 0, 1.5], [4, 1, 0], [9, 0, 1]]).tolist() == [True, False, True, True]
    mixed = slabcast.Scene("cpu")
    v, f = shapes.box()
    middle = v.mean(axis=0)
    mixed.add_spheres(middle, 0.25)
    mixed.add_mesh(v, f)
    mixed.add_boxes([-np.inf, 9, 9], [np.inf, 10, 10])
    points = np.stack([middle, v[0] * 0.9 + middle * 0.1, v[0] * 1.1 - middle * 0.1, [77, 9.5, 9.5], [77, 8, 9.5]])
    assert mixed.contains(points).tolist() == [True, True, False, True, False]
    assert mixed.contains(points, mode="parity").tolist() == [False, True, False, True, False]
    mixed.add_boxes([-np.inf, -np.inf, -np.inf], [np.inf, np.inf, -9])  # holds what is below all others
    assert mixed.contains(np.concatenate([points, [[0, 0, -9.5]]])).tolist() == [True, True, False, True, False, True]
    mixed.add_mesh(v + 20, f[~(v[f][:, :, 2] == v[:, 2].max()).all(axis=1)])
    with pytest.raises(slabcast.InvalidState, match=r"\[1\], below the mesh, the winding number is -1\."):
        mixed.contains([[77, 9.5, 9.5], middle + 20])
    with pytest.raises(slabcast.InvalidArgument, match="mode is 'xor'"):
        mixed.contains(points, mode="xor")


def test_parts_that_overlap_are_one():
    """Closed parts with wild numbers of triangles, placed at random: as each part alone has it."""
    random = np.random.default_rng(11)
    v, f = shapes.torus()
    model, scene = slabcast.Scene("cpu"), slabcast.Scene("cpu")
    model.add_mesh(v, f)
    points = random.uniform(-4, 4, (4000, 3)).astype("f4")
    counts = np.zeros(len(points), int)
    for k in range(6):
        place = np.eye(4)
        place[:3, :3] = np.linalg.qr(random.normal(size=(3, 3)))[0]
        place[:3, 3] = random.uniform(-1, 1, 3)
        alone = slabcast.Scene("cpu")
        if k % 2:
            moved = (v @ place[:3, :3].T + place[:3, 3]).astype("f4")
            moved_faces = f if np.linalg.det(place[:3, :3]) > 0 else f[:, ::-1]  # mirrored
            scene.add_mesh(moved, moved_faces)
            alone.add_mesh(moved, moved_faces)
        else:
            scene.add_instances(model, place)
            alone.add_instances(model, place)
        counts += alone.contains(points)
    assert len(np.unique(counts)) > 3
    assert (scene.winding(points) == counts).all()
    assert (scene.contains(points) == (counts > 0)).all()
    assert (scene.contains(points, mode="parity") == (counts % 2 == 1)).all()
    distance, signed = scene.closest_distance(points), scene.signed_distance(points)
    assert (signed == np.where(counts > 0, -distance, distance)).all()
    assert not scene.check_points("signed_distance", points[:200], signed[:200]).mismatches
    near = scene.signed_distance(points, radius=0.05)
    assert (near == np.where(distance <= 0.05, signed, np.copysign(np.inf, signed))).all()


def test_contains_refuses_an_open_model_of_instances():
    v, f = shapes.box()
    lid, scene = slabcast.Scene("cpu"), slabcast.Scene("cpu")
    lid.add_mesh(v, f[(v[f][:, :, 2] == v[:, 2].max()).all(axis=1)])
    scene.add_mesh(v, f)
    scene.add_instances(lid, np.eye(4))
    with pytest.raises(slabcast.InvalidState, match="the mesh of an instance is open, or some of its faces are turned"):
        scene.contains([9, 9, 9])


def test_empty_scene_is_missed(rays):
    scene = slabcast.Scene("cpu")
    assert (scene.closest(rays)["geometry"] == slabcast.MISS).all()
    assert not scene.contains(rays[:, :3]).any()
    assert len(scene.all(rays).hits) == 0


@pytest.mark.parametrize("build", ["flat", "fast", "high"])
@pytest.mark.parametrize("traversal", ["packets", "single", "interleaved", "sorted"])
def test_no_build_or_traversal_changes_an_answer(scene, rays, build, traversal):
    other = slabcast.Scene("cpu", build, traversal=traversal, threads=1)
    other.add_mesh(*shapes.torus())
    assert other.closest(rays).tobytes() == scene.closest(rays).tobytes()


def test_skipped_triangles_keep_the_numbers_of_the_others():
    scene = slabcast.Scene("cpu")
    triangle = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.float32)
    soup = np.concatenate([triangle * np.nan, triangle])
    scene.add_mesh(soup, skip_invalid=True)
    scene.add_boxes([0, 0, 0], [1, 1, 1])
    assert scene.skipped == (1, 0)
    assert scene.closest([0.25, 0.25, 2], [0, 0, -1], mask=1)["t"] == 1
    assert scene.count([0.25, 0.25, -2], [0, 0, 1]) == 2
    hits = scene.all([0.25, 0.25, -2], [0, 0, 1]).hits
    assert hits[["geometry", "primitive"]].tolist() == [(0, 1), (1, 0)]


def test_devices_begin_with_the_processor():
    first = slabcast.devices()[0]
    assert first.type == "cpu" and first.platform == "Slabcast processor" and first.compute_units > 0
    assert slabcast.Scene(0).device == first
    assert first.name in repr(slabcast.Scene("cpu"))


def test_version_is_the_packages():
    from importlib import metadata

    assert slabcast.__version__ == metadata.version("slabcast")
