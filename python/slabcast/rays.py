"""Sets of rays, of (..., 8) float32: cameras, LiDARs, hemispheres.

The same arguments give the same rays on every machine; those of `slabcast rays` the same bits. Each function takes
points and directions as float32. Images have their rows from the top: pixel (x, y) is rays[y, x].
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from ctypes import c_float
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._arrays import float_array, shaped
from ._library import InvalidArgument, library
from ._options import Array
from ._values import FLOAT, host_array

Rays = NDArray[np.float32]
Doubles = NDArray[np.float64]
Size = tuple[int, int]

__all__ = ["from_matrices", "hemisphere", "lidar", "look_at", "overview", "pinhole"]

_MARGIN = 1.06
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
    start, end, upward = (_point(*each) for each in (("eye", eye), ("target", target), ("up", up)))
    view = end - start
    if not view.any():
        raise InvalidArgument(f"eye and target are the same point, {start.tolist()}")
    return _image(_camera(start, _unit(view), upward, fov, size), size)


def overview(scene: Any, up: Array = (0, 1, 0), fov: float = 40.0, size: Size = (640, 480)) -> Rays:
    """Rays of a camera that sees a whole scene, as the program chooses it where it has no --from: (height, width, 8).

    Args:
        scene: a Scene, which is committed; what has no bounds, such as planes, does not count.
        up: (3,), what is up in the image.
        fov: the vertical field of view in degrees, above 0 and below 180.
        size: width and height in pixels.
    """
    upward, (width, height) = _point("up", up), _pixels_of(size)
    lower, upper = _bounds(scene)
    target, forward = 0.5 * lower + 0.5 * upper, _unit(_from_front_right(upward))
    away = _framing(
        lower, upper, target, forward, _usable_up(forward, upward), _tangent(0.5 * _field(fov)), width / height
    )
    eye = (target - away * forward).astype(FLOAT).astype(np.float64)
    return _image(_camera(eye, _unit(target - eye), upward, fov, size), size)


def pinhole(intrinsics: Array, size: Size = (640, 480), *, pose: Array = None, extrinsics: Array = None) -> Rays:
    """Rays of a calibrated camera, x to the right, y down and z ahead: (height, width, 8). t of a hit is its depth: its
    z before the camera.

    Args:
        intrinsics: (3, 3), the matrix K of focal lengths and principal point. Pixel (x, y) has its centre at
            (x + 0.5, y + 0.5), as Open3D has it; where K counts from the centres of pixels, as OpenCV's, add 0.5 to its
            principal point.
        size: width and height in pixels.
        pose: (4, 4) from the camera's coordinates to the scene's; None: the two are the same.
        extrinsics: (4, 4) from the scene's coordinates to the camera's, instead of pose.
    """
    width, height = _pixels_of(size)
    if pose is not None and extrinsics is not None:
        raise InvalidArgument("pinhole takes pose or extrinsics, which are inverse to each other; both were given")
    to_scene = np.eye(4)
    if pose is not None:
        to_scene = _placing("pose", pose)
    elif extrinsics is not None:
        to_scene = _inverse("extrinsics", _placing("extrinsics", extrinsics))
    from_pixels = to_scene[:3, :3] @ _inverse("intrinsics", _matrix("intrinsics", intrinsics, 3))
    pixels = np.ones((height, width, 3))
    pixels[..., 0] = np.arange(width) + 0.5
    pixels[..., 1] = (np.arange(height) + 0.5)[:, None]
    return _rays(to_scene[:3, 3], pixels @ from_pixels.T)


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
        depth: what the near and the far plane have in clip space, z / w: OpenGL's (-1, 1); (0, 1) of Vulkan, Direct3D
            and Metal; (1, 0) where it is reversed.
    """
    width, height = _pixels_of(size)
    to_scene = _inverse("projection @ view", _matrix("projection", projection, 4) @ _placing("view", view))
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
        eye: (..., 3), where it stands.
        target: (..., 3), towards which the turn begins; None: -z, or -x where up is along z.
        up: (3,), the axis.
        fov: the angle between the highest and the lowest beam in degrees.
        size: steps of the turn, and beams.
    """
    steps, beams = _pixels_of(size)
    place, upward = _points("eye", eye), _point("up", up)
    ahead = np.array([0.0, 0.0, -1.0])
    view = _views(place, None if target is None else _points("target", target), ahead)
    forward, right, over = (axis[..., None, None, :] for axis in _axes(view, upward, keep_up=True))
    around_cos, around_sin = (each[:, None] for each in _circle(360.0 * (np.arange(steps) / steps)))
    heights = np.arange(beams) / (beams - 1) if beams > 1 else np.array([0.5])
    over_cos, over_sin = (each[:, None, None] for each in _circle(float(fov) * (0.5 - heights)))
    flat = (0.0 + around_cos * forward) + around_sin * right
    return _rays(place[..., None, None, :], (0.0 + over_cos * flat) + over_sin * over)


def hemisphere(
    eye: Array, target: Array = None, up: Array = (0, 1, 0), count: int = 10000, seed: int = 0, *, normal: Array = None
) -> Rays:
    """Random rays from points over the half of all directions that is around an axis, their density as the cosine of
    the angle to it: (..., count, 8), directions of length 1. From one eye they are those of
    `slabcast rays hemisphere --from EYE --to TARGET --count COUNT --seed SEED`.

    Args:
        eye: (..., 3), where they begin.
        target: (..., 3), towards which the axis points; None: the axis is up.
        up: (3,), beside which the axes of the hemisphere are chosen.
        count: rays from each eye.
        seed: another seed, another set.
        normal: (..., 3), the axis itself, of any length, instead of target.
    """
    place, upward = _points("eye", eye), _point("up", up)
    if target is not None and normal is not None:
        raise InvalidArgument("hemisphere takes target or normal; both were given")
    if normal is not None:
        view = np.broadcast_to(_points("normal", normal), np.broadcast_shapes(place.shape, np.shape(normal)))
        if not view.any(axis=-1).all():
            raise InvalidArgument("normal has length zero")
    else:
        view = _views(place, None if target is None else _points("target", target), upward)
    shape = (*np.broadcast_shapes(place.shape, view.shape)[:-1], _count("count", count))
    forward, right, over = (axis[..., None, :] for axis in _axes(view, upward, keep_up=False))
    x, y = (each.reshape(*shape, 1) for each in _disc(math.prod(shape), seed))
    flat = (0.0 + x * right) + y * over
    return _rays(place[..., None, :], flat + np.sqrt((1.0 - x * x) - y * y) * forward)


# ---- arguments ----


def _points(name: str, value: Array) -> Doubles:
    """Points as float32 holds them, in float64, in which the program computes too."""
    array = float_array(name, value)
    shaped(name, array, 3)
    if not np.isfinite(array).all():
        raise InvalidArgument(f"{name} has numbers that are not finite")
    return array.astype(np.float64)


def _point(name: str, value: Array) -> Doubles:
    point = _points(name, value)
    if point.shape != (3,):
        raise InvalidArgument(f"{name} has shape {point.shape}; what is taken is (3,)")
    if name == "up" and not point.any():
        raise InvalidArgument("up has length zero")
    return point


def _count(name: str, value: Any) -> int:
    if not isinstance(value, (int, np.integer)) or value < 0:
        raise InvalidArgument(f"{name} is {value!r}; what is taken are whole numbers from 0 on")
    return int(value)


def _pixels_of(size: Any) -> Size:
    if np.shape(size) != (2,) or not all(isinstance(each, (int, np.integer)) and each > 0 for each in size):
        raise InvalidArgument(f"size is {size!r}; what is taken are two whole numbers above 0, width and height")
    return int(size[0]), int(size[1])


def _field(fov: float) -> float:
    if not 0 < fov < 180:
        raise InvalidArgument(f"fov is {fov}; what is taken is above 0 and below 180 degrees")
    return float(np.float32(fov))


def _matrix(name: str, value: Array, n: int) -> Doubles:
    array = host_array(name, value)
    if array.shape != (n, n):
        raise InvalidArgument(f"{name} has shape {array.shape}; what is taken is ({n}, {n})")
    return array.astype(np.float64)


def _placing(name: str, value: Array) -> Doubles:
    """A matrix whose last row is 0, 0, 0, 1; that of a transposed one is not."""
    matrix = _matrix(name, value, 4)
    if (matrix[3] != [0, 0, 0, 1]).any():
        raise InvalidArgument(f"{name}: the last row is {matrix[3].tolist()}, not [0, 0, 0, 1]; is it transposed?")
    return matrix


def _inverse(name: str, matrix: Doubles) -> Doubles:
    try:
        return np.linalg.inv(matrix).astype(np.float64)
    except np.linalg.LinAlgError:
        raise InvalidArgument(f"{name} has no inverse") from None


# ---- vectors: float64, in the order of the program's operations, on the last axis ----


def _dot(a: Doubles, b: Doubles) -> Any:
    return (a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1]) + a[..., 2] * b[..., 2]


def _cross(a: Doubles, b: Doubles) -> Doubles:
    (ax, ay, az), (bx, by, bz) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def _unit(a: Doubles) -> Doubles:
    return a / np.sqrt(_dot(a, a))[..., None]  # type: ignore[no-any-return]


def _is_along(forward: Doubles, up: Doubles) -> Any:
    side = _cross(forward, up)
    return _dot(side, side) <= 1e-12 * _dot(forward, forward) * _dot(up, up)


def _views(place: Doubles, target: Optional[Doubles], otherwise: Doubles) -> Doubles:
    """From places to targets, or `otherwise` where the two are one point."""
    if target is None:
        return otherwise
    view = target - place
    return np.where((_dot(view, view) > 0)[..., None], view, otherwise)


def _axes(forward: Doubles, up: Doubles, keep_up: bool) -> tuple[Doubles, Doubles, Doubles]:
    """Unit axes forward, right and up, with `forward` (or `up`) kept and the other made perpendicular to it."""
    up = np.broadcast_to(up, forward.shape)
    kept = _unit(up if keep_up else forward)
    other = np.where(np.abs(kept[..., :1]) < 0.7, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    right = _unit(np.where(_is_along(forward, up)[..., None], _cross(kept, other), _cross(forward, up)))
    return (_cross(kept, right), right, kept) if keep_up else (kept, right, _cross(right, kept))


def _circle(degrees: Any) -> tuple[Any, Any]:
    """Cosine and sine, of additions and multiplications alone, as the program has them: no machine has others."""
    degrees = np.asarray(degrees, np.float64)
    quadrants = np.floor(degrees / 90.0 + 0.5)
    x = (degrees - 90.0 * quadrants) * 0.017453292519943295
    c, s = np.ones_like(x), np.ones_like(x)
    for n in range(18, 1, -2):
        c = 1.0 - c * (x * x) / float((n - 1) * n)
        s = 1.0 - s * (x * x) / float(n * (n + 1))
    s = s * x
    turn = (quadrants - 4.0 * np.floor(quadrants / 4.0)).astype(np.int64)
    return np.choose(turn, [c, -s, -c, s]), np.choose(turn, [s, c, -s, -c])


def _tangent(degrees: float) -> float:
    cosine, sine = _circle(degrees)
    return float(sine / cosine)


# ---- the program's camera ----


def _usable_up(forward: Doubles, up: Doubles) -> Doubles:
    """`up`, or another axis where that lies along the view."""
    if not _is_along(forward, up):
        return up
    return np.array([0.0, 0.0, -1.0] if abs(forward[2]) < abs(forward[1]) else [0.0, 1.0, 0.0])


def _camera(eye: Doubles, forward: Doubles, up: Doubles, fov: float, size: Size) -> Any:
    """It looks from 0 and is moved then: the sum of eye and view would be rounded."""
    width, height = _pixels_of(size)
    vectors = np.zeros((3, 3), FLOAT)
    vectors[1], vectors[2] = forward, _usable_up(forward, up)
    at = vectors.ctypes.data
    camera = library.slab_camera_look_at(at, at + 12, at + 24, c_float(_field(fov)), c_float(width / height))
    camera.origin[:] = eye.tolist()
    return camera


def _image(camera: Any, size: Size) -> Rays:
    """A ray a pixel: slab_camera_ray, in its order of operations."""
    width, height = _pixels_of(size)
    origin, forward, right, up = (
        np.array(getattr(camera, name), FLOAT) for name in ("origin", "forward", "right", "up")
    )
    one, two = FLOAT.type(1), FLOAT.type(2)
    sx = (two * np.arange(width, dtype=FLOAT) + one) / FLOAT.type(width) - one
    sy = one - (two * np.arange(height, dtype=FLOAT) + one) / FLOAT.type(height)
    return _rays(origin, forward + (sx[None, :, None] * right + sy[:, None, None] * up))


def _bounds(scene: Any) -> tuple[Doubles, Doubles]:
    info = scene.info
    lower, upper = np.array(info.lower), np.array(info.upper)
    bounded = lower <= upper
    return np.where(bounded, lower, -1.0), np.where(bounded, upper, 1.0)


def _from_front_right(up: Doubles) -> Doubles:
    """The view of the overview: down from the front right."""
    over = _unit(up)
    other = np.array([1.0, 0.0, 0.0] if abs(over[0]) < 0.7 else [0.0, 1.0, 0.0])
    right = _unit(other - _dot(other, over) * over)
    return -0.45 * right + -0.4 * over + 0.8 * _cross(over, right)


def _framing(
    lower: Doubles, upper: Doubles, target: Doubles, forward: Doubles, up: Doubles, tangent: float, aspect: float
) -> float:
    """The least distance from `target` against `forward` at which all eight corners are in view, plus a margin."""
    right = _unit(_cross(forward, up))
    over = _cross(right, forward)
    corners = np.array([[(upper if i >> k & 1 else lower)[k] for k in range(3)] for i in range(8)]) - target
    wide, high = np.abs(_dot(corners, right)) / (tangent * aspect), np.abs(_dot(corners, over)) / tangent
    distance = float((_MARGIN * np.maximum(wide, high) - _dot(corners, forward)).max())
    return distance if distance > 0 else 1.0


# ---- random numbers: PCG32 (O'Neill 2014), seeded by splitmix64, as the program's ----


def _split(seed: int) -> Iterator[int]:
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & _WORD
        z = ((seed ^ seed >> 30) * 0xBF58476D1CE4E5B9) & _WORD
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & _WORD
        yield z ^ z >> 31


def _uniform(seed: int) -> Iterator[Doubles]:
    """Blocks of numbers in [0, 1), multiples of 2^-24."""
    numbers = _split(_count("seed", seed) & _WORD)
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
