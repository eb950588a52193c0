"""Calls on the original library and on ours, compared call by call.

Every function of netcdf.h with right, wrong and hazardous arguments; long random sequences; and the
files that they leave.
"""

import difflib
import itertools
import json
import operator
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hdf5plugin
import netCDF4
import pytest
from capi_library import ROOT, SONAMES
from conftest import CORPUS, OLDER_NETCDF4, corpus_files

FORMATS = {"classic": 1, "64bit-offset": 2, "netcdf4": 3, "netcdf4-classic": 4, "64bit-data": 5}
STATES = {"defining": 0, "data": 1, "writable": 2, "read-only": 3}
SOURCES = Path(__file__).parent
#: Those whose files are compared byte for byte: a set of calls has one layout.
CLASSIC = ("classic", "64bit-offset", "64bit-data")
#: Lines that differ on purpose: each says why, how many there are at most in one run, in which
#: runs, where it is not any, and one run in which it is `seen`: if not, it no longer applies.
DIFFERENCES = json.loads((SOURCES / "differences.json").read_text(encoding="utf-8"))
#: The same for classic files, and for so many bytes of them.
CLASSIC_DIFFERENCES = json.loads((SOURCES / "classic_differences.json").read_text(encoding="utf-8"))
#: The same for files of the corpus: rules for lines wherever they are, of which each has a pattern,
#: or which are alike when patterns are replaced; and so many lines of a file, for one reason.
CORPUS_DIFFERENCES = json.loads((SOURCES / "corpus_differences.json").read_text(encoding="utf-8"))
#: The filter of the plugin that tests compile.
FILTER = 300
#: What random calls begin their lines with.
NUMBER = re.compile(r"^\d+ (?=nc)")
#: What the later libnetcdf exports for itself.
INNER = "nc_(utf8proc_|http_|_pseudofd|get_NC|strlcat|plugin_path_(initialize|finalize))"
#: Sizes as they are said and told, by C and by Fortran.
META_BLOCK_SIZE = """
import ctypes
library, told, number = ctypes.CDLL("libnetcdf.so.22"), ctypes.c_size_t(7), ctypes.c_int(7)
library.nc_set_meta_block_size.argtypes = [ctypes.c_size_t]
def tell():
    statuses = library.nc_get_meta_block_size(ctypes.byref(told)), \\
        library.nc_get_meta_block_size_ints(ctypes.byref(number)), \\
        library.nc_get_meta_block_size(None), library.nc_get_meta_block_size_ints(None)
    print(statuses, told.value, number.value)
tell()
for size in 1, 1 << 20, (1 << 33) + 5, 0:
    status = library.nc_set_meta_block_size(size)
    if status == 0: tell()
if library.nc_set_meta_block_size_ints(-5) == 0: tell()
"""
#: How long random sequences are.
CALLS = 4000
#: The most lines that a failure shows.
SHOWN = 25


def on_both(libraries, command, folder, env=None):
    """What a program prints on the original and on ours, which run at the same time."""

    def run(ours):
        place = folder / ("ours" if ours else "original")
        done = libraries.run(command, ours, place, env=env or {})
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


def listed(form, run):
    """What differs on purpose in that run on files of a format."""
    differences = CLASSIC_DIFFERENCES if form in CLASSIC else DIFFERENCES
    return [entry for entry in differences if re.search(entry.get("run", ""), run)]


def other_bytes(folder, differences):
    """Classic files that are not the same in both folders, but for the bytes that are listed.

    Where one ends, the other may go on: the original makes files as long as they were said to be at
    first, mapped ones as long as their pages, and leaves parts of records that it could not fill.
    """
    allowed = sum(entry.get("bytes", 0) for entry in differences)
    names = {
        path.name for library in ("original", "ours") for path in (folder / library).glob("*.nc")
    }
    for name in sorted(names):
        files = [folder / library / name for library in ("original", "ours")]
        shorter, longer = sorted(
            (file.read_bytes() if file.exists() else b"" for file in files), key=len
        )
        differing = sum(map(operator.ne, shorter, longer))
        if bool(shorter) != bool(longer) or differing > allowed:
            yield name


def call(line):
    """The call that a line is of, with its arguments; None where it is of none."""
    line = NUMBER.sub("", line)
    return line.partition(") = ")[0] if line.startswith("nc") else None


def allows(entry, name, one, other):
    """Whether two lines of a function may differ by an entry. Those of calls are of the same."""
    return (
        "most" in entry
        and call(one) == call(other)
        and re.search(entry.get("function", ""), name) is not None
        and re.search(entry["original"], NUMBER.sub("", one)) is not None
        and re.search(entry["ours"], NUMBER.sub("", other)) is not None
    )


def check(original, ours, differences=()):
    """Fails with the first lines that differ and are not on the list. The numbers of the entries
    that lines differ by.
    """
    counts, found = {}, []
    for name, one, other in pairs(original[0], ours[0]):
        for index, entry in enumerate(differences):
            if allows(entry, name, one, other):
                counts[index] = counts.get(index, 0) + 1
                if counts[index] <= entry["most"]:
                    break
        else:
            found.append(f"{name}\n  original: {one[:600]}\n  ours:     {other[:600]}")
    assert original[0], original[2]
    text = "\n".join([f"{len(found)} lines differ", *found[:SHOWN], ours[2][-2000:]])
    assert not found, text
    return set(counts)


def check_seen(run, differences, used):
    """Fails where an entry is to be seen in that run, and nothing differs by it."""
    seen = enumerate(differences)
    gone = [
        entry["original"] for index, entry in seen if entry["seen"] == run and index not in used
    ]
    assert not gone, f"these no longer differ in {run}: {gone}"


def test_an_entry_that_no_longer_applies_fails():
    """And so does a line that an entry is about, where it is of another call."""
    entry = {"seen": "here", "original": "^nc_one.* = 0$", "ours": " = -1$", "most": 1}
    lines = {
        "original": ["nc_one(a=1) = 0"],
        "ours": ["nc_one(a=1) = -1"],
        "another call": ["nc_one(a=2) = -1"],
        "another answer": ["nc_one(a=1) = -2"],
    }
    runs = {name: (shown, 0, "") for name, shown in lines.items()}
    assert check(runs["original"], runs["ours"], [entry]) == {0}
    check_seen("here", [entry], {0})
    assert check(runs["original"], runs["original"], [entry]) == set()
    check_seen("elsewhere", [entry], set())
    with pytest.raises(AssertionError, match="these no longer differ in here"):
        check_seen("here", [entry], set())
    for other in ("another call", "another answer"):
        with pytest.raises(AssertionError, match="1 lines differ"):
            check(runs["original"], runs[other], [entry])


def runs():
    """Every format and state, with and without records; all of it takes an hour."""
    states, kinds = STATES.items(), ("safe", "hazardous")
    for form, (state, index), kind in itertools.product(FORMATS, states, kinds):
        quick = state == "data" or form in ("classic", "netcdf4")
        marks = [] if quick and kind == "safe" else [pytest.mark.long]
        yield pytest.param(form, index, 1, kind, id=f"{form}-{state}-{kind}", marks=marks)
    for form, (state, index) in itertools.product(FORMATS, states):
        marks = [] if (form, state) == ("classic", "data") else [pytest.mark.long]
        yield pytest.param(form, index, 0, "safe", id=f"{form}-{state}-no records", marks=marks)


@pytest.mark.parametrize(("form", "state", "records", "kind"), list(runs()))
def test_every_function(libraries, c_program, tmp_path, form, state, records, kind):
    command = [c_program("every"), FORMATS[form], state, records, kind]
    run = f"every {form}-{state}-{records}-{kind}"
    differences = listed(form, run)
    check_seen(run, differences, check(*on_both(libraries, command, tmp_path), differences))


def seeds():
    for name, seed in itertools.product(FORMATS, range(1, 41)):
        marks = [] if seed <= 3 else [pytest.mark.long]
        yield pytest.param(name, seed, id=f"{name}-{seed}", marks=marks)


@pytest.mark.parametrize(("form", "seed"), list(seeds()))
def test_random_calls(libraries, c_program, tmp_path, form, seed):
    command = [c_program("random"), FORMATS[form], seed, CALLS]
    original, ours = on_both(libraries, command, tmp_path)
    if original[1] < 0:
        # What came before it died counts.
        original[0].pop()
        ours = (ours[0][: len(original[0])], *ours[1:])
    run = f"random {form}-{seed}"
    differences = listed(form, run)
    used = check(original, ours, differences)
    if form in CLASSIC and original[1] == 0:
        assert not list(other_bytes(tmp_path, differences))
    # Each library reads what the other has written.
    reader = c_program("read")
    for folder in ("original", "ours"):
        if original[1] == 0 and (tmp_path / folder / "main.nc").exists():
            command = [reader, tmp_path / folder / "main.nc"]
            used |= check(*on_both(libraries, command, tmp_path), differences)
    check_seen(run, differences, used)


@pytest.fixture(scope="module")
def later(tmp_path_factory):
    """The environment in which programs find the libnetcdf 4.10 that netCDF4-python brings."""
    packages = Path(netCDF4.__file__).parents[1]
    library = next(packages.glob("net[cC][dD][fF]4.libs/libnetcdf-*.so*"), None)
    if library is None or OLDER_NETCDF4:
        pytest.skip("LEFT OUT: netCDF4-python has no libnetcdf 4.10 of its own")
    folder = tmp_path_factory.mktemp("later")
    for name in SONAMES:
        (folder / name).symlink_to(library)
    return {"LD_LIBRARY_PATH": f"{folder}:{library.parent}"}


def exported(library):
    """The functions of netCDF's interface that a library exports."""
    command = ["nm", "-D", "--defined-only", "--format=posix", library]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {line.split()[0] for line in listing.splitlines() if line.startswith(("nc_", "ncaux_"))}


def test_later_functions(libraries, later):
    """Whatever the later libnetcdf exports, but for what no header declares."""
    later = exported(Path(later["LD_LIBRARY_PATH"].split(":")[0]) / "libnetcdf.so")
    assert len(later) > 400
    missing = later - exported(libraries.folder / "libnetcdf.so")
    assert [name for name in sorted(missing) if not re.match(INNER, name)] == []


def test_meta_block_size(libraries, later, tmp_path):
    """What is said of blocks of structures is told back, as the later libnetcdf does it."""
    command = [sys.executable, "-c", META_BLOCK_SIZE]
    original = libraries.run(command, False, tmp_path, env=later)
    ours = libraries.run(command, True, tmp_path)
    assert original.returncode == ours.returncode == 0, (original.stderr, ours.stderr)
    assert ours.stdout == original.stdout
    assert len(ours.stdout.splitlines()) == 6


def changes(original, ours):
    """Lines that differ, side by side."""
    matcher = difflib.SequenceMatcher(None, original, ours, autojunk=False)
    for kind, *(low, high, first, end) in matcher.get_opcodes():
        if kind != "equal":
            yield from itertools.zip_longest(original[low:high], ours[first:end], fillvalue="")


def rule_of(one, other):
    """The rule of the corpus by which two lines may differ."""
    for index, rule in enumerate(CORPUS_DIFFERENCES["rules"]):
        if "original" in rule and (
            re.search(rule["original"], one) and re.search(rule["ours"], other)
        ):
            return index
        alike = [one, other]
        for pattern, instead in rule.get("alike", {}).items():
            alike = [re.sub(pattern, instead, line) for line in alike]
        if alike[0] == alike[1]:
            return index
    return None


@pytest.fixture(scope="module")
def corpus_runs(libraries, c_program, later, tmp_path_factory):
    """For each file of the corpus: the rules that it needs beside the nearer of two originals,
    and the lines that differ even so. All of them find hdf5plugin's filters.
    """
    if not CORPUS.is_dir():
        pytest.skip(f"there is no corpus at {CORPUS}")
    reader, folder = c_program("read"), tmp_path_factory.mktemp("corpus")
    plugins = {"HDF5_PLUGIN_PATH": hdf5plugin.PLUGIN_PATH}

    def lines(file, ours, env):
        done = libraries.run([reader, file], ours, folder, env=env)
        assert not ours or done.returncode == 0, (file, done.stderr)
        return done.stdout.decode("utf-8", "replace").splitlines()

    def judged(file):
        ours, judgements = lines(file, True, plugins), []
        for env in ({}, later):
            theirs = lines(file, False, env | plugins)
            found = [(*pair, rule_of(*pair)) for pair in changes(theirs, ours)]
            rules = {rule for *_, rule in found if rule is not None}
            left = [
                f"  original: {a[:600]}\n  ours:     {b[:600]}"
                for a, b, rule in found
                if rule is None
            ]
            judgements.append((rules, left))
            if not left:
                break
        return min(judgements, key=lambda judgement: len(judgement[1]))

    files = list(corpus_files("classic", "netcdf4", "hdf5"))
    with ThreadPoolExecutor() as pool:
        names = [str(file.relative_to(CORPUS)) for file in files]
        return dict(zip(names, pool.map(judged, files), strict=True))


def test_corpus(corpus_runs):
    """Everything in each file of the corpus, as Debian's libnetcdf tells it, or the later one."""
    assert len(corpus_runs) > 600
    listed = CORPUS_DIFFERENCES["files"]
    expected = {name: entry["lines"] for name, entry in listed.items()}
    wrong = [
        "\n".join([f"{name}: {len(left)} lines differ", *left[:SHOWN]])
        for name, (_, left) in corpus_runs.items()
        if len(left) != expected.pop(name, 0)
    ]
    assert not wrong, "\n".join(wrong)
    assert not expected, "files that are not there"
    used = {rule for rules, _ in corpus_runs.values() for rule in rules}
    assert used == set(range(len(CORPUS_DIFFERENCES["rules"]))), "rules that nothing needs"
    reasons = {entry["reason"] for entry in listed.values()}
    assert reasons == set(CORPUS_DIFFERENCES["reasons"])


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


def test_cancelled_threads(libraries, c_program, tmp_path):
    """CDO cancels its threads when one of them fails. The original may leave its locks closed."""
    done = libraries.run([c_program("cancel"), 200], True, tmp_path)
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
