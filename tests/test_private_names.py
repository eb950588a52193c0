"""What packages use of netCDF4-python though its names begin with an underscore; new variables."""

import isotach
import isotach._netCDF4
import netCDF4
import numpy as np
import pytest
from conftest import OLDER_NETCDF4, differ, outcome

LIBRARIES = [isotach, netCDF4]
FORMATS = ["NETCDF4", "NETCDF4_CLASSIC", "NETCDF3_CLASSIC"]


def written(library, path, format="NETCDF4"):
    dataset = library.Dataset(path, "w", format=format)
    dataset.createDimension("x", 3)
    dataset.createDimension("time", None)
    dataset.createVariable("a", "f4", ("time", "x"))
    dataset.createVariable("b", "i2", ("x",), least_significant_digit=1)
    return dataset


FACTS = {
    "_isopen": lambda d: d._isopen,
    "_getname": lambda d: d._getname(),
    "_redef": lambda d: (d._redef(), d._enddef()),
    "_varid": lambda d: [v._varid for v in d.variables.values()],
    "_nunlimdim": lambda d: [v._nunlimdim for v in d.variables.values()],
    "_has_lsd": lambda d: [bool(v._has_lsd) for v in d.variables.values()],
    "_getdims": lambda d: [v._getdims() for v in d.variables.values()],
    "_name": lambda d: [v._getname() for v in d.variables.values()],
    "types": lambda d: [(v._cmptype, v._vltype, v._enumtype) for v in d.variables.values()],
    "kinds": lambda d: [
        (v._isprimitive, v._iscompound, v._isvlen, v._isenum) for v in d.variables.values()
    ],
    "dimensions": lambda d: [
        (n._dimid, n._getname(), n._data_model) for n in d.dimensions.values()
    ],
    "one group": lambda d: len(
        {n._grpid for n in (d, *d.dimensions.values(), *d.variables.values())}
    ),
}


@pytest.mark.parametrize("format", FORMATS)
def test_private_names(tmp_path, format):
    with (
        written(isotach, tmp_path / "ours.nc", format) as ours,
        written(netCDF4, tmp_path / "theirs.nc", format) as theirs,
    ):
        for name, fact in FACTS.items():
            assert fact(ours) == fact(theirs), name
    assert ours._isopen == theirs._isopen == 0
    with pytest.raises(RuntimeError, match="Not a valid ID"):
        ours._enddef()
    with isotach.Dataset(tmp_path / "ours.nc") as ours:
        assert [v._varid for v in ours.variables.values()] == [0, 1]
        assert ours["b"]._has_lsd and not ours["a"]._has_lsd


def test_types(tmp_path):
    for library in LIBRARIES:
        with library.Dataset(tmp_path / f"{library.__name__}.nc", "w") as dataset:
            pair = dataset.createCompoundType(np.dtype([("a", "i4")]), "pair")
            many = dataset.createVLType("i4", "many")
            word = dataset.createEnumType("i1", "word", {"no": 0})
            for user in (pair, many, word):
                dataset.createVariable(f"v_{user.name}", user, ())
            types = [
                [getattr(v, name) is not None for name in ("_cmptype", "_vltype", "_enumtype")]
                for v in dataset.variables.values()
            ]
            assert types == np.eye(3, dtype=bool).tolist()


def test_groups_have_numbers_of_their_own(tmp_path):
    with isotach.Dataset(tmp_path / "file.nc", "w") as dataset:
        groups = [dataset, dataset.createGroup("a/b"), dataset["a"], dataset.createGroup("c")]
        assert len({group._grpid for group in groups}) == 4
        with isotach.Dataset(tmp_path / "file.nc") as other:
            assert other._grpid not in {group._grpid for group in groups}


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_bytes_of_a_file_in_memory(library):
    dataset = library.Dataset("name", "w", memory=100)
    dataset.title = "in memory"
    content = dataset._close_mem(True)
    with netCDF4.Dataset("again", memory=bytes(content)) as again:
        assert again.title == "in memory"


NEW = [
    (code, endian)
    for code in ("f4", ">f4", "<f4", "i1", ">i8", "S1")
    for endian in ("native", "little", "big")
]


@pytest.mark.filterwarnings("ignore:endian-ness of dtype")
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize(("code", "endian"), NEW)
def test_new_variables_are_of_the_dtype_that_was_asked_for(tmp_path, format, code, endian):
    """Until the file is opened again."""

    def facts(library):
        with written(library, tmp_path / f"{library.__name__}.nc", format) as dataset:
            variable = dataset.createVariable("v", code, ("x",), endian=endian)
            variable[:] = np.array([1, 2, 3]).astype(code)
            found = [variable.dtype, variable.datatype, variable.endian(), variable[:]]
            variable.set_auto_maskandscale(False)
            return [*found, variable[:], variable[1]]

    def again(library):
        with library.Dataset(tmp_path / f"{library.__name__}.nc") as dataset:
            return [dataset["v"].dtype, dataset["v"].endian(), dataset["v"][:]]

    (ours, _), (theirs, _) = outcome(lambda: facts(isotach)), outcome(lambda: facts(netCDF4))
    if isinstance(theirs, type):
        assert ours is theirs
        return
    for here, there in zip([*ours, *again(isotach)], [*theirs, *again(netCDF4)], strict=True):
        assert str(here) == str(there)
        if isinstance(there, np.ndarray):
            # NumPy's own default for masked arrays is what theirs differ in.
            assert differ(np.asarray(here), np.asarray(there)) is None


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("code", ["S1", str])
def test_characters_have_no_byte_order(tmp_path, library, code):
    with written(library, tmp_path / "file.nc") as dataset:
        with pytest.raises(RuntimeError, match="NetCDF: Invalid argument"):
            dataset.createVariable("v", code, ("x",), endian="big")
        if library is isotach:
            assert "v" not in dataset.variables


@pytest.mark.parametrize("library", LIBRARIES)
def test_objects_that_users_put_beside_variables(tmp_path, library):
    dataset = written(library, tmp_path / "file.nc")
    a, b, mine = dataset["a"], dataset["b"], object()
    dataset.variables["mine"] = mine
    dataset.variables["a"] = mine
    dataset.groups["mine"] = mine
    dataset.createVariable("c", "i4", ())
    assert list(dataset.variables) == ["a", "b", "mine", "c"] or library is isotach
    assert set(dataset.variables) == {"a", "b", "mine", "c"}
    assert dataset.variables["mine"] is dataset.variables["a"] is dataset.groups["mine"] is mine
    assert dataset.variables["b"] is b
    assert len(dataset.variables) == 4
    if library is isotach:
        dataset.set_auto_mask(False)
        assert not a.mask
    dataset.variables.pop("mine")
    assert "mine" not in dataset.variables
    dataset.close()
    with pytest.raises(RuntimeError, match="Not a valid ID"):
        a[:]
    with library.Dataset(tmp_path / "file.nc") as dataset:
        dataset.variables["mine"] = mine
        assert list(dataset.variables) == ["a", "b", "c", "mine"]
    with isotach.Dataset(tmp_path / "file.nc") as dataset:
        dataset.variables["mine"] = mine
        dataset.refresh()
        assert dataset.variables["mine"] is mine


def test_elements_cannot_be_deleted(tmp_path):
    for library in LIBRARIES:
        with written(library, tmp_path / "file.nc") as dataset:
            with pytest.raises(NotImplementedError, match="Subscript deletion not supported"):
                del dataset["a"][0]
            with pytest.raises(TypeError, match=r"does(n't| not) support item deletion"):
                del dataset["a"]


def test_the_module_that_packages_take_types_from():
    assert isotach._netCDF4.Variable is isotach.Variable
    assert isotach.utils._safecast(1, 1)
    for name in isotach._netCDF4.__all__:
        assert getattr(isotach._netCDF4, name) is getattr(isotach, name)


@pytest.mark.skipif(OLDER_NETCDF4, reason="this netCDF4-python has not all of them")
def test_tables_are_netcdf4_pythons():
    theirs = netCDF4._netCDF4
    tables = [
        name
        for name, value in vars(theirs).items()
        if isinstance(value, (dict, list)) and not name.startswith("__") and "test" not in name
    ]
    assert "_nptonctype" in tables
    for name in tables:
        if hasattr(isotach._netCDF4, name):
            assert getattr(isotach._netCDF4, name) == getattr(theirs, name), name
    missing = {name for name in tables if not hasattr(isotach._netCDF4, name)}
    assert missing <= {"_complex_types"}
    for dtype in ("c8", "c16", "f4", np.dtype("c8"), np.dtype("f8")):
        assert isotach.dtype_is_complex(dtype) == netCDF4.dtype_is_complex(dtype)
