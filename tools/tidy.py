#!/usr/bin/env python3
"""Checks that no linter has: the map is true, files can be read in one sitting, unsafe is at home.

Prints every finding and exits with 1 where there is one.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAX_LINES = 1000
SOURCES = {".rs", ".py", ".c", ".h"}
UNFINISHED = re.compile(
    r"\b(todo|unimplemented)!\(|#\[ignore|pytest\.mark\.(skip|xfail)\b|\bFIXME\b"
)
MACHINE_PATH = re.compile(r"(?<![\w.])/(home|root|Users|tmp)/\w")
UNSAFE = re.compile(r"\bunsafe\s*(\{|impl|fn|extern)")
#: What passes over an error. Where structures are read, it may be that of a storage that failed:
#: `Readable` tells.
MAPPING = "crates/engine/src/mapping/"
PASSED_OVER = re.compile(r"\.ok\(\)|\.is_ok\(\)|\bis_ok_and\(|\blet Ok\(|\bErr\(_\)|\blet _ = ")
#: How often that is no error of the engine's, or is told all the same, by file.
PASSED_OVER_THERE = {
    # A header that cannot be read is read again; places of variables are sums.
    "classic/mod.rs": 3,
    "classic/bytes.rs": 1,
    # Bytes that are in memory: numbers, texts, messages of a header.
    "hdf5/attribute.rs": 2,
    "hdf5/chunks/runs.rs": 1,
    "hdf5/global_heap.rs": 1,
    "hdf5/group.rs": 2,
    "hdf5/header.rs": 2,
    "hdf5/link.rs": 1,
    "netcdf4/attribute.rs": 1,
    "netcdf4/group.rs": 1,
    "netcdf4/member.rs": 1,
    "netcdf4/types.rs": 1,
    # What is kept is what was found.
    "once.rs": 3,
    # A path that leads nowhere is not this file's.
    "hdf5/other_files.rs": 2,
}


def tracked():
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    return [Path(name) for name in listed.split("\0") if name and (ROOT / name).exists()]


def rooms():
    """The files, and folders of files, that ARCHITECTURE.md names as rooms for unsafe code."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    section = text.partition("## Unsafe rooms")[2].partition("\n## ")[0]
    return {Path(name) for name in re.findall(r"`(crates/[^`]+(?:\.rs|/))`", section)}


def check_map(files):
    """Paths named in ARCHITECTURE.md exist, and every folder of code is named there."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    for name in set(
        re.findall(r"`((?:crates|python|tests|bench|fuzz|tools|docs|demo)/[^`*{]*)`", text)
    ):
        if not (ROOT / name).exists():
            yield f"ARCHITECTURE.md: names {name}, which is not there"
    for folder in sorted({path.parent for path in files if path.suffix in SOURCES}):
        parts = folder.parts
        if len(parts) >= 2 and parts[0] == "crates" and "src" in parts:
            folder = Path(*parts[: parts.index("src") + 2])
        if folder != Path() and f"{folder.as_posix()}/" not in text and "tests" not in parts[1:]:
            yield f"ARCHITECTURE.md: does not name the folder {folder}/"


def check_file(path, unsafe_rooms):
    text = (ROOT / path).read_text(errors="replace")
    places = {path, *path.parents}
    count = text.count("\n")
    if count > MAX_LINES and "tests" not in path.parts:
        yield f"{path}: {count} lines, nobody reads more than {MAX_LINES} in one sitting"
    for number, line in enumerate(text.splitlines(), 1):
        if path != Path("tools/tidy.py") and UNFINISHED.search(line):
            yield f"{path}:{number}: unfinished: {line.strip()[:80]}"
        if path != Path("tools/tidy.py") and MACHINE_PATH.search(line):
            yield f"{path}:{number}: a path of one machine: {line.strip()[:80]}"
        code = line.partition("//")[0]
        if path.suffix == ".rs" and UNSAFE.search(code) and unsafe_rooms.isdisjoint(places):
            yield f"{path}:{number}: unsafe code outside the rooms ARCHITECTURE.md names"


def check_passed_over(files):
    """Nothing in `mapping` passes over an error but what is listed above."""
    for path in files:
        name = path.as_posix().removeprefix(MAPPING)
        if path.suffix != ".rs" or name == path.as_posix() or name.endswith("tests.rs"):
            continue
        lines = [line.partition("//")[0] for line in (ROOT / path).read_text().splitlines()]
        count = sum(bool(PASSED_OVER.search(line)) for line in lines)
        if count != PASSED_OVER_THERE.get(name, 0):
            yield f"{path}: passes over {count} errors; see Readable, and PASSED_OVER_THERE"


def check_guarantees():
    """Tests that docs/guarantees.md names are there."""
    page = "docs/guarantees.md"
    for path, name in re.findall(r"`([\w/.]+\.(?:rs|py))(?:::(\w+))?`", (ROOT / page).read_text()):
        text = (ROOT / path).read_text() if (ROOT / path).exists() else None
        if text is None or (name and not re.search(rf"\b(?:fn|def) {name}\b", text)):
            yield f"{page}: names {path}::{name}, which is not there"


def main():
    files = tracked()
    findings = list(check_map(files))
    findings.extend(check_passed_over(files))
    findings.extend(check_guarantees())
    unsafe_rooms = rooms()
    for path in files:
        if path.suffix in SOURCES and path.parts[0] != "fuzz":
            findings.extend(check_file(path, unsafe_rooms))
    for finding in dict.fromkeys(findings):
        print(finding)
    if findings:
        sys.exit(1)
    print(f"tidy: {len(files)} files, nothing found")


if __name__ == "__main__":
    main()
