"""Installs the Python package with the library that the tests in Rust compiled: nothing twice.

It is optimised less than the package for users, and looks for overflow and broken assertions.
"""

import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from cargo_builds import AS_TESTS, cargo_build  # noqa: E402


def extension():
    """The path of the compiled module."""
    made = (file for _, files in cargo_build(*AS_TESTS, "golden") for file in files)
    return next(Path(file) for file in made if Path(file).name == "lib_native.so")


def stage(folder):
    """Puts into `folder` what the wheel has; yields its file name."""
    shutil.copytree(
        ROOT / "python" / "isotach",
        folder / "isotach",
        ignore=shutil.ignore_patterns("*.so", "__pycache__"),
    )
    shutil.copy(
        extension(), folder / "isotach" / f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"
    )
    maturin = Path(sys.executable).with_name("maturin")
    options = ["--metadata-directory", folder, "--interpreter", sys.executable]
    subprocess.run(
        [maturin, "pep517", "write-dist-info", *options], cwd=ROOT, check=True, capture_output=True
    )
    (info,) = folder.glob("*.dist-info")
    files = [file.relative_to(folder) for file in folder.rglob("*") if file.is_file()]
    (info / "RECORD").write_text("".join(f"{file},,\n" for file in files))
    tag = next(
        line for line in (info / "WHEEL").read_text().splitlines() if line.startswith("Tag: ")
    )
    return f"{info.name.removesuffix('.dist-info')}-{tag.removeprefix('Tag: ')}.whl"


def main():
    with tempfile.TemporaryDirectory() as temporary:
        staged = Path(temporary, "staged")
        staged.mkdir()
        wheel = Path(temporary, stage(staged))
        with zipfile.ZipFile(wheel, "w") as packed:
            for file in staged.rglob("*"):
                packed.write(file, file.relative_to(staged))
        pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
        subprocess.run([*pip, "--no-deps", "--force-reinstall", wheel], check=True)


if __name__ == "__main__":
    main()
