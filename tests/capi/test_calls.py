"""Calls on the original library and on ours, compared call by call.

Every function of netcdf.h with right, wrong and hazardous arguments; long random sequences; and the
files that they leave.
"""

import itertools
import json
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from capi_library import ROOT
from conftest import CORPUS, corpus_files

FORMATS = {"classic": 1, "64bit-offset": 2, "netcdf4": 3, "netcdf4-classic": 4, "64bit-data": 5}
STATES = {"defining": 0, "data": 1, "writable": 2, "read-only": 3}
SOURCES = Path(__file__).parent
#: Lines that differ on purpose: each says why, and how many there are at most in one run.
DIFFERENCES = json.loads((SOURCES / "differences.json").read_text(encoding="utf-8"))
#: The same for files of the corpus.
CORPUS_DIFFERENCES = json.loads((SOURCES / "corpus_differences.json").read_text(encoding="utf-8"))
#: The filter of the plugin that tests compile.
FILTER = 300
#: The most lines that a failure shows.
SHOWN = 25


def on_both(libraries, command, folder, most_seconds=600, env=None):
    """What a program prints on the original and on ours, which run at the same time."""

    def run(ours):
        place = folder / ("ours" if ours else "original")
        done = libraries.run(command, ours, place, most_seconds, env=env or {})
        lines = done.stdout.decode("utf-8", "replace").splitlines()
        return lines, done.returncode, done.stderr.decode("utf-8", "replace")

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(run, (False, True)))


def sections(lines):
    """The lines of each function."""
    found, name = {}, ""
    for line in lines:
        if line.startswith("== "):
            name = line
        found.setdefault(name, []).append(line)
    return found


def pairs(original, ours):
    """Lines that differ. Where the original dies, ours must not."""
    ours = sections(ours)
    for name, theirs in sections(original).items():
        own = ours.get(name, [])
        if theirs[-1].endswith("died"):
            own = own[: len(theirs)]
        for one, other in itertools.zip_longest(theirs, own, fillvalue="(no more)"):
            if other.endswith("died") if one.endswith("died") else one != other:
                yield name, one, other


def check(original, ours, most=0):
    """Fails with the first lines that differ and are not on the list, if more than `most` do."""
    counts, found = {}, []
    for name, one, other in pairs(original[0], ours[0]):
        for index, entry in enumerate(DIFFERENCES):
            if (
                re.search(entry.get("function", ""), name)
                and re.search(entry["original"], one)
                and re.search(entry["ours"], other)
            ):
                counts[index] = counts.get(index, 0) + 1
                if counts[index] <= entry["most"]:
                    break
        else:
            found.append(f"{name}\n  original: {one[:600]}\n  ours:     {other[:600]}")
    assert original[0], original[2]
    text = "\n".join([f"{len(found)} lines differ", *found[:SHOWN], ours[2][-2000:]])
    assert len(found) <= most, text


def runs():
    """Every format and state; all of it takes minutes."""
    for (form, number), (state, index) in itertools.product(FORMATS.items(), STATES.items()):
        for kind in ("safe", "hazardous"):
            quick = form in ("classic", "netcdf4") and state in ("defining", "data")
            marks = [] if quick and kind == "safe" else [pytest.mark.long]
            yield pytest.param(number, index, kind, id=f"{form}-{state}-{kind}", marks=marks)


@pytest.mark.parametrize(("form", "state", "kind"), list(runs()))
def test_every_function(libraries, c_program, tmp_path, form, state, kind):
    command = [c_program("every"), form, state, kind]
    check(*on_both(libraries, command, tmp_path))


def seeds():
    for (name, number), seed in itertools.product(FORMATS.items(), range(1, 41)):
        yield pytest.param(number, seed, id=f"{name}-{seed}", marks=[pytest.mark.long])


@pytest.mark.parametrize(("form", "seed"), list(seeds()))
def test_random_calls(libraries, c_program, tmp_path, form, seed):
    original, ours = on_both(libraries, [c_program("random"), form, seed, 1500], tmp_path, 60)
    if original[1] < 0:
        # What came before it died counts.
        original[0].pop()
        ours = (ours[0][: len(original[0])], *ours[1:])
    check(original, ours)
    # Each library reads what the other has written.
    reader = c_program("read")
    for folder in ("original", "ours"):
        if original[1] == 0 and (tmp_path / folder / "main.nc").exists():
            check(*on_both(libraries, [reader, tmp_path / folder / "main.nc"], tmp_path))


@pytest.mark.parametrize("flavour", ["classic", "netcdf4", "hdf5"])
def test_corpus(libraries, c_program, tmp_path, flavour):
    """Everything there is in each file of the corpus."""
    if not CORPUS.is_dir():
        pytest.skip(f"there is no corpus at {CORPUS}")
    reader, found = c_program("read"), []
    for file in corpus_files(flavour):
        known = CORPUS_DIFFERENCES.get(str(file.relative_to(CORPUS)), {"most": 0})
        try:
            check(*on_both(libraries, [reader, file], tmp_path), most=known["most"])
        except AssertionError as error:
            found.append(f"{file.relative_to(CORPUS)}: {str(error)[:1500]}")
    assert not found, "\n".join(found)


def test_libraries_are_two(libraries, c_program, tmp_path):
    """The same program, and yet another library each time."""
    (original, *_), (ours, *_) = on_both(libraries, [c_program("which")], tmp_path)
    assert original[0] != ours[0], "one version"
    assert Path(original[1]).resolve() != Path(ours[1]).resolve()
    assert Path(ours[1]).parent == libraries.folder


def test_memory(libraries, c_program, tmp_path):
    """Nested types, their copies and their end; files in memory; records of version 2."""
    check(*on_both(libraries, [c_program("memory")], tmp_path))


@pytest.fixture
def plugin(tmp_path):
    """The environment in which the plugin for the filter FILTER is found; it asks libhdf5."""
    found = subprocess.run(["pkg-config", "--libs", "hdf5"], capture_output=True, text=True)
    if found.returncode != 0:
        pytest.skip("LEFT OUT: pkg-config knows no libhdf5")
    source = ROOT / "crates" / "capi" / "tests" / "plugin.c"
    command = ["gcc", "-shared", "-fPIC", "-w", f"-DID={FILTER}", "-DSET_LOCAL", source]
    command += ["-o", tmp_path / "libtest.so", *found.stdout.split()]
    subprocess.run(command, check=True)
    return {"HDF5_PLUGIN_PATH": str(tmp_path)}


def test_callbacks(libraries, c_program, tmp_path, plugin):
    """A plugin's filter; what parsers hand out; tables of formats."""
    check(*on_both(libraries, [c_program("callbacks"), FILTER], tmp_path, env=plugin))


def test_threads(libraries, c_program, tmp_path):
    """Eight threads, which the original does not bear."""
    done = libraries.run([c_program("threads"), 3], True, tmp_path)
    assert done.returncode == 0, done.stderr.decode()


#: What a program returns in which ThreadSanitizer has found something.
RACE = 66


@pytest.mark.long
def test_threads_do_not_race(watched_libraries, watched_program, tmp_path):
    """The same under ThreadSanitizer. It needs no suppressions, and sees a race that there is."""
    options = {"TSAN_OPTIONS": f"exitcode={RACE}"}
    for arguments, expected in (([3], 0), ([1, "race"], RACE)):
        command = [watched_program("threads"), *arguments]
        done = watched_libraries.run(command, True, tmp_path, env=options)
        assert done.returncode == expected, done.stderr.decode()[-4000:]


MEMCHECK = ["valgrind", "-q", "--error-exitcode=9", "--leak-check=full"]
MEMCHECK += ["--show-leak-kinds=definite", "--errors-for-leak-kinds=definite"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("program", "arguments"),
    [
        ("memory", []),
        ("callbacks", [FILTER, "all"]),
        *(("random", [number, 5, 200]) for number in FORMATS.values()),
    ],
)
def test_no_leak_and_no_stray_access(libraries, c_program, tmp_path, plugin, program, arguments):
    if not shutil.which("valgrind"):
        pytest.skip("LEFT OUT: there is no valgrind")
    done = libraries.run([*MEMCHECK, c_program(program), *arguments], True, tmp_path, env=plugin)
    assert done.returncode == 0, done.stderr.decode()[-4000:]
