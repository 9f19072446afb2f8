"""Geometry as its users have it: rotations, poses, rectangles, meshes of other packages, many instances, skips."""

import enum
import types

import numpy as np
import pytest

import shapes
import slabcast

RANDOM = np.random.default_rng(530)


def rotations(n):
    """Of no axis, rounded so that nothing warns: columns are a box's axes."""
    q = np.linalg.qr(RANDOM.normal(size=(n, 3, 3)))[0]
    return q.astype(np.float32)


def rays_around(count, size=3.0):
    rays = np.zeros((count, 8), np.float32)
    rays[:, :3], rays[:, 4:7], rays[:, 7] = *RANDOM.uniform(-size, size, (2, count, 3)), np.inf
    return rays


def corners_of(centers, half_sizes, frames):
    """The meshes of boxes, by the definition: center + R (half_size * corner)."""
    unit, faces = shapes.box()
    corners = (2 * unit.astype(np.float64) - 1) * half_sizes[:, None]
    moved = np.einsum("nij,nvj->nvi", frames.astype(np.float64), corners) + centers[:, None]
    return moved.astype(np.float32).reshape(-1, 3), np.concatenate([faces + 8 * k for k in range(len(centers))])


@pytest.mark.parametrize("n", [1, 2, 7])
def test_a_rotation_and_a_pose_turn_boxes_as_their_corners(n):
    centers = RANDOM.uniform(-1, 1, (n, 3)).astype(np.float32)
    half_sizes = RANDOM.uniform(0.2, 1, (n, 3)).astype(np.float32)
    frames, rays = rotations(n), rays_around(4000)
    poses = np.tile(np.eye(4, dtype=np.float32), (n, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = frames, centers
    scenes = [slabcast.Scene("cpu") for _ in range(5)]
    scenes[0].add_obbs(centers, half_sizes, rotation=frames)
    scenes[1].add_obbs(half_sizes=half_sizes, poses=poses)
    scenes[2].add_obbs(half_sizes=half_sizes, poses=poses[:, :3])
    scenes[3].add_obbs(centers, half_sizes, frames.swapaxes(1, 2))
    scenes[4].add_obbs(centers, half_sizes, frames)  # and moved, by update
    scenes[4].update_obbs(0, centers, half_sizes, rotation=frames)
    hits = [scene.nearest(rays) for scene in scenes]
    assert len({each.tobytes() for each in hits}) == 1
    mesh = slabcast.Scene("cpu")
    mesh.add_mesh(*corners_of(centers, half_sizes, frames))
    expected = mesh.nearest(rays)
    near = np.isclose(hits[0]["t"], expected["t"], rtol=1e-3) | (hits[0]["t"] == expected["t"])
    assert near.mean() > 0.995 and np.isfinite(expected["t"]).sum() > 100


def test_one_rotation_serves_all_boxes():
    (frame,) = rotations(1)
    scenes = [slabcast.Scene("cpu") for _ in range(2)]
    centers = RANDOM.uniform(-1, 1, (5, 3)).astype(np.float32)
    scenes[0].add_obbs(centers, [0.5, 0.25, 0.125], rotation=frame)
    scenes[1].add_obbs(centers, [0.5, 0.25, 0.125], rotation=np.tile(frame, (5, 1, 1)))
    rays = rays_around(500)
    assert (scenes[0].closest(rays) == scenes[1].closest(rays)).all()


SKEW = np.eye(3, dtype=np.float32) + np.float32(0.1) * np.eye(3, dtype=np.float32)[[1, 2, 0]]


@pytest.mark.parametrize("at", [0, 3, 6])
@pytest.mark.parametrize("wrong", [SKEW, 2 * np.eye(3, dtype=np.float32), np.ones((3, 3), np.float32)])
def test_axes_that_are_not_orthonormal_are_refused_by_index(at, wrong):
    frames = rotations(7)
    frames[at] = wrong
    poses = np.tile(np.eye(4, dtype=np.float32), (7, 1, 1))
    poses[:, :3, :3] = frames
    scene, zero, one = slabcast.Scene("cpu"), np.zeros((7, 3), np.float32), np.ones((7, 3), np.float32)
    for given in ({"axes": frames}, {"rotation": frames}):
        with pytest.raises(slabcast.InvalidArgument, match=f"oriented box {at}: axes are not orthonormal"):
            scene.add_obbs(zero, one, **given)
    with pytest.raises(slabcast.InvalidArgument, match=f"oriented box {at}: axes are not orthonormal"):
        scene.add_obbs(half_sizes=one, poses=poses)
    scene.add_obbs(zero, one, rotation=frames, skip_invalid=True)
    assert scene.skipped == (1,)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"centers": [0, 0, 0], "half_sizes": [1, 1, 1]}, "one of axes, rotation and poses; none"),
        (
            {"centers": [0, 0, 0], "half_sizes": [1, 1, 1], "axes": np.eye(3), "rotation": np.eye(3)},
            "axes and rotation",
        ),
        ({"centers": [0, 0, 0], "half_sizes": [1, 1, 1], "poses": np.eye(4)}, "take centers, unless poses"),
        ({"half_sizes": [1, 1, 1], "rotation": np.eye(3)}, "take centers, unless poses"),
        ({"centers": [0, 0, 0], "rotation": np.eye(3)}, "and half_sizes"),
        ({"half_sizes": [1, 1, 1], "poses": np.ones((4, 4))}, "poses: the last row of transform 0"),
        ({"half_sizes": [1, 1, 1], "poses": np.eye(3)}, r"poses has shape \(3, 3\)"),
        ({"centers": [0, 0, 0], "half_sizes": [1, 1, 1], "rotation": np.eye(4)}, r"rotation has shape \(4, 4\)"),
    ],
)
def test_boxes_that_are_told_by_half_are_refused(given, message):
    with pytest.raises(slabcast.InvalidArgument, match=message):
        slabcast.Scene("cpu").add_obbs(**given)


@pytest.mark.parametrize("n", [1, 4, 9])
def test_rectangles_are_boxes_without_bounds_in_z(n):
    lower = RANDOM.uniform(-2, 0, (n, 2)).astype(np.float32)
    upper = lower + RANDOM.uniform(0.1, 2, (n, 2)).astype(np.float32)
    flat, solid = slabcast.Scene("cpu"), slabcast.Scene("cpu")
    flat.add_boxes(lower, upper)
    ends = np.full((n, 1), np.inf, np.float32)
    solid.add_boxes(np.hstack([lower, -ends]), np.hstack([upper, ends]))
    rays = rays_around(500)
    rays[:250, [2, 6]] = 0
    assert (flat.closest(rays) == solid.closest(rays)).all() and flat.any(rays).any()
    flat.update_boxes(0, lower + np.float32(1), upper + np.float32(1))
    flat.commit()
    assert not (flat.closest(rays) == solid.closest(rays)).all()


def test_corners_of_two_and_three_numbers_are_refused():
    with pytest.raises(slabcast.InvalidArgument, match=r"lower has shape \(2,\)"):
        slabcast.Scene("cpu").add_boxes([0, 0], [1, 1, 1])


# ---- meshes of other packages: their attributes, since they need not be installed ----


class Tensor:
    """Of Open3D: DLPack, by an enum of its own, and no __array__."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **named):
        return self.array.__dlpack__(**named)

    def __dlpack_device__(self):
        return enum.Enum("DLDeviceType", {"CPU": 1}).CPU, 0


def as_trimesh(vertices, faces):
    return types.SimpleNamespace(vertices=vertices, faces=faces.astype(np.int64))


def as_open3d(vertices, faces):
    return types.SimpleNamespace(vertices=vertices.tolist(), triangles=faces.astype(np.int32))


def as_open3d_tensors(vertices, faces):
    return types.SimpleNamespace(
        vertex={"positions": Tensor(vertices)}, triangle={"indices": Tensor(faces.astype("i8"))}
    )


def as_pyvista(vertices, faces):
    row = np.hstack([np.full((len(faces), 1), 3), faces]).astype(np.int64).ravel()
    return types.SimpleNamespace(points=vertices, faces=row)


def as_scene_of_trimesh(vertices, faces):
    return types.SimpleNamespace(graph=None, to_mesh=lambda: as_trimesh(vertices, faces))


MESHES = [as_trimesh, as_open3d, as_open3d_tensors, as_pyvista, as_scene_of_trimesh]


@pytest.mark.parametrize("made", MESHES)
@pytest.mark.parametrize("mesh", [shapes.box(), shapes.torus(), shapes.torus(5, 3)])
def test_meshes_of_other_packages_are_one_argument(made, mesh):
    rays = shapes.rays_around(mesh[0], 300, 2)
    ours, theirs = slabcast.Scene("cpu"), slabcast.Scene("cpu")
    ours.add_mesh(*mesh)
    theirs.add_mesh(made(*mesh))
    assert (ours.closest(rays) == theirs.closest(rays)).all() and ours.any(rays).any()
    moved = mesh[0] + np.float32(0.5), mesh[1]
    ours.update_mesh(0, *moved)
    theirs.update_mesh(0, made(*moved))
    for scene in (ours, theirs):
        scene.commit()
    assert (ours.closest(rays) == theirs.closest(rays)).all()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([4, 0, 1, 3, 2], "face 0 has 4 corners"),
        ([3, 0, 1, 3, 4, 0, 1, 3, 2], "face 1 has 4 corners"),
        ([3, 0, 1, 3, 5, 0, 1, 3, 2, 4, 3, 0, 1, 3], "face 1 has 5 corners"),
        ([3, 0, 1, 3, 3, 0, 1, 2, 2, 0, 1], "face 2 has 2 corners"),
    ],
)
def test_faces_that_are_no_triangles_are_told(row, message):
    mesh = types.SimpleNamespace(points=shapes.box()[0], faces=np.array(row))
    with pytest.raises(slabcast.InvalidArgument, match=message + r"; .*mesh.triangulate\(\)"):
        slabcast.Scene("cpu").add_mesh(mesh)


def test_a_real_mesh_of_trimesh_is_taken():
    trimesh = pytest.importorskip("trimesh")
    for mesh in (trimesh.creation.box(), trimesh.primitives.Box(), trimesh.Scene([trimesh.creation.box()])):
        scene = slabcast.Scene("cpu")
        scene.add_mesh(mesh)
        assert scene.info.triangles == 12 and scene.distance([0.1, 0.2, 2], [0, 0, -1]) == 1.5


# ---- instances ----


def placed(counts):
    """A scene of a ball's instances: the ids, and transforms of each."""
    ball, scene = slabcast.Scene("cpu"), slabcast.Scene("cpu")
    ball.add_spheres([0, 0, 0], 0.25)
    start = [np.tile(np.eye(4, dtype=np.float32), (n, 1, 1)) for n in counts]
    return scene, [scene.add_instances(ball, each) for each in start]


@pytest.mark.parametrize("counts", [[1], [1, 1, 1, 1], [3, 1, 2], [2, 1, 5]])
def test_many_ids_are_moved_at_once(counts):
    scene, ids = placed(counts)
    total = sum(counts)
    transforms = np.tile(np.eye(4, dtype=np.float32), (total, 1, 1))
    transforms[:, 0, 3] = 2 * np.arange(total)
    order = RANDOM.permutation(len(ids))
    ends = np.cumsum(counts)
    parts = [transforms[end - n : end] for n, end in zip(counts, ends)]
    scene.update_instances(np.array(ids)[order], np.concatenate([parts[k] for k in order]))
    scene.commit()
    other, others = placed(counts)
    for one, rows in zip(others, parts):
        other.update_instances(one, rows)
    other.commit()
    rays = np.zeros((total, 8), np.float32)
    rays[:, 0], rays[:, 2], rays[:, 6], rays[:, 7] = 2 * np.arange(total), 5, -1, np.inf
    hits = scene.closest(rays)
    assert (hits == other.closest(rays)).all() and (hits["t"] == 4.75).all()
    assert len(set(hits["geometry"].tolist())) == total


def marred(transforms, at, how):
    """These with one that is refused in some way, and the message."""
    wrong = transforms.copy()
    wrong[at] = {
        "nan": np.diag([np.nan, 1, 1, 1]),
        "infinite": np.array([[1, 0, 0, np.inf], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]),
        "flat": np.diag([1, 0, 1, 1]),
        "huge": np.diag([2.0**61, 2.0**61, 2.0**61, 1]),
        "skew": np.array([[1, 5000, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]),
        "projective": np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 1, 1]]),
    }[how]
    return wrong


def assert_nothing_moves(scene, ids, transforms, message):
    before = repr(scene)
    with pytest.raises(slabcast.InvalidArgument, match=message):
        scene.update_instances(ids, transforms)
    assert repr(scene) == before  # no change waits
    scene.commit()
    assert scene.count([0, 0, 5], [0, 0, -1]) == sum(scene._instances.values())


@pytest.mark.parametrize("how", ["nan", "infinite", "flat", "huge", "skew", "projective"])
@pytest.mark.parametrize("counts", [[1, 1], [3, 1, 2], [2, 1, 5]])
def test_a_transform_that_is_refused_moves_nothing(counts, how):
    scene, ids = placed(counts)
    away = np.tile(np.eye(4, dtype=np.float32), (sum(counts), 1, 1))
    away[:, 0, 3] = 100
    of = np.repeat(np.arange(len(counts)), counts)
    for at in range(len(away)):
        within = at - int(np.flatnonzero(of == of[at])[0])
        told = rf"transform {at} is \[" if how == "projective" else rf"geometries\[{of[at]}\]: transform {within} "
        assert_nothing_moves(scene, ids, marred(away, at, how), told)
    scene.update_instances(ids, away)
    assert scene.count([100, 0, 5], [0, 0, -1]) == len(away)


@pytest.mark.parametrize(
    ("ids", "n", "message"),
    [
        ([0, 9], 2, r"geometries\[1\]: geometry 9: the scene has 3"),
        ([0, 1, 0], 3, r"geometries\[2\]: geometry 0 is one of them already"),
        ([0, 2], 2, r"geometries\[1\]: geometry 2 has primitives of another kind: sphere, not instance"),
        ([0, 1], 3, "3 transforms for 2 geometries, which have 2 instances"),
        ([], 1, "1 transforms for 0 geometries, which have 0 instances"),
        ([0, -1], 2, r"geometry\[1\] is -1"),
        ([0, 1 << 32], 2, r"geometry\[1\] is 4294967296"),
        ([0.0, 1.0], 2, "geometry has dtype float64; what is taken are whole numbers"),
    ],
)
def test_ids_that_do_not_fit_change_nothing(ids, n, message):
    scene, _ = placed([1, 1])
    scene.add_spheres([50, 0, 0], 1)
    away = np.tile(np.eye(4, dtype=np.float32), (n, 1, 1))
    away[:, 0, 3] = 100
    assert_nothing_moves(scene, np.array(ids, np.int64) if ids != [0.0, 1.0] else ids, away, message)


def test_an_id_that_was_removed_moves_nothing():
    for gone in range(3):
        scene, ids = placed([1, 2, 1])
        scene.remove(ids[gone])
        scene.commit()
        seen = scene.count([0, 0, 5], [0, 0, -1])
        with pytest.raises(slabcast.InvalidArgument, match=rf"geometries\[{gone}\]: geometry {ids[gone]} is removed"):
            scene.update_instances(ids, np.tile(np.diag([1, 1, 1, 1]), (4, 1, 1)) + np.eye(4, k=3) * 9)
        scene.commit()
        assert scene.count([0, 0, 5], [0, 0, -1]) == seen


# ---- skip ----


def layers(n):
    """A scene of n triangles, one below the other, and rays that go down through all."""
    scene = slabcast.Scene("cpu")
    corners = np.array([[-9, -9, 0], [9, -9, 0], [0, 9, 0]], np.float32)
    scene.add_mesh(np.concatenate([corners - np.float32([0, 0, k]) for k in range(n)]))
    return scene


@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 4), (2, 3)])
def test_primitives_alone_are_skipped_in_a_scene_of_one_geometry(shape):
    scene, origins = layers(4), np.zeros((*shape, 3), np.float32)
    origins[..., :2], origins[..., 2] = RANDOM.uniform(-1, 1, (*shape, 2)), 1
    first = scene.nearest(origins, [0, 0, -1])
    for skip in (first, first["primitive"], np.stack([first["primitive"], first["geometry"]], axis=-1), [0, 0]):
        assert (scene.nearest(origins, [0, 0, -1], skip=skip)["primitive"] == 1).all()
    ids = RANDOM.integers(0, 4, shape)
    assert (scene.nearest(origins, [0, 0, -1], skip=ids)["primitive"] == (np.asarray(ids) == 0)).all()
    nothing = np.full(shape, slabcast.MISS, np.uint32)
    assert (scene.nearest(origins, [0, 0, -1], skip=nothing)["primitive"] == 0).all()


@pytest.mark.parametrize("k", [1, 3, 8])
def test_hits_are_broadcast_to_the_rays_that_leave_them(k):
    scene = layers(3)
    hits = scene.closest(np.float32([[0, 0, 1], [0.5, 0, 1], [0, 0.5, 1], [1, 1, 1]]), [0, 0, -1])
    origins = np.zeros((4, k, 3), np.float32)
    origins[..., 2] = 1
    assert (scene.nearest(origins, [0, 0, -1], skip=hits[:, None])["primitive"] == 1).all()
    assert (scene.nearest(origins, [0, 0, -1], skip=hits[0])["primitive"] == 1).all()


def test_skips_that_do_not_fit_are_told():
    scene, two = layers(3), np.zeros((2, 3), np.float32)
    with pytest.raises(slabcast.InvalidArgument, match=r"skip of shape \(2,\) may be .* give \(2, 2\)"):
        scene.any(two, [0, 0, -1], skip=[0, 1])
    with pytest.raises(slabcast.InvalidArgument, match=r"skip has shape \(5,\); .* \(2, 2\), or \(2,\) of primitives"):
        scene.any(two, [0, 0, -1], skip=[0, 1, 2, 3, 4])
    scene.add_spheres([0, 0, 0], 1)
    scene.commit()
    with pytest.raises(slabcast.InvalidArgument, match="primitives alone, and the scene has not one geometry"):
        scene.any(np.zeros((3, 3), np.float32), [0, 0, -1], skip=[0, 1, 2])


# ---- ranges ----

DOWN = np.stack([np.array([x + 0.5, 0.5, 9, 0, 0, 0, -1, np.inf], np.float32) for x in range(40)])


def added(kind, heights):
    """A scene of squares in a row, the top of number i at heights[i], of one kind; and a function that moves some."""
    scene, x = slabcast.Scene("cpu", "fast"), np.arange(len(heights), dtype=np.float32)
    corner, unit, turn = np.stack([x, 0 * x, heights - 1], 1), np.ones(3, np.float32), np.eye(3, dtype=np.float32)
    if kind == "boxes":
        geometry = scene.add_boxes(corner, corner + unit)
        return scene, lambda at, to: scene.update_boxes(geometry, to - unit, to, first=at), corner + unit
    if kind == "spheres":
        geometry = scene.add_spheres(corner + unit / 2, np.full(len(x), 0.5))
        return scene, lambda at, to: scene.update_spheres(geometry, to - unit / 2, 0.5, first=at), corner + unit
    if kind == "obbs":
        geometry = scene.add_obbs(corner + unit / 2, unit / 2, turn)
        return scene, lambda at, to: scene.update_obbs(geometry, to - unit / 2, unit / 2, turn, first=at), corner + unit
    offsets = np.array([[0.1, 0.1, 1], [0.9, 0.1, 1], [0.5, 0.9, 1]], np.float32)
    geometry = scene.add_mesh((corner[:, None] + offsets).reshape(-1, 3))

    def move(at, to):
        vertices = ((to - unit)[:, None] + offsets).reshape(-1, 3)
        scene.update_mesh(geometry, vertices, first=3 * at)

    return scene, move, corner + unit


@pytest.mark.parametrize("kind", ["boxes", "spheres", "obbs", "mesh"])
def test_a_range_moves_alone(kind):
    """Rays from above see what has moved where it is now, and all else where it was."""
    heights = np.arange(40, dtype=np.float32) / 8
    scene, move, tops = added(kind, heights)
    assert np.allclose(scene.distance(DOWN), 9 - heights, atol=1e-3)
    for first, n in ((0, 1), (7, 3), (39, 1), (8, 2)):
        tops[first : first + n, 2] = heights[first : first + n] = 6 + first / 64
        move(first, tops[first : first + n])
        assert np.allclose(scene.distance(DOWN), 9 - heights, atol=1e-3)


def test_planes_of_a_range_move_alone():
    scene = slabcast.Scene("cpu", "fast")
    planes = scene.add_planes([[0, 0, 1], [0, 0, 1]], [1, 2])
    assert scene.distance(DOWN[0]) == 7
    scene.update_planes(planes, [0, 0, 1], 0.5, first=1)
    assert scene.distance(DOWN[0]) == 8


@pytest.mark.parametrize(
    "first, lower, message",
    [(3, [[0, 0, 0]] * 2, "2 from 3 on are beyond geometry 0, which has 4"), (-1, [0, 0, 0], "first is -1")],
)
def test_a_range_that_does_not_fit_is_refused(first, lower, message):
    scene = slabcast.Scene("cpu")
    scene.add_boxes(np.zeros((4, 3)), np.ones((4, 3)))
    with pytest.raises(slabcast.InvalidArgument, match=message):
        scene.update_boxes(0, lower, np.ones(np.shape(lower)), first=first)


def test_vertices_of_a_range_have_no_indices():
    scene = slabcast.Scene("cpu")
    scene.add_mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    with pytest.raises(slabcast.InvalidArgument, match="indices are given with first"):
        scene.update_mesh(0, [[0, 0, 1]], [[0, 1, 2]], first=1)
    scene.update_mesh(0, [[0, 0, 1]], first=1)
