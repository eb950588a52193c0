"""Damaged files are survived: no panic, no signal, within 2 GiB and 20 s for each."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CORPUS

WORKER = Path(__file__).with_name("survive.py")
BATCH = 40
# Real files of every kind that are cut at many lengths.
CUT_BYTES = 200_000
CUTS = 12


@pytest.fixture
def corpus():
    if not CORPUS.is_dir():
        pytest.skip(f"no corpus at {CORPUS}")
    return CORPUS


def findings(task, paths):
    """What was not survived: files with the reason. A batch goes on behind such a file."""
    left, found = [str(path) for path in paths], []
    while left:
        done = subprocess.run(
            [sys.executable, WORKER, task, *left[:BATCH]],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=25 * BATCH,
        )
        lines = done.stdout.splitlines()
        begun = [line.removeprefix("begin ") for line in lines if line.startswith("begin ")]
        ended = sum(line.startswith("end ") for line in lines)
        for path in left[:ended] if "panicked" in done.stderr else []:
            found.append(f"{path} (or one beside it): {done.stderr[-600:]}")
        if ended == len(left[:BATCH]):
            left = left[BATCH:]
            continue
        culprit = begun[-1] if begun else "before the first file"
        found.append(f"{culprit}: exit code {done.returncode}: {done.stderr[-600:]}")
        if not begun:
            break
        left = left[len(begun) :]
    return found


def malformed(corpus):
    paths = sorted(path for path in (corpus / "malformed").rglob("*") if path.is_file())
    return [path for path in paths if path.suffix not in {".csv", ".json", ".md"}]


@pytest.mark.parametrize("task", ["read", "check"])
def test_malformed_files(corpus, task):
    paths = malformed(corpus)
    assert len(paths) > 300
    assert findings(task, paths) == []


def cut_files(corpus, folder):
    """Real files cut where nobody would, and in the middle of their first structures."""
    chooser = random.Random(20)
    sources = [
        path
        for path in sorted((corpus / "derived").rglob("*"))
        + sorted((corpus / "netcdf-c").rglob("*"))
        if path.suffix in {".nc", ".h5", ".nc4", ".cdf"} and path.stat().st_size <= CUT_BYTES
    ]
    for source in sources:
        content = source.read_bytes()
        lengths = [chooser.randrange(len(content)) for _ in range(CUTS - 2)] if content else []
        for length in {*lengths, 8, len(content) - 1}:
            path = folder / f"{source.stem}-{length}{source.suffix}"
            path.write_bytes(content[: max(length, 0)])
            yield path


@pytest.mark.parametrize("task", ["read", "check"])
def test_files_cut_at_many_lengths(corpus, tmp_path, task):
    paths = list(cut_files(corpus, tmp_path))
    assert len(paths) > 300
    assert findings(task, paths) == []


def test_a_survivor_is_told_from_a_victim(tmp_path):
    """The judge itself: a file that is read to its end, and a process that dies."""
    path = tmp_path / "no-array.nc"
    path.write_bytes(b"nothing that anybody reads")
    assert findings("read", [path]) == []
    assert findings("no such task", [path]) != []
