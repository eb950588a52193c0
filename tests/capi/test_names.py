"""Names that netCDF's own programs import and no header declares, as libnetcdf 4.10 has them."""

from test_calls import later  # noqa: F401


def test_inner_names(libraries, c_program, later, tmp_path):  # noqa: F811
    command = [c_program("names")]
    environment = {"NCRCENV_RC": "", "HOME": str(tmp_path)}
    original = libraries.run(command, False, tmp_path / "original", env=later | environment)
    ours = libraries.run(command, True, tmp_path / "ours", env=environment)
    assert original.returncode == ours.returncode == 0, (original, ours)
    assert ours.stdout.decode().splitlines() == original.stdout.decode().splitlines()
    assert len(ours.stdout.splitlines()) > 60
