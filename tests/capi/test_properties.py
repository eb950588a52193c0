"""Who made a file, in the attribute `_NCProperties`, however it is stored."""

import h5py
import numpy as np
import pytest
from test_calls import check, on_both

MAKER = "version=2,netcdf-rust=0.1"


def shown(libraries, folder, ours):
    done = libraries.run(["ncdump", "-h", "-s", "file.nc"], ours, folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return [line.strip() for line in lines if "_NCProperties" in line]


@pytest.mark.parametrize("value", [MAKER, np.bytes_(MAKER)], ids=["variable length", "fixed"])
def test_properties(libraries, tmp_path, value):
    """As text. Of a string of variable length the original shows its address."""
    with h5py.File(tmp_path / "file.nc", "w") as file:
        file.attrs["_NCProperties"] = value
        file["values"] = np.arange(3)
    expected = [f':_NCProperties = "{MAKER}" ;']
    assert shown(libraries, tmp_path, ours=True) == expected
    assert (shown(libraries, tmp_path, ours=False) == expected) == isinstance(value, bytes)


def test_unreadable_properties(libraries, c_program, tmp_path):
    """A string that is nowhere costs nothing but itself."""
    with h5py.File(tmp_path / "file.nc", "w") as file:
        file.attrs["_NCProperties"] = MAKER
        file["values"] = np.arange(3)
    data = (tmp_path / "file.nc").read_bytes()
    heap = data.index(b"GCOL")
    (tmp_path / "file.nc").write_bytes(data[:heap] + b"LOST" + data[heap + 4 :])
    original, ours = on_both(libraries, [c_program("read"), tmp_path / "file.nc"], tmp_path)
    check(original, ours)
