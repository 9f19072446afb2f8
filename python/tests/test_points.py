"""Closest points: against brute force in float64, the library's own check, and as trimesh and Open3D have them."""

from types import SimpleNamespace

import numpy as np
import pytest

import shapes
import slabcast
from slabcast.open3d import RaycastingScene


def on_segments(points, a, b):
    """The closest point of each segment to each point."""
    along = b - a
    share = np.einsum("pti,ti->pt", points[:, None] - a, along) / np.einsum("ti,ti->t", along, along)
    return a + np.clip(share, 0, 1)[..., None] * along


def distances(vertices, faces, points):
    """Of every point from every triangle, in float64."""
    a, b, c = np.moveaxis(vertices.astype(np.float64)[faces], 1, 0)
    normal = np.cross(b - a, c - a)
    to = points[:, None].astype(np.float64) - a
    depth = np.einsum("pti,ti->pt", to, normal) / np.einsum("ti,ti->t", normal, normal)
    foot = to - depth[..., None] * normal
    u = np.einsum("pti,ti->pt", np.cross(foot, c - a), normal)
    v = np.einsum("pti,ti->pt", np.cross(b - a, foot), normal)
    square = np.einsum("ti,ti->t", normal, normal)
    inside = (u > 0) & (v > 0) & (u + v < square)
    sides = (a, b), (b, c), (c, a)
    edges = np.min([np.linalg.norm(points[:, None] - on_segments(points, *ends), axis=-1) for ends in sides], axis=0)
    return np.where(inside, np.abs(depth) * np.sqrt(square), edges)


@pytest.fixture
def points():
    vertices = shapes.torus()[0]
    random = np.random.default_rng(3)
    lower, upper = vertices.min(axis=0) - 0.5, vertices.max(axis=0) + 0.5
    return random.uniform(lower, upper, (400, 3)).astype(np.float32)


def test_closest_points_are_those_of_brute_force(scene, points):
    vertices, faces = shapes.torus()
    want = distances(vertices, faces, points)
    found = scene.closest_points(points)
    assert found.dtype == slabcast.CLOSEST_POINT and found.shape == (400,)
    assert np.allclose(found.distance, want.min(axis=1), rtol=1e-5, atol=1e-6)
    assert np.allclose(want[np.arange(400), found.primitive], found.distance, rtol=1e-5, atol=1e-6)
    assert np.allclose(np.linalg.norm(found.point - points, axis=1), found.distance, rtol=1e-5, atol=1e-6)
    a, b, c = np.moveaxis(vertices[faces[found.primitive]], 1, 0)
    at = a + found.u[:, None] * (b - a) + found.v[:, None] * (c - a)
    assert np.allclose(at, found.point, atol=1e-5)
    assert set(np.unique(found.feature)) <= {0, 1, 2}
    assert (scene.closest_distance(points) == found.distance).all()


def test_the_library_checks_its_answers(scene, points):
    for query in ("closest_points", "closest_distance"):
        report = scene.check_points(query, points, getattr(scene, query)(points, radius=0.3), radius=0.3)
        assert (report.rays, report.mismatches, report.oracle_wrong) == (400, 0, 0)
    changed = scene.closest_points(points)
    changed.distance[7] *= 2
    assert scene.check_points("closest_points", points, changed).mismatches == 1


def test_a_radius_is_closed_and_may_be_each_points_own(scene, points):
    distance = scene.closest_distance(points)
    assert scene.within(points, distance).all()
    assert not scene.within(points, np.nextafter(distance, np.float32(0))).any()
    found = scene.closest_points(points, radius=0.25)
    assert (slabcast.is_hit(found) == (distance <= 0.25)).all()
    assert (found.distance[distance > 0.25] == np.inf).all()
    assert (scene.within(points, 0.25) == (distance <= 0.25)).all()


def test_masks_hide_geometries_from_points(points):
    scene = slabcast.Scene("cpu")
    scene.add_spheres([[0, 0, 0]], [0.5], mask=1)
    scene.add_spheres([[9, 0, 0]], [0.5], mask=2)
    assert (scene.closest_points(points, mask=2).geometry == 1).all()
    masks = np.where(np.arange(400) % 2, 2, 1).astype(np.uint32)
    assert (scene.closest_points(points, mask=masks).geometry == np.arange(400) % 2).all()


def test_winding_adds_up_what_surrounds(scene, points):
    vertices, faces = shapes.torus()
    windings = scene.winding(points)
    assert windings.dtype == np.int32 and windings.shape == (400,)
    assert ((windings == 1) == scene.contains(points)).all() and set(np.unique(windings)) == {0, 1}
    assert scene.check_points("winding", points, windings)[:2] == (400, 0)
    both = slabcast.Scene("cpu")
    both.add_mesh(vertices, faces, mask=1)
    both.add_mesh(vertices, faces[:, ::-1], mask=2)
    both.add_spheres([[0, 0, 0]], [9], mask=4)
    assert (both.winding(points) == 1).all() and (both.winding(points, mask=2) == -windings).all()
    assert both.winding([np.nan, 0, 0]) == 0 and both.winding(np.zeros((2, 0, 3))).shape == (2, 0)


def test_winding_numbers_are_fractions_of_open_meshes():
    vertices, faces = shapes.torus()
    points = np.random.default_rng(4).uniform(-2, 2, (300, 3)).astype(np.float32)
    closed, opened, model = slabcast.Scene("cpu"), slabcast.Scene("cpu"), slabcast.Scene("cpu")
    closed.add_mesh(vertices, faces)
    opened.add_mesh(vertices, faces[: len(faces) // 2])
    whole, numbers = closed.winding_number(points), opened.winding_number(points)
    assert whole.dtype == np.float32 and (whole == closed.winding(points)).all()
    corners = vertices[faces[: len(faces) // 2]].astype(np.float64) - points[:, None, None].astype(np.float64)
    a, b, c = (corners[:, :, k] for k in range(3))
    la, lb, lc = (np.linalg.norm(side, axis=-1) for side in (a, b, c))
    across = (a * np.cross(b, c)).sum(-1)
    along = la * lb * lc + (a * b).sum(-1) * lc + (b * c).sum(-1) * la + (c * a).sum(-1) * lb
    assert np.allclose(numbers, np.arctan2(across, along).sum(1) / (2 * np.pi), atol=1e-5)
    assert not opened.check_points("winding_number", points, numbers).mismatches
    out = np.empty(300, np.float32)
    assert opened.winding_number(points, out=out) is out and (out == numbers).all()
    assert opened.winding_number([np.nan, 0, 0]) == 0
    model.add_instances(opened, np.eye(4)[None])
    with pytest.raises(slabcast.Unsupported, match="geometry 0 is of an instance whose model has an open mesh"):
        model.winding_number(points)


def test_shapes_and_misses():
    scene = slabcast.Scene("cpu")
    empty = scene.closest_points(np.zeros((2, 3, 3)))
    assert empty.shape == (2, 3) and (empty.geometry == slabcast.MISS).all() and (empty.distance == np.inf).all()
    scene.add_boxes([[0, 0, 0]], [[2, 2, 2]])
    assert scene.closest_points(np.zeros((0, 3))).shape == (0,)
    inside = scene.closest_points([1.0, 1.0, 1.5])
    assert inside.shape == () and inside["distance"] == 0.5 and inside["u"] == 5
    assert scene.closest_points([np.nan, 0, 0])["geometry"] == slabcast.INVALID
    out = np.empty(1, np.float32)
    assert scene.closest_distance([[1, 1, 3]], out=out) is out and out[0] == 1


@pytest.mark.parametrize(
    "named, told",
    [
        ({"radius": -1.0}, "radius has -1.0"),
        ({"radius": [1.0, 2.0, 3.0]}, r"radius has shape \(3,\)"),
        ({"radius": np.nan}, "radius has nan"),
        ({"mask": -1}, "mask is -1"),
        ({"out": np.empty(3, np.float32)}, "out"),
    ],
)
def test_bad_arguments_are_named(scene, named, told):
    with pytest.raises(slabcast.InvalidArgument, match=told):
        scene.closest_points(np.zeros((400, 3), np.float32), **named)


def test_points_have_three_columns(scene):
    with pytest.raises(slabcast.InvalidArgument, match="points has shape"):
        scene.closest_points(np.zeros((4, 2)))


def test_progress_ends_a_call(scene):
    points = np.random.default_rng(1).random((300000, 3), np.float32)
    with pytest.raises(slabcast.Cancelled):
        scene.closest_points(points, progress=lambda done, total: True)


def test_open3d_has_closest_points(points):
    scene = RaycastingScene()
    vertices, faces = shapes.torus()
    scene.add_triangles(vertices, faces)
    want = distances(vertices, faces, points).min(axis=1)
    found = {
        name: np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        for name, value in scene.compute_closest_points(points).items()
    }
    assert {name: (value.shape, value.dtype.str) for name, value in found.items()} == {
        "points": ((400, 3), "<f4"),
        "geometry_ids": ((400,), "<u4"),
        "primitive_ids": ((400,), "<u4"),
        "primitive_uvs": ((400, 2), "<f4"),
        "primitive_normals": ((400, 3), "<f4"),
    }
    assert np.allclose(np.linalg.norm(found["points"] - points, axis=1), want, rtol=1e-5, atol=1e-6)
    assert np.allclose(np.linalg.norm(found["primitive_normals"], axis=1), 1, atol=1e-6)
    distance = np.asarray(scene.compute_distance(points))
    signed = np.asarray(scene.compute_signed_distance(points))
    inside = np.asarray(scene.compute_occupancy(points)) > 0
    assert 0 < inside.sum() < 400
    assert (signed == np.where(inside, -distance, distance)).all()


class Tensor:
    """As Open3D's: DLPack and numpy(), and no array to np.asarray()."""

    def __init__(self, array):
        self._array = array

    def numpy(self):
        return self._array

    def __dlpack__(self, **named):
        return self._array.__dlpack__(**named)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_open3d_takes_meshes_of_tensors(points):
    vertices, faces = (Tensor(np.array(array)) for array in shapes.torus())
    mesh = SimpleNamespace(vertex={"positions": vertices}, triangle={"indices": faces})
    scene, same = RaycastingScene(), RaycastingScene()
    scene.add_triangles(mesh)
    same.add_triangles(*shapes.torus())
    for name, value in scene.compute_closest_points(points).items():
        other = same.compute_closest_points(points)[name]
        assert np.array_equal(*(getattr(each, "numpy", lambda each=each: each)() for each in (value, other))), name


def test_trimesh_asks_for_closest_points_here(points):
    trimesh = pytest.importorskip("trimesh")
    pytest.importorskip("scipy")
    from trimesh.proximity import closest_point_naive

    from slabcast.trimesh import closest_point

    mesh = trimesh.Trimesh(*shapes.torus(), process=False)
    mesh.apply_translation([1e6, 0, 0])  # beyond float32's digits
    moved = points.astype(np.float64) + [1e6, 0, 0]
    at, distance, triangles = closest_point(mesh, moved)
    want_at, want, _ = closest_point_naive(mesh, moved)
    assert np.allclose(distance, want, atol=1e-6)
    assert np.allclose(np.linalg.norm(at - moved, axis=1), distance)
    assert triangles.shape == (400,) and (triangles >= 0).all()
    at, distance, triangles = closest_point(mesh, [[np.nan, 0, 0]])
    assert np.isnan(at).all() and distance[0] == np.inf and triangles[0] == -1
