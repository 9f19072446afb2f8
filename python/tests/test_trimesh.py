"""The ray interface of trimesh's meshes."""

import copy
import pickle

import numpy as np
import pytest

trimesh = pytest.importorskip("trimesh")

import slabcast.trimesh  # noqa: E402
from slabcast.trimesh import RayMeshIntersector  # noqa: E402

Z = np.array([0.0, 0.0, 1.0])


@pytest.fixture
def ball():
    return trimesh.creation.icosphere(subdivisions=3)


def rays_at(mesh, count, seed):
    random = np.random.default_rng(seed)
    origins = random.uniform(-2, 2, (count, 3)) * mesh.extents + mesh.centroid
    targets = mesh.bounds[0] + random.random((count, 3)) * mesh.extents
    return origins, (targets - origins) * random.uniform(0.01, 100, (count, 1))


def trimeshs_own(mesh):
    return trimesh.ray.ray_triangle.RayMeshIntersector(mesh)


def pairs(triangles, rays):
    return sorted(zip(rays.tolist(), triangles.tolist()))


@pytest.fixture
def has_rtree():
    pytest.importorskip("rtree")


def test_hits_are_those_of_trimeshs_own(ball, has_rtree):
    origins, directions = rays_at(ball, 400, 1)
    ours, own = RayMeshIntersector(ball), trimeshs_own(ball)
    assert pairs(*ours.intersects_id(origins, directions)) == pairs(*own.intersects_id(origins, directions))
    assert (ours.intersects_first(origins, directions) == own.intersects_first(origins, directions)).all()
    assert (ours.intersects_any(origins, directions) == own.intersects_any(origins, directions)).all()
    points = np.random.default_rng(2).uniform(-1.1, 1.1, (500, 3))
    assert (ours.contains_points(points) == own.contains_points(points)).all()


@pytest.mark.parametrize("multiple_hits", [False, True])
def test_locations_lie_on_planes_and_rays_in_float64(ball, multiple_hits):
    ball.apply_transform(trimesh.transformations.random_rotation_matrix(np.array([0.1, 0.2, 0.3])))
    ball.apply_scale(3e-3)
    ball.apply_translation([1e3, -2e3, 5e2])
    origins, directions = rays_at(ball, 300, 3)
    locations, rays, triangles = RayMeshIntersector(ball).intersects_location(origins, directions, multiple_hits)
    assert len(locations) == len(rays) == len(triangles) > 50
    assert (locations.dtype, rays.dtype, triangles.dtype) == (np.float64, np.int64, np.int64)
    normals, corners = ball.face_normals[triangles], ball.triangles[triangles, 0]
    assert np.abs(np.einsum("ij,ij->i", locations - corners, normals)).max() < 1e-11
    along = np.cross(locations - origins[rays], trimesh.unitize(directions[rays]))
    assert np.abs(along).max() < 1e-11
    if not multiple_hits:
        assert (np.diff(rays) > 0).all()


def test_hits_are_sorted_by_the_ray_and_along_it(ball):
    origins, directions = rays_at(ball, 300, 4)
    locations, rays, _ = RayMeshIntersector(ball).intersects_location(origins, directions)
    assert (np.diff(rays) >= 0).all() and len(set(rays)) < len(rays)
    t = np.einsum("ij,ij->i", locations - origins[rays], directions[rays])
    assert (np.diff(t)[np.diff(rays) == 0] > 0).all() and (t >= 0).all()


def test_shapes_and_dtypes(ball):
    ray = RayMeshIntersector(ball)
    origins, directions = np.array([[0, 0, 0], [5, 5, 5]]), np.array([[1, 2, 9], [0, 0, 1]])
    triangles, rays = ray.intersects_id(origins, directions)
    assert triangles.shape == rays.shape == (1,) and triangles.dtype == rays.dtype == np.int64
    assert len(ray.intersects_id(origins, directions, return_locations=True)) == 3
    first, hit = ray.intersects_first(origins, directions), ray.intersects_any(origins, directions)
    assert first.tolist() == [triangles[0], -1] and first.dtype == np.int64
    assert hit.tolist() == [True, False] and hit.dtype == np.bool_
    for nothing in ([], np.empty((0, 3))):
        assert ray.intersects_first(nothing, nothing).shape == (0,)
        assert ray.contains_points(nothing).shape == (0,)
        locations, rays, triangles = ray.intersects_location(nothing, nothing)
        assert locations.shape == (0, 3) and rays.shape == triangles.shape == (0,)


def test_max_hits_bounds_the_hits_of_a_ray(ball):
    ray = RayMeshIntersector(trimesh.util.concatenate([ball.copy().apply_translation([0, 0, 3 * k]) for k in range(5)]))
    for bound, hits in ((100, 10), (3, 3), (1, 1)):
        triangles, rays, locations = ray.intersects_id([[0.01, 0.02, -9]], [Z], max_hits=bound, return_locations=True)
        assert len(triangles) == hits and (np.diff(locations[:, 2]) > 0).all()
    assert len(ray.intersects_id([[0.01, 0.02, -9]], [Z], multiple_hits=False)[0]) == 1
    for bound in (0, -1):
        for several in (False, True):
            found = ray.intersects_location([[0.01, 0.02, -9]], [Z], multiple_hits=several, max_hits=bound)
            assert [array.shape for array in found] == [(0, 3), (0,), (0,)]
    assert len(ray.intersects_id([[0.01, 0.02, -9]], [Z], max_hits=np.int64(3))[0]) == 3


def test_rays_through_vertices_and_edges_hit_once(ball):
    for mesh in (ball, trimesh.creation.box()):
        ray = RayMeshIntersector(mesh)
        targets = np.concatenate(
            [mesh.vertices, mesh.triangles.mean(axis=1), mesh.vertices[mesh.edges_unique].mean(axis=1)]
        )
        origins = np.zeros_like(targets)
        assert ray.intersects_any(origins, targets).all() and (ray.intersects_first(origins, targets) >= 0).all()
        _, rays, _ = ray.intersects_location(origins, targets)
        assert (np.bincount(rays, minlength=len(targets)) == 1).all()


def test_a_silhouette_is_seen_and_keeps_its_parity():
    ray = RayMeshIntersector(trimesh.creation.box())
    origins = np.array([[x, y, -3] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    directions = np.tile(Z, (4, 1))
    assert ray.intersects_any(origins, directions).all() and (ray.intersects_first(origins, directions) >= 0).all()
    _, rays = ray.intersects_id(origins, directions)
    assert (np.bincount(rays, minlength=4) % 2 == 0).all()


@pytest.mark.parametrize("scale_to_box", [False, True])
@pytest.mark.parametrize("size", [1e-20, 1e-9, 1.0, 1e9, 1e25])
def test_no_size_of_mesh_or_direction_matters(size, scale_to_box):
    box = trimesh.creation.box(extents=[size] * 3)
    ray = RayMeshIntersector(box, scale_to_box=scale_to_box)
    for length in (1e-300, 1e-200, 1e-30, 1.0, 1e30, 1e200, 1e300):
        for away in (0.0, 1e6):
            origin = np.array([0.1, 0.2, -away]) * size
            locations, rays, _ = ray.intersects_location([origin], [Z * length], multiple_hits=False)
            hit = [0.1 * size, 0.2 * size, -0.5 * size if away else 0.5 * size]
            assert rays.tolist() == [0] and np.allclose(locations, [hit], rtol=1e-9, atol=0)
    assert ray.contains_points([[0, 0, 0.4 * size], [0, 0, 0.6 * size]]).tolist() == [True, False]


@pytest.mark.parametrize("size", [1e-300, 1e150])
def test_meshes_whose_products_no_double_holds_are_hit(size):
    box = trimesh.creation.box()
    ray = RayMeshIntersector(trimesh.Trimesh(box.vertices * size, box.faces, process=False))
    origins = np.array([[0.1, 0.2, 0], [0.1, 0.2, -1e4]]) * size
    locations, rays, _ = ray.intersects_location(origins, [Z, Z], multiple_hits=False)
    assert rays.tolist() == [0, 1] and np.allclose(locations[:, 2] / size, [0.5, -0.5], rtol=1e-5)
    assert ray.contains_points([[0, 0, 0.4 * size], [0, 0, 0.6 * size]]).tolist() == [True, False]


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_broken_vertex_hides_no_other_triangles(wrong):
    box = trimesh.creation.box()
    left = np.flatnonzero((box.faces != 0).all(axis=1))
    outward = box.triangles[left].mean(axis=1)
    vertices = box.vertices.copy()
    vertices[0] = wrong
    ray = RayMeshIntersector(trimesh.Trimesh(vertices, box.faces, process=False))
    assert (ray.intersects_first(2 * outward, -outward) == left).all()


@pytest.mark.parametrize("away", [1e3, 1e5, 1e8])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_rays_from_afar_hit_what_they_pass_through(ball, offset, away):
    """float32 about the mesh is off by 2^-25 of the way to it, which is three meshes from 1e8 away."""
    ball.apply_translation([offset, -offset / 3, 7])
    random = np.random.default_rng(14)
    faces = random.integers(0, len(ball.faces), 500)
    inside = random.dirichlet([3, 3, 3], 500)
    targets = np.einsum("nk,nkc->nc", inside, ball.triangles[faces])
    ways = -ball.face_normals[faces] + random.uniform(-0.3, 0.3, (500, 3))
    origins = targets - away * ways
    ray, own = RayMeshIntersector(ball), 1e-15 * (away + offset)  # what origins are rounded by
    assert (ray.intersects_first(origins, ways) == faces).mean() > (0.98 if own < 1e-6 else 0.9)
    for several in (False, True):
        locations, rays, triangles = ray.intersects_location(origins, ways, several)
        assert (np.bincount(rays, minlength=500) == (2 if several else 1)).all()
        weights = trimesh.triangles.points_to_barycentric(ball.triangles[triangles], locations)
        assert weights.min() > -1e-5 - 100 * own
        first = np.append(True, np.diff(rays) > 0)
        assert np.abs(locations[first] - targets).max() < 1e-5 + 100 * own
    assert ray.intersects_any(origins, ways).all() and not ray.intersects_any(origins, -ways).any()


def test_rays_from_near_and_afar_go_together(ball):
    origins, directions = rays_at(ball, 300, 15)
    ray = RayMeshIntersector(ball)
    near = ray.intersects_location(origins, directions)
    for other in ([1e6, 0, 0], [1e300, 0, 0], [np.inf, 0, 0], [np.nan, 0, 0]):
        among = ray.intersects_location(np.append(origins, [other], axis=0), np.append(directions, [Z], axis=0))
        assert (among[1] == near[1]).all() and (among[2] == near[2]).all()
        assert np.abs(among[0] - near[0]).max() < 1e-12


def test_float32_coordinates_of_a_mesh_at_zero_are_kept():
    for end in np.float32(0.7) + np.arange(4, dtype=np.float32) * np.float32(2**-24):
        box = trimesh.creation.box(bounds=[[-1, -1, -1], [end] * 3])
        points = [[np.nextafter(end, np.float32(to)), 0.1, 0.2] for to in (0, 1)]
        assert RayMeshIntersector(box).contains_points(points).tolist() == [True, False]


def test_invalid_rays_hit_nothing(ball):
    ray = RayMeshIntersector(ball)
    origins, directions = np.zeros((3, 3)), np.array([[0, 0, 0], [np.nan, 0, 1], [np.inf, 0, 1]])
    assert ray.intersects_first(origins, directions).tolist() == [-1] * 3
    assert not ray.intersects_any(origins, directions).any()
    assert len(ray.intersects_id(origins, directions)[0]) == 0


def test_shapes_that_do_not_fit_are_refused(ball):
    ray = RayMeshIntersector(ball)
    for origins, directions in (
        (np.zeros((2, 3)), np.zeros((3, 3))),
        (np.zeros((2, 2)), np.zeros((2, 2))),
        (np.zeros(3), np.zeros(3)),
    ):
        for call in (ray.intersects_id, ray.intersects_first, ray.intersects_any, ray.intersects_location):
            with pytest.raises(ValueError, match="ray_origins"):
                call(origins, directions)
    for points in (np.zeros(3), np.zeros((2, 2)), np.zeros((2, 3, 3))):
        with pytest.raises(ValueError, match="points"):
            ray.contains_points(points)


def test_changes_of_the_mesh_are_followed(ball):
    ray = RayMeshIntersector(ball)
    origins, directions = [[0.0, 0, -9]], [Z]
    assert ray.intersects_any(origins, directions).all()
    ball.apply_translation([5, 0, 0])
    assert not ray.intersects_any(origins, directions).any()
    ball.vertices[:, 0] -= 5
    assert ray.intersects_any(origins, directions).all()
    ball.update_faces(np.zeros(len(ball.faces), bool))
    assert not ray.intersects_any(origins, directions).any()
    assert ray.intersects_first(origins, directions).tolist() == [-1] and not ray.contains_points([[0, 0, 0]]).any()


def test_copies_and_pickles_cast(ball):
    origins, directions = rays_at(ball, 50, 5)
    ray = RayMeshIntersector(ball, scale_to_box=False)
    expected = ray.intersects_first(origins, directions)
    for other in (pickle.loads(pickle.dumps(ray)), copy.copy(ray), copy.deepcopy(ray)):
        assert (other.intersects_first(origins, directions) == expected).all()


def test_contains_is_exact_on_a_grid_through_the_vertices():
    """Points whose rays along an axis pass through edges and vertices."""
    box = trimesh.creation.box(extents=[2, 2, 2]).subdivide().subdivide()
    grid = np.stack(np.meshgrid(*[np.linspace(-1.5, 1.5, 13)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    grid = grid[np.abs(np.abs(grid).max(axis=1) - 1) > 1e-9]
    assert (RayMeshIntersector(box).contains_points(grid) == (np.abs(grid).max(axis=1) < 1)).all()


def test_contains_forgives_a_hole(ball):
    broken = ball.copy()
    broken.update_faces(np.arange(len(broken.faces)) > 12)
    assert not broken.is_watertight
    points = np.random.default_rng(6).uniform(-1.2, 1.2, (2000, 3))
    right = RayMeshIntersector(broken).contains_points(points) == RayMeshIntersector(ball).contains_points(points)
    assert right.mean() > 0.97


def test_use_makes_it_trimeshs_own(monkeypatch):
    # So that pytest puts back what use() replaces.
    monkeypatch.setattr(trimesh.proximity, "closest_point", trimesh.proximity.closest_point)
    monkeypatch.setattr(trimesh.ray, "has_embree", trimesh.ray.has_embree)
    if trimesh.ray.has_embree:
        monkeypatch.setattr(trimesh.ray.ray_pyembree, "RayMeshIntersector", None)
    else:
        monkeypatch.setattr(trimesh.ray, "ray_pyembree", None)
        monkeypatch.setitem(__import__("sys").modules, "trimesh.ray.ray_pyembree", None)
    slabcast.trimesh.use()
    mesh = trimesh.creation.box()
    assert isinstance(mesh.ray, RayMeshIntersector)
    assert mesh.contains([[0, 0, 0], [2, 0, 0]]).tolist() == [True, False]
    assert isinstance(mesh.copy().ray, RayMeshIntersector)
    assert isinstance(pickle.loads(pickle.dumps(mesh)).ray, RayMeshIntersector)
    assert not isinstance(trimesh.Trimesh(mesh.vertices, mesh.faces, use_embree=False).ray, RayMeshIntersector)


@pytest.fixture
def put_back(monkeypatch):
    """Puts back what use() replaces."""
    monkeypatch.setattr(trimesh.proximity, "closest_point", trimesh.proximity.closest_point)
    monkeypatch.setattr(trimesh.ray, "has_embree", trimesh.ray.has_embree)
    if trimesh.ray.has_embree:
        former = trimesh.ray.ray_pyembree.RayMeshIntersector
        monkeypatch.setattr(trimesh.ray.ray_pyembree, "RayMeshIntersector", former)
    else:
        monkeypatch.setattr(trimesh.ray, "ray_pyembree", trimesh.ray.ray_pyembree)
        monkeypatch.setitem(__import__("sys").modules, "trimesh.ray.ray_pyembree", None)


MADE = [
    trimesh.creation.box,
    lambda: trimesh.creation.icosphere().subdivide(),
    trimesh.primitives.Sphere,
    lambda: trimesh.util.concatenate([trimesh.creation.box(), trimesh.creation.cylinder(1, 2)]),
]


@pytest.mark.parametrize("make", MADE)
def test_use_takes_meshes_that_exist(put_back, make):
    mesh, bystander = make(), trimesh.creation.box()
    held, packed = mesh.ray, pickle.dumps(mesh)
    assert not isinstance(held, RayMeshIntersector)
    origins, directions = rays_at(mesh, 200, 8)
    had_embree = trimesh.ray.has_embree
    if had_embree:  # else it needs rtree
        former = held.intersects_first(origins, directions)
    slabcast.trimesh.use()
    expected = RayMeshIntersector(mesh).intersects_first(origins, directions)
    assert (expected >= 0).sum() > 20
    if trimesh.ray.ray_pyembree is not slabcast.trimesh:
        assert (expected == former).mean() > 0.98
    rays = [mesh.ray, held, mesh.copy().ray]
    if had_embree:  # a pickle names its class, of which that of embreex is no more there
        rays.append(pickle.loads(packed).ray)
    for ray in rays:
        assert type(ray) is RayMeshIntersector
        assert (ray.intersects_first(origins, directions) == expected).all()
    assert held is mesh.ray and bystander.contains([[0, 0, 0], [2, 0, 0]]).tolist() == [True, False]
    slabcast.trimesh.use()  # once more changes nothing
    assert type(mesh.ray) is RayMeshIntersector


def proximity_of(mesh, points, surface, normals):
    """The results of trimesh.proximity, by name. Ties of triangles may go either way, so no triangle is among them."""
    proximity, query = trimesh.proximity, trimesh.proximity.ProximityQuery(mesh)
    on_surface, distance, _ = query.on_surface(points)
    inward = {"normals": normals}
    return {
        "on_surface": on_surface,
        "distance": distance,
        "vertex": query.vertex(points)[0],
        "signed_distance": query.signed_distance(points),
        "longest_ray": proximity.longest_ray(mesh, surface - 1e-4 * normals, -normals),
        "thickness": proximity.thickness(mesh, surface, **inward),
        "thickness by rays": proximity.thickness(mesh, surface - 1e-4 * normals, method="ray", **inward),
        "reach": proximity.thickness(mesh, surface, exterior=True, **inward),
        "max_tangent_sphere": proximity.max_tangent_sphere(mesh, surface, inwards=True, **inward)[1],
    }


@pytest.mark.parametrize("make", MADE)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_use_answers_points_as_trimesh_does(put_back, make, offset):
    pytest.importorskip("rtree")
    pytest.importorskip("scipy")
    mesh = make().copy()
    mesh.apply_translation([offset, 0, 0])
    random = np.random.default_rng(11)
    points = random.uniform(*mesh.bounds + [[-0.5] * 3, [0.5] * 3], (300, 3))
    surface, faces = trimesh.sample.sample_surface(mesh, 60, seed=12)
    asked = mesh, points, surface, mesh.face_normals[faces]
    own = proximity_of(*asked)
    slabcast.trimesh.use()
    assert trimesh.proximity.closest_point is slabcast.trimesh.closest_point
    found = proximity_of(*asked)
    # Two places that are equally far within float32's rounding may change places.
    equal = np.isclose(found.pop("on_surface"), own.pop("on_surface"), rtol=1e-5, atol=1e-6).all(axis=1)
    assert equal.mean() > 0.98
    for name, value in found.items():
        assert np.allclose(value, own[name], rtol=1e-5, atol=1e-6, equal_nan=True), name


def test_a_million_points_take_the_memory_of_parts(ball):
    import tracemalloc

    points = np.random.default_rng(13).uniform(-2, 2, (1_000_000, 3))
    slabcast.trimesh.closest_point(ball, points[:10])
    tracemalloc.start()
    closest, distance, triangles = slabcast.trimesh.closest_point(ball, points)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    returned = closest.nbytes + distance.nbytes + triangles.nbytes
    assert peak < returned + 180 * len(points)  # trimesh's own takes a box and candidates for each point
    sample = slice(None, None, 50_000)
    assert np.allclose(distance[sample], trimesh.proximity.closest_point_naive(ball, points[sample])[1], atol=1e-6)


def test_use_leaves_those_that_asked_for_trimeshs_own(put_back):
    if not trimesh.ray.has_embree:
        pytest.skip("without embreex nothing tells them from others")
    mesh = trimesh.creation.box()
    own = trimesh.Trimesh(mesh.vertices, mesh.faces, use_embree=False)
    slabcast.trimesh.use()
    assert not isinstance(own.ray, RayMeshIntersector)


@pytest.mark.parametrize("offset", [0.0, 1e6, -3e8])
@pytest.mark.parametrize("multiple_hits", [False, True])
def test_locations_are_those_of_planes_and_lines_in_float64(ball, offset, multiple_hits):
    """Against a solution of each plane and line by itself, far from the origin too."""
    ball.apply_translation([offset, 0.5 * offset, 7])
    origins, directions = rays_at(ball, 300, 9)
    locations, rays, triangles = RayMeshIntersector(ball).intersects_location(origins, directions, multiple_hits)
    assert len(locations) > 50
    for location, ray, triangle in list(zip(locations, rays, triangles))[::7]:
        a, b, c = ball.vertices[ball.faces[triangle]]
        d = directions[ray] / np.abs(directions[ray]).max()
        weights = np.linalg.solve(np.stack([b - a, c - a, -d], axis=1), origins[ray] - a)
        assert np.abs(location - (origins[ray] + weights[2] * d)).max() < 1e-11 * (1 + abs(offset))


def test_wrong_normals_of_faces_move_no_location(ball):
    wrong = ball.copy()
    wrong.face_normals = np.roll(ball.face_normals, 7, axis=0)
    origins, directions = rays_at(ball, 50, 7)
    located = [RayMeshIntersector(mesh).intersects_location(origins, directions) for mesh in (ball, wrong)]
    assert all((a == b).all() for a, b in zip(*located))
