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
from ._records import HIT
from ._results import Hits
from ._values import FLOAT


def _span(array: Any) -> _structs.Span:
    return _structs.Span(array.base_data.int_ptr, array.offset)


def _require(name: str, array: Any, dtype: np.dtype[Any], columns: int) -> None:
    if not isinstance(array, pyopencl.array.Array):
        raise InvalidArgument(
            f"{name} is a {type(array).__name__}; with rays of pyopencl it must be an array of pyopencl"
        )
    if array.dtype != dtype or array.shape[-1:] != (columns,) or not array.flags.c_contiguous:
        raise InvalidArgument(
            f"{name} is an array of {array.dtype}, {array.shape}; on a device it must be of "
            f"{np.dtype(dtype)}, (..., {columns}), in C order"
        )


def _enqueue(
    scene: Handle, query: str, rays: Any, results: Any, skip: Any, options: dict[str, int], offsets: Any = None
) -> None:
    """Casts rays after the events of the arrays. The results have the event of the cast."""
    if results.size == 0:
        return
    batch = _structs.Batch(
        query=index_of("query", query, _library.QUERIES),
        count=rays.size // 8,
        rays=_span(rays),
        results=_span(results),
        **options,
    )
    if skip is not None:
        batch.skip = _span(skip)
    if offsets is not None:
        batch.offsets = _span(offsets)
    waits = [event for array in (rays, skip, offsets) if array is not None for event in array.events]
    events = (c_void_p * len(waits))(*(event.int_ptr for event in waits))
    done = c_void_p()
    must(
        library.slab_enqueue(
            scene.pointer, byref(batch), rays.queue.int_ptr, len(waits), events if waits else None, byref(done)
        )
    )
    results.add_event(pyopencl.Event.from_int_ptr(done.value, retain=False))


def _prepare(rays: Any, skip: Any) -> None:
    _require("rays", rays, FLOAT, 8)
    if rays.queue is None:
        raise InvalidArgument("rays has no queue: array.with_queue(queue) gives it one")
    if skip is not None:
        _require("skip", skip, WORD, 2)
        if skip.shape[:-1] != rays.shape[:-1]:
            raise InvalidArgument(f"skip has shape {skip.shape}; rays have {rays.shape}")


def cast(scene: Handle, query: str, rays: Any, dtype: np.dtype[Any], skip: Any, options: dict[str, int]) -> Any:
    """One result a ray, in an array of pyopencl. It does not wait."""
    _prepare(rays, skip)
    results = pyopencl.array.empty(rays.queue, rays.shape[:-1], np.dtype("u1") if dtype == np.bool_ else dtype)
    _enqueue(scene, query, rays, results, skip, options)
    return results


def list_hits(scene: Handle, rays: Any, skip: Any, options: dict[str, int], max_hits: int) -> Hits:
    """All hits, or the first max_hits of each ray, in arrays of pyopencl. It waits for their number."""
    _prepare(rays, skip)
    counts = cast(scene, "count", rays, WORD, skip, options).get().ravel()
    if max_hits:
        np.minimum(counts, WORD.type(max_hits), out=counts)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(counts, dtype=np.uint64)])
    if sums[-1] > 0xFFFFFFFF:
        raise InvalidArgument(f"rays have {sums[-1]} hits together; offsets on a device hold fewer than 2^32")
    offsets = pyopencl.array.to_device(rays.queue, sums.astype(WORD))
    hits = pyopencl.array.empty(rays.queue, int(sums[-1]), HIT)
    _enqueue(scene, "all", rays, hits, skip, {**options, "max_hits": max_hits}, offsets)
    return Hits(offsets, hits)
