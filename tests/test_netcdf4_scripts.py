"""Scripts for netCDF4-python run after changing the import: what its own tests ask of it."""

import inspect
import pathlib

import h5py
import isotach
import netCDF4
import numpy as np
import pytest
from conftest import OLDER_NETCDF4

LIBRARIES = {"netCDF4": netCDF4, "isotach": isotach}
CLASSES = [
    "CompoundType",
    "Dataset",
    "Dimension",
    "EnumType",
    "Group",
    "MFDataset",
    "MFTime",
    "VLType",
    "Variable",
]
COMPLEX = np.array([0, 1, 1j, 1 + 1j, 0.25 + 0.75j])
PAIRS = np.dtype([("Real", "f8"), ("Imag", "f8")])

both = pytest.mark.parametrize("library", LIBRARIES.values(), ids=LIBRARIES)
writers = pytest.mark.parametrize("writer", LIBRARIES.values(), ids=LIBRARIES)
newer = pytest.mark.skipif(OLDER_NETCDF4, reason="an older netCDF4-python does otherwise")


@newer
def test_every_public_name_is_there():
    names = {*netCDF4.__all__, *(name for name in vars(netCDF4) if name.startswith("__has_"))}
    assert [name for name in names if not hasattr(isotach, name)] == []
    assert type(isotach.default_fillvals) is dict
    assert {*isotach.default_fillvals} == {*netCDF4.default_fillvals}


@newer
@pytest.mark.parametrize("name", CLASSES)
def test_every_method_takes_the_same_arguments(name):
    theirs, ours = getattr(netCDF4, name), getattr(isotach, name)
    for member in dir(theirs):
        if member.startswith("_"):
            continue
        assert hasattr(ours, member), member
        try:
            wanted = inspect.signature(getattr(theirs, member)).parameters
        except (TypeError, ValueError):
            continue
        given = inspect.signature(getattr(ours, member)).parameters
        if not any(parameter.kind == parameter.VAR_KEYWORD for parameter in given.values()):
            assert len(given) >= len(wanted), member
            if name != "MFTime":
                assert list(given)[: len(wanted)] == list(wanted), member


@newer
@writers
@both
@pytest.mark.parametrize("code", ["c16", "c8"])
@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"])
def test_complex_numbers(tmp_path, writer, library, code, format):
    path = tmp_path / "complex.nc"
    with writer.Dataset(path, "w", format=format, auto_complex=True) as dataset:
        dataset.createDimension("x", len(COMPLEX))
        variable = dataset.createVariable("data", code, ("x",))
        assert (variable.shape, variable.dimensions, variable.dtype) == ((5,), ("x",), code)
        variable[:] = COMPLEX
        variable[0] = 3 + 4j
        variable[1:3] = 7
    expected = np.array([3 + 4j, 7, 7, *COMPLEX[3:]], code)
    with library.Dataset(path, "r+", auto_complex=True) as dataset:
        variable = dataset["data"]
        assert (variable.shape, variable.dimensions, variable.dtype) == ((5,), ("x",), code)
        for key in (slice(None), ..., 0, -1, slice(1, 4, 2), [0, 3], (..., 2)):
            np.testing.assert_array_equal(variable[key], expected[key])
            assert variable[key].dtype == code
        variable[::2] = expected[::-2] * 1j
        expected[::2] = expected[::-2] * 1j
        np.testing.assert_array_equal(variable[:], expected)
    with netCDF4.Dataset(path) as dataset:
        raw = np.asarray(dataset["data"][:])
        parts = [raw["r"], raw["i"]] if format == "NETCDF4" else raw.T
        np.testing.assert_array_equal(parts, [expected.real, expected.imag])


@newer
@writers
def test_complex_numbers_of_others(tmp_path, writer):
    path = tmp_path / "complex.nc"
    with writer.Dataset(path, "w") as dataset:
        dataset.createDimension("x", len(COMPLEX))
        dataset.createDimension("ri", 2)
        along = dataset.createVariable("along", "f8", ("x", "ri"))
        along[:] = np.stack([COMPLEX.real, COMPLEX.imag], axis=-1)
        pairs = dataset.createVariable("pairs", dataset.createCompoundType(PAIRS, "pair"), ("x",))
        pairs[:] = COMPLEX.view(PAIRS)
        others = dataset.createCompoundType([("r", "f8"), ("phi", "f8")], "phasor")
        dataset.createVariable("polar", others, ("x",))
        dataset.createVariable("integers", "i4", ("x", "ri"))
    with isotach.Dataset(path, auto_complex=True) as dataset:
        np.testing.assert_array_equal(dataset["along"][:], COMPLEX)
        np.testing.assert_array_equal(dataset["pairs"][:], COMPLEX)
        assert dataset["polar"].dtype.names == ("r", "phi")
        assert dataset["integers"].shape == (5, 2)
    with isotach.Dataset(path) as dataset:
        assert dataset["along"].shape == (5, 2)
        assert dataset["pairs"].dtype.names == ("Real", "Imag")


@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF4_CLASSIC"])
def test_complex_numbers_are_stored_as_asked(tmp_path, format):
    path = tmp_path / "complex.nc"
    with isotach.Dataset(path, "w", format=format, auto_complex=True) as dataset:
        dataset.createDimension("time", None)
        dataset.createDimension("x", 4)
        options = {"zlib": True, "chunksizes": (2, 4)}
        variable = dataset.createVariable("data", "c16", ("time", "x"), **options)
        variable[1:3] = np.ones(4)
        assert dataset.createVariable("second", "c16", ()).shape == ()
        dataset["second"][...] = 1j
        with pytest.raises(AttributeError):
            dataset.createVariable("filled", "c16", ("x",), fill_value=1j)
        assert variable.shape == (3, 4)
        assert variable.filters()["zlib"]
        dataset.renameVariable("data", "renamed")
        np.testing.assert_array_equal(variable[1:], np.ones((2, 4)))
    with isotach.Dataset(path, auto_complex=True) as dataset:
        np.testing.assert_array_equal(dataset["renamed"][1:], np.ones((2, 4)))
        assert dataset["second"][...] == 1j
    with isotach.Dataset(path, "r+") as dataset, pytest.raises(ValueError, match="auto_complex"):
        dataset.createVariable("third", "c8", ("x",))


@both
def test_compound_attributes_have_strings(tmp_path, library):
    dtype = np.dtype([("speed", "S8"), ("factors", "f4", (2,))])
    with library.Dataset(tmp_path / "file.nc", "w") as dataset:
        dataset.createCompoundType(dtype, "units")
        dataset.units = np.array([("m/s", (1, 2))], dtype)
        dataset.several = np.array([("m/s", (1, 2)), ("knots", (3, 4))], dtype)
    with library.Dataset(tmp_path / "file.nc") as dataset:
        assert dataset.units["speed"] == b"m/s"
        assert dataset.units["factors"].tolist() == [1, 2]
        assert dataset.several["speed"].tolist() == [b"m/s", b"knots"]


@both
def test_chunk_caches_are_remembered(tmp_path, library):
    with library.Dataset(tmp_path / "file.nc", "w") as dataset:
        dataset.createDimension("x", 2000)
        variable = dataset.createVariable("v", "f4", ("x",), chunk_cache=15000)
        assert variable.get_var_chunk_cache() == (15000, *library.get_chunk_cache()[1:])
        variable.set_var_chunk_cache(20000, 200, 1.0)
        assert variable.get_var_chunk_cache() == (20000, 200, 1.0)


@newer
@both
def test_nothing_can_be_assigned_to_nothing_of_what_is_only_read(tmp_path, library):
    with library.Dataset(tmp_path / "file.nc", "w") as dataset:
        dataset.createDimension("x", 3)
        dataset.createVariable("v", "i4", ("x",))[:] = 1
    with library.Dataset(tmp_path / "file.nc") as dataset:
        for nothing in (slice(0), np.array([], int), np.zeros(3, bool)):
            dataset["v"][nothing] = 5
        with pytest.raises(RuntimeError):
            dataset["v"][0] = 5
        assert dataset["v"][:].tolist() == [1, 1, 1]


@newer
@both
def test_joined_files_of_different_packing(tmp_path, library):
    paths = [tmp_path / "1.nc", tmp_path / "2.nc"]
    for path, factor in zip(paths, (0.5, None), strict=True):
        with library.Dataset(path, "w", format="NETCDF4_CLASSIC") as dataset:
            dataset.createDimension("time", None)
            dataset.createDimension("x", 2)
            variable = dataset.createVariable("v", "i2", ("time", "x"))
            if factor is not None:
                variable.scale_factor = factor
            variable[:3] = np.ones((3, 2))
    with library.MFDataset(paths) as dataset:
        kinds = [
            dataset["v"][records, :0].dtype.str[1:]
            for records in ([0, 5, 4], [5, 0, 1], [0, 2, 4], slice(None), 5, np.arange(0))
        ]
    assert kinds == ["i2", "f8", "f8", "f8", "i2", "f8"]


CDL = """netcdf numbers {
dimensions:
\td = 2 ;
variables:
\tbyte v(d) ;
\t\tv:units = "1" ;

// global attributes:
\t\t:_Format = "%s" ;
data:

 v = 0, -1 ;
}
"""


@both
@pytest.mark.parametrize("format", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_from_cdl(tmp_path, library, format):
    text = tmp_path / "numbers.cdl"
    text.write_text(CDL % "classic")
    with library.Dataset.fromcdl(str(text), ncfilename=tmp_path / "other.nc") as dataset:
        assert dataset.data_model == "NETCDF4"
        assert dataset["v"][:].tolist() == [0, -1]
        dataset.title = "it can be changed"
    with library.Dataset.fromcdl(text, format=format, mode="r") as dataset:
        assert dataset.data_model == format
        assert pathlib.Path(dataset.filepath()) == text.with_suffix(".nc")
    with pytest.raises(FileExistsError):
        library.Dataset.fromcdl(text)
    with pytest.raises(FileNotFoundError):
        library.Dataset.fromcdl(tmp_path / "nothing.cdl")


def test_from_cdl_says_what_is_wrong(tmp_path):
    text = tmp_path / "broken.cdl"
    text.write_text("netcdf broken {\nvariables:\n int v(nowhere) ;\n}\n")
    with pytest.raises(ValueError, match=r"line 3, column 8: .*nowhere"):
        isotach.Dataset.fromcdl(text)
    assert not text.with_suffix(".nc").exists()


@pytest.mark.parametrize("options", [{"memory": 1}, {"diskless": True}, {}])
def test_to_cdl_of_what_is_being_written(tmp_path, options):
    path = tmp_path / "numbers.nc"
    with isotach.Dataset(path, "w", format="NETCDF3_CLASSIC", **options) as dataset:
        dataset.createDimension("d", 2)
        variable = dataset.createVariable("v", "i1", ("d",))
        variable.units = "1"
        variable[:] = [0, -1]
        assert dataset.tocdl(data=True) == CDL % "classic"
        dataset.tocdl(data=True, outfile=tmp_path / "out.cdl")
    assert (tmp_path / "out.cdl").read_text() == CDL % "classic"


@both
def test_clobber_may_be_a_number(tmp_path, library):
    library.Dataset(tmp_path / "file.nc", "w", clobber=1).close()
    with pytest.raises(OSError):
        library.Dataset(tmp_path / "file.nc", "w", clobber=0)


@pytest.mark.parametrize("options", [{}, {"chunksizes": (64,), "zlib": True}])
def test_alignment(tmp_path, options):
    data = np.random.default_rng(1).integers(0, 2**60, 1000)
    isotach.set_alignment(256, 4096)
    try:
        with isotach.Dataset(tmp_path / "file.nc", "w") as dataset:
            dataset.createDimension("x", 1000)
            for name in "abc":
                dataset.createVariable(name, "i8", ("x",), **options)[:] = data
        with isotach.Dataset(tmp_path / "file.nc", "r+") as dataset:
            dataset.createVariable("later", "i8", ("x",), **options)[:] = data
    finally:
        isotach.set_alignment(1, 1)
    assert isotach.get_alignment() == (1, 1)
    with h5py.File(tmp_path / "file.nc") as file:
        for name in ("a", "b", "c", "later"):
            np.testing.assert_array_equal(file[name][:], data)
            found = file[name].id
            places = [(found.get_offset(), found.get_storage_size())]
            if options:
                chunks = [found.get_chunk_info(n) for n in range(found.get_num_chunks())]
                places = [(chunk.byte_offset, chunk.size) for chunk in chunks]
            assert all(address % 4096 == 0 for address, size in places if size >= 256)


def test_strings_in_compounds_of_any_layout(tmp_path):
    packed = np.dtype([("value", "f4"), ("name", "S10")])
    characters = np.dtype([("value", "f4"), ("name", "S1", (10,))])
    data = np.array([(123, "Boulder"), (3.5, "New York")], packed)
    with isotach.Dataset(tmp_path / "file.nc", "w") as dataset:
        dataset.createDimension("x", 2)
        station = dataset.createCompoundType(packed, "station")
        for given in (data, data.view(characters), data.astype(station.dtype_view)):
            variable = dataset.createVariable(f"v{len(dataset.variables)}", station, ("x",))
            variable[:] = given
            assert variable[:]["name"].tolist() == [b"Boulder", b"New York"]
            assert variable[:]["value"].tolist() == [123, 3.5]


def test_types_of_other_groups(tmp_path):
    with isotach.Dataset(tmp_path / "file.nc", "w") as dataset:
        types = dataset.createGroup("types")
        point = types.createCompoundType([("x", "f4"), ("y", "i2")], "point")
        answer = types.createEnumType("i1", "answer", {"no": 0, "yes": 1})
        for group in (dataset, dataset.createGroup("before"), dataset.createGroup("zebra/below")):
            group.createVariable("place", point, ())[...] = np.array((1, 2), point.dtype)
            group.createVariable("told", answer, ())[...] = 1
    with isotach.Dataset(tmp_path / "file.nc") as dataset:
        for group in (dataset, dataset["before"], dataset["zebra/below"]):
            assert group["place"].datatype.name == "point"
            assert group["place"][...].tolist() == (1, 2)
            assert group["told"].datatype.enum_dict == {"no": 0, "yes": 1}
            assert not group.cmptypes
