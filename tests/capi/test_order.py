"""The order of what a netCDF-4 file holds, as each library tells it of what each wrote."""

import h5py
import pytest
from test_calls import FORMATS, check, on_both


def seeds():
    for form in ("netcdf4", "netcdf4-classic"):
        yield pytest.param(form, range(1, 13), id=f"{form}-few")
        yield pytest.param(form, range(13, 201), id=f"{form}-many", marks=[pytest.mark.long])


def links(path):
    """The names in each group of an HDF5 file in the order in which they were made."""
    found = {}

    def look_into(name, group):
        names = found[name] = []
        group.id.links.iterate(names.append, idx_type=h5py.h5.INDEX_CRT_ORDER)
        for below in map(bytes.decode, names):
            if isinstance(group[below], h5py.Group):
                look_into(f"{name}{below}/", group[below])

    with h5py.File(path) as file:
        look_into("/", file)
    return found


@pytest.mark.parametrize(("form", "seeds"), list(seeds()))
def test_orders(libraries, c_program, tmp_path, form, seeds):
    """Definitions in random order and several rounds; the file of each library as both read it."""
    for seed in seeds:
        folder = tmp_path / str(seed)
        check(*on_both(libraries, [c_program("order"), FORMATS[form], seed, "file.nc"], folder))
        files = [folder / library / "file.nc" for library in ("original", "ours")]
        told = [on_both(libraries, [c_program("read"), file], folder) for file in files]
        for original, ours in told:
            check(original, ours)
        # The first line has the path.
        assert told[0][0][0][1:] == told[1][0][0][1:]
        assert links(files[0]) == links(files[1])
