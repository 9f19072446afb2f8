"""Arrays of rays, of (..., 8) float32: cameras, LiDARs, hemispheres.

The same arguments give the same rays on every machine; those of `slabcast rays` the same bits. Each function takes
points and directions as float32. Images have their rows from the top: pixel (x, y) is rays[y, x].
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _cameras, _structs
from ._cameras import Size, pixels_of
from ._library import InvalidArgument
from ._options import Array
from ._values import FLOAT
from ._vectors import (
    Doubles,
    axes_of,
    circle,
    count_of,
    inverse_of,
    matrix_of,
    placing_of,
    point_of,
    points_of,
    views_of,
)

Rays = NDArray[np.float32]

__all__ = ["from_matrices", "hemisphere", "lidar", "look_at", "overview", "pinhole"]

_FAR_AWAY = 1e-9  # w by the length of x, y, z, of points at infinity
_PCG, _WORD = 6364136223846793005, (1 << 64) - 1
_BLOCK = 1 << 20  # random numbers that are made at once


# ---- cameras ----


def look_at(eye: Array, target: Array, up: Array = (0, 1, 0), fov: float = 40.0, size: Size = (640, 480)) -> Rays:
    """Rays of a camera that looks from eye to target, through the centres of its pixels: (height, width, 8). They are
    those of `slabcast rays camera --from EYE --to TARGET --up UP --fov FOV --size WIDTHxHEIGHT`.

    Args:
        eye: (3,).
        target: (3,).
        up: (3,), what is up in the image.
        fov: the vertical field of view in degrees, above 0 and below 180.
        size: width and height in pixels.
    """
    return _image(_cameras.look_at(eye, target, up, fov, size), size)


def overview(scene: Any, up: Array = (0, 1, 0), fov: float = 40.0, size: Size = (640, 480)) -> Rays:
    """Rays of a camera that sees a whole scene, as the program chooses it where it has no --from: (height, width, 8).

    Args:
        scene: a Scene, which is committed; primitives without bounds, such as planes, do not count.
        up: (3,), what is up in the image.
        fov: the vertical field of view in degrees, above 0 and below 180.
        size: width and height in pixels.
    """
    return _image(_cameras.overview(scene, up, fov, size), size)


def pinhole(intrinsics: Array, size: Size = (640, 480), *, pose: Array = None, extrinsics: Array = None) -> Rays:
    """Rays of a calibrated camera, x to the right, y down and z ahead: (height, width, 8). t of a hit is its depth: its
    z before the camera.

    Args:
        intrinsics: (3, 3), the matrix K of focal lengths and principal point. Pixel (x, y) has its centre at (x + 0.5,
            y + 0.5), as in Open3D. Where K counts from the centres of pixels, as in OpenCV, add 0.5 to its principal
            point.
        size: width and height in pixels.
        pose: (4, 4) from the camera's coordinates to the scene's; None: the two are the same.
        extrinsics: (4, 4) from the scene's coordinates to the camera's, instead of pose.
    """
    width, height = pixels_of(size)
    origin, from_pixels = _cameras.calibrated(intrinsics, pose, extrinsics)
    pixels = np.ones((height, width, 3))
    pixels[..., 0] = np.arange(width) + 0.5
    pixels[..., 1] = (np.arange(height) + 0.5)[:, None]
    return _rays(origin, pixels @ from_pixels.T)


def from_matrices(
    projection: Array, view: Array, size: Size = (640, 480), *, depth: tuple[float, float] = (-1, 1)
) -> Rays:
    """Rays of a camera of a renderer, perspective or orthographic: (height, width, 8). They begin on the near plane,
    and t = 1 is the far plane, where they end. Where the far plane is infinitely far, they have no end.

    Args:
        projection: (4, 4) from the camera's coordinates to clip space.
        view: (4, 4) from the scene's coordinates to the camera's. Both are multiplied with column vectors, as NumPy's
            and OpenGL's books have them; matrices of row vectors are transposed first.
        size: width and height in pixels.
        depth: of the near and the far plane in clip space, z / w: OpenGL's (-1, 1); (0, 1) of Vulkan, Direct3D
            and Metal; (1, 0) where it is reversed.
    """
    width, height = pixels_of(size)
    to_scene = inverse_of("projection @ view", matrix_of("projection", projection, 4) @ placing_of("view", view))
    corners = np.ones((2, height, width, 4))
    corners[..., 0] = (np.arange(width) + 0.5) * (2 / width) - 1
    corners[..., 1] = (1 - (np.arange(height) + 0.5) * (2 / height))[:, None]
    corners[..., 2] = np.reshape(np.asarray(depth, np.float64), (2, 1, 1))
    near, far = corners @ to_scene.T
    origins = near[..., :3] / near[..., 3:]
    endless = np.abs(far[..., 3]) <= _FAR_AWAY * np.linalg.norm(far[..., :3], axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = far[..., :3] / far[..., 3:] - origins
    ahead = far[..., :3] * np.sign(near[..., 3:])
    directions = np.where(endless[..., None], ahead / np.linalg.norm(ahead, axis=-1, keepdims=True), ends)
    return _rays(origins, directions, np.where(endless, np.inf, 1))


# ---- patterns ----


def lidar(eye: Array, target: Array = None, up: Array = (0, 1, 0), fov: float = 30.0, size: Size = (1024, 64)) -> Rays:
    """Rays of a scanner that turns about up, a full turn from left to right: (..., beams, steps, 8), directions of
    length 1, the highest beam first. They are those of `slabcast rays lidar --from EYE --to TARGET`.

    Args:
        eye: (..., 3), its place.
        target: (..., 3), towards which the turn begins; None: -z, or -x where up is along z.
        up: (3,), the axis.
        fov: the angle between the highest and the lowest beam in degrees.
        size: steps of the turn, and beams.
    """
    steps, beams = pixels_of(size)
    place, upward = points_of("eye", eye), point_of("up", up)
    ahead = np.array([0.0, 0.0, -1.0])
    view = views_of(place, None if target is None else points_of("target", target), ahead)
    forward, right, over = (axis[..., None, None, :] for axis in axes_of(view, upward, keep_up=True))
    around_cos, around_sin = (each[:, None] for each in circle(360.0 * (np.arange(steps) / steps)))
    heights = np.arange(beams) / (beams - 1) if beams > 1 else np.array([0.5])
    over_cos, over_sin = (each[:, None, None] for each in circle(float(fov) * (0.5 - heights)))
    flat = (0.0 + around_cos * forward) + around_sin * right
    return _rays(place[..., None, None, :], (0.0 + over_cos * flat) + over_sin * over)


def hemisphere(
    eye: Array, target: Array = None, up: Array = (0, 1, 0), count: int = 10000, seed: int = 0, *, normal: Array = None
) -> Rays:
    """Random rays from points over the half of all directions that is around an axis: (..., count, 8).

    Directions have length 1. Their density is the cosine of the angle to the axis. From one eye they are those of
    `slabcast rays hemisphere --from EYE --to TARGET --count COUNT --seed SEED`.

    Args:
        eye: (..., 3), where they begin.
        target: (..., 3), towards which the axis points; None: the axis is up.
        up: (3,), beside which the axes of the hemisphere are chosen.
        count: rays from each eye.
        seed: another seed, another set.
        normal: (..., 3), the axis itself, of any length, instead of target.
    """
    place, upward = points_of("eye", eye), point_of("up", up)
    if target is not None and normal is not None:
        raise InvalidArgument("hemisphere takes target or normal; both were given")
    if normal is not None:
        view = np.broadcast_to(points_of("normal", normal), np.broadcast_shapes(place.shape, np.shape(normal)))
        if not view.any(axis=-1).all():
            raise InvalidArgument("normal has length zero")
    else:
        view = views_of(place, None if target is None else points_of("target", target), upward)
    shape = (*np.broadcast_shapes(place.shape, view.shape)[:-1], count_of("count", count))
    forward, right, over = (axis[..., None, :] for axis in axes_of(view, upward, keep_up=False))
    x, y = (each.reshape(*shape, 1) for each in _disc(math.prod(shape), seed))
    flat = (0.0 + x * right) + y * over
    return _rays(place[..., None, :], flat + np.sqrt((1.0 - x * x) - y * y) * forward)


# ---- one ray per pixel ----


def _image(camera: _structs.Camera, size: Size) -> Rays:
    """One ray per pixel: slab_camera_ray, in its order of operations."""
    width, height = pixels_of(size)
    origin, forward, right, up = (
        np.array(getattr(camera, name), FLOAT) for name in ("origin", "forward", "right", "up")
    )
    one, two = FLOAT.type(1), FLOAT.type(2)
    sx = (two * np.arange(width, dtype=FLOAT) + one) / FLOAT.type(width) - one
    sy = one - (two * np.arange(height, dtype=FLOAT) + one) / FLOAT.type(height)
    return _rays(origin, forward + (sx[None, :, None] * right + sy[:, None, None] * up))


# ---- random numbers: PCG32 (O'Neill 2014), seeded by splitmix64, as the program's ----


def _split(seed: int) -> Iterator[int]:
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & _WORD
        z = ((seed ^ seed >> 30) * 0xBF58476D1CE4E5B9) & _WORD
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _WORD
        yield z ^ z >> 31


def _uniform(seed: int) -> Iterator[Doubles]:
    """Blocks of numbers in [0, 1), multiples of 2^-24."""
    numbers = _split(count_of("seed", seed) & _WORD)
    state, step = next(numbers), next(numbers) | 1
    states = np.empty(_BLOCK, np.uint64)
    while True:
        # A state is that of m steps before times a, plus c.
        states[0], m, a, c = state, 1, _PCG, step
        while m < _BLOCK:
            states[m : 2 * m] = states[:m] * np.uint64(a) + np.uint64(c)
            m, a, c = 2 * m, a * a & _WORD, (a * c + c) & _WORD
        state = (int(states[-1]) * _PCG + step) & _WORD
        shifted = ((states >> np.uint64(18) ^ states) >> np.uint64(27)).astype(np.uint32)
        turn = (states >> np.uint64(59)).astype(np.uint32)
        words = shifted >> turn | shifted << (np.uint32(32) - turn & np.uint32(31))
        yield (words >> np.uint32(8)).astype(np.float64) * 2.0**-24


def _disc(count: int, seed: int) -> tuple[Doubles, Doubles]:
    """Points of the unit disc: those of the square that lie in it."""
    found, held = [np.empty((0, 2))], 0
    for block in _uniform(seed):
        if held >= count:
            break
        points = (2.0 * block - 1.0).reshape(-1, 2)
        x, y = points[:, 0], points[:, 1]
        found.append(points[x * x + y * y < 1.0])
        held += len(found[-1])
    points = np.concatenate(found)[:count]
    return points[:, 0], points[:, 1]


def _rays(origins: Any, directions: Any, t_max: Any = np.inf) -> Rays:
    rays = np.zeros((*np.broadcast_shapes(np.shape(origins), np.shape(directions))[:-1], 8), FLOAT)
    rays[..., :3], rays[..., 4:7], rays[..., 7] = origins, directions, t_max
    return rays
