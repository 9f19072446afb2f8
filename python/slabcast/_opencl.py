"""Casts on arrays of pyopencl, where they lie: slab_enqueue on the array's own queue."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import Any

import numpy as np
import pyopencl
import pyopencl.array

from . import _library, _structs
from ._arrays import WORD
from ._library import Handle, InvalidArgument, index_of, library, must
from ._options import Options, entries_of
from ._records import HIT, SHORT_HIT
from ._results import Hits
from ._values import FLOAT


def _span(array: Any) -> _structs.Span:
    return _structs.Span(array.base_data.int_ptr, array.offset)


def _require(name: str, array: Any, dtype: np.dtype[Any], *columns: int) -> None:
    """columns: the length of the last axis; none: it is any."""
    if not isinstance(array, pyopencl.array.Array):
        raise InvalidArgument(
            f"{name} is a {type(array).__name__}; with rays of pyopencl it must be an array of pyopencl"
        )
    tail = array.shape[-1:] if columns else ()
    if array.dtype != dtype or tail != columns or not array.flags.c_contiguous:
        raise InvalidArgument(
            f"{name} is an array of {array.dtype}, {array.shape}; on a device it must be of "
            f"{np.dtype(dtype)}, {f'(..., {columns[0]}), ' if columns else ''}in C order"
        )


def _enqueue(
    scene: Handle, query: str, rays: Any, results: Any, arrays: dict[str, Any], options: dict[str, int]
) -> None:
    """Casts rays after the events of the arrays. The results have the event of the cast. arrays: others, by their names
    in the library."""
    if results.size == 0:
        return
    batch = _structs.Batch(
        query=index_of("query", query, _library.QUERIES),
        count=rays.size // 8,
        rays=_span(rays),
        results=_span(results),
        **options,
    )
    for name, array in arrays.items():
        setattr(batch, name, _span(array))
    waits = [event for array in (rays, *arrays.values()) for event in array.events]
    events = (c_void_p * len(waits))(*(event.int_ptr for event in waits))
    done = c_void_p()
    must(
        library.slab_enqueue(
            scene.pointer, byref(batch), rays.queue.int_ptr, len(waits), events if waits else None, byref(done)
        )
    )
    results.add_event(pyopencl.Event.from_int_ptr(done.value, retain=False))


# The options that have an entry for each ray, by their names in the library: the names to users, their dtype and
# columns.
_ENTRIES: dict[str, tuple[str, np.dtype[Any], tuple[int, ...]]] = {
    "skip": ("skip", WORD, (2,)),
    "masks": ("mask", WORD, ()),
    "after": ("after", SHORT_HIT, ()),
    "worlds": ("world", WORD, ()),
}


def _prepare(rays: Any, options: Options) -> dict[str, Any]:
    """Checks the arrays of a cast. Returns those of the options."""
    _require("rays", rays, FLOAT, 8)
    if rays.queue is None:
        raise InvalidArgument("rays has no queue: array.with_queue(queue) gives it one")
    arrays = {name: array for name, array in entries_of(options).items() if array is not None}
    if isinstance(arrays.get("worlds"), int):
        arrays["worlds"] = _filled(rays, arrays["worlds"])
    for entry, array in arrays.items():
        name, dtype, columns = _ENTRIES[entry]
        _require(name, array, dtype, *columns)
        if array.shape != (*rays.shape[:-1], *columns):
            raise InvalidArgument(f"{name} has shape {array.shape}; rays have {rays.shape}")
    return arrays


def _filled(rays: Any, value: int) -> Any:
    """A word for each ray."""
    words = pyopencl.array.empty(rays.queue, rays.shape[:-1], WORD)
    if words.size:
        words.fill(WORD.type(value))
    return words


def cast(scene: Handle, query: str, rays: Any, dtype: np.dtype[Any], options: Options, plain: dict[str, int]) -> Any:
    """One result per ray, in an array of pyopencl. It does not wait. plain: the options that are numbers."""
    return _cast(scene, query, rays, dtype, _prepare(rays, options), plain)


def _cast(
    scene: Handle, query: str, rays: Any, dtype: np.dtype[Any], arrays: dict[str, Any], plain: dict[str, int]
) -> Any:
    results = pyopencl.array.empty(rays.queue, rays.shape[:-1], np.dtype("u1") if dtype == np.bool_ else dtype)
    _enqueue(scene, query, rays, results, arrays, plain)
    return results


def list_hits(scene: Handle, rays: Any, options: Options, plain: dict[str, int], max_hits: int) -> Hits:
    """All hits, or the first max_hits of each ray, in arrays of pyopencl. It waits for their number."""
    arrays = _prepare(rays, options)
    counts = _cast(scene, "count", rays, WORD, arrays, plain).get().ravel()
    if max_hits:
        np.minimum(counts, WORD.type(max_hits), out=counts)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(counts, dtype=np.uint64)])
    if sums[-1] > 0xFFFFFFFF:
        raise InvalidArgument(f"rays have {sums[-1]} hits together; offsets on a device hold fewer than 2^32")
    offsets = pyopencl.array.to_device(rays.queue, sums.astype(WORD))
    hits = pyopencl.array.empty(rays.queue, int(sums[-1]), HIT)
    _enqueue(scene, "all", rays, hits, {**arrays, "offsets": offsets}, {**plain, "max_hits": max_hits})
    return Hits(offsets, hits)
