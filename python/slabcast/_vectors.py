"""Points and matrices as arguments, and vectors in the order of the program's operations."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._arrays import float_array, shaped
from ._library import InvalidArgument
from ._options import Array
from ._values import host_array

Doubles = NDArray[np.float64]


# ---- arguments ----


def points_of(name: str, value: Array) -> Doubles:
    """Points as float32 holds them, in float64, in which the program computes too."""
    array = float_array(name, value)
    shaped(name, array, 3)
    if not np.isfinite(array).all():
        raise InvalidArgument(f"{name} has numbers that are not finite")
    return array.astype(np.float64)


def point_of(name: str, value: Array) -> Doubles:
    point = points_of(name, value)
    if point.shape != (3,):
        raise InvalidArgument(f"{name} has shape {point.shape}; what is taken is (3,)")
    if name == "up" and not point.any():
        raise InvalidArgument("up has length zero")
    return point


def count_of(name: str, value: Any) -> int:
    if not isinstance(value, (int, np.integer)) or value < 0:
        raise InvalidArgument(f"{name} is {value!r}; what is taken are whole numbers from 0 on")
    return int(value)


def matrix_of(name: str, value: Array, n: int) -> Doubles:
    array = host_array(name, value)
    if array.shape != (n, n):
        raise InvalidArgument(f"{name} has shape {array.shape}; what is taken is ({n}, {n})")
    return array.astype(np.float64)


def placing_of(name: str, value: Array) -> Doubles:
    """A matrix whose last row is 0, 0, 0, 1; that of a transposed one is not."""
    matrix = matrix_of(name, value, 4)
    if (matrix[3] != [0, 0, 0, 1]).any():
        raise InvalidArgument(f"{name}: the last row is {matrix[3].tolist()}, not [0, 0, 0, 1]; is it transposed?")
    return matrix


def inverse_of(name: str, matrix: Doubles) -> Doubles:
    try:
        return np.linalg.inv(matrix).astype(np.float64)
    except np.linalg.LinAlgError:
        raise InvalidArgument(f"{name} has no inverse") from None


# ---- vectors: float64, in the order of the program's operations, on the last axis ----


def dot(a: Doubles, b: Doubles) -> Any:
    return (a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1]) + a[..., 2] * b[..., 2]


def cross(a: Doubles, b: Doubles) -> Doubles:
    (ax, ay, az), (bx, by, bz) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=-1)


def unit(a: Doubles) -> Doubles:
    return a / np.sqrt(dot(a, a))[..., None]  # type: ignore[no-any-return]


def is_along(forward: Doubles, up: Doubles) -> Any:
    side = cross(forward, up)
    return dot(side, side) <= 1e-12 * dot(forward, forward) * dot(up, up)


def views_of(place: Doubles, target: Optional[Doubles], otherwise: Doubles) -> Doubles:
    """From places to targets, or `otherwise` where the two are one point."""
    if target is None:
        return otherwise
    view = target - place
    return np.where((dot(view, view) > 0)[..., None], view, otherwise)


def axes_of(forward: Doubles, up: Doubles, keep_up: bool) -> tuple[Doubles, Doubles, Doubles]:
    """Unit axes forward, right and up, with `forward` (or `up`) kept and the other made perpendicular to it."""
    up = np.broadcast_to(up, forward.shape)
    kept = unit(up if keep_up else forward)
    other = np.where(np.abs(kept[..., :1]) < 0.7, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    right = unit(np.where(is_along(forward, up)[..., None], cross(kept, other), cross(forward, up)))
    return (cross(kept, right), right, kept) if keep_up else (kept, right, cross(right, kept))


def circle(degrees: Any) -> tuple[Any, Any]:
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


def tangent(degrees: float) -> float:
    cosine, sine = circle(degrees)
    return float(sine / cosine)
