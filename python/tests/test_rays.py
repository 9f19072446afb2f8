"""Sets of rays: the program's bits where it has the same, and known cameras where it has not."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import slabcast
from slabcast import rays as sets

RANDOM = np.random.default_rng(53)
BUILT = Path(__file__).parents[2] / "build"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The output of `slabcast rays`."""
    told = os.environ.get("SLABCAST_PROGRAM") or shutil.which("slabcast", path=str(BUILT / "release/bin"))
    if told is None:
        pytest.skip("no program is built; SLABCAST_PROGRAM names it")
    path = tmp_path_factory.mktemp("rays") / "rays.npy"

    def run(kind, *options):
        command = [told, "rays", kind, *map(str, options), "-o", str(path)]
        subprocess.run(command, check=True, env={**os.environ, "SLABCAST_BACKENDS": "native"})
        return np.load(path)

    return run


def told(point):
    return ",".join(f"{number:.9g}" for number in point)


def point(scale=10.0):
    return (RANDOM.normal(size=3) * scale).astype(np.float32)


def assert_same_bits(ours, theirs):
    assert ours.dtype == np.float32 and ours.reshape(-1, 8).tobytes() == theirs.tobytes()


# Views along up, from far away, and any.
VIEWS = [
    ((1, 2, 3), (1, -2, 3), (0, 1, 0), 40),
    ((0, 0, 5), (0, 0, -5), (0, 0, 1), 90),
    ((1e6, 0.5, 1e6), (1e6, 0.5, 1e6 + 1), (0, 1, 0), 1),
    *[(point(), point(), point(1), np.float32(RANDOM.uniform(5, 170))) for _ in range(5)],
]


@pytest.mark.parametrize(("eye", "target", "up", "fov"), VIEWS)
def test_cameras_are_the_programs(program, eye, target, up, fov):
    width, height = RANDOM.integers(1, 60, 2).tolist()
    options = "--from", told(eye), "--to", told(target), "--up", told(up), "--fov", fov, "--size", f"{width}x{height}"
    ours = sets.look_at(eye, target, up, fov, (width, height))
    assert ours.shape == (height, width, 8)
    assert_same_bits(ours, program("camera", *options))


@pytest.mark.parametrize(("eye", "target", "up", "fov"), VIEWS)
def test_scanners_are_the_programs(program, eye, target, up, fov):
    steps, beams = RANDOM.integers(1, 60, 2).tolist()
    options = "--from", told(eye), "--up", told(up), "--fov", fov, "--size", f"{steps}x{beams}"
    ours = sets.lidar(eye, None, up, fov, (steps, beams))
    assert ours.shape == (beams, steps, 8)
    assert_same_bits(ours, program("lidar", *options))
    assert_same_bits(sets.lidar(eye, target, up, fov, (steps, beams)), program("lidar", *options, "--to", told(target)))


@pytest.mark.parametrize(("eye", "target", "up", "fov"), VIEWS)
def test_hemispheres_are_the_programs(program, eye, target, up, fov):
    count, seed = int(RANDOM.integers(1, 5000)), int(RANDOM.integers(1 << 62))
    options = "--from", told(eye), "--up", told(up), "--count", count, "--seed", seed
    assert_same_bits(sets.hemisphere(eye, None, up, count, seed), program("hemisphere", *options))
    ours = sets.hemisphere(eye, target, up, count, seed)
    assert_same_bits(ours, program("hemisphere", *options, "--to", told(target)))


def test_hemispheres_of_more_than_one_block_are_the_programs(program):
    many = 1500000
    assert_same_bits(sets.hemisphere((1, 2, 3), count=many), program("hemisphere", "--from", "1,2,3", "--count", many))


def test_overviews_are_the_programs(program, tmp_path):
    for width, height, fov in ((64, 48, 40), (10, 90, 20), (90, 10, 120), (1, 1, 60)):
        corners = np.sort(RANDOM.normal(size=(2, 3)) * 100, axis=0).astype(np.float32)
        np.save(tmp_path / "boxes.npy", corners.reshape(1, 6))
        scene = slabcast.Scene("cpu")
        scene.add_boxes(*corners)
        options = "--boxes", tmp_path / "boxes.npy", "--size", f"{width}x{height}", "--fov", fov
        assert_same_bits(sets.overview(scene, fov=fov, size=(width, height)), program("camera", *options))


@pytest.mark.parametrize("up", [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 0, -1), (1, 2, 3)])
def test_overviews_see_every_corner_from_above(up):
    scene = slabcast.Scene("cpu")
    corners = np.array([[x, y, z] for x in (-3, 5) for y in (-1, 1) for z in (2, 4)], np.float32)
    scene.add_spheres(corners, 0.5)
    rays = sets.overview(scene, up, size=(200, 150))
    seen = scene.nearest(rays)
    assert set(range(8)) <= set(seen["primitive"].reshape(-1).tolist())
    assert rays[75, 100, 4:7] @ np.array(up) < 0
    edge = np.concatenate([seen["primitive"][[0, -1]].ravel(), seen["primitive"][:, [0, -1]].ravel()])
    assert (edge == slabcast.MISS).all()


def test_many_scanners_and_hemispheres_are_those_of_each():
    eyes, normals = RANDOM.normal(size=(2, 4, 3)).astype(np.float32)
    sweep = sets.lidar(eyes, size=(20, 5))
    assert sweep.shape == (4, 5, 20, 8)
    assert all((sweep[k] == sets.lidar(eyes[k], size=(20, 5))).all() for k in range(4))
    rays = sets.hemisphere(eyes, normal=normals, count=4000)
    assert rays.shape == (4, 4000, 8) and (rays[..., :3] == eyes[:, None]).all()
    cosines = np.einsum("kni,ki->kn", rays[..., 4:7], normals) / np.linalg.norm(normals, axis=1)[:, None]
    assert (cosines > 0).all() and np.abs(cosines.mean(axis=1) - 2 / 3).max() < 0.02  # of the cosine-weighted density
    assert np.abs(np.linalg.norm(rays[..., 4:7], axis=-1) - 1).max() < 1e-6
    one = sets.hemisphere(eyes[0], normal=(0, 0, 1), count=10)
    assert (one == sets.hemisphere(eyes[0], eyes[0] + np.float32([0, 0, 1]), count=10))[:, :4].all()


def rotation():
    q, _ = np.linalg.qr(RANDOM.normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


def pose():
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation(), RANDOM.normal(size=3)
    return matrix


def test_points_before_a_pinhole_are_met_by_their_pixels():
    for _ in range(4):
        to_scene = pose()
        intrinsics = np.array([[RANDOM.uniform(50, 90), 0.5, 31.0], [0, RANDOM.uniform(50, 90), 23.0], [0, 0, 1]])
        rays = sets.pinhole(intrinsics, (64, 48), pose=to_scene)
        assert rays.shape == (48, 64, 8)
        other = sets.pinhole(intrinsics, (64, 48), extrinsics=np.linalg.inv(to_scene))
        assert np.abs(rays[..., :7] - other[..., :7]).max() < 1e-5
        local = np.array([RANDOM.uniform(-0.3, 0.3), RANDOM.uniform(-0.3, 0.3), 1]) * RANDOM.uniform(1, 9)
        x, y, w = intrinsics @ local
        column, row = int(x / w), int(y / w)
        at = rays[row, column, :3] + local[2] * rays[row, column, 4:7]  # t is depth
        seen = intrinsics @ (np.linalg.inv(to_scene) @ [*at, 1])[:3]
        assert seen[2] == pytest.approx(local[2], abs=1e-4)
        assert seen[:2] / seen[2] == pytest.approx([column + 0.5, row + 0.5], abs=1e-3)


def perspective(near, far, aspect, field, low=-1.0):
    """OpenGL's, or with low 0 that of Vulkan; far may be infinite."""
    f = 1 / np.tan(np.radians(field) / 2)
    a, b = (
        (-1.0, -(1 - low) * near)
        if np.isinf(far)
        else ((low * near - far) / (far - near), -near * far * (1 - low) / (far - near))
    )
    return np.array([[f / aspect, 0, 0, 0], [0, f, 0, 0], [0, 0, a, b], [0, 0, -1, 0]])


@pytest.mark.parametrize("depth", [(-1, 1), (0, 1)])
@pytest.mark.parametrize("far", [50.0, np.inf])
def test_matrices_of_renderers_project_their_rays_onto_the_pixels(depth, far):
    for _ in range(3):
        view = np.linalg.inv(pose())
        projection = perspective(0.5, far, 4 / 3, RANDOM.uniform(20, 100), depth[0])
        rays = sets.from_matrices(projection, view, (8, 6), depth=depth).astype(np.float64)
        assert (rays[..., 7] == (np.inf if far == np.inf else 1)).all()
        for t, planes in ((0, depth[0]), (1, None if far == np.inf else depth[1])):
            at = np.ones((6, 8, 4))
            at[..., :3] = rays[..., :3] + t * rays[..., 4:7]
            clip = at @ (projection @ view).T
            clip /= clip[..., 3:]
            assert np.abs(clip[..., 0] - ((np.arange(8) + 0.5) / 4 - 1)).max() < 1e-4
            assert np.abs(clip[..., 1] - (1 - (np.arange(6) + 0.5) / 3)[:, None]).max() < 1e-4
            assert planes is None or np.abs(clip[..., 2] - planes).max() < 1e-4


def test_orthographic_matrices_give_parallel_rays():
    for size in (1.0, 7.0, 100.0):
        projection = np.diag([1 / size, 1 / size, -1 / 20.0, 1])
        rays = sets.from_matrices(projection, np.eye(4), (4, 4))
        assert (rays[..., 4:7] == [0, 0, -40]).all() and (rays[..., 2] == 20).all() and (rays[..., 7] == 1).all()
        assert rays[0, 0, :2].tolist() == pytest.approx([-0.75 * size, 0.75 * size])


REFUSED = [
    (lambda: sets.look_at((1, 2, 3), (1, 2, 3)), "eye and target are the same point"),
    (lambda: sets.look_at((1, 2, 3), (0, 0, 0), up=(0, 0, 0)), "up has length zero"),
    (lambda: sets.look_at((1, 2, np.nan), (0, 0, 0)), "eye has numbers that are not finite"),
    (lambda: sets.look_at((1, 2), (0, 0, 0)), r"eye has shape \(2,\)"),
    (lambda: sets.look_at((1, 2, 3), (0, 0, 0), fov=180), "fov is 180"),
    (lambda: sets.look_at((1, 2, 3), (0, 0, 0), size=(0, 5)), r"size is \(0, 5\)"),
    (lambda: sets.look_at((1, 2, 3), (0, 0, 0), size=640), "size is 640"),
    (lambda: sets.lidar((0, 0, 0), size=(2.5, 3)), r"size is \(2.5, 3\)"),
    (lambda: sets.hemisphere((0, 0, 0), count=-1), "count is -1"),
    (lambda: sets.hemisphere((0, 0, 0), (0, 0, 1), normal=(0, 0, 1)), "target or normal"),
    (lambda: sets.hemisphere((0, 0, 0), normal=(0, 0, 0)), "normal has length zero"),
    (lambda: sets.pinhole(np.eye(4)), r"intrinsics has shape \(4, 4\)"),
    (lambda: sets.pinhole(np.zeros((3, 3))), "intrinsics has no inverse"),
    (lambda: sets.pinhole(np.eye(3), pose=np.eye(4), extrinsics=np.eye(4)), "pose or extrinsics"),
    (lambda: sets.pinhole(np.eye(3), pose=np.eye(4) + np.eye(4)[[3, 0, 1, 2]]), r"pose: the last row is .* transposed"),
    (lambda: sets.from_matrices(np.eye(4), np.diag([1, 1, 1, 2])), "view: the last row is"),
    (lambda: sets.from_matrices(np.zeros((4, 4)), np.eye(4)), "has no inverse"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_arguments_that_make_no_rays_are_named(call, message):
    with pytest.raises(slabcast.InvalidArgument, match=message):
        call()
