"""The sizes of classic files that are said at first, and of their blocks."""

import pytest
from test_calls import CLASSIC, FORMATS, check, on_both


@pytest.mark.parametrize("form", CLASSIC)
def test_sizes(libraries, c_program, tmp_path, form):
    check(*on_both(libraries, [c_program("sizes"), FORMATS[form]], tmp_path), differences=[])
