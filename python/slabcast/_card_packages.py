"""Packages whose arrays lie on cards: on which stream each works, and how it makes an array.

A package is called only where an array of its own came in, so none is imported here.
"""

from __future__ import annotations

import math
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import WORD
from ._card_arrays import Block, CardArray, stream_of
from ._library import InvalidArgument
from ._values import FLOAT

if TYPE_CHECKING:
    from ._cuda import Card

Part = tuple[str, Any, int]  # a name, values, and the length of their last axis; 0: they have none


class Package:
    """Any that has one of the protocols. Results are ours."""

    casts_on_own = False  # the stream that it works on now is the cast's, so that nobody waits

    def __init__(self, module: Any = None) -> None:
        self.module = module

    def within(self, card: Card) -> Any:
        """The context in which the card is the current one of the package."""
        return nullcontext()

    def stream(self, name: str, value: Any) -> int:
        """The stream to cast an array on: one that it names, else CUDA's default one, for which it is made ready."""
        return int(stream_of(name, value) or 1)

    def keeps(self, value: Any) -> bool:
        """Whether it keeps the memory of an array until its stream is through, which reads it."""
        return False

    def empty(self, card: Card, shape: tuple[int, ...], dtype: np.dtype[Any], stream: int) -> Any:
        from . import _cuda

        size = math.prod(shape) * dtype.itemsize
        return CardArray(Block(card, _cuda.allocate(card, size) if size else None, stream), shape, dtype)

    def result(self, array: Any) -> Any:
        """An array as the caller gets it, once its writer is enqueued."""
        return array

    def words(self, rows: Any) -> Any:
        """The bits of floats as whole numbers."""
        return rows.as_words()

    def joined(self, card: Card, shape: tuple[int, ...], parts: tuple[Part, ...], stream: int) -> Any:
        """Rays of origins, t_min, directions and t_max, broadcast."""
        raise InvalidArgument("origins and directions of this package are not joined on a card: give rays of (..., 8)")

    def as_float(self, name: str) -> str:
        """The expression that makes float32 of an array."""
        return f'{name}.astype("float32")'

    def in_order(self, name: str) -> str:
        """The words for an array in C order."""
        return f"a copy of {name} in C order"

    def on_host(self, name: str) -> str:
        """The expression that copies an array to the host."""
        return f"numpy.asarray({name})"


class _Filled(Package):
    """Packages whose arrays are written to, and that have streams of their own."""

    casts_on_own = True

    def joined(self, card: Card, shape: tuple[int, ...], parts: tuple[Part, ...], stream: int) -> Any:
        rows, begin = self.empty(card, (*shape, 8), FLOAT, stream), 0
        for _, value, width in parts:
            (rows[..., begin : begin + width] if width else rows[..., begin])[...] = value
            begin += width or 1
        return rows


class Torch(_Filled):
    def within(self, card: Card) -> Any:
        return self.module.cuda.device(card.number)

    def stream(self, name: str, value: Any) -> int:
        return int(self.module.cuda.current_stream(value.device).cuda_stream or 1)

    def keeps(self, value: Any) -> bool:
        value.record_stream(self.module.cuda.current_stream(value.device))
        return True

    def empty(self, card: Card, shape: tuple[int, ...], dtype: np.dtype[Any], stream: int) -> Any:
        kind = {"float32": "float32", "uint32": "int32", "bool": "bool"}[dtype.name]
        return self.module.empty(shape, dtype=getattr(self.module, kind), device=f"cuda:{card.number}")

    def words(self, rows: Any) -> Any:
        return rows.view(self.module.int32)

    def as_float(self, name: str) -> str:
        return f"{name}.float()"

    def in_order(self, name: str) -> str:
        return f"{name}.contiguous()"

    def on_host(self, name: str) -> str:
        return f"{name}.cpu()"


class CuPy(_Filled):
    def within(self, card: Card) -> Any:
        return self.module.cuda.Device(card.number)

    def stream(self, name: str, value: Any) -> int:
        with value.device:
            return int(self.module.cuda.get_current_stream().ptr or 1)

    def empty(self, card: Card, shape: tuple[int, ...], dtype: np.dtype[Any], stream: int) -> Any:
        return self.module.empty(shape, dtype)

    def words(self, rows: Any) -> Any:
        return rows.view(WORD)

    def in_order(self, name: str) -> str:
        return f"cupy.ascontiguousarray({name})"

    def on_host(self, name: str) -> str:
        return f"{name}.get()"


class Jax(Package):
    """Its arrays are not written to: it takes ours, and its stream waits for the cast."""

    def result(self, array: Any) -> Any:
        return self.module.dlpack.from_dlpack(array)

    def words(self, rows: Any) -> Any:
        return self.module.lax.bitcast_convert_type(rows, self.module.numpy.uint32)

    def joined(self, card: Card, shape: tuple[int, ...], parts: tuple[Part, ...], stream: int) -> Any:
        jnp = self.module.numpy
        spread = []
        for _, value, width in parts:
            column = jnp.asarray(value, jnp.float32)
            spread.append(jnp.broadcast_to(column if width else column[..., None], (*shape, width or 1)))
        return jnp.concatenate(spread, axis=-1)


_KNOWN: tuple[tuple[str, str, type[Package]], ...] = (
    ("torch", "Tensor", Torch),
    ("cupy", "ndarray", CuPy),
    ("jax", "Array", Jax),
)


def package_of(value: Any) -> Package:
    for name, kind, package in _KNOWN:
        module = sys.modules.get(name)
        if module is not None and isinstance(value, getattr(module, kind, ())):
            return package(module)
    return Package()
