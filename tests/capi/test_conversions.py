"""Numbers that do not fit, in variables and attributes, on the original library and on ours."""

import re

import pytest
from test_calls import FORMATS, on_both

#: Where ours differs on purpose, by lines of the original's and ours.
DIFFERENCES = [
    # The power of two behind the highest integer does not fit: compared as floats it does.
    (r"(float|double) \d+ to (uint|longlong|ulonglong) = 0 ", r" = -60 "),
    (r"^reading (float|double) \d+ as (uint|longlong|ulonglong) = 0 ", r" = -60 "),
    # netCDF-C 4.9 puts them through a signed register; they fit, and are right in 4.10.
    (
        r"(float|double) \d+ (to|as) ulonglong = 0 \[9223372036854775808\]",
        r" = 0 \[1800000\d+\]",
    ),
    # netCDF-C 4.9 does not write them; right in 4.10.
    (r"schar \d to uint = -60 ", r" = -60 \[42949671\d+|\[4294967295\]"),
]


@pytest.mark.parametrize("form", FORMATS)
def test_conversions(libraries, c_program, tmp_path, form):
    original, ours = on_both(libraries, [c_program("conversions"), FORMATS[form]], tmp_path)
    assert (original[1], ours[1]) == (0, 0), ours[2]
    assert len(original[0]) == len(ours[0]) > 1000
    differ = [
        (one, other)
        for one, other in zip(*(lines for lines, *_ in (original, ours)), strict=True)
        if one != other
    ]
    is_known = [
        any(re.search(one, theirs) and re.search(other, own) for one, other in DIFFERENCES)
        for theirs, own in differ
    ]
    assert all(is_known), [pair for pair, known in zip(differ, is_known, strict=True) if not known]
    # CDF-1 and CDF-2 have none of these types.
    assert bool(differ) == (form in ("64bit-data", "netcdf4", "netcdf4-classic")), differ
