"""What libnetcdf 4.10 answers otherwise than the 4.9.0 that other tests compare with."""

import sys

import pytest
from test_calls import later  # noqa: F401

#: What programs have in common: the library, and how results are shown.
HEAD = """
import ctypes
c = ctypes
library = c.CDLL("libnetcdf.so.22")
library.nc_inq_enum_ident.argtypes = [c.c_int, c.c_int, c.c_longlong, c.c_char_p]
library.nc_put_var.argtypes = library.nc_get_var.argtypes = [c.c_int, c.c_int, c.c_void_p]
NETCDF4, CDF5 = 0x1000, 0x20
class Sequence(c.Structure):
    _fields_ = [("len", c.c_size_t), ("p", c.c_void_p)]
def made(call, *arguments):
    id = c.c_int()
    status = call(*arguments, c.byref(id))
    return id.value if status == 0 else status
def opened(flags):
    return made(library.nc_open, b"x.nc", flags)
def created(flags):
    return made(library.nc_create, b"x.nc", flags)
def dimension(file, name, len):
    return made(library.nc_def_dim, file, name, c.c_size_t(len))
def variable(file, name, type, *along):
    return made(library.nc_def_var, file, name, type, len(along), (c.c_int * 9)(*along))
def cache(file=None, id=None):
    size, slots, preemption = c.c_size_t(), c.c_size_t(), c.c_float()
    places = c.byref(size), c.byref(slots), c.byref(preemption)
    call = library.nc_get_chunk_cache if file is None else library.nc_get_var_chunk_cache
    status = call(*places) if file is None else call(file, id, *places)
    return status, size.value, slots.value, preemption.value
def filters(file, id):
    count, ids, parameters = c.c_size_t(), (c.c_uint * 9)(), (c.c_uint * 9)()
    status = library.nc_inq_var_filter_ids(file, id, c.byref(count), ids)
    found = {}
    for number in ids[:count.value]:
        library.nc_inq_var_filter_info(file, id, number, c.byref(count), parameters)
        found[number] = parameters[:count.value]
    return status, found
"""
PROGRAMS = {
    "the chunk cache": """
print(cache())
file = created(NETCDF4)
x = dimension(file, b"x", 1 << 25)
for index, size in enumerate((1 << 10, 1 << 23, 1 << 24, 1 << 25)):
    v = variable(file, b"v%d" % index, 4, x)
    print(library.nc_def_var_chunking(file, v, 0, c.byref(c.c_size_t(size))), cache(file, v))
""",
    "long dimensions": """
for name, flags in ("netCDF-4", NETCDF4), ("CDF-5", CDF5):
    file = created(flags)
    for size in (1 << 63) - 4, (1 << 63) - 1, 1 << 63, (1 << 64) - 4, (1 << 64) - 3:
        print(name, size, dimension(file, b"d%d" % size, size))
    if flags == CDF5:
        variable(file, b"v", 4)
        print(library.nc_close(file))
        file, size = opened(0), c.c_size_t()
        for id in range(4):
            print(library.nc_inq_dimlen(file, id, c.byref(size)), size.value)
""",
    "values that an enumeration has not": """
file = created(NETCDF4)
name = c.create_string_buffer(300)
for kind, (type, value) in enumerate([(1, 5), (4, 5), (9, 5), (10, 5), (4, 0)]):
    member = c.c_longlong(value)
    id = made(library.nc_def_enum, file, type, b"e%d" % kind)
    print(library.nc_insert_enum(file, id, b"member", c.byref(member)))
    for wanted in 0, 5, 1, -1:
        name.value = b"untouched"
        print(wanted, library.nc_inq_enum_ident(file, id, wanted, name), name.value)
""",
    "filters of what has no fixed size": """
file = created(NETCDF4)
x = dimension(file, b"x", 4)
vlen = made(library.nc_def_vlen, file, b"sequence", 4)
numbers = [(c.c_int * 3)(1, 2, 3), (c.c_int * 1)(7)]
sequences = (Sequence * 4)(*[Sequence(len(n), c.addressof(n)) for n in numbers * 2])
texts = (c.c_char_p * 4)(b"one", b"", b"three", b"four")
level = (c.c_uint * 1)(4)
for name, type in (b"v", vlen), (b"s", 12):
    id = variable(file, name, type, x)
    print(library.nc_def_var_deflate(file, id, 1, 1, 4), filters(file, id))
    print(library.nc_def_var_fletcher32(file, id, 1), filters(file, id))
    print(library.nc_def_var_szip(file, id, 32, 32), filters(file, id))
id = variable(file, b"w", vlen, x)
print(library.nc_def_var_filter(file, id, 1, c.c_size_t(1), level), filters(file, id))
print(library.nc_enddef(file), library.nc_def_var_filter(file, id, 1, c.c_size_t(1), level))
for id, values in enumerate((sequences, texts, sequences)):
    print(library.nc_put_var(file, id, c.addressof(values)), filters(file, id))
print(library.nc_close(file))
file = opened(0)
for id in range(3):
    print(filters(file, id))
found = (Sequence * 4)()
for id in 0, 2:
    print(library.nc_get_var(file, id, c.addressof(found)))
    print([(c.c_int * s.len).from_address(s.p)[:] for s in found])
found = (c.c_char_p * 4)()
print(library.nc_get_var(file, 1, c.addressof(found)), list(found))
""",
    "names that are too long": """
for flags in NETCDF4, NETCDF4 | 0x100, 0:
    file = created(flags)
    variable(file, b"v", 4)
    library.nc_close(file)
    names = b"n" * 257, b"\\xc3\\xa9" * 200, b"\\xff" * 300, b"/" * 300, b"a/b", b"v"
    for mode in 0, 1:
        file = opened(mode)
        print([library.nc_rename_var(file, id, name) for name in names for id in (0, 7)])
        library.nc_close(file)
""",
    "the order of errors of new variables": """
for flags in NETCDF4, NETCDF4 | 0x100, 0, CDF5:
    file = created(flags)
    x = dimension(file, b"x", 1)
    variable(file, b"v", 4, x)
    along = (c.c_int * 2000)(*[x] * 2000)
    for name in b"v", b"n" * 257, b"a/b", b"w":
        for type in 4, 99, 0, -1:
            for count in 33, 1025, 1500, -1:
                id = made(library.nc_def_var, file, name, type, count, along)
                print(flags, name[:3], type, count, id)
                if id >= 0:
                    library.nc_rename_var(file, id, b"%d" % id)
    library.nc_close(file)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_later(libraries, later, tmp_path, name):  # noqa: F811
    shown = []
    for ours, env in ((False, later), (True, {})):
        folder = tmp_path / str(ours)
        done = libraries.run([sys.executable, "-c", HEAD + PROGRAMS[name]], ours, folder, env=env)
        assert done.returncode == 0, done.stderr
        shown.append(done.stdout.decode().splitlines())
    original, found = shown
    assert found == original
    assert len(found) >= 3
