"""Capsules of DLPack, read and made: dlpack.h in ctypes, of version 1 and before it."""

from __future__ import annotations

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    PYFUNCTYPE,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    py_object,
)
from typing import Any, NamedTuple, Optional

CUDA, CUDA_MANAGED = 2, 13  # DLDeviceType: memory of a card by CUDA
_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 5: "complex", 6: "bool"}
_CODES = {kind: code for code, kind in _KINDS.items()}


class _Tensor(ctypes.Structure):
    """DLTensor."""

    _fields_ = [
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    ]


class _Managed(ctypes.Structure):
    """DLManagedTensor."""

    _fields_ = [("tensor", _Tensor), ("context", c_void_p), ("deleter", c_void_p)]


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned."""

    _fields_ = [
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    ]


# Capsules keep no copy of their names, so that these have to stay.
_VERSIONED, _PLAIN = b"dltensor_versioned", b"dltensor"
_STRUCTS: dict[bytes, Any] = {_VERSIONED: _Versioned, _PLAIN: _Managed}

# Functions of one's own: those of ctypes.pythonapi are everybody's.
_new = PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_is_valid = PYFUNCTYPE(c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_pointer = PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


class Place(NamedTuple):
    """Where an array lies, and how."""

    address: int
    shape: tuple[int, ...]
    strides: Optional[tuple[int, ...]]
    """In elements; None: C order."""
    dtype: str
    """Such as "float32"."""
    card: int
    keep: Any
    """The object that holds the memory as long as it is held itself."""

    @property
    def is_c_contiguous(self) -> bool:
        if self.strides is None or 0 in self.shape:
            return True
        step = 1
        for length, stride in zip(self.shape[::-1], self.strides[::-1]):
            if length != 1 and stride != step:
                return False
            step *= length
        return True


def read(capsule: Any) -> Optional[Place]:
    """The place in a capsule; None where it is no capsule, or one that was taken. It is not taken here either: it keeps
    its memory until it goes, as one does that nobody takes."""
    for name, struct in _STRUCTS.items():
        if not _is_valid(id(capsule), name):
            continue
        managed = struct.from_address(_pointer(id(capsule), name))
        if struct is _Versioned and managed.major != 1:
            return None
        tensor = managed.tensor
        kind = f"{_KINDS.get(tensor.code, f'kind {tensor.code} of ')}{tensor.bits if tensor.code != 6 else ''}"
        return Place(
            (tensor.data or 0) + tensor.byte_offset,
            tuple(tensor.shape[: tensor.ndim]),
            tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None,
            kind if tensor.lanes == 1 else f"{kind}x{tensor.lanes}",
            tensor.device,
            capsule,
        )
    return None


# Capsules that were given away, by the address of their struct, until their takers are done with them.
_given: dict[int, Any] = {}


def _release(address: int) -> None:
    _given.pop(address, None)


def _drop(capsule: int) -> None:
    """Ends a capsule that nobody took."""
    for name in _STRUCTS:
        if _is_valid(capsule, name):
            _release(_pointer(capsule, name))


_deleter, _destructor = CFUNCTYPE(None, c_void_p)(_release), CFUNCTYPE(None, c_void_p)(_drop)


def give(place: Place, device_type: int, is_versioned: bool) -> Any:
    """A capsule of an array."""
    ndim = len(place.shape)
    lengths, strides = (c_int64 * max(ndim, 1))(*place.shape), None
    if place.strides is not None:
        strides = (c_int64 * max(ndim, 1))(*place.strides)
    kind = place.dtype.rstrip("0123456789")
    tensor = _Tensor(
        data=place.address,
        device_type=device_type,
        device=place.card,
        ndim=ndim,
        code=_CODES[kind],
        bits=int(place.dtype[len(kind) :] or 8),
        lanes=1,
        shape=lengths,
        strides=strides,
    )
    name = _VERSIONED if is_versioned else _PLAIN
    managed = _STRUCTS[name](tensor=tensor, deleter=ctypes.cast(_deleter, c_void_p))
    if is_versioned:
        managed.major = 1
    address = ctypes.addressof(managed)
    _given[address] = managed, lengths, strides, place.keep
    return _new(address, name, ctypes.cast(_destructor, c_void_p))
