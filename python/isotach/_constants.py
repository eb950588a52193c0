"""netCDF's fill values and type names, as programs look them up."""

from __future__ import annotations

import sys

default_encoding = "utf-8"
unicode_error = "replace"

is_native_little = sys.byteorder == "little"
is_native_big = sys.byteorder == "big"

#: What elements that were never written read as, by NumPy's code of the type.
default_fillvals: dict[str, str | int | float] = {
    "S1": "\0",
    "i1": -127,
    "u1": 255,
    "i2": -32767,
    "u2": 65535,
    "i4": -2147483647,
    "u4": 4294967295,
    "i8": -9223372036854775806,
    "u8": 18446744073709551614,
    "f4": 15.0 * 2.0**119,
    "f8": 15.0 * 2.0**119,
    "c8": 15.0 * 2.0**119,
    "c16": 15.0 * 2.0**119,
}

#: NumPy's codes of netCDF's own types by CDL's words, and of HDF5's floats of two bytes.
NUMPY_CODES = {
    "byte": "i1",
    "char": "S1",
    "short": "i2",
    "int": "i4",
    "float16": "f2",
    "float": "f4",
    "double": "f8",
    "ubyte": "u1",
    "ushort": "u2",
    "uint": "u4",
    "int64": "i8",
    "uint64": "u8",
}

#: What is said of a file that was closed.
NOT_VALID = "NetCDF: Not a valid ID"
#: What is said of an attribute that is not there.
NO_ATTRIBUTE = "NetCDF: Attribute not found"
#: What is said of an attempt to change a file.
READ_ONLY = "NetCDF: Write to read only"
#: What is said of a call that classic files have no answer to.
NOT_NETCDF4 = "NetCDF: Attempting netcdf-4 operation on netcdf-3 file"

#: Names that stay with Python's objects and are never looked up in the file.
RESERVED = frozenset(
    {
        "_buffer",
        "_cmptype",
        "_enumtype",
        "_grp",
        "_grpid",
        "_has_lsd",
        "_iscompound",
        "_isenum",
        "_isprimitive",
        "_isvlen",
        "_ncstring_attrs__",
        "_nunlimdim",
        "_use_get_vars",
        "_varid",
        "_vltype",
        "always_mask",
        "auto_complex",
        "chartostring",
        "cmptypes",
        "data_model",
        "dimensions",
        "disk_format",
        "dtype",
        "enumtypes",
        "file_format",
        "groups",
        "keepweakref",
        "mask",
        "name",
        "ndim",
        "parent",
        "path",
        "scale",
        "variables",
        "vltypes",
    }
)
