"""What `nc_abort` leaves, on the original library and on ours.

netCDF's documentation: a new file is gone; where define mode was entered by `nc_redef`, the file
is as it was before; else `nc_abort` is `nc_close`. The original keeps to that for classic files
alone.
"""

import pytest
from test_calls import CLASSIC, FORMATS, on_both, sections

#: Ways into define mode that begin with `nc_redef`.
REDEFINED = ("redefined", "opened and redefined")
#: What stays in netCDF-4 files of the original in spite of `nc_redef`: it is done at once.
AT_ONCE = {
    "delete_global",
    "delete_units",
    "rename_attribute",
    "rename_variable",
    "rename_dimension",
}
#: After these in data mode the original's file is broken, or an attribute gone.
RENAMED = {"rename_attribute", "rename_variable", "rename_dimension"}
#: What the original forgets where it went to define mode by itself, as the full model does.
FORGOTTEN = {
    "put_new",
    "put_longer",
    "define_dimension",
    "define_variable",
    "define_group",
    "define_type",
}


def left(lines):
    """What there is at the end of each change by its name and way."""
    found = {}
    for title, section in sections(lines).items():
        change, way = title.removeprefix("== ").split(", ")
        found[way, change] = section[section.index("-- left") :]
    return found


@pytest.mark.parametrize("form", FORMATS)
def test_abort(libraries, c_program, tmp_path, form):
    program, number = c_program("abort"), FORMATS[form]
    (original, ours), (closed, _) = (
        [left(lines) for lines, *_ in on_both(libraries, [program, number, end], tmp_path / end)]
        for end in ("abort", "close")
    )
    assert original.keys() == ours.keys() == closed.keys()
    differ = {}
    for (way, change), found in ours.items():
        if way in REDEFINED:
            if change != "end_and_put" and (change, form) != ("store_and_delete", "netcdf4"):
                assert found == ours[way, "nothing"], (way, change)
        elif way != "new" and change not in RENAMED:
            assert found == closed[way, change], (way, change)
        if found != original[way, change]:
            differ.setdefault(way, set()).add(change)
    if form in CLASSIC:
        assert not differ
        return
    in_data_mode = RENAMED | {"put_shorter"} | (FORGOTTEN if form == "netcdf4" else set())
    redefined = AT_ONCE | ({"store_and_delete"} if form != "netcdf4" else set())
    assert differ == {
        **dict.fromkeys(REDEFINED, redefined),
        **dict.fromkeys(("ended", "opened", "stored"), in_data_mode),
    }
