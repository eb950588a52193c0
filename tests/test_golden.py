"""The corpus's files through both views of the engine, against what the reference libraries found.

The program `golden` of the engine prints what it finds; the corpus's own compare.py judges. Three
rules hold for all files, and rest on what h5py finds in them:

- libnetcdf refuses some files whole that h5py reads. Then there is no answer to compare.
- libnetcdf leaves out objects that are neither numbers nor strings, or shows them under a type that
  it makes up, and gives other numbers to what has no name in the file.
- libnetcdf calls the storage of virtual data sets unknown.

Where they differ otherwise, golden_differences.json names the file, the section, how many
differences there are, and why. That list can only shrink: what no longer differs must go from it,
and nothing may come to it without a reason.
"""

import concurrent.futures
import copy
import json
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = pathlib.Path(os.environ.get("ISOTACH_CORPUS", ROOT.parent / "shared" / "corpus"))
DIFFERENCES = json.loads((ROOT / "tests" / "golden_differences.json").read_text(encoding="utf-8"))
SECTIONS = ("netcdf", "hdf5")
# Texts that are not arrays, and files that no library reads.
OTHER_FOLDERS = {"cdl", "ddl", "malformed"}

pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason=f"there is no corpus at {CORPUS}")


@pytest.fixture(scope="module")
def program(rust_example):
    """The path of the program `golden`, built anew; `ISOTACH_GOLDEN` names one that is there."""
    return os.environ.get("ISOTACH_GOLDEN") or rust_example("golden")


def golden_files():
    for golden in sorted(CORPUS.rglob("*.json")):
        file = golden.with_suffix("")
        if file.is_file() and file.relative_to(CORPUS).parts[0] not in OTHER_FOLDERS:
            yield file.relative_to(CORPUS).as_posix()


#: Types of numbers and strings, as h5py's answer spells them.
NETCDF_TYPE = re.compile(r"[iu][1248][lb]e|f[48][lb]e|v?str\[.*")
MADE_UP = re.compile(r"(phony_dim_|_Anonymous[A-Z][a-z]+)\d+$")


def is_other(objects, path):
    """Whether h5py finds something there that netCDF has no type for."""
    return not NETCDF_TYPE.fullmatch(objects.get(path, {}).get("type") or "i4le")


def has_other_types(objects):
    kinds = [found["type"] for found in objects.values() if found.get("type")]
    kinds += [
        attribute["type"]
        for found in objects.values()
        for attribute in (found.get("attrs") or {}).values()
        if isinstance(attribute, dict) and attribute.get("type")
    ]
    return not all(map(NETCDF_TYPE.fullmatch, kinds))


def alike(theirs, ours, objects):
    """Both answers without what differs by the rules above."""
    theirs, ours = copy.deepcopy((theirs, ours))
    if "root" in theirs and "root" in ours:
        other_types = has_other_types(objects)
        make_alike(theirs["root"], ours["root"], "/", objects, other_types)
    return theirs, ours


def make_alike(theirs, ours, path, objects, other_types):
    below = path.rstrip("/")
    if other_types:
        attributes = (objects.get(path) or {}).get("attrs") or {}
        leave_out(theirs, ours, "atts", lambda name: is_other(attributes, name))
        leave_out(theirs, ours, "vars", lambda name: is_other(objects, f"{below}/{name}"))
        for group in (theirs, ours):
            for kind in ("dims", "types"):
                group[kind] = [found for found in group[kind] if not MADE_UP.match(found["name"])]
    mine = {found["name"]: found for found in ours["vars"]}
    for variable in theirs["vars"]:
        same, stored = mine.get(variable["name"]), objects.get(f"{below}/{variable['name']}", {})
        if same is None or variable.get("error"):
            continue
        if stored.get("layout") == "virtual" and variable["storage"] == "unknown":
            variable["storage"] = "virtual"
        if other_types:
            attributes = stored.get("attrs") or {}
            leave_out(variable, same, "atts", lambda name, of=attributes: is_other(of, name))
            for one in (variable, same):
                one["dims"] = [MADE_UP.sub(r"\1", name) for name in one["dims"]]
                one["type"] = MADE_UP.sub(r"\1", one["type"])
            if variable["type"].endswith("_AnonymousUnknown"):
                assert is_other(objects, f"{below}/{variable['name']}")
                variable["type"] = same["type"]
    groups = {found["name"]: found for found in ours["groups"]}
    for group in theirs["groups"]:
        if group["name"] in groups:
            inner = f"{below}/{group['name']}"
            make_alike(group, groups[group["name"]], inner, objects, other_types)


def leave_out(theirs, ours, kind, is_other):
    """Leaves out what only one of the two shows, and netCDF has no type for."""
    if theirs.get(kind) is None or ours.get(kind) is None:
        return
    both = {found["name"] for found in theirs[kind]} & {found["name"] for found in ours[kind]}
    for holder in (theirs, ours):
        holder[kind] = [
            found for found in holder[kind] if found["name"] in both or not is_other(found["name"])
        ]


def differences(program, compare, name):
    """By section, where the program departs from the golden answers."""
    golden = json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8"))
    if "golden" not in golden:
        return {}
    run = subprocess.run(
        [program, CORPUS / name], capture_output=True, text=True, timeout=60, check=False
    )
    if run.returncode != 0:
        return {"program": [(name, "an answer", run.stderr[-1000:])]}
    ours = json.loads(run.stdout)
    found = {
        key: [(key, golden[key], ours[key])]
        for key in ("kind", "size", "sha256")
        if golden[key] != ours[key]
    }
    for section in SECTIONS:
        theirs = golden.get(section)
        if theirs is None or "_oracle_failure" in theirs or theirs.get("walk_error"):
            continue
        lines, mine = [], ours.get(section)
        if section == "netcdf":
            objects = golden.get("hdf5", {}).get("objects", {})
            if theirs.get("open_error") and "root" in mine and objects:
                continue
            theirs, mine = alike(theirs, mine, objects)
        compare.diff(theirs, mine, section, lines)
        if lines:
            found[section] = lines
    return found


@pytest.fixture(scope="module")
def found(program, compare):
    """For each file of the corpus, its differences by section."""
    names = list(golden_files())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        return dict(
            zip(
                names,
                threads.map(lambda name: differences(program, compare, name), names),
                strict=True,
            )
        )


def test_the_corpus_is_whole(found):
    assert len(found) > 600


def complaints(found, files):
    """What differs and is not listed, or is listed and does not differ, or not as often."""
    wrong = []
    for name in sorted({*found, *files}):
        if name not in found:
            wrong.append(f"{name}: is listed and not there")
            continue
        entry = files.get(name, {"section": None, "count": 0})
        for section in {*found[name], entry["section"]} - {None}:
            lines = found[name].get(section, ())
            listed = entry["count"] if section == entry["section"] else 0
            if len(lines) != listed:
                wrong.append(f"{name}: {len(lines)} differences of {section}, {listed} are listed")
                wrong += [
                    f"    {path}: golden {golden}, ours {ours}" for path, golden, ours in lines
                ]
    return wrong


def test_differs_only_where_it_is_said_why(found):
    wrong = complaints(found, DIFFERENCES["files"])
    assert not wrong, "\n" + "\n".join(wrong)


def test_a_row_that_no_longer_applies_fails():
    rows = {"a": {"section": "hdf5", "count": 2, "reason": "so"}}
    differ = [("path", 1, 2)]
    assert complaints({"a": {"hdf5": differ * 2}, "b": {}}, rows) == []
    for found in ({"a": {"hdf5": differ}}, {"a": {}}, {"b": {}}, {"a": {"netcdf": differ * 2}}):
        assert complaints(found, rows)
    assert complaints({"a": {"hdf5": differ * 2}, "b": {"hdf5": differ}}, rows)


def test_every_difference_has_a_reason():
    used = {entry["reason"] for entry in DIFFERENCES["files"].values()}
    assert used == set(DIFFERENCES["reasons"])
