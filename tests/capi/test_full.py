"""A disk that is full, through the C interface: calls say so, and what was committed is there.

The kernel refuses what goes beyond the largest size of a file that the program may have.
"""

import errno
import shutil
import subprocess

import netCDF4
import numpy as np
import pytest
from test_calls import CLASSIC, FORMATS

ROWS, COLUMNS = 20, 1000
EBADID, EINDEFINE = -33, -39
#: What a program does when there is no room, and which of its calls say so before `nc_sync`, in a
#: classic file.
ACTS = {
    "append": (),
    "append_and_sync": (),
    "define": ("nc_enddef",),
    "rename": ("nc_enddef",),
    "large": ("nc_enddef", "nc_put_var_double"),
}


def rows(count):
    """The rows that the program writes."""
    numbers = np.arange(count * COLUMNS, dtype="u4")
    numbers = (numbers ^ numbers >> 15) * np.uint32(0x2C1B3C6D)
    numbers = (numbers ^ numbers >> 12) * np.uint32(0x297A2D39)
    return ((numbers ^ numbers >> 15) & 0x7FFF).astype("i2").reshape(count, COLUMNS)


def statuses(program, libraries, folder, form, act, end):
    """What each call returned, in order."""
    done = libraries.run([program, FORMATS[form], act, end], True, folder)
    assert done.returncode == 0, done.stderr.decode()
    lines = done.stdout.decode().splitlines()
    return [(call, int(status)) for call, status in (line.split(" = ") for line in lines)]


def committed(told):
    """How many rows a call said to be in the file."""
    put = kept = ROWS
    for call, status in told:
        if call == "nc_put_vara_short" and status == 0:
            put += ROWS
        elif call == "nc_sync" and status == 0:
            kept = put
    return kept


@pytest.mark.parametrize("end", ["close", "abort"])
@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("form", FORMATS)
def test_what_was_committed_is_there(libraries, c_program, tmp_path, form, act, end):
    told = statuses(c_program("full"), libraries, tmp_path, form, act, end)
    *before, (synced, sync), (ended, last), (asked, gone) = told
    # The file is closed, whatever was lost.
    assert (synced, ended, asked) == ("nc_sync", f"nc_{end}", "nc_inq_format")
    assert gone == EBADID
    refused = {status for _, status in told[:-1] if status}
    in_define_mode = form in CLASSIC and before[-1] == ("nc_enddef", errno.EFBIG)
    assert refused == {errno.EFBIG} | ({EINDEFINE} if in_define_mode else set())
    assert sync, "something was lost"
    # What nc_abort gives up in define mode was not to be in the file.
    assert last == (0 if in_define_mode and end == "abort" else errno.EFBIG)
    if ACTS[act] and form in CLASSIC:
        assert any(call in ACTS[act] and status for call, status in before)
    kept = committed(told)
    assert kept > ROWS if act == "append_and_sync" else kept == ROWS
    shows_what_was_committed(tmp_path / "file.nc", kept)


def shows_what_was_committed(path, kept):
    """To the original's programs, and to netCDF4-python, which goes on."""
    if shutil.which("ncdump"):
        subprocess.run(["ncdump", path], check=True, stdout=subprocess.DEVNULL, timeout=60)
    with netCDF4.Dataset(path, "a") as file:
        assert sorted(file.variables) == ["fixed", "series"]
        np.testing.assert_array_equal(file["fixed"][:], np.arange(COLUMNS))
        np.testing.assert_array_equal(file["series"][:], rows(kept))
        file["series"][kept : kept + ROWS] = rows(kept + ROWS)[kept:]
    with netCDF4.Dataset(path) as file:
        np.testing.assert_array_equal(file["series"][:], rows(kept + ROWS))
