"""Libraries and programs in Rust, built as `cargo test --workspace` builds them: nothing twice."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: With all packages, and with an example, dependencies have the features that tests give them. With
#: other features Cargo would compile them, and all that needs them, once more.
AS_TESTS = ("--workspace", "--lib", "--example")


def cargo_build(*options, toolchain=None, **variables):
    """Builds; yields for each target its name and the files it made."""
    command = ["cargo", *([toolchain] if toolchain else []), "build", "--locked", *options]
    built = subprocess.run(
        [*command, "--message-format", "json"],
        cwd=ROOT,
        env=os.environ | variables,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    for message in map(json.loads, built.stdout.splitlines()):
        if message["reason"] == "compiler-artifact":
            yield message["target"]["name"], message["filenames"]


def shared_library(options=(*AS_TESTS, "golden"), **others):
    """The path of our libnetcdf.so."""
    files = [file for _, files in cargo_build(*options, **others) for file in files]
    return next(file for file in files if Path(file).name == "libnetcdf.so")


def example(name):
    """The path of an example's program."""
    return next(files[0] for target, files in cargo_build(*AS_TESTS, name) if target == name)
