"""What goes behind the variables of a file: held against them, and encoded as they are."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from xarray import conventions
from xarray.coding.times import _cleanup_netcdf_time_units
from xarray.core.utils import equivalent

from isotach._filters import QUANTIZATION
from isotach.xarray_backend import IsotachDataStore

#: What becomes of coordinates that a file has already.
DUPLICATES = ("warn", "error", "allow")
_MOST_SHOWN = 5
#: Attributes that say what stored elements mean.
_MEANING = (
    "units",
    "calendar",
    "scale_factor",
    "add_offset",
    "_FillValue",
    "missing_value",
    "_Unsigned",
    "_Encoding",
)
#: Those that change numbers.
_PACKING = ("scale_factor", "add_offset")


class Piece(NamedTuple):
    """Encoded elements, and the index in the file's variable where they begin."""

    name: str
    variable: xr.Variable
    start: tuple[int, ...]


def plan(
    encoder: Any, file: IsotachDataStore, dataset: xr.Dataset, dim: Hashable, duplicates: str
) -> list[Piece]:
    """The pieces to append along `dim`; `ValueError` where something does not fit.

    `encoder` is a store of the file's format, `duplicates` one of `DUPLICATES`.
    """
    stored = file.get_variables()
    there = conventions.decode_cf_variables(
        stored, file.get_attrs(), decode_coords=False, decode_timedelta=False
    )[0]
    given = dataset.variables
    if unknown := [name for name in given if name not in there]:
        raise ValueError(f"variables {unknown!r} are not in the file")
    left_out = [name for name in there if dim in there[name].dims and name not in given]
    if left_out and dim in dataset.dims:
        raise ValueError(f"variables {left_out!r} of the file along {dim!r} are missing")
    encoded, _ = encoder.encode(
        {name: _with_encoding(name, given[name], there[name]) for name in given}, {}
    )
    pieces = []
    for name, variable in encoded.items():
        _check_meaning(name, variable, there[name])
        variable = _in_shape(name, variable, stored[name], there[name], dim)
        if dim in variable.dims:
            if name == dim and duplicates != "allow":
                _tell_duplicates(dim, variable, stored[name], duplicates)
            start = _start(file.ds.variables[name], dim)
            pieces.append(Piece(name, variable, start))
        elif not _equals(variable, stored[name]):
            raise ValueError(f"variable {name!r}, not along {dim!r}, differs from the file")
    return [piece for piece in pieces if piece.variable.size]


def _tell_duplicates(
    dim: Hashable, encoded: xr.Variable, stored: xr.Variable, duplicates: str
) -> None:
    """Tells which elements of the coordinate along `dim` the file has already."""
    if encoded.ndim != 1:
        return
    again = encoded.values[np.isin(encoded.values, stored.values)]
    if not again.size:
        return
    units = f" ({encoded.attrs['units']})" if "units" in encoded.attrs else ""
    shown = ", ".join(map(str, again[:_MOST_SHOWN])) + (", ..." if again.size > _MOST_SHOWN else "")
    told = f"{again.size} values of {dim!r} are in the file already: {shown}{units}"
    if duplicates == "error":
        raise ValueError(told)
    warnings.warn(told, stacklevel=5)


def _with_encoding(name: Hashable, given: xr.Variable, there: xr.Variable) -> xr.Variable:
    """A variable that is to be encoded as the file's is."""
    if set(given.dims) != set(there.dims):
        raise ValueError(f"variable {name!r} is on {given.dims}, in the file on {there.dims}")
    units = there.encoding.get("units", "")
    if " since " in units and given.dtype.kind in "iuf" and "units" not in given.attrs:
        raise ValueError(f"variable {name!r} has neither times nor units; the file has {units!r}")
    given = given.transpose(*there.dims).copy(deep=False)
    # Of what the file does not say, xarray would choose its own.
    encoding = {"_FillValue": None, **there.encoding}
    encoding.pop("char_dim_name", None)
    if " since " in units:
        encoding.setdefault("calendar", "standard")
    if given.dtype.kind == "m" and "units" in there.attrs:
        encoding["units"] = there.attrs["units"]
    if given.dtype.kind in "iu" and not encoding.keys().isdisjoint(_PACKING):
        # As the fill value is said, xarray would pack in the type at hand.
        given = given.astype("f8")
    given.encoding = {key: value for key, value in encoding.items() if key not in given.attrs}
    return given


def _check_meaning(name: Hashable, encoded: xr.Variable, there: xr.Variable) -> None:
    """Encoders choose other units where the file's cannot hold the times."""
    meant = {"calendar": "standard", **there.attrs, **there.encoding}
    for key in _MEANING:
        ours, theirs = encoded.attrs.get(key), meant.get(key)
        if ours is not None and not equivalent(_clean(ours), _clean(theirs)):
            raise ValueError(
                f"variable {name!r} would be stored with {key} {ours!r}, where the file has "
                f"{theirs!r} in {meant.get('dtype')}"
            )


def _clean(value: Any) -> Any:
    """An attribute's value, however the format has it; units of time as xarray writes them."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    is_time = isinstance(value, str) and " since " in value
    return _cleanup_netcdf_time_units(value) if is_time else value


def _in_shape(
    name: Hashable, encoded: xr.Variable, stored: xr.Variable, there: xr.Variable, dim: Hashable
) -> xr.Variable:
    """An encoded variable on the file's dimensions, equal to the file's along all but `dim`."""
    if _kind(encoded) != _kind(stored) or encoded.ndim != stored.ndim:
        raise ValueError(f"variable {name!r} of {encoded.dtype}, in the file of {stored.dtype}")
    room = stored.shape[-1] - encoded.shape[-1] if stored.ndim > there.ndim else 0
    if room > 0:
        # Strings of characters, shorter than they may be.
        nothing: Any = b""
        encoded = encoded.pad({encoded.dims[-1]: (0, room)}, constant_values=nothing)
    for along, ours, theirs in zip(stored.dims, encoded.shape, stored.shape, strict=True):
        if along != dim and ours != theirs:
            raise ValueError(f"variable {name!r} has {ours} along {along!r}, in the file {theirs}")
    return xr.Variable(stored.dims, encoded.data, encoded.attrs)


def _equals(given: xr.Variable, stored: xr.Variable) -> bool:
    """Whether both have the same values, but for what is rounded off where the file asks for it."""
    digits = stored.encoding.get("least_significant_digit")
    absolute = 0.0 if digits is None else 10.0 ** -int(digits)
    # Of what base the significant digits are.
    bases = {name: 2.0 if mode == "BitRound" else 10.0 for name, mode in QUANTIZATION.items()}
    there = bases.keys() & stored.attrs.keys()
    kept = [bases[name] ** (1 - int(stored.attrs[name])) for name in there]
    if absolute == 0 and not kept:
        return bool(given.equals(stored))  # type: ignore[no-untyped-call]
    relative = max(kept, default=0.0)
    close = np.isclose(given.values, stored.values, relative, absolute, equal_nan=True)
    return bool(close.all())


def _kind(variable: xr.Variable) -> str:
    """The kind of the elements' dtype; that of objects for all strings."""
    return "O" if variable.dtype.kind == "U" else str(variable.dtype.kind)


def _start(variable: Any, dim: Hashable) -> tuple[int, ...]:
    """Where elements that are appended to a variable of the file begin."""
    dimensions = variable.get_dims()
    for dimension in dimensions:
        if dimension.name == dim and not dimension.isunlimited():
            raise ValueError(f"dimension {dim!r} of the file is not unlimited")
    return tuple(len(found) if found.name == dim else 0 for found in dimensions)
