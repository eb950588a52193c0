"""Chunks that nobody chose, along dimensions that have grown."""

import pytest
from test_calls import FORMATS, check, on_both


def seeds():
    for form in ("netcdf4", "netcdf4-classic"):
        yield pytest.param(form, range(1, 21), id=f"{form}-few")
        yield pytest.param(form, range(21, 301), id=f"{form}-many", marks=[pytest.mark.long])


@pytest.mark.parametrize(("form", "seeds"), list(seeds()))
def test_default_chunks(libraries, c_program, tmp_path, form, seeds):
    """Definitions, values and inquiries at random: the chunks of each variable as it is defined."""
    shapes = set()
    for seed in seeds:
        command = [c_program("chunking"), FORMATS[form], seed, "file.nc"]
        original, ours = on_both(libraries, command, tmp_path)
        check(original, ours)
        shapes |= {line.partition("chunks")[2] for line in original[0] if "chunks" in line}
    assert len(shapes) > 20
