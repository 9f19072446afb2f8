"""Sums over rows of rays: the arrays that slab_cast writes, and the results for users."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Callable, Literal, NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from . import _structs
from ._arrays import WORD, float_array
from ._library import InvalidArgument, word
from ._options import Array
from ._rays import Rays, no_space
from ._records import SUM
from ._sets import RaySet, Shape
from ._values import FLOAT, at

SumQuery = Literal["any", "distance"]

QUERIES = ("any", "distance")
RESULTS = ("rays", "sums", "histogram", "bits")  # slab_result_type
_MOST_WEIGHT = 2.0**31
_MOST_BINS = 4096

# Casts rays, with the given results of the library.
Cast = Callable[[str, _structs.Results], None]


class Sums(NamedTuple):
    """Sums over rows of rays, each an array of the rows' shape. Invalid rays are in no sum."""

    open: NDArray[np.float64]
    """Weights of the rays that hit nothing."""
    blocked: NDArray[np.float64]
    """Weights of the rays that hit something."""
    rays: NDArray[np.uint32]
    """Valid rays: the others of the row are invalid."""
    hits: NDArray[np.uint32]
    """Rays that hit something."""
    least: NDArray[np.float32]
    """The least t of all hits; inf where there is none; NaN of the query "any"."""
    mean: NDArray[np.float32]
    """The mean t of all hits; inf where there is none; NaN of the query "any"."""


class Rows:
    """Rays in rows: of a set its own, of arrays the last axis of the rays' shape."""

    def __init__(self, given: Union[Rays, RaySet]) -> None:
        if isinstance(given, RaySet):
            self.shape, self.within = given.row_shape, given.column_shape
        elif not given.shape:
            raise InvalidArgument("rays is one ray; sums are over rows of rays, (..., n, 8)")
        else:
            self.shape, self.within = given.shape[:-1], given.shape[-1:]
        self.size = given.size
        self.columns = word("the number of rays of a row", math.prod(self.within))

    def space(self, tail: Shape, dtype: np.dtype[Any], empty: Any = 0) -> NDArray[Any]:
        """Space for results of rows. empty: the result of a row without rays."""
        try:
            made = np.empty((*self.shape, *tail), dtype)
        except (MemoryError, ValueError):
            raise no_space("the sums of rows", self.size) from None
        if not self.size:
            made[...] = empty
        return made

    def results(self, kind: str, made: NDArray[Any], **named: Any) -> _structs.Results:
        return _structs.Results(made.ctypes.data, type=RESULTS.index(kind), columns=self.columns, **named)


def sums(rows: Rows, cast: Cast, query: SumQuery, weights: Array) -> Sums:
    nothing = np.inf if query == "distance" else np.nan
    made = rows.space((), SUM, (0, 0, 0, 0, nothing, nothing))
    table = None if weights is None else _weights_of(weights, rows.within)
    cast(query, rows.results("sums", made, weights=None if table is None else table.ctypes.data))
    return Sums(*(made[name] for name in Sums._fields))


def histogram(rows: Rows, cast: Cast, bins: int, ends: Sequence[float]) -> NDArray[np.uint32]:
    begin, end = _ends_of(ends)
    bins = word("bins", bins)
    if not 1 <= bins <= _MOST_BINS:
        raise InvalidArgument(f"bins is {bins}; what is taken is 1 to {_MOST_BINS}")
    made = rows.space((bins,), WORD)
    cast("distance", rows.results("histogram", made, bins=bins, t_from=begin, t_to=end))
    return made


def sees(rows: Rows, cast: Cast, packed: bool) -> NDArray[Any]:
    words = rows.space((-(-rows.columns // 32),), WORD)
    cast("any", rows.results("bits", words))
    if packed:
        return words
    octets = words.astype("<u4", copy=False).view(np.uint8)
    bits = np.unpackbits(octets, axis=-1, count=rows.columns, bitorder="little")
    return bits.view(np.bool_).reshape(*rows.shape, *rows.within)


def _weights_of(weights: Array, shape: Shape) -> NDArray[np.float32]:
    """One for each ray of a row."""
    table = float_array("weights", weights)
    if table.shape != shape:
        raise InvalidArgument(f"weights has shape {table.shape}; what is taken for these rows is {shape}")
    wrong = ~(table >= 0)
    if wrong.any():
        first = tuple(np.argwhere(wrong)[0])
        raise InvalidArgument(f"weights{at(first)} is {table[first]}; what is taken is 0 and above")
    total = float(table.sum(dtype=np.float64))
    if total > _MOST_WEIGHT:
        raise InvalidArgument(f"weights are {total:.6g} together; what is taken is up to 2^31")
    return table


def _ends_of(ends: Any) -> tuple[float, float]:
    """Where the bins of a histogram begin and end."""
    told = float_array("range", ends)
    if told.shape != (2,):
        raise InvalidArgument(f"range has shape {told.shape}; what is taken are two numbers")
    begin, end = (float(FLOAT.type(each)) for each in told)
    if not (np.isfinite(told).all() and begin < end):
        raise InvalidArgument(f"range is {begin:g} to {end:g}; what is taken are finite numbers, the second larger")
    return begin, end
