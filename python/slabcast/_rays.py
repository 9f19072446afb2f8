"""Rays of a cast, as they are given: in one array, or in parts that are broadcast against each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Callable, Optional

import numpy as np
from numpy.typing import NDArray

from ._arrays import (
    DOUBLE,
    Parts,
    arrays_of,
    columns,
    common_shape,
    is_wide,
    narrow,
    refuse_beyond,
    shaped,
    tell_copy,
    tell_losses,
    why_copied,
)
from ._library import InvalidArgument, OutOfMemory
from ._values import FLOAT, host_array

# Rays are put together so many at a time: 4 MiB, of which the caches hold most until they are cast.
BLOCK = 1 << 17


def no_space(of: str, n: int) -> OutOfMemory:
    return OutOfMemory(f"there is no space for {of} of {n:,} rays: cast some of them at a time")


class Rays:
    """Rays of (*shape, 8), of float32 or float64."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any] = FLOAT

    def __init__(
        self,
        rays: Any,
        directions: Any,
        t_min: Any,
        t_max: Any,
        around: Callable[[], Any],
        double: Optional[bool] = False,
    ) -> None:
        """Takes the arguments of a cast. around: returns the range of the scene. double: whether rays are float64;
        None: where the given ones have so many digits."""
        self._whole: Any = None
        is_plain = directions is None and t_min is t_max is None and not double
        if is_plain and type(rays) is np.ndarray and rays.dtype == FLOAT:
            flags = rays.flags
            if rays.shape[-1:] == (8,) and flags.c_contiguous and flags.aligned:  # the rest slows a call with one ray
                self._whole, self.shape, self.size = rays, rays.shape[:-1], rays.size // 8
                return
        self._around = around
        if directions is None:
            if t_min is not None or t_max is not None:
                raise InvalidArgument("t_min and t_max go with origins and directions; rays of (..., 8) have their own")
            self._parts: Parts = (("rays", rays, 8),)
            self._given: list[Any] = [_of_one(rays)]
        else:
            self._parts = (
                ("origins", rays, 3),
                ("t_min", 0.0 if t_min is None else t_min, 0),
                ("directions", directions, 3),
                ("t_max", np.inf if t_max is None else t_max, 0),
            )
            self._given = arrays_of(*self._parts, of_rays=True)
        self.shape = common_shape(self._parts, self._given)
        self.size = math.prod(self.shape)
        if double or (double is None and any(map(is_wide, self._given))):
            self.dtype = DOUBLE
            self._arrays, self._moved = self._given, [0.0] * len(self._given)
        else:
            self._arrays, self._moved = narrow(self._parts, self._given, self.shape)
        one = self._arrays[0]
        if directions is None and one.dtype == self.dtype and one.flags.c_contiguous and one.flags.aligned:
            self._whole = one

    @property
    def is_double(self) -> bool:
        return self.dtype == DOUBLE

    def _put(self, arrays: list[Any], out: NDArray[Any]) -> None:
        """Puts rays together in `out`."""
        moved = columns(self._parts, arrays, out)
        if any(moved):
            if np.inf in moved:
                beyond = moved.index(np.inf)
                refuse_beyond(self._parts[beyond][0], self._given[beyond])
            self._moved = list(map(max, self._moved, moved))

    def _tell_losses(self) -> None:
        """Once all of them are put together."""
        if any(self._moved):
            tell_losses(self._parts, self._given, self._moved, self._around(), has_origin=True)

    def array(self) -> NDArray[Any]:
        """All of them in one array."""
        if self._whole is None:
            try:
                out = np.empty((*self.shape, 8), self.dtype)
            except (MemoryError, ValueError):
                raise no_space("the origins and directions", self.size) from None
            if len(self._parts) == 1:
                tell_copy("rays", out.nbytes, why_copied(self._given[0], self.dtype))
            else:
                tell_copy(
                    "origins and directions", out.nbytes, "they are joined to rays; one array of (..., 8) is not copied"
                )
            self._put(self._arrays, out)
            self._tell_losses()
            self._whole = out
        return self._whole  # type: ignore[no-any-return]

    @property
    def is_in_blocks(self) -> bool:
        return self._whole is None and self.size > 2 * BLOCK

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """A few rays at a time, in order, each with the number of the first. They lie in the same memory."""
        inner = len(self.shape)  # axes from here on fit into a block
        while inner > 0 and math.prod(self.shape[inner - 1 :]) <= BLOCK:
            inner -= 1
        axis, each = inner - 1, math.prod(self.shape[inner:])
        step = max(1, BLOCK // each)
        space = np.empty((step, *self.shape[inner:], 8), self.dtype)
        spread: list[Any] = [
            array if type(array) is float else np.broadcast_to(array, (*self.shape, width) if width else self.shape)
            for (_, _, width), array in zip(self._parts, self._arrays)
        ]
        done = 0
        for outer in np.ndindex(self.shape[:axis]):
            for begin in range(0, self.shape[axis], step):
                index = (*outer, slice(begin, begin + step))
                count = min(step, self.shape[axis] - begin)
                self._put([a if type(a) is float else a[index] for a in spread], space[:count])
                yield done, space[:count].reshape(-1, 8)
                done += count * each
        self._tell_losses()


def _of_one(rays: Any) -> NDArray[Any]:
    array = host_array("rays", rays, of_rays=True)
    if array.shape[-1:] == (3,):
        raise InvalidArgument(
            f"rays has shape {array.shape}: origins take directions beside them; rays alone are (..., 8)"
        )
    shaped("rays", array, 8)
    return array
