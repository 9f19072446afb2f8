"""Cameras: slab_camera as users describe it, for arrays of rays and for sets of them."""

from __future__ import annotations

from ctypes import c_float
from typing import Any

import numpy as np

from . import _structs
from ._library import InvalidArgument, library
from ._options import Array
from ._values import FLOAT
from ._vectors import Doubles, axes_of, cross, dot, inverse_of, is_along, matrix_of, placing_of, point_of, tangent, unit

Size = tuple[int, int]

_MARGIN = 1.06


# ---- arguments ----


def pixels_of(size: Any) -> Size:
    if np.shape(size) != (2,) or not all(isinstance(each, (int, np.integer)) and each > 0 for each in size):
        raise InvalidArgument(f"size is {size!r}; what is taken are two whole numbers above 0, width and height")
    return int(size[0]), int(size[1])


def _field(fov: float) -> float:
    if not 0 < fov < 180:
        raise InvalidArgument(f"fov is {fov}; what is taken is above 0 and below 180 degrees")
    return float(np.float32(fov))


def _looking(eye: Array, target: Array, up: Array) -> tuple[Doubles, Doubles, Doubles]:
    """The place of a camera, its unit direction of view, and its up direction."""
    start, end, upward = (point_of(*each) for each in (("eye", eye), ("target", target), ("up", up)))
    view = end - start
    if not view.any():
        raise InvalidArgument(f"eye and target are the same point, {start.tolist()}")
    return start, unit(view), upward


# ---- cameras ----


def look_at(eye: Array, target: Array, up: Array, fov: float, size: Size) -> _structs.Camera:
    """One that looks from eye to target."""
    start, view, upward = _looking(eye, target, up)
    return _camera(start, view, upward, fov, size)


def overview(scene: Any, up: Array, fov: float, size: Size) -> _structs.Camera:
    """One that sees a whole scene."""
    upward, (width, height) = point_of("up", up), pixels_of(size)
    lower, upper = _bounds(scene)
    target, forward = 0.5 * lower + 0.5 * upper, unit(_from_front_right(upward))
    away = _framing(
        lower, upper, target, forward, _usable_up(forward, upward), tangent(0.5 * _field(fov)), width / height
    )
    eye = (target - away * forward).astype(FLOAT).astype(np.float64)
    return _camera(eye, unit(target - eye), upward, fov, size)


def along_axes(eye: Array, target: Array, up: Array, across: float, along: float) -> _structs.Camera:
    """One with a unit view, half an image plane of across by along."""
    start, view, upward = _looking(eye, target, up)
    forward, right, over = axes_of(view, _usable_up(view, upward), keep_up=False)
    return camera_of(start, forward, across * right, along * over)


def camera_of(origin: Doubles, forward: Doubles, right: Doubles, up: Doubles) -> _structs.Camera:
    camera = _structs.Camera()
    for name, vector in (("origin", origin), ("forward", forward), ("right", right), ("up", up)):
        getattr(camera, name)[:] = vector.tolist()
    return camera


def calibrated(intrinsics: Array, pose: Array, extrinsics: Array) -> tuple[Doubles, Doubles]:
    """The place of a calibrated camera, and the matrix from pixels (x, y, 1) to directions in the scene."""
    if pose is not None and extrinsics is not None:
        raise InvalidArgument("pinhole takes pose or extrinsics, which are inverse to each other; both were given")
    to_scene = np.eye(4)
    if pose is not None:
        to_scene = placing_of("pose", pose)
    elif extrinsics is not None:
        to_scene = inverse_of("extrinsics", placing_of("extrinsics", extrinsics))
    return to_scene[:3, 3], to_scene[:3, :3] @ inverse_of("intrinsics", matrix_of("intrinsics", intrinsics, 3))


# ---- the program's camera ----


def _usable_up(forward: Doubles, up: Doubles) -> Doubles:
    """`up`, or another axis where that lies along the view."""
    if not is_along(forward, up):
        return up
    return np.array([0.0, 0.0, -1.0] if abs(forward[2]) < abs(forward[1]) else [0.0, 1.0, 0.0])


def _camera(eye: Doubles, forward: Doubles, up: Doubles, fov: float, size: Size) -> _structs.Camera:
    """It looks from 0 and is moved then: the sum of eye and view would be rounded."""
    width, height = pixels_of(size)
    vectors = np.zeros((3, 3), FLOAT)
    vectors[1], vectors[2] = forward, _usable_up(forward, up)
    at = vectors.ctypes.data
    camera: _structs.Camera = library.slab_camera_look_at(
        at, at + 12, at + 24, c_float(_field(fov)), c_float(width / height)
    )
    camera.origin[:] = eye.tolist()
    return camera


def _bounds(scene: Any) -> tuple[Doubles, Doubles]:
    info = scene.info
    lower, upper = np.array(info.lower), np.array(info.upper)
    bounded = lower <= upper
    return np.where(bounded, lower, -1.0), np.where(bounded, upper, 1.0)


def _from_front_right(up: Doubles) -> Doubles:
    """The view of the overview: down from the front right."""
    over = unit(up)
    other = np.array([1.0, 0.0, 0.0] if abs(over[0]) < 0.7 else [0.0, 1.0, 0.0])
    right = unit(other - dot(other, over) * over)
    return -0.45 * right + -0.4 * over + 0.8 * cross(over, right)


def _framing(
    lower: Doubles, upper: Doubles, target: Doubles, forward: Doubles, up: Doubles, slope: float, aspect: float
) -> float:
    """The least distance from `target` against `forward` at which all eight corners are in view, plus a margin."""
    right = unit(cross(forward, up))
    over = cross(right, forward)
    corners = np.array([[(upper if i >> k & 1 else lower)[k] for k in range(3)] for i in range(8)]) - target
    wide, high = np.abs(dot(corners, right)) / (slope * aspect), np.abs(dot(corners, over)) / slope
    distance = float((_MARGIN * np.maximum(wide, high) - dot(corners, forward)).max())
    return distance if distance > 0 else 1.0
