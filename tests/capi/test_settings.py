"""Settings of the rc files, as the later libnetcdf tells them; what it was built without."""

import sys

import pytest
from test_calls import check, later, on_both  # noqa: F401

#: What is not built in either: NC_ENOPAR.
NOT_PARALLEL = "-114 -114 -114 -114"
#: Tells keys, then sets two.
PROGRAM = """
import ctypes, sys
library = ctypes.CDLL("libnetcdf.so.22")
library.nc_rc_get.restype = ctypes.c_void_p
def tell(key):
    value = library.nc_rc_get(key.encode())
    print(key, ctypes.string_at(value) if value else None)
for key in sys.argv[1:]:
    tell(key)
for key, value in ("NEW", "one"), ("NEW", "two=2"), (sys.argv[1], "set"), ("NONE", ""):
    print(library.nc_rc_set(key.encode(), value.encode()))
    tell(key)
print(library.nc_rc_get(None))
"""
FILES = {
    "home/.ncrc": "A=home\nB=home\n",
    "home/.daprc": "B=home-daprc\nC=home-daprc\n",
    "home/.dodsrc": "C=home-dods\nD=home-dods\n",
    "other/.ncrc": "A=other\nE=other\n",
    "work/.ncrc": "D=work\n",
    "work/.daprc": "F=work\n",
    "rc": "A=named\n",
}
ENVIRONMENTS = {
    "plain": {},
    "another home": {"NCRCENV_HOME": "{}/other"},
    "another home that is not there": {"NCRCENV_HOME": "{}/nowhere"},
    "another home, empty": {"NCRCENV_HOME": ""},
    "no home": {"HOME": ""},
    "named": {"NCRCENV_RC": "{}/rc"},
    "named, not there": {"NCRCENV_RC": "{}/nowhere"},
    "named, empty": {"NCRCENV_RC": ""},
    "named as for DAP": {"DAPRCFILE": "{}/rc"},
    "ignored": {"NCRCENV_IGNORE": "1"},
    "ignored, empty": {"NCRCENV_IGNORE": ""},
    "ignored though named": {"NCRCENV_IGNORE": "0", "NCRCENV_RC": "{}/rc"},
}
#: Where no file that is read has A.
NOTHING_OF_A = ("another home that is not there", "no home", "named, not there")
LINES = {
    "comments": "#A=1\n  # B=2\n\n   \nC=3\n",
    "a key alone": "A\nB=\nC=3\n",
    "a value alone": "=1\nC=3\n",
    "equals": "A=b=c\nB==\nC=3\n",
    "a later one": "A=1\nA=2\nC=3\n",
    "carriage returns": "A=1\r\nB=2\r\nC=3\r\n",
    "no end": "A=1\nC=3",
    "a host's": "[http://host.org/]A=host\nA=plain\n[http://host.org]B=host\nC=3\n",
    "a host's alone": "[https://host.org:80/path]A=host\nC=3\n",
    "half a host": "[host\nA=1\nC=3\n",
    "no host": "[]A=1\nC=3\n",
    "binary": "A=\x01\x7f\nC=3\n",
}


def both(libraries, original, folder, keys, env):
    """What both tell of keys; the original is the later one, as 4.9.0 has no such functions."""
    shown = {"HOME": str(folder / "home")}
    shown |= {name: value.format(folder) for name, value in env.items()}
    (folder / "work").mkdir(exist_ok=True)
    command = [sys.executable, "-c", PROGRAM, *keys]
    for ours in (False, True):
        done = libraries.run(command, ours, folder / "work", env=shown | ({} if ours else original))
        assert done.returncode == 0, done.stderr
        yield done.stdout.decode().splitlines()


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_where_settings_are_found(libraries, later, tmp_path, name):  # noqa: F811
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    original, ours = both(libraries, later, tmp_path, "ABCDEF", ENVIRONMENTS[name])
    assert ours == original
    assert ("A None" in ours) == (name.startswith("ignored") or name in NOTHING_OF_A)


@pytest.mark.parametrize("name", LINES)
def test_lines_of_settings(libraries, later, tmp_path, name):  # noqa: F811
    (tmp_path / "rc").write_bytes(LINES[name].encode())
    original, ours = both(libraries, later, tmp_path, ["A", "B", "C", ""], {"NCRCENV_RC": "{}/rc"})
    assert ours == original
    assert "C b'3'" in ours


def test_blanks_in_settings(libraries, later, tmp_path):  # noqa: F811
    """Around keys and values they are left out. The later libnetcdf repeats parts of them."""
    (tmp_path / "rc").write_text(" A B \t=  c d \n")
    _, ours = both(libraries, later, tmp_path, ["A B"], {"NCRCENV_RC": "{}/rc"})
    assert ours[0] == "A B b'c d'"


def test_what_is_not_built(libraries, c_program, tmp_path):
    """Files that several processes open together; metadata and messages in a log."""
    original, ours = on_both(libraries, [c_program("unbuilt")], tmp_path)
    check(original, ours)
    assert f"access 1: {NOT_PARALLEL}" in ours[0]
