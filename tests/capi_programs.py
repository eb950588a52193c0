"""Programs that know nothing of us, run on the original library and on ours, and compared."""

import filecmp
import itertools
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

#: Lines that differ from run to run: with the time, or which library it was.
VARIABLE = (
    *("processed", "Processed", "date", "Date", "elapsed"),
    *("library version", "Version of netcdf library"),
)
#: Folders and processes.
OWN = re.compile(r"/\S{,40}/Rtmp\S{,80}|pid\d+")
#: NCO looks for its separator in an attribute's text and on behind its end, in memory that is not
#: its own: whether it takes the longer one is chance.
SEPARATOR = re.compile(r'separator="\*(\|\*)?"')
#: What HDF5 says beside the original where programs have threads.
HDF5 = re.compile(r"HDF5-DIAG: |  #\d{3}: | {4}m(ajor|inor): ")
#: What the original writes at once to classic files.
BLOCK = 8192


def text_of(output):
    lines = (
        line for line in output.decode("utf-8", "replace").splitlines() if not HDF5.match(line)
    )
    return [
        SEPARATOR.sub("separator", OWN.sub("", line))
        for line in lines
        if not any(word in line for word in VARIABLE)
    ]


#: Values that have no space in the file: the original leaves the memory of the caller as it was,
#: ours gives zeros.
UNTOUCHED = re.compile(r"  values = 0 \[-(,-)*( and \d+ more, \w+)?\]$")
ZEROS = re.compile(r"  values = 0 \[[][{}0,]*( and \d+ more, \w+)?\]$")


def differences(theirs, ours):
    """The lines that differ, side by side."""
    lines = itertools.zip_longest(theirs, ours, fillvalue="(no more)")
    return [
        f"  original: {one[:500]}\n  ours:     {two[:500]}"
        for one, two in lines
        if one != two and not (UNTOUCHED.match(one) and ZEROS.match(two))
    ]


def same(theirs, ours, what):
    """Fails with the first of the lines that differ."""
    found = differences(theirs, ours)
    assert not found, "\n".join([f"{what}: {len(found)} lines differ", *found[:10]])


def need(program):
    if not shutil.which(program):
        pytest.skip(f"LEFT OUT: there is no {program}")


def on_both(libraries, command, folder, made=None, opens=True):
    """Runs a command in a folder of its own for each library; what it gave there.

    Our library tells of the files it opens, so that it is known that it was used. For both runs it
    is the same time of the day.
    """
    clock = libraries.stopped_clock()

    def run(ours):
        place = folder / ("ours" if ours else "original")
        # CDO's threads call the library at once, which the original does not bear.
        in_turn = ["-L"] if command[0] == "cdo" and not ours else []
        if made:
            shutil.copytree(made, place, symlinks=True, dirs_exist_ok=True)
        place.mkdir(exist_ok=True)
        trace = folder / f"{place.name}.trace"
        settings = {"TZ": "UTC", "OMP_NUM_THREADS": "1", "ISOTACH_TRACE": str(trace)}
        settings["LD_PRELOAD"] = str(clock)
        done = libraries.run([command[0], *in_turn, *command[1:]], ours, place, env=settings)
        assert trace.exists() == (ours and opens), f"which library opened files in {place.name}?"
        left = {
            OWN.sub("", path.name): path
            for path in sorted(place.iterdir())
            if made and not (made / path.name).exists()
        }
        return done, left

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(run, (False, True)))


#: What begins files of netCDF.
CLASSIC, HDF5_FILE = (b"CDF\x01", b"CDF\x02", b"CDF\x05"), b"\x89HDF"


def magic(path):
    with path.open("rb") as file:
        return file.read(4)


def same_size(theirs, ours):
    """Classic files end where their data do; the original may leave the rest of a block behind."""
    size, expected = ours.stat().st_size, theirs.stat().st_size
    if size != expected:
        with theirs.open("rb") as file:
            file.seek(size)
            rest = file.read(BLOCK + 1)
        is_padding = size < expected and len(rest) <= BLOCK and not any(rest)
        assert is_padding, f"{theirs.name}: {size} bytes, not {expected}"


def compare_files(libraries, reader, theirs, ours):
    """Of netCDF files everything is read with both libraries; what pads values does not count."""
    if magic(theirs) not in (*CLASSIC, HDF5_FILE):
        assert filecmp.cmp(theirs, ours, shallow=False), f"{theirs.name}: other bytes"
        return
    if magic(theirs) != HDF5_FILE:
        same_size(theirs, ours)
    seen = {}
    for which, library in itertools.product((theirs, ours), (False, True)):
        done = libraries.run([reader, which.name], library, which.parent)
        assert done.returncode == 0, done.stderr
        text = done.stdout.decode("utf-8", "replace")
        seen[which, library] = text.splitlines()
    expected = seen[theirs, False]
    for (which, library), lines in seen.items():
        by = "ours" if library else "the original"
        same(expected, lines, f"{which.parent.name}/{which.name} as {by} reads it")


def check(libraries, reader, folder, command, made=None, opens=True):
    """What the command returns and prints, and the files it leaves, are the same on both."""
    need(command[0])
    (theirs, files), (ours, own_files) = on_both(libraries, command, folder, made, opens)
    assert ours.returncode == theirs.returncode, ours.stderr[-2000:]
    same(text_of(theirs.stdout), text_of(ours.stdout), "standard output")
    same(text_of(theirs.stderr), text_of(ours.stderr), "standard error")
    assert list(own_files) == list(files)
    if theirs.returncode != 0:
        return
    for name, file in files.items():
        compare_files(libraries, reader, file, own_files[name])
