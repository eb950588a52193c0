"""Complex numbers, as netCDF4-python's `auto_complex` stores them and finds them.

In netCDF-4 files they are pairs: a compound type of a real and an imaginary member. In the classic
models real and imaginary parts lie along a last dimension of length 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from isotach import _types
from isotach._constants import NUMPY_CODES

if TYPE_CHECKING:
    from isotach import _native

#: The dimensions that tell; the first is what is written.
DIMENSIONS = ("_pfnc_complex", "complex", "ri")
#: The types that are written, by NumPy's codes.
TYPES = {"c16": "_PFNC_DOUBLE_COMPLEX_TYPE", "c8": "_PFNC_FLOAT_COMPLEX_TYPE"}

_COMPLEX: dict[str, np.dtype[Any]] = {"f4": np.dtype("c8"), "f8": np.dtype("c16")}


def pair_of(dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """The complex dtype that a structured one stands for: two floats whose names begin with r and
    i; None for any other."""
    names = dtype.names or ()
    if "".join(name[:1] for name in names).lower() != "ri":
        return None
    real, imaginary = (dtype[name] for name in names)
    return _COMPLEX.get(real.str[1:]) if real == imaginary else None


def as_complex(native: _native.Variable) -> Any:
    """A native variable that reads complex numbers; the given one where it does not hold any."""
    described = native.data_type()
    if isinstance(described, str):
        dtype = _COMPLEX.get(NUMPY_CODES.get(described, ""))
        last = native.dimensions()[-1:]
        if dtype is not None and any(name in DIMENSIONS and size == 2 for name, size, *_ in last):
            return _AlongDimension(native, dtype)
    elif described["class"] == "compound":
        dtype = pair_of(_types.numpy_dtype(described))
        if dtype is not None:
            return _Pairs(native, dtype)
    return native


class ComplexVariable:
    """A native variable but for what is another for complex numbers."""

    def __init__(self, stored: _native.Variable, dtype: np.dtype[Any]) -> None:
        self._stored = stored
        self._dtype = dtype

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stored, name)

    def dtype(self) -> np.dtype[Any]:
        """The dtype of what `read` returns."""
        return self._dtype

    def split(self, data: Any) -> npt.NDArray[Any]:
        """Complex numbers as the file holds them."""
        raise NotImplementedError


class _Pairs(ComplexVariable):
    """Complex numbers of a compound type."""

    def _members(self) -> np.dtype[Any]:
        described: Any = self._stored.data_type()
        return _types.numpy_dtype(described)

    def fill_value(self) -> tuple[bool, Any]:
        fills, value = self._stored.fill_value()
        return fills, _types.as_dtype(value, self._members()).view(self._dtype)

    def read(self, key: Any) -> Any:
        return _types.as_dtype(self._stored.read(key), self._members()).view(self._dtype)

    def split(self, data: Any) -> npt.NDArray[Any]:
        pairs = np.asarray(data, self._dtype, order="C").view(self._members())
        native = self._stored.dtype()
        split: npt.NDArray[Any] = pairs if native is None else _types.as_dtype(pairs, native)
        return split


class _AlongDimension(ComplexVariable):
    """Complex numbers along a last dimension, which is not shown."""

    def dimensions(self) -> Any:
        return self._stored.dimensions()[:-1]

    def dimension_names(self) -> tuple[str, ...]:
        return self._stored.dimension_names()[:-1]

    def shape(self) -> tuple[int, ...]:
        return self._stored.shape()[:-1]

    def storage(self) -> Any:
        return self._without_parts(self._stored.storage())

    def settled_storage(self) -> Any:
        return self._without_parts(self._stored.settled_storage())

    def _without_parts(self, storage: Any) -> Any:
        kind, chunks, *others = storage
        return (kind, chunks and chunks[:-1], *others)

    def read(self, key: Any) -> Any:
        parts = np.ascontiguousarray(self._stored.read(_and_parts(key)))
        return parts.view(self._dtype)[..., 0]

    def place(self, key: Any, data_shape: Any) -> _native.Place:
        return self._stored.place(_and_parts(key), data_shape)

    def split(self, data: Any) -> npt.NDArray[Any]:
        numbers = np.asarray(data, self._dtype, order="C")
        return numbers[..., np.newaxis].view(numbers.real.dtype)


def _and_parts(key: Any) -> tuple[Any, ...]:
    """The key with both parts of each number."""
    items = key if isinstance(key, tuple) else (key,)
    ellipsis = () if any(item is Ellipsis for item in items) else (Ellipsis,)
    return (*items, *ellipsis, slice(None))


def dtype_is_complex(dtype: Any) -> bool:
    """Whether a dtype, or its code or name, is one of complex numbers."""
    return dtype in ("c8", "c16", "complex64", "complex128")
