"""The corpus's files through both views of the engine, against what the reference libraries found.

The program `golden` of the engine prints what it finds; the corpus's own compare.py judges. Where
they differ, golden_differences.json names the file, how many differences there are, and why. That
list can only shrink: what no longer differs must go from it, and nothing may come to it without a
reason.
"""

import concurrent.futures
import json
import os
import pathlib
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
        lines = []
        compare.diff(theirs, ours.get(section), section, lines)
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
    assert set(DIFFERENCES["files"]) <= set(found), "files that are listed and not there"


def test_differs_only_where_it_is_said_why(found):
    wrong = []
    for name, sections in found.items():
        expected = DIFFERENCES["files"].get(name, {})
        for section, lines in sections.items():
            allowed = expected.get(section, {"count": 0})["count"]
            if len(lines) > allowed:
                wrong.append(f"{name}: {len(lines)} differences, {allowed} are listed")
                wrong += [
                    f"    {path}: golden {golden}, ours {ours}" for path, golden, ours in lines[:20]
                ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_the_list_shrinks(found):
    wrong = []
    for name, sections in DIFFERENCES["files"].items():
        for section, entry in sections.items():
            count = len(found[name].get(section, ()))
            if count < entry["count"]:
                wrong.append(f"{name}: {section} has only {count} differences now: lower the count")
    assert not wrong, "\n" + "\n".join(wrong)


def test_every_difference_has_a_reason():
    used = {
        reason
        for file in DIFFERENCES["files"].values()
        for entry in file.values()
        for reason in entry["reasons"]
    }
    assert used == set(DIFFERENCES["reasons"])
    assert all(
        entry["reasons"] for file in DIFFERENCES["files"].values() for entry in file.values()
    )
