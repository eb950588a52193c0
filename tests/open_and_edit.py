"""Edits files through a libnetcdf: python open_and_edit.py EDIT FILE ...

EDIT is "nothing", "attribute", "variable", "values" or "all". For each file a line is printed when
it begins, and one that tells what the calls returned when it has ended. A file that takes longer
than it may ends the process.
"""

import ctypes
import faulthandler
import os
import resource
import sys

MEMORY_BYTES = 2 << 30
SECONDS = 20
NC_WRITE, NC_GLOBAL, NC_INT = 1, -1, 4
LARGEST_ELEMENT, MOST_ELEMENTS = 4096, 1 << 20

resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
library = ctypes.CDLL(os.environ.get("LIBNETCDF", "libnetcdf.so.19"))


def attribute(file):
    yield library.nc_redef(file)
    yield library.nc_put_att_text(file, NC_GLOBAL, b"edited", ctypes.c_size_t(3), b"yes")
    yield library.nc_enddef(file)


def variable(file):
    yield library.nc_redef(file)
    dimension, made = ctypes.c_int(), ctypes.c_int()
    yield library.nc_def_dim(file, b"edited_len", ctypes.c_size_t(3), ctypes.byref(dimension))
    place, name = ctypes.byref(made), b"edited_variable"
    yield library.nc_def_var(file, name, NC_INT, 1, ctypes.byref(dimension), place)
    yield library.nc_enddef(file)
    yield library.nc_put_var_int(file, made, (ctypes.c_int * 3)(1, 2, 3))


def values(file):
    """Writes the first elements of the first variables again, as they were read."""
    count = ctypes.c_int()
    yield library.nc_inq_nvars(file, ctypes.byref(count))
    for number in range(min(count.value, 20)):
        rank, kind, size = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
        library.nc_inq_varndims(file, number, ctypes.byref(rank))
        library.nc_inq_vartype(file, number, ctypes.byref(kind))
        library.nc_inq_type(file, kind, None, ctypes.byref(size))
        first = (ctypes.c_size_t * max(rank.value, 1))()
        # The first element of an array without chunks gives all of it its place.
        if size.value > LARGEST_ELEMENT or elements(file, number, rank.value) > MOST_ELEMENTS:
            continue
        element = ctypes.create_string_buffer(LARGEST_ELEMENT)
        if library.nc_get_var1(file, number, first, element) == 0:
            yield library.nc_put_var1(file, number, first, element)


def elements(file, variable, rank):
    """How many a variable has."""
    dimensions, length, count = (ctypes.c_int * max(rank, 1))(), ctypes.c_size_t(), 1
    library.nc_inq_vardimid(file, variable, dimensions)
    for dimension in dimensions[:rank]:
        library.nc_inq_dimlen(file, dimension, ctypes.byref(length))
        count *= length.value
    return count


def everything(file):
    yield from attribute(file)
    yield from variable(file)
    yield from values(file)


EDITS = {
    "nothing": lambda file: (),
    "attribute": attribute,
    "variable": variable,
    "values": values,
    "all": everything,
}


def main():
    edit = EDITS[sys.argv[1]]
    for path in sys.argv[2:]:
        print(f"begin {path}", flush=True)
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        file = ctypes.c_int()
        opened = library.nc_open(path.encode(), NC_WRITE, ctypes.byref(file))
        told = [opened]
        if opened == 0:
            told += edit(file)
            told.append(library.nc_close(file))
        faulthandler.cancel_dump_traceback_later()
        print("end", *told, flush=True)


if __name__ == "__main__":
    main()
