"""Files that are opened for writing through C: sound ones lose nothing, damaged ones are survived.

What is edited, and within which limits, is in `open_and_edit.py`; `ISOTACH_EDITS` says how many
damaged files.
"""

import os
import random
import subprocess
import sys
from pathlib import Path

import isotach
import numpy as np
import pytest
from cargo_builds import shared_library
from conftest import CORPUS

WORKER = Path(__file__).with_name("open_and_edit.py")
BATCH = 40
FILE_BYTES = 200_000
COUNT = int(os.environ.get("ISOTACH_EDITS", "120"))
#: What is only a part of a file, which libnetcdf opens as little.
PARTS = {"tfamily00000.h5", "tmulti-s.h5", "tsplit_file-m.h5"}
EDITED = {"edited_variable", "edited_len"}


@pytest.fixture(scope="module")
def library():
    return shared_library()


@pytest.fixture(scope="module")
def sound():
    """Sound files of the corpus."""
    if not CORPUS.is_dir():
        pytest.skip(f"no corpus at {CORPUS}")
    paths = (path for path in sorted(CORPUS.rglob("*")) if path.is_file())
    paths = (path for path in paths if "malformed" not in path.parts)
    return [path for path in paths if is_array_file(path)]


def is_array_file(path):
    if path.stat().st_size > FILE_BYTES or path.name in PARTS:
        return False
    begin = path.read_bytes()[:4096]
    return begin.startswith(b"CDF") or b"\x89HDF\r\n\x1a\n" in begin


def edit(library, what, paths):
    """What each file's calls returned."""
    told = []
    for start in range(0, len(paths), BATCH):
        batch = paths[start : start + BATCH]
        run = subprocess.run(
            [sys.executable, WORKER, what, *batch],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=25 * BATCH,
            env=os.environ | {"LIBNETCDF": str(library)},
        )
        ended = [line for line in run.stdout.splitlines() if line.startswith("end ")]
        assert len(ended) == len(batch), f"{batch[len(ended)]}: {run.stderr[-600:]}"
        assert "panicked" not in run.stderr, run.stderr[-600:]
        told += [[int(status) for status in line.split()[1:]] for line in ended]
    return told


def seen(path):
    """What a reader sees of a file's root group; None where it is not to be opened."""
    try:
        with isotach.Dataset(path) as dataset:
            dataset.set_auto_maskandscale(False)
            return {name: values(variable) for name, variable in dataset.variables.items()}
    except (OSError, RuntimeError, ValueError):
        return None


def values(variable):
    try:
        if variable.size > 1 << 20:
            return None
        found = np.asarray(variable[...])
        # Between the members of structures stands anything.
        told = repr(found.tolist()) if found.dtype.kind in "OV" else found.tobytes()
        return found.shape, found.dtype, told
    except (OSError, RuntimeError, ValueError, MemoryError, IndexError, TypeError):
        return None


def copies(paths, folder):
    made = []
    for number, path in enumerate(paths):
        made.append(folder / f"{number}_{path.name}")
        made[-1].write_bytes(path.read_bytes())
    return made


@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.long)], ids=["some", "all"])
def test_sound_files(library, sound, tmp_path, step):
    paths = sound[::step]
    made = copies(paths, tmp_path)
    for path, copy, told in zip(paths, made, edit(library, "nothing", made), strict=True):
        assert told == [0, 0], path
        assert copy.read_bytes() == path.read_bytes(), path
    # Files that they refer to are missing beside the copies.
    views = [seen(copy) for copy in made]
    edited = edit(library, "all", made)
    for path, copy, before, told in zip(paths, made, views, edited, strict=True):
        assert (told[0], told[-1]) == (0, 0), path
        after = seen(copy)
        assert EDITED & set(after), path
        changed = [name for name in before if before[name] != after.get(name)]
        assert not changed, (path, changed)


def damaged(content, moments):
    """Some bytes of a header are others."""
    content = bytearray(content)
    for _ in range(moments.randint(1, 3)):
        at = moments.randrange(min(len(content), moments.choice([256, 4096, len(content)])))
        place = moments.randrange(2 * len(content))
        number = moments.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, place])
        piece = number.to_bytes(4, moments.choice(["big", "little"]))
        content[at : at + 4] = piece[: len(content) - at]
    return bytes(content)


@pytest.mark.parametrize(
    "count", [COUNT, pytest.param(20 * COUNT, marks=pytest.mark.long)], ids=["some", "many"]
)
def test_damaged_files(library, sound, tmp_path, count):
    moments = random.Random(count)
    originals, made = tmp_path / "before", []
    originals.mkdir()
    for number in range(count):
        path = moments.choice(sound)
        content = damaged(path.read_bytes(), moments)
        (originals / str(number)).write_bytes(content)
        made.append(tmp_path / str(number))
        made[-1].write_bytes(content)
    opened = 0
    for copy, told in zip(made, edit(library, "all", made), strict=True):
        before = originals / copy.name
        if told[0] != 0:
            assert copy.read_bytes() == before.read_bytes(), copy.name
            continue
        opened += 1
        old, new = seen(before), seen(copy)
        lost = [
            name for name, found in (old or {}).items() if found and found != (new or {}).get(name)
        ]
        assert not lost, (copy, lost)
    assert opened > count // 4
