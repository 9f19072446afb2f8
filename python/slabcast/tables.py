"""Tables for sets of rays (RaySet): beams and poses of sensors, directions of hemispheres, of skies and to the sun.

The same arguments give the same bits on every machine. Angles are in degrees, between -1e6 and 1e6, and are broadcast
against each other. Directions have length 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arrays import float_array
from ._geometry import transform_rows
from ._library import InvalidArgument, flag, library, must
from ._options import Array
from ._values import FLOAT, at
from ._vectors import count_of

Floats = NDArray[np.float32]

__all__ = ["beams", "hemisphere", "sky_patches", "spun_poses", "sun_directions"]

_MOST_DEGREES = 1e6
_MOST_PARTS = 64  # of a sky's rows


def beams(elevation: Array, azimuth: Array = 0.0) -> Floats:
    """Beams from a sensor's origin, for RaySet.beams(): (..., 6) float32, origins of 0 and directions.

    Args:
        elevation: (...), above the sensor's xy plane.
        azimuth: (...), from its x axis towards y.
    """
    up, around = _angles(("elevation", elevation), ("azimuth", azimuth))
    made = np.empty((*up.shape, 6), FLOAT)
    must(library.slab_beams(up.ctypes.data, around.ctypes.data, up.size, made.ctypes.data))
    return made


def spun_poses(pose: Array, azimuth: Array) -> Floats:
    """Poses of a spinning sensor, for RaySet.beams(): (..., 3, 4) float32, each turned about its own z axis.

    Args:
        pose: (..., 3, 4) or (..., 4, 4) rigid matrices from the sensor's space to the scene's, which are broadcast to
            the azimuths: one for all, or one for each firing.
        azimuth: (...), from the sensor's x axis towards y.
    """
    frames, (around,) = transform_rows(pose, "pose"), _angles(("azimuth", azimuth))
    try:
        shape = np.broadcast_shapes(frames.shape[:-2], around.shape)
    except ValueError:
        raise InvalidArgument(
            f"shapes that do not fit each other: pose {frames.shape}, azimuth {around.shape}"
        ) from None
    of_each = np.array(np.broadcast_to(around, shape), order="C")
    one = frames.size == 12
    frames = frames if one else np.ascontiguousarray(np.broadcast_to(frames, (*shape, 3, 4)))
    made = np.empty((*shape, 3, 4), FLOAT)
    given = frames.ctypes.data, 0 if one else 48, of_each.ctypes.data, of_each.size
    must(library.slab_spun_poses(*given, made.ctypes.data))
    return made


def hemisphere(count: int, cosine: bool = False) -> Floats:
    """Directions over the half of all directions that is around z, on a Fibonacci spiral: (count, 3) float32.

    Args:
        count: how many, below 2^32.
        cosine: False spreads them evenly over the solid angle; True by the cosine of the angle to z, so that means over
            them weigh as irradiance does.
    """
    made = np.empty((_below(count_of("count", count), 1 << 32), 3), FLOAT)
    must(library.slab_hemisphere(len(made), flag("cosine", cosine), made.ctypes.data))
    return made


def sun_directions(azimuth: Array, altitude: Array) -> Floats:
    """Directions to the sun, with x to the east, y to the north and z up: (..., 3) float32.

    Args:
        azimuth: (...), from north towards east.
        altitude: (...), above the horizon; below it they are negative.
    """
    around, up = _angles(("azimuth", azimuth), ("altitude", altitude))
    made = np.empty((*up.shape, 3), FLOAT)
    must(library.slab_sun_directions(around.ctypes.data, up.ctypes.data, up.size, made.ctypes.data))
    return made


def sky_patches(parts: int = 1) -> tuple[Floats, Floats]:
    """The patches of a sky: directions to their middles (n, 3) float32, and their solid angles (n,) float32. These sum
    up to 2 pi. The axis x is to the east, y to the north and z up. Rows begin at the horizon, each with north; the
    zenith is the last patch.

    Args:
        parts: 1 to 64. 1: Tregenza's 145 patches; 2: Reinhart's 577; 4: 2305.
    """
    parts = count_of("parts", parts)
    if not 1 <= parts <= _MOST_PARTS:
        raise InvalidArgument(f"parts is {parts}; what is taken are whole numbers from 1 to {_MOST_PARTS}")
    n = int(library.slab_sky_patch_count(parts))
    directions, weights = np.empty((n, 3), FLOAT), np.empty(n, FLOAT)
    must(library.slab_sky_patches(parts, directions.ctypes.data, weights.ctypes.data))
    return directions, weights


def _below(count: int, most: int) -> int:
    if count >= most:
        raise InvalidArgument(f"count is {count}; what is taken is below {most:,}")
    return count


def _angles(*given: tuple[str, Any]) -> list[Floats]:
    """Angles, broadcast against each other."""
    arrays = [float_array(*each) for each in given]
    for (name, _), array in zip(given, arrays):
        wrong = ~(np.abs(array) <= _MOST_DEGREES)
        if wrong.any():
            first = tuple(np.argwhere(wrong)[0])
            raise InvalidArgument(f"{name}{at(first)} is {array[first]}; what is taken are degrees from -1e6 to 1e6")
    try:
        return [np.array(array, order="C") for array in np.broadcast_arrays(*arrays)]
    except ValueError:
        told = ", ".join(f"{name} {array.shape}" for (name, _), array in zip(given, arrays))
        raise InvalidArgument(f"shapes that do not fit each other: {told}") from None
