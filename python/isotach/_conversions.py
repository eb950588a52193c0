"""The commands of netCDF4-python: `ncinfo`, `nc3tonc4` and `nc4tonc3`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy import ma

from isotach._dataset import Dataset
from isotach._variable import Variable

#: What is missing among unpacked numbers.
_MISSING = 1e30
#: Attributes that are about packing, and those that are in packed numbers.
_PACKING = ("scale_factor", "add_offset")
_LIMITS = ("valid_min", "valid_max", "valid_range")


def _nc3tonc4(
    filename3: str,
    filename4: str,
    unpackshort: bool = True,
    zlib: bool = True,
    complevel: int = 6,
    shuffle: bool = True,
    fletcher32: bool = False,
    clobber: bool = False,
    lsd_dict: dict[str, int] | None = None,
    nchunk: int = 10,
    quiet: bool = False,
    classic: bool | int = 0,
    vars: Sequence[str] | None = None,
    istart: int = 0,
    istop: int = -1,
) -> None:
    """Copies a file into a new one in NETCDF4, or with `classic` in NETCDF4_CLASSIC.

    With `unpackshort`, integers with a `scale_factor` and an `add_offset` become floats, those of
    four bytes and more doubles. `lsd_dict` has decimal digits that the numbers of variables are
    rounded to, `vars` the variables that are copied beside the coordinate of the unlimited
    dimension, all of them by default. Of that dimension, records from `istart` to before `istop`
    (-1: all) are copied, `nchunk` of them at a time (0: all). The new file is there when it is
    whole; without `clobber` it must not be there yet.
    """
    told = _teller(quiet)
    with Dataset(filename3) as source:
        names = _wanted(source, vars)
        digits = lsd_dict or {}
        with _new(filename4, "NETCDF4_CLASSIC" if classic else "NETCDF4", clobber) as target:
            _copy_head(source, target, told)
            for name in names:
                told(f"copying variable {name}")
                variable = source.variables[name]
                if name in digits:
                    told(f"truncating to least_significant_digit = {digits[name]}")
                unpacks = unpackshort and _is_packed(variable)
                if unpacks:
                    told("unpacking short integers to floats ...")
                options: dict[str, Any] = {"least_significant_digit": digits.get(name)}
                if variable.dimensions:
                    options.update(zlib=zlib, complevel=complevel, shuffle=shuffle)
                    options.update(fletcher32=fletcher32)
                made = _define(target, variable, unpacks, options)
                records = _records(source, istart, istop, nchunk)
                _copy_values(variable, made, records, istart, unpacks)


def _nc4tonc3(
    filename4: str,
    filename3: str,
    clobber: bool = False,
    nchunk: int = 10,
    quiet: bool = False,
    format: str = "NETCDF3_64BIT",
) -> None:
    """Copies a file of the model NETCDF4_CLASSIC into a classic one of `format`, `nchunk` records
    at a time (0: all). The new file is there when it is whole; without `clobber` it must not be
    there yet. `OSError` for other models.
    """
    told = _teller(quiet)
    with Dataset(filename4) as source:
        if source.data_model != "NETCDF4_CLASSIC":
            raise OSError("input file must be in NETCDF4_CLASSIC format")
        with _new(filename3, format, clobber) as target:
            _copy_head(source, target, told)
            for name, variable in source.variables.items():
                told(f"copying variable {name}")
                made = _define(target, variable, False, {})
                _copy_values(variable, made, _records(source, 0, -1, nchunk), 0, False)


def _new(path: str, format: str, clobber: bool) -> Dataset:
    """A file that is not there where what is done in the `with` block fails."""
    return Dataset(path, "w" if clobber else "x", format=format, atomic=clobber)


def _teller(quiet: bool) -> Callable[[str], None]:
    def tell(what: str) -> None:
        if not quiet:
            print(what)

    return tell


def _wanted(source: Dataset, names: Sequence[str] | None) -> list[str]:
    if names is None:
        return list(source.variables)
    if unknown := [name for name in names if name not in source.variables]:
        raise KeyError(f"there are no variables {unknown} in {source.filepath()}")
    growing = (name for name, found in source.dimensions.items() if found.isunlimited())
    coordinates = [name for name in growing if name in source.variables]
    return list(dict.fromkeys([*names, *coordinates]))


def _copy_head(source: Dataset, target: Dataset, told: Callable[[str], None]) -> None:
    told("copying global attributes ..")
    for name in source.ncattrs():
        target.setncattr(name, source.getncattr(name))
    told("copying dimensions ..")
    for name, dimension in source.dimensions.items():
        target.createDimension(name, None if dimension.isunlimited() else len(dimension))


def _is_packed(variable: Variable) -> bool:
    attributes = variable.ncattrs()
    is_integer = isinstance(variable.dtype, np.dtype) and variable.dtype.kind in "iu"
    return is_integer and all(name in attributes for name in _PACKING)


def _unpacked_dtype(variable: Variable) -> np.dtype[Any]:
    """One that has all of the packed integers."""
    return np.dtype("f4" if variable.dtype.itemsize < 4 else "f8")


def _define(
    target: Dataset, variable: Variable, unpacks: bool, options: dict[str, Any]
) -> Variable:
    """The variable in the new file, with its attributes."""
    dtype = _unpacked_dtype(variable) if unpacks else variable.dtype
    attributes = {name: variable.getncattr(name) for name in variable.ncattrs()}
    fill = attributes.pop("_FillValue", None)
    if unpacks:
        is_missing = fill is not None or "missing_value" in attributes
        fill = _MISSING if is_missing else None
        factor, offset = (attributes.pop(name) for name in _PACKING)
        for name in _LIMITS:
            if name in attributes:
                attributes[name] = np.asarray(attributes[name] * factor + offset, dtype)
        if "missing_value" in attributes:
            attributes["missing_value"] = dtype.type(_MISSING)
    # Rounding is said by an option.
    attributes.pop("least_significant_digit", None)
    options = {"fill_value": fill, **options}
    made = target.createVariable(variable.name, dtype, variable.dimensions, **options)
    for name, value in attributes.items():
        made.setncattr(name, value)
    return made


def _records(source: Dataset, start: int, stop: int, count: int) -> Iterator[slice]:
    """The records to be copied, some at a time."""
    lengths = [len(found) for found in source.dimensions.values() if found.isunlimited()]
    end = max(lengths, default=0) if stop == -1 else stop
    for first in range(start, end, count or max(end - start, 1)):
        yield slice(first, min(first + count, end) if count else end)


def _copy_values(
    variable: Variable, made: Variable, records: Iterator[slice], start: int, unpacks: bool
) -> None:
    """Copies elements as they are stored, or what they unpack to."""
    variable.set_auto_maskandscale(unpacks)
    made.set_auto_maskandscale(False)
    variable.set_auto_chartostring(False)
    made.set_auto_chartostring(False)
    dimensions = variable.get_dims()
    if not dimensions or not dimensions[0].isunlimited():
        made[...] = _filled(variable[...])
        return
    for some in records:
        made[some.start - start : some.stop - start] = _filled(variable[some])


def _filled(data: Any) -> npt.NDArray[Any]:
    return np.asarray(data.filled(_MISSING) if ma.isMA(data) else data)


def _flag(word: str) -> bool:
    return bool(int(word))


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _digits(text: str) -> dict[str, int]:
    """Variables and digits, as in `speed=2,height=-2`."""
    pairs = (pair.partition("=") for pair in text.split(","))
    return {name.strip(): int(digits) for name, _, digits in pairs}


def _parser(name: str, what: str, source: str, target: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(name, description=what)
    parser.add_argument("-o", action="store_true", dest="clobber", help="overwrite a file")
    parser.add_argument("--quiet", type=_flag, default=False, metavar="0|1", help="say nothing")
    parser.add_argument(
        "--chunk", type=int, default=10, metavar="N", help="records at a time (0: all)"
    )
    parser.add_argument(source)
    parser.add_argument(target)
    return parser


def nc3tonc4(arguments: Sequence[str] | None = None) -> int:
    """Runs the command of that name; its exit code."""
    parser = _parser(
        "nc3tonc4",
        "Copies a file into a netCDF-4 file, unpacks integers, and compresses.",
        "netcdf3filename",
        "netcdf4filename",
    )
    parser.add_argument("--vars", type=_names, metavar="A,B", help="variables to copy")
    for option, default, what in [
        ("classic", True, "the model NETCDF4_CLASSIC"),
        ("zlib", True, "compress"),
        ("shuffle", True, "shuffle before"),
        ("fletcher32", False, "checksums"),
        ("unpackshort", True, "integers with scale_factor and add_offset become floats"),
    ]:
        parser.add_argument(f"--{option}", type=_flag, default=default, metavar="0|1", help=what)
    parser.add_argument("--complevel", type=int, default=6, metavar="1-9", help="how hard")
    parser.add_argument(
        "--quantize", type=_digits, default=None, metavar="A=2,B=-1", help="decimal digits to keep"
    )
    parser.add_argument("--istart", type=int, default=0, metavar="N", help="first record")
    parser.add_argument("--istop", type=int, default=-1, metavar="N", help="record to stop before")
    given = vars(parser.parse_args(arguments))
    paths = given.pop("netcdf3filename"), given.pop("netcdf4filename")
    options = {"lsd_dict": given.pop("quantize"), "nchunk": given.pop("chunk"), **given}
    return _told("nc3tonc4", lambda: _nc3tonc4(*paths, **options))


def nc4tonc3(arguments: Sequence[str] | None = None) -> int:
    """Runs the command of that name; its exit code."""
    parser = _parser(
        "nc4tonc3",
        "Copies a netCDF-4 file of the model NETCDF4_CLASSIC into a classic file.",
        "netcdf4filename",
        "netcdf3filename",
    )
    formats = ["NETCDF3_64BIT", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF3_CLASSIC"]
    parser.add_argument("--format", choices=formats, default=formats[0], help="of the new file")
    given = vars(parser.parse_args(arguments))
    paths = given.pop("netcdf4filename"), given.pop("netcdf3filename")
    options = {"nchunk": given.pop("chunk"), **given}
    return _told("nc4tonc3", lambda: _nc4tonc3(*paths, **options))


def ncinfo(arguments: Sequence[str] | None = None) -> int:
    """Runs the command of that name; its exit code."""
    parser = argparse.ArgumentParser(
        "ncinfo", description="Prints what is in a file, a group, a variable or a dimension."
    )
    parser.add_argument("-g", "--group", default="/", help="a group, by its path")
    parser.add_argument("-v", "--variable", help="a variable")
    parser.add_argument("-d", "--dimension", help="a dimension")
    parser.add_argument("filename")
    return _told("ncinfo", lambda: _print_info(parser.parse_args(arguments)))


def _print_info(given: argparse.Namespace) -> None:
    with Dataset(given.filename) as dataset:
        group: Any = dataset
        for name in filter(None, given.group.split("/")):
            group = _member(group.groups, "group", name, given.filename)
        if given.variable is not None:
            print(_member(group.variables, "variable", given.variable, given.filename))
        if given.dimension is not None:
            print(_member(group.dimensions, "dimension", given.dimension, given.filename))
        if given.variable is None and given.dimension is None:
            print(group)


def _member(members: dict[str, Any], kind: str, name: str, path: str) -> Any:
    if name not in members:
        raise KeyError(f"there is no {kind} {name!r} in {path}")
    return members[name]


def _told(command: str, run: Callable[[], None]) -> int:
    """Runs it; what goes wrong is told in one line."""
    try:
        run()
    except (OSError, KeyError, RuntimeError, ValueError) as error:
        why = error.args[0] if isinstance(error, KeyError) else error
        print(f"{command}: {why}", file=sys.stderr)
        return 1
    return 0
