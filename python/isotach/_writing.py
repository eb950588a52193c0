"""From what users assign to a variable's stored elements: placed, broadcast, packed, encoded.

The counterpart of `_reading`: what a variable's attributes say is worked out once, into a function
that writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numpy import ma

from isotach._characters import stringtochar
from isotach._complex import ComplexVariable
from isotach._constants import READ_ONLY, default_fillvals
from isotach._string_dtype import as_objects, is_string_dtype
from isotach._types import as_dtype, has_characters

if TYPE_CHECKING:
    from isotach import _native
    from isotach._variable import Variable

Write = Callable[[Any, Any], None]
_Change = Callable[[Any], Any]

_NOT_ALIKE = "size of data array does not conform to slice"
_SINGLE = "data can only be assigned to VLEN variables using integer indices"


def writer(variable: Variable) -> Write:
    """The function behind `variable[key] = data`, for the variable's present settings."""
    if variable.dtype is str:
        return _strings(variable)
    if variable._isvlen:
        return _sequences(variable)
    if isinstance(variable._native, ComplexVariable):
        return _complex_numbers(variable)
    place_of = variable._native.place
    prepare = _preparer(variable)
    change = _changer(variable)
    put = _putter(variable)

    def write(key: Any, data: Any) -> None:
        data = prepare(data)
        place = place_of(key, data.shape)
        data = _fitted(data, place)
        if data is not None:
            put(place, data if change is None else change(data))

    return write


def refuser(variable: Variable) -> Write:
    """The same for a file that is only read: nothing can be assigned to no elements."""

    def refuse(key: Any, data: Any) -> None:
        if 0 not in variable._native.place(key, np.shape(data)).shape:
            raise RuntimeError(READ_ONLY)

    return refuse


def _fitted(data: Any, place: _native.Place) -> Any:
    """The data in the shape of their place; None where there is nothing to write."""
    shape = tuple(place.shape)
    if data.shape == shape:
        return data
    if data.shape == ():
        return np.tile(data, shape) if ma.isMA(data) else np.broadcast_to(data, shape)
    if data.ndim == len(shape) == 1 and shape[0]:
        return _along_one_axis(data, shape[0], place.first)
    try:
        return data.reshape(shape)
    except ValueError:
        return np.broadcast_to(data, shape)


def _along_one_axis(data: Any, count: int, named_by: str) -> Any:
    """Data of another length than their place: netCDF4-python takes some of it all the same."""
    if named_by == "s":
        if data.size == 0:
            return None
        raise IndexError(_NOT_ALIKE)
    if len(data) < count:
        raise IndexError(_NOT_ALIKE)
    return data[:count] if named_by == "l" else data[-1:]


def _preparer(variable: Variable) -> _Change:
    """What makes an array of what users assign."""
    dtype = variable.dtype
    packed = variable._attribute("add_offset") is not None or (
        variable.scale and dtype.kind in "iu" and variable._attribute("scale_factor") is not None
    )
    converted = np.dtype(np.float64) if packed else dtype

    def array(data: Any) -> Any:
        if isinstance(data, (np.ndarray, np.generic)):
            return data
        if isinstance(getattr(data, "data", None), memoryview):
            return np.asarray(data)
        return np.array(data, converted)

    if variable._iscompound:
        return _with_characters(variable, array)
    if variable._isenum:
        return _legal(variable, array)
    encoding = variable._attribute("_Encoding")
    if variable.chartostring and dtype == np.dtype("S1") and encoding is not None:
        return _encoded(variable, encoding, array)
    return array


def _with_characters(variable: Variable, array: _Change) -> _Change:
    """Strings among the members of structured data become characters."""
    dtype, view = variable._cmptype.dtype, variable._cmptype.dtype_view
    if dtype == view or not variable.chartostring:
        return array

    def characters(data: Any) -> Any:
        if not isinstance(data, (np.ndarray, np.generic)):
            data = np.array(data, view)
        return data if has_characters(data.dtype) else data.astype(view).view(dtype)

    return characters


def _legal(variable: Variable, array: _Change) -> _Change:
    values = list(variable.datatype.enum_dict.values())
    least, most = min(values, default=0), max(values, default=-1)
    # Most enumerations count up; two looks at the data are enough for these.
    is_range = len(set(values)) == most - least + 1

    def is_legal(data: npt.NDArray[Any]) -> bool:
        if is_range and data.size and data.dtype.kind in "iu":
            return bool(least <= data.min() and data.max() <= most)
        return bool(np.all(np.isin(data, values)))

    def legal(data: Any) -> Any:
        data = array(data)
        if not is_legal(np.asarray(data.filled() if ma.isMA(data) else data)):
            raise ValueError("trying to assign illegal value to Enum variable")
        return data

    return legal


def _encoded(variable: Variable, encoding: str, array: _Change) -> _Change:
    """Strings become characters along the last axis."""

    def encoded(data: Any) -> Any:
        length = variable.shape[-1]
        if isinstance(data, (str, bytes)):
            data = np.asarray(data, f"{'S' if encoding == 'ascii' else 'U'}{length}")
        elif not isinstance(data, np.ndarray):
            data = np.asarray(data)
        if data.dtype.kind in "SUT" and data.dtype.itemsize > 1:
            return stringtochar(data, encoding=encoding, n_strlen=length)
        return array(data)

    return encoded


def _changer(variable: Variable) -> _Change | None:
    """What happens to the numbers themselves; None for nothing."""
    digits = variable._attribute("least_significant_digit") if variable._quantizes() else None
    pack = _packer(variable) if variable.scale and variable._isprimitive else None
    if digits is None:
        return pack
    round_off = _rounder(digits)
    return round_off if pack is None else lambda data: pack(round_off(data))


def _rounder(digits: Any) -> _Change:
    """Rounds to a power of two that keeps so many decimal digits."""
    exponent = np.log10(pow(10.0, -digits))
    exponent = np.floor(exponent) if exponent < 0 else np.ceil(exponent)
    scale = pow(2.0, np.ceil(np.log2(pow(10.0, -exponent))))

    def round_off(data: Any) -> Any:
        rounded = np.around(scale * data) / scale
        if ma.isMA(rounded):
            rounded.set_fill_value(data.fill_value)
        return rounded

    return round_off


def _packer(variable: Variable) -> _Change:
    """Packs with `scale_factor` and `add_offset`; what is masked becomes a missing value."""
    factor, offset = variable._attribute("scale_factor"), variable._attribute("add_offset")
    is_integer = variable.dtype.kind in "iu"
    dtype = variable.dtype.newbyteorder("=")
    unmask = _unmasker(variable, dtype)

    def pack(data: Any) -> Any:
        if offset is not None:
            data = data - offset
        if factor is not None:
            data = data / factor
        if is_integer and (factor is not None or offset is not None):
            data = np.around(data)
        if data.dtype != dtype:
            data = data.astype(dtype)
        return unmask(data) if ma.isMA(data) else data

    return pack


def _unmasker(variable: Variable, dtype: np.dtype[Any]) -> _Change:
    missing, fill = variable._attribute("missing_value"), variable._attribute("_FillValue")

    def unmask(data: Any) -> Any:
        if missing is not None and np.all(np.isin(data.data[data.mask], missing)):
            return data.data
        value = fill if missing is None else missing
        if value is None:
            value = _default_fill(dtype)
        if missing is not None and np.ndim(missing):
            raise RuntimeError(
                "cannot assign fill_value for masked array when missing_value attribute is not a"
                " scalar"
            )
        if data.shape == (1,) and data.mask.all():
            return np.array([value], dtype)
        return data.filled(value)

    return unmask


def _default_fill(dtype: np.dtype[Any]) -> Any:
    code = dtype.str[1:]
    if code not in default_fillvals:
        raise ValueError(
            f"{dtype} has no default fill value: masked elements need a _FillValue or missing_value"
        )
    return default_fillvals[code]


def _putter(variable: Variable) -> Callable[[_native.Place, Any], None]:
    """Hands over memory: the array's own, where it is contiguous and of the right type."""
    target = variable._writing()
    native = variable._native.dtype()
    if variable._iscompound or native is None:
        return _compound_putter(target, variable.dtype, native)

    def put(place: _native.Place, data: Any) -> None:
        if data.dtype != native:
            data = data.astype(native)
        target.write(place, np.ascontiguousarray(data).reshape(-1).view(np.uint8))

    return put


def _compound_putter(
    target: _native.VariableWriter, dtype: np.dtype[Any], native: np.dtype[Any] | None
) -> Callable[[_native.Place, Any], None]:
    def put(place: _native.Place, data: Any) -> None:
        if data.dtype != dtype:
            data = data.astype(dtype)
        data = np.ascontiguousarray(ma.getdata(data)).reshape(-1)
        if native is None:
            target.write_objects(place, data)
        else:
            target.write(place, np.ascontiguousarray(as_dtype(data, native)).view(np.uint8))

    return put


def _complex_numbers(variable: Variable) -> Write:
    target, native = variable._writing(), variable._native

    def write(key: Any, data: Any) -> None:
        data = native.split(data)
        place = native.place(key, data.shape)
        data = _fitted(data, place)
        if data is not None:
            target.write(place, np.ascontiguousarray(data).reshape(-1).view(np.uint8))

    return write


def _strings(variable: Variable) -> Write:
    target, place_of = variable._writing(), variable._native.place
    encoding = variable._attribute("_Encoding") or "utf-8"
    in_utf8 = encoding.lower() in ("utf-8", "utf8")
    fill = variable._attribute("_FillValue")
    about = f"variable {variable.name!r}"

    def encode(strings: Any) -> Any:
        if in_utf8:
            return strings
        return [text.encode(encoding) if isinstance(text, str) else text for text in strings]

    def write(key: Any, data: Any) -> None:
        if not isinstance(data, np.ndarray):
            place = place_of(_single(variable, key), ())
            target.write_objects(place, encode([data]))
            return
        if data.dtype.kind not in "SUOT":
            raise TypeError(
                "only numpy string, unicode or object arrays can be assigned to VLEN str var slices"
            )
        if data.dtype.kind in "SUT" and ma.isMA(data):
            raise TypeError("masked arrays cannot be assigned by VLEN str slices")
        place = place_of(key, data.shape)
        if is_string_dtype(data.dtype):
            data = as_objects(data, fill, about)
        data = _fitted(data.astype(object), place)
        if data is not None:
            target.write_objects(place, encode(ma.getdata(data).reshape(-1)))

    return write


def _sequences(variable: Variable) -> Write:
    target, place_of = variable._writing(), variable._native.place
    dtype = variable.dtype
    pack = _packer(variable) if variable.scale else None

    def checked(sequence: Any) -> npt.NDArray[Any]:
        # Equal types of numbers are mostly one object.
        if isinstance(sequence, np.ndarray) and sequence.dtype is dtype:
            return sequence
        if not isinstance(sequence, np.ndarray) or sequence.dtype != dtype:
            found = getattr(sequence, "dtype", type(sequence).__name__)
            raise TypeError(f"wrong data type in object array: should be {dtype}, got {found}")
        return sequence

    def write(key: Any, data: Any) -> None:
        if not isinstance(data, np.ndarray) or data.dtype.kind != "O":
            data = np.asarray(data) if pack is None else pack(np.asanyarray(data))
            place = place_of(_single(variable, key), ())
            target.write_objects(place, [checked(data)])
            return
        place = place_of(key, data.shape)
        data = _fitted(data, place)
        if data is not None:
            flat = ma.getdata(data).reshape(-1)
            target.write_objects(place, [checked(sequence) for sequence in flat])

    return write


def _single(variable: Variable, key: Any) -> Any:
    """The key of one string or sequence: integers only."""
    if key is Ellipsis and not variable.ndim:
        return 0
    if _is_integer(key):
        if variable.ndim > 1:
            raise IndexError(_SINGLE)
        return key
    if not isinstance(key, tuple):
        raise IndexError(_SINGLE)
    if len(key) != variable.ndim:
        raise IndexError("Illegal index")
    if not all(_is_integer(index) for index in key):
        raise IndexError(_SINGLE)
    return key


def _is_integer(index: Any) -> bool:
    try:
        return bool(int(index) == index)
    except (TypeError, ValueError):
        return False
