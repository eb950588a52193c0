"""From a variable's stored elements to what users get: masked, scaled, decoded.

Everything that a variable's attributes say about its values is worked out once, into a function
that reads; a read then costs little more than the bytes it fetches.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy import ma

from isotach._characters import chartostring
from isotach._complex import ComplexVariable
from isotach._constants import default_fillvals
from isotach._native import MaskRule
from isotach._string_dtype import as_string_dtype
from isotach._types import as_dtype, as_shown

if TYPE_CHECKING:
    from isotach._variable import Variable

Read = Callable[[Any], Any]

_TRUE = ("true", "True")


def raw_reader(variable: Variable) -> Read:
    """Reads elements unmasked, unscaled and undecoded, in the variable's own dtype."""
    if variable._iscompound:
        return _compound(variable, False)
    return _objects(variable) if variable._isvlen else _plain(variable, False)


def reader(variable: Variable) -> Read:
    """The function behind `variable[...]`, for the variable's present settings."""
    if variable._iscompound:
        read = _compound(variable, variable.chartostring)
    elif variable._isvlen:
        read = _objects(variable)
    elif isinstance(variable._native, ComplexVariable):
        return _plain(variable, False)
    elif variable.mask and variable.dtype.kind in "iufS":
        read = _masked(variable)
    else:
        read = _plain(variable, variable.scale)
    scaled = variable.scale and not variable._iscompound and not variable._isenum
    if scaled and variable.dtype is not str:
        read = _scaled(variable, read)
    if variable.chartostring and _is_char(variable):
        encoding = variable._attribute("_Encoding")
        if encoding is not None:
            read = _text(variable, read, encoding)
    return read


def _is_char(variable: Variable) -> bool:
    return isinstance(variable.dtype, np.dtype) and variable.dtype == np.dtype("S1")


def _unsigned(variable: Variable) -> bool:
    """Whether signed integers are meant as unsigned ones."""
    signed: bool = variable.dtype.kind == "i"
    return signed and variable._attribute("_Unsigned") in _TRUE


def _finish(variable: Variable, scale: bool) -> Callable[[Any], Any] | None:
    """What brings native elements into the variable's own dtype; None where they are.

    Single elements are NumPy's scalars, which are always native.
    """
    dtype = variable.dtype
    shown = np.dtype(dtype.str.replace("i", "u")) if scale and _unsigned(variable) else dtype
    if not dtype.isnative:
        native = shown.newbyteorder("=")
        return lambda raw: raw.byteswap().view(shown) if raw.ndim else raw.view(native)
    if shown != dtype:
        return lambda raw: raw.view(shown)
    return None


def _plain(variable: Variable, scale: bool) -> Read:
    """Elements as they are; a single one of an array is a scalar."""
    read = variable._native.read
    finish = _finish(variable, scale) if variable.dtype.kind in "iufS" else None
    scalar_variable = variable.ndim == 0

    def plain(key: Any) -> Any:
        data = read(key)
        if finish is not None:
            data = finish(data)
        return data if data.ndim or scalar_variable else data[()]

    return plain


def _compound(variable: Variable, strings: bool) -> Read:
    read = variable._native.read
    dtype, view = variable._cmptype.dtype, variable._cmptype.dtype_view
    shown = view if strings else dtype
    scalar_variable = variable.ndim == 0

    def structured(key: Any) -> Any:
        data = as_shown(as_dtype(read(key), dtype), shown)
        return data if data.ndim or scalar_variable else data[()]

    return structured


def _objects(variable: Variable) -> Read:
    """Strings and sequences: an array of objects, or the one that a single index names."""
    read = variable._native.read
    encoding = variable._attribute("_Encoding") if variable.dtype is str else None
    recode = None if encoding in (None, "utf-8", "utf8", "UTF-8") else _recode(str(encoding))
    strings = variable._settings["string_dtype"] if variable.dtype is str else None
    fill = None if strings is None else variable._attribute("_FillValue")

    def objects(key: Any) -> Any:
        data = read(key)
        if recode is not None:
            data = recode(data)
        if strings is not None:
            data = as_string_dtype(np.asarray(data), strings, fill)
        return data if data.ndim else data[()]

    return objects


def _recode(encoding: str) -> Callable[[Any], Any]:
    """Strings that were taken for UTF-8, without loss, in the encoding that they are in."""

    def again(text: str) -> str:
        return text.encode("utf-8", "surrogateescape").decode(encoding)

    return np.frompyfunc(again, 1, 1)


def _masked(variable: Variable) -> Read:
    """Missing elements are masked, as netCDF4-python masks them."""
    rule, missing_fill, other_fill, complaints = _mask_rule(variable)
    read = variable._native.read_masked
    finish = _finish(variable, variable.scale)
    always = variable.always_mask
    masked_array = ma.MaskedArray

    def masked(key: Any) -> Any:
        data = read(key, rule)
        if complaints:
            for complaint in complaints:
                warnings.warn(complaint, stacklevel=3)
        if type(data) is not tuple:
            if finish is not None:
                data = finish(data)
            return data.view(masked_array) if always else data
        data, mask, missing = data
        if finish is not None:
            data = finish(data)
        if data.ndim == 0:
            return ma.masked
        fill_value = missing_fill if missing else other_fill
        return ma.masked_array(data, mask=mask, fill_value=fill_value)

    return masked


def _mask_rule(variable: Variable) -> tuple[MaskRule, Any, Any, list[str]]:
    """The comparisons, the fill value for `missing_value` and for others, and warnings."""
    complaints: list[str] = []
    dtype = variable.dtype
    native = dtype.newbyteorder("=")
    unsigned = variable.scale and _unsigned(variable)
    kind = native.str[1:]
    code = kind.replace("i", "u") if unsigned else kind

    def cast(name: str) -> Any:
        values = _safely_cast(variable, name, dtype, complaints)
        return None if values is None else values.astype(native).reshape(-1).view(code)

    missing, fill = cast("missing_value"), cast("_FillValue")
    no_values = np.empty(0, code)
    # NumPy's half precision cannot hold netCDF's.
    default = np.array([default_fillvals[kind]] if kind in default_fillvals else [], native)
    default_fill = default.view(code)[0] if default.size else np.array(np.nan, native)[()]
    if fill is not None:
        other_fill = fill[0] if fill.size else default_fill
    else:
        fill = no_values if unsigned or _byte_without_fill(variable) else default.view(code)
        other_fill = default_fill
    minimum, maximum = _valid_range(variable, cast) if dtype.kind != "S" else (None, None)
    rule = MaskRule(
        code,
        *(
            b"" if values is None else values.tobytes()
            for values in (missing, fill, minimum, maximum)
        ),
    )
    missing_fill = missing[0] if missing is not None and missing.size else None
    return rule, missing_fill, other_fill, complaints


def _byte_without_fill(variable: Variable) -> bool:
    """Bytes have no default fill value where filling is off."""
    return variable.dtype.itemsize == 1 and variable.dtype.kind in "iu" and not variable._fills()


def _valid_range(variable: Variable, cast: Callable[[str], Any]) -> tuple[Any, Any]:
    # All three are cast, so that each complains for itself.
    both, least, most = cast("valid_range"), cast("valid_min"), cast("valid_max")
    if both is not None and both.size == 2:
        return both[:1], both[1:]
    return least, most


def _safely_cast(variable: Variable, name: str, dtype: np.dtype[Any], complaints: list[str]) -> Any:
    """An attribute's values in the variable's type; None, and a warning, if that changes them."""
    given = variable._attribute(name)
    if given is None:
        return None
    values = np.array(given)
    try:
        with np.errstate(all="ignore"):
            cast = np.array(values, dtype)
        safe = _same(values, cast)
    except (ValueError, TypeError):
        safe = False
    if safe:
        return cast
    complaints.append(
        f"WARNING: {name} not used since it\ncannot be safely cast to variable data type"
    )
    return None


def _same(left: Any, right: Any) -> bool:
    try:
        return bool(((left == right) | (np.isnan(left) & np.isnan(right))).all())
    except TypeError:
        return bool(np.all(left == right))


def _scaled(variable: Variable, read: Read) -> Read:
    """Unpacks with `scale_factor` and `add_offset`."""
    factor = variable._attribute("scale_factor")
    offset = variable._attribute("add_offset")
    if factor is None and offset is None:
        return read
    try:
        for number in (factor, offset):
            if number is not None:
                float(number)
    except (TypeError, ValueError):
        return _complaining(read)
    if factor is not None and offset is not None:
        if offset != 0.0 or factor != 1.0:
            return _unpacking(read, factor, offset)
        return lambda key: read(key).astype(factor.dtype)
    if factor is not None and factor != 1.0:
        return _unpacking(read, factor, None)
    if offset is not None and offset != 0.0:
        return _unpacking(read, None, offset)
    return read


def _complaining(read: Read) -> Read:
    def complain(key: Any) -> Any:
        warnings.warn(
            "invalid scale_factor or add_offset attribute, no unpacking done...", stacklevel=3
        )
        return read(key)

    return complain


def _unpacking(read: Read, factor: Any, offset: Any) -> Read:
    def unpack(data: Any) -> Any:
        if factor is not None:
            data = data * factor
        if offset is None:
            return data
        # A second array is made only where the sum is of another type than the product.
        if factor is not None and data.ndim and np.result_type(data, offset) == data.dtype:
            data += offset
            return data
        return data + offset

    def unpacked(key: Any) -> Any:
        data = read(key)
        if type(data) is ma.MaskedArray and data.ndim and ma.getmask(data) is ma.nomask:
            # Arithmetic on masked arrays takes several times as long, and nothing is masked.
            return unpack(data.view(np.ndarray)).view(ma.MaskedArray)
        if type(data) is not ma.MaskedArray or not data.ndim:
            return unpack(data)
        # As `numpy.ma` has it, which makes twice as many arrays on its way: what is masked keeps
        # its packed number, and the mask and the fill value stay.
        packed = data.view(np.ndarray)
        numbers = unpack(packed)
        np.copyto(numbers, packed, casting="unsafe", where=ma.getmaskarray(data))
        result = data.__array_wrap__(numbers)
        result.mask = data.mask
        return result

    return unpacked


def _text(variable: Variable, read: Read, encoding: str) -> Read:
    """Characters along the last axis become strings where that axis is read whole."""

    def text(key: Any) -> Any:
        data, shape = read(key), variable.shape
        if data.ndim and data.shape[-1] == shape[-1] and _whole_last_axis(key, shape):
            return chartostring(data, encoding=encoding)
        return data

    return text


def _whole_last_axis(key: Any, shape: tuple[int, ...]) -> bool:
    items = key if isinstance(key, tuple) else (key,)
    items = tuple(item for item in items)
    if len(items) < len(shape) and not any(item is Ellipsis for item in items):
        return True
    last = items[-1]
    if last is Ellipsis:
        return True
    if isinstance(last, slice):
        return len(range(*last.indices(shape[-1]))) == shape[-1]
    positions = np.asarray(last)
    if positions.dtype.kind == "b":
        return positions.ndim == 1 and bool(positions.all())
    return positions.ndim == 1 and np.array_equal(positions, np.arange(shape[-1]))
