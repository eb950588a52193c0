"""``isotach generate`` beside ncgen: files of the same texts, as other libraries read them."""

import os
import subprocess
import sysconfig
from pathlib import Path

import h5py
import netCDF4
import pytest
from conftest import CORPUS

#: ``ISOTACH_COMMAND`` names one that is built already.
COMMAND = os.environ.get("ISOTACH_COMMAND", Path(sysconfig.get_path("scripts")) / "isotach")
#: Texts below the corpus's ``cdl/netcdf-c`` and the kind that is asked for.
TEXTS = {
    "c0": "classic",
    "c0_4": "nc4",
    "nc_sync": "64-bit offset",
    "ref_tst_comp2": "nc4",
    "ref_tst_compounds3": "nc4",
    "ref_tst_enum_data": "nc4",
    "ref_tst_group_data": "nc4",
    "ref_tst_string_data": "nc4",
    "ref_tst_nans": "nc5",
    "ref_tst_mud4": "nc4",
    "ref_tst_opaque_data": "nc4",
    "ref_tst_unicode": "nc7",
    "test_vlen2": "nc4",
    "small": "nc7",
}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"there is no corpus at {CORPUS}")


def run(*command):
    run = subprocess.run(command, capture_output=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stderr == b""
    return run.stdout


@pytest.fixture(params=TEXTS)
def files(request, tmp_path):
    """The file that we make of a text, and ncgen's."""
    text = CORPUS / "cdl" / "netcdf-c" / f"{request.param}.cdl"
    ours, theirs = tmp_path / "ours.nc", tmp_path / "theirs.nc"
    kind = TEXTS[request.param]
    run(COMMAND, "generate", "-k", kind, "-o", ours, text)
    subprocess.run(["ncgen", "-k", kind, "-o", theirs, text], check=True, timeout=60)
    return ours, theirs


def test_dumps_as_the_file_of_ncgen(files):
    ours, theirs = (run("ncdump", "-n", "x", file) for file in files)
    assert ours == theirs


def test_others_read_it(files):
    ours, _ = files
    with netCDF4.Dataset(ours) as dataset:
        read_all(dataset)
    if h5py.is_hdf5(ours):
        with h5py.File(ours) as file:
            file.visititems(lambda _, found: found[()] if hasattr(found, "shape") else None)


def read_all(group):
    group.set_auto_maskandscale(False)
    for variable in group.variables.values():
        assert variable[...].shape == variable.shape
        assert len(variable.ncattrs()) == len(variable.__dict__)
    for below in group.groups.values():
        read_all(below)


ROUNDED = {
    "BitGroom": "BitGroomNumberOfSignificantDigits",
    "GranularBitRound": "GranularBitRoundNumberOfSignificantDigits",
    "BitRound": "BitRoundNumberOfSignificantBits",
}


@pytest.mark.parametrize("mode", ROUNDED)
def test_rounds_off_as_netcdf_does(tmp_path, mode):
    attribute = f"_Quantize{ROUNDED[mode]}"
    values = [1.2345678, -9.8765432, 3e-20, 0, 123456.789]
    row = ", ".join(map(str, values))
    text, ours, theirs = (tmp_path / name for name in ("x.cdl", "ours.nc", "theirs.nc"))
    text.write_text(
        f"netcdf x {{ dimensions: x = 6; variables: float f(x); f:{attribute} = 3;"
        f" double d(x); d:{attribute} = 3; data: f = {row}, _; d = {row}, _; }}"
    )
    run(COMMAND, "generate", "-o", ours, text)
    with netCDF4.Dataset(theirs, "w") as dataset:
        dataset.createDimension("x", 6)
        options = {"significant_digits": 3, "quantize_mode": mode, "contiguous": True}
        for name, of in (("f", "f4"), ("d", "f8")):
            dataset.createVariable(name, of, ("x",), **options)[:5] = values
    dumps = [run("ncdump", "-p", "9,17", "-n", "x", file) for file in (ours, theirs)]
    assert dumps[0] == dumps[1]
    if mode == "GranularBitRound":
        # ncgen knows the other two as attributes only.
        run("ncgen", "-o", theirs, text)
        assert run("ncdump", "-p", "9,17", "-n", "x", theirs) == dumps[0]
    again = tmp_path / "again.nc"
    text.write_bytes(run(COMMAND, "dump", "-s", "-p", "9,17", ours))
    run(COMMAND, "generate", "-o", again, text)
    assert run("ncdump", "-p", "9,17", "-n", "x", again) == dumps[0]
