"""Blocks of an HDF5 file that structures share: `nc_set_meta_block_size`."""

import sys

import h5py
import pytest
from test_calls import later  # noqa: F401

#: Defines groups and variables, with values of 320,000 bytes in between, and reopens the file once.
MAKE = """
import ctypes as c, sys
library = c.CDLL("libnetcdf.so.22")
library.nc_set_meta_block_size(c.c_size_t(int(sys.argv[1])))
def made(call, *arguments):
    id = c.c_int()
    assert call(*arguments, c.byref(id)) == 0
    return id.value
def fill(file, first):
    for number in range(first, first + 5):
        group = made(library.nc_def_grp, file, b"g%d" % number)
        x = made(library.nc_def_dim, group, b"x", c.c_size_t(40_000))
        v = made(library.nc_def_var, group, b"v", 6, 1, (c.c_int * 1)(x))
        assert library.nc_put_var_double(group, v, (c.c_double * 40_000)(*range(40_000))) == 0
        assert library.nc_sync(file) == 0
file = made(library.nc_create, b"blocks.nc", 0x1000)
fill(file, 0)
assert library.nc_close(file) == 0
file = made(library.nc_open, b"blocks.nc", 1)
fill(file, 5)
assert library.nc_close(file) == 0
"""


def regions(path, block):
    """How many blocks of a file have headers of its objects, and its length."""
    addresses = []
    with h5py.File(path) as file:
        file.visititems(lambda name, item: addresses.append(h5py.h5o.get_info(item.id).addr))
        for number in range(10):
            assert (file[f"g{number}/v"][:] == range(40_000)).all()
    assert len(addresses) == 30
    return len({address // block for address in addresses}), path.stat().st_size


@pytest.mark.parametrize("ours", [False, True])
def test_structures_lie_together(libraries, later, tmp_path, ours):  # noqa: F811
    environment = {} if ours else later
    block = 1 << 17
    found = {}
    for size in (0, block):
        folder = tmp_path / str(size)
        command = [sys.executable, "-c", MAKE, size]
        done = libraries.run(command, ours, folder, env=environment)
        assert done.returncode == 0, done.stderr.decode()
        found[size] = regions(folder / "blocks.nc", block)
    (apart, usual_length), (together, length) = found[0], found[block]
    # One or two blocks for each of the two times that the file was open; else beside each variable.
    assert together <= 4 < apart, found
    # What is left in the end goes.
    assert length < usual_length + 2 * block, found


def test_blocks_that_nobody_has_room_for(libraries, tmp_path):
    command = [sys.executable, "-c", MAKE, (1 << 64) - 1]
    done = libraries.run(command, True, tmp_path)
    assert done.returncode == 0, done.stderr.decode()
    # More than this is not taken at once.
    assert regions(tmp_path / "blocks.nc", 1 << 20)[1] < (1 << 30) + (10 << 20)
