"""What the tests share: the corpus of real files, and comparisons with netCDF4-python."""

import functools
import importlib.util
import json
import os
import warnings
from pathlib import Path

import netCDF4
import numpy as np
import pytest
from capi_library import (  # noqa: F401
    c_program,
    libraries,
    netcdf_h,
    thread_sanitizer,
    watched_libraries,
    watched_program,
)
from cargo_builds import example
from numpy import ma

CORPUS = Path(
    os.environ.get("ISOTACH_CORPUS", Path(__file__).resolve().parents[2] / "shared" / "corpus")
)
#: The last netCDF4-python for Python 3.10 lacks some of what later ones can.
OLDER_NETCDF4 = tuple(int(part) for part in netCDF4.__version__.split(".")[:3]) < (1, 7, 5)
#: Larger variables are compared by a part of them.
MOST_ELEMENTS = 2_000_000
#: Files that netCDF4-python shows otherwise, and why. This list can only shrink.
KNOWN = {
    "bmtk/stim_12_pulses.nwb": "netCDF4-python cannot open it",
    "compliance-checker/bad_missing_data.nc": "uninitialised memory for rows that are not there",
    "netcdf-c/f03tst_open_mem.nc": "uninitialised memory for data that were never written",
    "netcdf-rust/nc4_groups.nc": "two dimensions have one id, and libnetcdf takes them for one",
}


def corpus_files(*flavours):
    """Files of the corpus that libnetcdf reads, by flavour (`classic`, `netcdf4`, `hdf5`)."""
    for golden in sorted(CORPUS.rglob("*.json")):
        if golden.name.endswith(".cdl.json") or "malformed" in golden.parts:
            continue
        summary = json.loads(golden.read_text(encoding="utf-8"))
        netcdf = summary.get("netcdf", {})
        if summary.get("_flavour") in flavours and "root" in netcdf and "_retried" not in netcdf:
            yield golden.with_suffix("")


def corpus_parameters(*flavours):
    """The same as parameters of a test, named by their place in the corpus."""
    files = corpus_files(*flavours)
    return [pytest.param(file, id=str(file.relative_to(CORPUS))) for file in files]


@pytest.fixture(scope="session")
def compare():
    """The corpus's own comparison of what two readers found."""
    spec = importlib.util.spec_from_file_location("corpus_compare", CORPUS / "compare.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def rust_example():
    """Builds an example of one of the crates, and returns the program's path."""
    return functools.cache(example)


def pytest_terminal_summary(terminalreporter):
    if not CORPUS.is_dir():
        terminalreporter.section("corpus")
        terminalreporter.line(
            f"LEFT OUT: all tests on real files: there is no corpus at {CORPUS} "
            "(ISOTACH_CORPUS says where it is)"
        )


def outcome(call):
    """What `call` returns, or the class of what it raises; and the texts of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = call()
        except Exception as error:
            value = type(error)
    return value, sorted({str(warning.message) for warning in caught})


def differ(ours, theirs, what="value"):
    """What differs between two results of a read, in words; None where nothing does."""
    if isinstance(theirs, type) or isinstance(ours, type):
        return None if ours is theirs else f"{what}: {ours!r} for {theirs!r}"
    if type(ours) is not type(theirs):
        return f"{what}: {type(ours)} for {type(theirs)}"
    if ours is ma.masked or theirs is ma.masked:
        return None if ours is theirs else f"{what}: {ours!r} for {theirs!r}"
    if isinstance(theirs, dict):
        if list(ours) != list(theirs):
            return f"{what}: {list(ours)} for {list(theirs)}"
        found = (differ(ours[key], theirs[key], f"{what}.{key}") for key in theirs)
        return next(filter(None, found), None)
    if isinstance(theirs, (np.ndarray, np.generic)):
        return _differ_in_arrays(ours, theirs, what)
    return None if ours == theirs else f"{what}: {ours!r} for {theirs!r}"


def _differ_in_arrays(ours, theirs, what):
    for part in ("dtype", "shape"):
        if getattr(ours, part) != getattr(theirs, part):
            return f"{what}: {part} {getattr(ours, part)} for {getattr(theirs, part)}"
    if isinstance(theirs, ma.MaskedArray):
        if (ours.mask is ma.nomask) != (theirs.mask is ma.nomask):
            return f"{what}: mask {ours.mask!r} for {theirs.mask!r}"
        if not np.array_equal(ma.getmaskarray(ours), ma.getmaskarray(theirs)):
            return f"{what}: another mask"
        if not _same(np.asarray(ours.fill_value), np.asarray(theirs.fill_value)):
            return f"{what}: fill value {ours.fill_value!r} for {theirs.fill_value!r}"
        ours, theirs = ours.data, theirs.data
    if _same(np.asarray(ours), np.asarray(theirs)):
        return None
    return f"{what}: other values: {ours!r:.200} for {theirs!r:.200}"


def _same(ours, theirs):
    if theirs.dtype.hasobject:
        pairs = zip(ours.reshape(-1).tolist(), theirs.reshape(-1).tolist(), strict=True)
        return all(differ(one, other) is None for one, other in pairs)
    if theirs.dtype.names is not None:
        return all(_same(ours[name], theirs[name]) for name in theirs.dtype.names)
    if theirs.dtype.kind in "fc":
        return np.array_equal(ours, theirs, equal_nan=True)
    return np.array_equal(ours, theirs)
