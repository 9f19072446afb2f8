"""Values of any package as NumPy's arrays of real numbers. Other values are refused by name, place and way out."""

from __future__ import annotations

import numbers
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from ._library import InvalidArgument

FLOAT = np.dtype("f4")
# Where a device of DLPack's lets the host read: kDLCPU, kDLCUDAHost, kDLROCMHost.
_HOST_DEVICES = (1, 3, 11)


def at(index: tuple[Any, ...]) -> str:
    """An index as it is written, such as "[3, 1]"; "" for the index of a scalar."""
    return "[" + ", ".join(str(int(i)) for i in index) + "]" if index else ""


def fields_of(value: Any) -> Optional[tuple[str, ...]]:
    """The names of a structured array's fields; None where the value has none."""
    return getattr(getattr(value, "dtype", None), "names", None)


def host_array(name: str, value: Any, of_rays: bool = False) -> NDArray[Any]:
    """Any array of numbers as a NumPy array: without a copy where the host can read it. Masked numbers of rays, and
    those that pandas lacks, are NaN, and so the ray is an invalid one; others are refused."""
    if type(value) is not np.ndarray:
        value = _imported(name, value, of_rays)
    if value.dtype.kind not in "fiu":
        return _real(name, value)
    return value  # type: ignore[no-any-return]


def _imported(name: str, value: Any, of_rays: bool) -> NDArray[Any]:
    if isinstance(value, np.ma.MaskedArray):
        return _unmasked(name, value, of_rays)
    try:
        if hasattr(value, "isna") and hasattr(value, "to_numpy"):
            return _of_columns(name, value, of_rays)
        if hasattr(value, "__dlpack_device__") and not isinstance(value, np.ndarray):
            return _of_dlpack(name, value)
        array = np.asarray(value)
    except InvalidArgument:
        raise
    except (ValueError, TypeError, BufferError, RuntimeError) as error:  # a ragged list; a tensor that wants gradients
        raise InvalidArgument(f"{name}: {error}; what is taken is one dense array of real numbers") from None
    if array.dtype.kind == "O" and not array.ndim:
        told = "None" if value is None else f"a {type(value).__qualname__}"
        raise InvalidArgument(f"{name} is {told}; what is taken are real numbers")
    return array


# ---- numbers that are not there ----


def _gap(name: str, index: tuple[Any, ...], told: str, fill: str) -> InvalidArgument:
    return InvalidArgument(f"{name}{at(index)} is {told}: leave its row out, or fill it, as {name}.{fill} does")


def _unmasked(name: str, value: Any, of_rays: bool) -> NDArray[Any]:
    mask = np.ma.getmaskarray(value)
    if not mask.any():
        return np.asarray(value)
    if not of_rays:
        raise _gap(name, tuple(np.argwhere(mask)[0]), "masked", "filled()")
    wide: NDArray[Any] = value.data if value.dtype.kind == "f" else value.data.astype(np.float64)
    return np.where(mask, wide.dtype.type(np.nan), wide)


def _of_columns(name: str, value: Any, of_rays: bool) -> NDArray[Any]:
    """Of pandas. Columns of its own types, which can lack numbers, are objects to NumPy."""
    types = list(value.dtypes) if value.ndim == 2 else [value.dtype]
    kinds = {getattr(one, "kind", "O") for one in types}
    if all(isinstance(one, np.dtype) for one in types) or not kinds <= set("fiu"):
        return np.asarray(value)
    gaps = np.asarray(value.isna())
    if gaps.any() and not of_rays:
        raise _gap(name, tuple(np.argwhere(gaps)[0]), "<NA>", "fillna(0)")
    if gaps.any() or "f" in kinds:
        return np.asarray(value.to_numpy(dtype="f8", na_value=np.nan))
    return np.asarray(value.to_numpy(dtype="u8" if kinds == {"u"} else "i8"))


# ---- arrays of DLPack ----


def _of_dlpack(name: str, value: Any) -> NDArray[Any]:
    kind = value.__dlpack_device__()[0]
    device = int(getattr(kind, "value", kind))  # Open3D's is an enum's
    if device not in _HOST_DEVICES:
        copy = getattr(value, "cpu", None) or getattr(value, "get", None)  # torch, Open3D; CuPy
        if copy is None:
            raise InvalidArgument(f"{name} lies on device {device} of DLPack, which the host cannot read")
        value = copy()
    return value if isinstance(value, np.ndarray) else _read(value)


def _read(value: Any) -> NDArray[Any]:
    """As float32 where NumPy does not know the numbers, such as torch's bfloat16."""
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError):
        if not getattr(value, "is_floating_point", bool)():
            raise
        return np.from_dlpack(value.float())


# ---- what is no real number ----


def _real(name: str, value: NDArray[Any]) -> NDArray[np.float32]:
    """An array of bfloat16 as float32. Refuses others that are no real numbers; the message names a conversion."""
    if value.dtype.name == "bfloat16":
        return value.astype(FLOAT)
    if value.dtype.names is not None:
        raise InvalidArgument(f"{name} has fields: {_of_fields(name, value.dtype)} makes columns of them")
    if value.dtype.kind == "O":
        wrong = next((index for index, one in np.ndenumerate(value) if not isinstance(one, numbers.Real)), None)
        if wrong is None:
            raise InvalidArgument(f'{name} has dtype object; its numbers are taken as {name}.astype("f8")')
        raise InvalidArgument(
            f"{name} has dtype object, since {name}{at(wrong)} is {value[wrong]!r}; what is taken are real numbers. "
            'Columns of pandas become some by astype("Float64"), those that lack numbers too'
        )
    raise InvalidArgument(f"{name} has dtype {value.dtype}; what is taken are real numbers")


def _of_fields(name: str, dtype: np.dtype[Any]) -> str:
    """The expression that makes columns of fields: of x, y and z alone, where there are others beside them."""
    names: tuple[str, ...] = dtype.names or ()
    if len(names) == 1:
        return f'{name}["{names[0]}"]'
    if set("xyz") <= set(names):
        names = "x", "y", "z"
    if any(dtype[one].subdtype or dtype[one].names for one in names):
        return f"numpy.lib.recfunctions.structured_to_unstructured({name})"
    fields = ", ".join(f'{name}["{one}"]' for one in names)
    return f"np.stack([{fields}], axis=-1)"
