"""The interface of Open3D's RaycastingScene: beside Open3D's own where it is installed, else by its documents."""

import types

import numpy as np
import pytest

import shapes
import slabcast
from slabcast.open3d import RaycastingScene

try:
    import open3d
except ImportError:
    open3d = None


def host(value):
    return value.numpy() if hasattr(value, "numpy") else value


@pytest.fixture
def scene():
    made = RaycastingScene()
    assert made.add_triangles(*shapes.torus()) == 0
    return made


def rays_of(count, seed):
    given = shapes.rays_around(shapes.torus()[0], count, seed)
    return np.concatenate([given[:, :3], given[:, 4:7]], axis=1)


CAST = {
    "t_hit": (np.float32, ()),
    "geometry_ids": (np.uint32, ()),
    "primitive_ids": (np.uint32, ()),
    "primitive_uvs": (np.float32, (2,)),
    "primitive_normals": (np.float32, (3,)),
}
LIST = {
    "ray_splits": np.uint32,
    "ray_ids": np.uint32,
    "t_hit": np.float32,
    "geometry_ids": np.uint32,
    "primitive_ids": np.uint32,
    "primitive_uvs": np.float32,
}


@pytest.mark.parametrize("shape", [(60,), (6, 10), (2, 3, 10), (0,)])
def test_shapes_and_dtypes(scene, shape):
    rays = rays_of(int(np.prod(shape)), 1).reshape(*shape, 6)
    answer = scene.cast_rays(rays)
    assert answer.keys() == CAST.keys()
    for name, (dtype, tail) in CAST.items():
        assert host(answer[name]).dtype == dtype and host(answer[name]).shape == (*shape, *tail)
    for array, dtype in (
        (scene.test_occlusions(rays), np.bool_),
        (scene.count_intersections(rays), np.int32),
        (scene.compute_occupancy(rays[..., :3].copy()), np.float32),
    ):
        assert host(array).dtype == dtype and host(array).shape == shape
    listed = {name: host(array) for name, array in scene.list_intersections(rays).items()}
    assert listed.keys() == LIST.keys()
    hits = host(scene.count_intersections(rays)).sum()
    for name, dtype in LIST.items():
        tail = (2,) if name == "primitive_uvs" else ()
        length = rays.size // 6 + 1 if name == "ray_splits" else hits
        assert listed[name].dtype == dtype and listed[name].shape == (length, *tail)


def test_answers_are_those_of_brute_force(scene):
    rays = rays_of(300, 2)
    whole = np.zeros((300, 8), np.float32)
    whole[:, :3], whole[:, 4:7], whole[:, 7] = rays[:, :3], rays[:, 3:], np.inf
    t, near = shapes.hit_distances(*shapes.torus(), whole)
    clear = (near > 1e-5).all(axis=1)
    answer = {name: host(array) for name, array in scene.cast_rays(rays).items()}
    struck = np.isfinite(t).any(axis=1)
    assert np.allclose(answer["t_hit"][clear], t.min(axis=1)[clear], rtol=1e-5)
    assert (answer["primitive_ids"][clear & struck] == t.argmin(axis=1)[clear & struck]).all()
    for name in ("primitive_ids", "geometry_ids"):
        assert (answer[name][clear & ~struck] == RaycastingScene.INVALID_ID).all()
    assert (host(scene.count_intersections(rays))[clear] == np.isfinite(t).sum(axis=1)[clear]).all()
    assert (host(scene.test_occlusions(rays)) == np.isfinite(answer["t_hit"])).all()
    bounded = host(scene.test_occlusions(rays, tnear=0.5, tfar=2.0))
    assert (bounded[clear] == ((t >= 0.5) & (t <= 2.0) & np.isfinite(t)).any(axis=1)[clear]).all()


def test_lists_belong_to_their_rays(scene):
    rays = rays_of(300, 3)
    listed = {name: host(array) for name, array in scene.list_intersections(rays.reshape(30, 10, 6)).items()}
    assert listed["ray_splits"][0] == 0 and listed["ray_splits"][-1] == len(listed["t_hit"])
    assert (listed["ray_ids"] == np.repeat(np.arange(300), np.diff(listed["ray_splits"].astype(int)))).all()
    vertices, faces = shapes.torus()
    corners = vertices[faces[listed["primitive_ids"]]]
    u, v = listed["primitive_uvs"][:, :1], listed["primitive_uvs"][:, 1:]
    points = (1 - u - v) * corners[:, 0] + u * corners[:, 1] + v * corners[:, 2]
    own = rays[listed["ray_ids"]]
    assert np.abs(own[:, :3] + listed["t_hit"][:, None] * own[:, 3:] - points).max() < 1e-4
    same = np.diff(listed["ray_ids"].astype(int)) == 0
    assert (np.diff(listed["t_hit"])[same] >= 0).all()


def test_normals_of_closest_points_far_away():
    """Float32 is a metre apart there: normals come from the corners as they were given."""
    vertices, indices = shapes.torus()
    near, far = np.float64(vertices)[indices], np.float64(vertices) + [1e7, -3e6, 50.0]
    scene = RaycastingScene()
    scene.add_triangles(types.SimpleNamespace(vertices=far, triangles=indices))
    found = scene.compute_closest_points(np.float32(far[::7] + 0.5))
    across = np.cross(near[:, 1] - near[:, 0], near[:, 2] - near[:, 0])[host(found["primitive_ids"])]
    expected = across / np.linalg.norm(across, axis=-1, keepdims=True)
    assert np.abs(host(found["primitive_normals"]) - expected).max() < 1e-6


def test_occupancy_is_inside(scene):
    points = np.array([[[2, 0, 0], [0, 0, 0]], [[0, -2.5, 0.1], [9, 9, 9]]], np.float32)
    assert host(scene.compute_occupancy(points)).tolist() == [[1, 0], [1, 0]]
    assert host(scene.compute_occupancy(points, nsamples=3)).tolist() == [[1, 0], [1, 0]]


def test_meshes_are_added_at_any_time(scene):
    down = np.array([[2, 0.1, 40, 0, 0, -1], [20.25, 20.5, 40, 0, 0, -1]], np.float32)
    assert host(scene.cast_rays(down)["geometry_ids"]).tolist() == [0, RaycastingScene.INVALID_ID]
    assert scene.add_triangles(shapes.box()[0] + np.float32(20), shapes.box()[1]) == 1
    assert host(scene.cast_rays(down)["geometry_ids"]).tolist() == [0, 1]
    assert scene.add_triangles(vertex_positions=shapes.box()[0], triangle_indices=shapes.box()[1]) == 2
    legacy = types.SimpleNamespace(vertices=shapes.box()[0].tolist(), triangles=shapes.box()[1].astype("i4"))
    for mesh, at in ((legacy, 3), (types.SimpleNamespace(vertex={}, triangle={}), 4)):
        assert scene.add_triangles(mesh) == at
    for wrong in (types.SimpleNamespace(points=[]), 7, "box.ply"):
        with pytest.raises(slabcast.InvalidArgument, match=f"mesh is a {type(wrong).__name__}; what is taken is a Tri"):
            scene.add_triangles(wrong)


def test_an_empty_scene_and_invalid_rays_are_missed(scene):
    rays = rays_of(5, 4)
    rays[1], rays[2, 3:] = np.nan, 0
    for which, some in ((scene, rays[1:3]), (RaycastingScene(), rays)):
        answer = which.cast_rays(some)
        assert (host(answer["geometry_ids"]) == RaycastingScene.INVALID_ID).all()
        assert (host(answer["primitive_ids"]) == RaycastingScene.INVALID_ID).all()
        assert np.isinf(host(answer["t_hit"])).all() and not host(answer["primitive_normals"]).any()
        assert not host(which.count_intersections(some)).any() and not host(which.test_occlusions(some)).any()


def test_only_the_documented_dtypes_and_shapes_are_taken(scene):
    rays = rays_of(4, 5)
    vertices, faces = shapes.box()
    for call in (
        lambda: scene.cast_rays(rays.astype("f8")),
        lambda: scene.cast_rays(rays[:, :5]),
        lambda: scene.cast_rays(rays[0]),
        lambda: scene.compute_occupancy(rays),
        lambda: scene.compute_occupancy(rays[:, :3], nsamples=2),
        lambda: scene.add_triangles(vertices.astype("f8"), faces),
        lambda: scene.add_triangles(vertices, faces.astype("i8")),
        lambda: scene.add_triangles(vertices, faces + np.uint32(9)),
        lambda: RaycastingScene(device="CUDA:0"),
        lambda: RaycastingScene.create_rays_pinhole(np.eye(4), np.eye(4), 2, 2),
    ):
        with pytest.raises(RuntimeError):
            call()


def test_pinhole_rays_pass_through_the_centres_of_pixels():
    intrinsic = np.array([[100, 0, 4], [0, 100, 3], [0, 0, 1.0]])
    extrinsic = np.eye(4)
    extrinsic[:3, :3] = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]]
    extrinsic[:3, 3] = [1, 2, 3]
    rays = host(RaycastingScene.create_rays_pinhole(intrinsic, extrinsic, 8, 6))
    assert rays.shape == (6, 8, 6) and rays.dtype == np.float32
    y, x = np.meshgrid(np.arange(6), np.arange(8), indexing="ij")
    points = rays[..., :3] + 7 * rays[..., 3:]
    seen = np.einsum("ij,yxj->yxi", intrinsic @ extrinsic[:3, :3], points) + intrinsic @ extrinsic[:3, 3]
    assert np.allclose(seen[..., 0] / seen[..., 2], x + 0.5, atol=1e-4)
    assert np.allclose(seen[..., 1] / seen[..., 2], y + 0.5, atol=1e-4)


def test_pinhole_rays_look_at_the_centre():
    rays = host(RaycastingScene.create_rays_pinhole(90, [0, 0, 0], [0, 0, 5], [0, 1, 0], 3, 2))
    assert rays[0, 0].tolist() == pytest.approx([0, 0, 5, 2 / 3, -1 / 3, -1], abs=1e-6)
    named = host(
        RaycastingScene.create_rays_pinhole(
            fov_deg=90, center=[0, 0, 0], eye=[0, 0, 5], up=[0, 1, 0], width_px=3, height_px=2
        )
    )
    assert (named == rays).all()


@pytest.mark.skipif(open3d is None, reason="open3d is not installed")
def test_answers_and_types_are_those_of_open3d():
    ours, theirs = RaycastingScene(), open3d.t.geometry.RaycastingScene()
    mesh = open3d.t.geometry.TriangleMesh.from_legacy(open3d.geometry.TriangleMesh.create_torus())
    for which in (ours, theirs):
        assert which.add_triangles(mesh) == 0
        assert which.add_triangles(*shapes.torus()) == 1
    rays = rays_of(2000, 6).reshape(20, 100, 6)
    a, b = ours.cast_rays(rays), theirs.cast_rays(rays)
    for name in b:
        assert type(a[name]) is type(b[name]) and a[name].dtype == b[name].dtype and a[name].shape == b[name].shape
    assert (a["primitive_ids"].numpy() == b["primitive_ids"].numpy()).mean() > 0.999
    assert (ours.count_intersections(rays).numpy() == theirs.count_intersections(rays).numpy()).mean() > 0.999
    a, b = ours.list_intersections(rays), theirs.list_intersections(rays)
    for name in b:
        assert a[name].dtype == b[name].dtype and len(a[name].shape) == len(b[name].shape)
    random = np.random.default_rng(8)
    points = random.uniform(-1.5, 1.5, (20, 100, 3)).astype(np.float32)
    a, b = ours.compute_closest_points(points), theirs.compute_closest_points(points)
    for name in b:
        assert type(a[name]) is type(b[name]) and a[name].dtype == b[name].dtype and a[name].shape == b[name].shape
    for name in ("compute_distance", "compute_signed_distance", "compute_occupancy"):
        a, b = (getattr(which, name)(points).numpy() for which in (ours, theirs))
        assert a.dtype == b.dtype and a.shape == b.shape and np.isclose(a, b, atol=1e-6).mean() > 0.999
    extrinsic = np.eye(4)
    extrinsic[:3, :3], extrinsic[:3, 3] = np.linalg.qr(random.normal(size=(3, 3)))[0], [1, 2, 3]
    for camera in (
        (np.array([[100, 3, 2.0], [0, 90, 1.5], [0, 0, 1]]), extrinsic, 5, 4),
        (60, [1, 2, 3], [0, 0, 5], [0.3, 1, 1], 7, 2),
    ):
        drawn = [which.create_rays_pinhole(*camera).numpy() for which in (RaycastingScene, type(theirs))]
        assert np.abs(drawn[0] - drawn[1]).max() < 1e-6
