"""NumPy's `StringDType` in and out, read by netCDF4-python and h5py."""

import pickle

import h5py
import isotach
import netCDF4
import numpy as np
import pytest
import xarray as xr
from isotach import _string_dtype

pytestmark = pytest.mark.skipif(
    int(np.__version__.split(".")[0]) < 2, reason="NumPy has StringDType since 2.0"
)
TEXTS = ["", "a", "långt " * 50, "日本語", "zero\n"]


def plain():
    return np.dtypes.StringDType()


def with_gaps(na_object=np.nan):
    return np.dtypes.StringDType(na_object=na_object)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "strings.nc"


@pytest.fixture
def filled(path):
    """A file with strings, one of them missing, written by netCDF4-python."""
    with netCDF4.Dataset(path, "w") as dataset:
        dataset.createDimension("x", 5)
        dataset.createVariable("s", str, ("x",))[:] = np.array(TEXTS, object)
        variable = dataset.createGroup("g").createVariable("f", str, ("x",), fill_value="none")
        variable[1:4] = np.array(TEXTS[1:4], object)
        dataset.createVariable("i", "i4", ("x",))[:] = range(5)
    return path


@pytest.mark.parametrize("dtype", [plain(), with_gaps(), with_gaps(None)])
def test_others_read_what_is_written(path, dtype):
    with isotach.Dataset(path, "w") as dataset:
        dataset.createDimension("x", 5)
        dataset.createDimension("t", None)
        variable = dataset.createVariable("s", dtype, ("t", "x"))
        assert variable.dtype is str
        variable[:2] = np.array([TEXTS, TEXTS[::-1]], dtype)
        variable[1, ::2] = np.array("one", dtype)
        dataset.createVariable("scalar", "T", ())[...] = np.array(TEXTS[3], dtype)
        dataset.many = np.array(TEXTS[1:], dtype)
        variable.one = np.array(TEXTS[3], dtype)
        variable.setncattr_string("ascii", np.array(["abc"], dtype))
    expected = [TEXTS, ["one", "日本語", "one", "a", "one"]]
    with netCDF4.Dataset(path) as dataset:
        assert dataset["s"][:].tolist() == expected
        assert dataset["scalar"][...] == TEXTS[3]
        assert dataset.many == TEXTS[1:]
        assert dataset["s"].one == TEXTS[3]
        assert dataset["s"].ascii == "abc"
    with h5py.File(path) as file:
        assert file["s"].astype("T")[:].tolist() == expected
        assert h5py.check_string_dtype(file["s"].attrs.get_id("ascii").dtype).length is None


@pytest.mark.parametrize("na_object", [np.nan, None])
def test_missing_strings_are_fill_values(path, na_object):
    values = np.array(["a", na_object, "b"], with_gaps(na_object))
    with isotach.Dataset(path, "w") as dataset:
        dataset.createDimension("x", 3)
        dataset.createVariable("s", str, ("x",), fill_value="-")[:] = values
        without = dataset.createVariable("t", str, ("x",))
        with pytest.raises(ValueError, match="variable 't': missing strings need a _FillValue"):
            without[:] = values
        without[:] = values[[0, 2, 0]]
        with pytest.raises(ValueError, match="attribute 'a': missing strings"):
            dataset.a = values
    with netCDF4.Dataset(path) as dataset:
        assert dataset["s"][:].tolist() == ["a", "-", "b"]
        assert dataset["t"][:].tolist() == ["a", "b", "a"]
    with isotach.Dataset(path) as dataset:
        dataset.set_string_dtype(with_gaps(na_object))
        read = dataset["s"][:]
        assert read.dtype == values.dtype
        assert (read[[0, 2]] == ["a", "b"]).all()
        assert read.astype(object)[1] is na_object
        assert dataset["t"][:].tolist() == ["a", "b", "a"]
        dataset.set_string_dtype("T")
        assert dataset["s"][:].tolist() == ["a", "-", "b"]


def test_a_string_for_missing_ones_is_a_string(path):
    with isotach.Dataset(path, "w") as dataset:
        dataset.createDimension("x", 2)
        variable = dataset.createVariable("s", str, ("x",))
        variable[:] = np.array(["a", "gone"], with_gaps("gone"))
    with netCDF4.Dataset(path) as dataset:
        assert dataset["s"][:].tolist() == ["a", "gone"]


def test_strings_are_read_so_where_it_is_asked_for(filled):
    with isotach.Dataset(filled) as dataset:
        variable, inner, number = dataset["s"], dataset["g/f"], dataset["i"]
        assert variable[:].dtype == object
        variable.set_string_dtype("T")
        assert variable[:].dtype == plain()
        assert inner[:].dtype == object
        dataset.set_string_dtype(np.dtypes.StringDType)
        for key in (slice(None), slice(None, None, -2), [0, 3], np.array([True] * 5)):
            read = variable[key]
            assert read.dtype == plain()
            assert read.tolist() == np.array(TEXTS, object)[key].tolist()
        assert variable[3] == TEXTS[3]
        assert variable[5:].shape == (0,)
        assert variable[5:].dtype == plain()
        assert inner[:].tolist() == ["none", *TEXTS[1:4], "none"]
        assert number[:].dtype == "i4"
        again = pickle.loads(pickle.dumps(dataset))
        assert again["s"][:].dtype == plain()
        again.close()
        dataset.set_string_dtype(None)
        assert variable[:].dtype == object


def test_written_variables_read_so_too(path):
    with isotach.Dataset(path, "w") as dataset:
        dataset.createDimension("x", 5)
        variable = dataset.createVariable("s", str, ("x",))
        variable[:] = np.array(TEXTS, "T")
        variable.set_string_dtype("T")
        assert variable[:].tolist() == TEXTS
        variable[0] = "new"
        assert variable[0] == "new"


def test_strings_become_characters(path):
    texts = np.array(["abc", "é"], "T")
    assert isotach.stringtochar(texts, n_strlen=3).tolist() == [
        [b"a", b"b", b"c"],
        [b"\xc3", b"\xa9", b""],
    ]
    with isotach.Dataset(path, "w", format="NETCDF3_CLASSIC") as dataset:
        dataset.createDimension("x", 2)
        dataset.createDimension("n", 3)
        variable = dataset.createVariable("c", "S1", ("x", "n"))
        variable._Encoding = "utf-8"
        variable[:] = texts
    with netCDF4.Dataset(path) as dataset:
        assert dataset["c"][:].tolist() == texts.tolist()


def test_what_is_no_text_is_told(path):
    with isotach.Dataset(path, "w") as dataset:
        dataset.createDimension("x", 2)
        variable = dataset.createVariable("s", str, ("x",))
        variable[:] = np.array([b"\xff", b"a"], object)
        variable.set_string_dtype("T")
        with pytest.raises(UnicodeEncodeError):
            variable[:]
        assert variable[1:].tolist() == ["a"]


def test_many_files(tmp_path):
    for number, texts in enumerate((TEXTS, TEXTS[::-1])):
        with isotach.Dataset(tmp_path / f"{number}.nc", "w", format="NETCDF4_CLASSIC") as dataset:
            dataset.createDimension("x", None)
            dataset.createVariable("i", "i4", ("x",))[:] = range(5)
            with pytest.raises(ValueError, match="only supported for the NETCDF4 format"):
                dataset.createVariable("s", plain(), ("x",))
            with pytest.raises(OSError, match="array string attributes"):
                dataset.texts = np.array(texts, "T")
    with isotach.MFDataset(str(tmp_path / "*.nc")) as dataset:
        dataset.set_string_dtype("T")
        assert dataset["i"][:].dtype == "i4"


@pytest.mark.parametrize("dtype", ["S5", "U", object, "f8"])
def test_other_dtypes_are_refused(filled, dtype):
    with isotach.Dataset(filled) as dataset:
        with pytest.raises(TypeError, match="strings are read as StringDType"):
            dataset.set_string_dtype(dtype)
        with pytest.raises(TypeError, match="strings are read as StringDType"):
            dataset["s"].set_string_dtype(dtype)
        assert dataset["s"][:].dtype == object


def test_earlier_numpy_has_none(monkeypatch):
    monkeypatch.delattr(np.dtypes, "StringDType")
    with pytest.raises(RuntimeError, match=r"StringDType needs NumPy 2.0 or later, this is NumPy"):
        _string_dtype.string_dtype("T")
    assert _string_dtype.string_dtype(None) is None


@pytest.mark.parametrize("is_chunked", [False, True])
def test_xarray(path, is_chunked):
    values = np.array([["a", np.nan], ["日本語", ""]], with_gaps())
    dataset = xr.Dataset(
        {
            "s": (("x", "y"), np.array([["a", "b"], ["c", "d"]], "T"), {"texts": ["e", "f"]}),
            "gaps": (("x", "y"), values),
        },
        coords={"name": ("x", np.array(["first", "second"], "T"))},
    )
    if is_chunked:
        dataset = dataset.chunk(x=1)
    with pytest.raises(ValueError, match="variable 'gaps': missing strings need a _FillValue"):
        isotach.to_netcdf(dataset, path)
    assert not path.exists()
    isotach.to_netcdf(dataset, path, encoding={"gaps": {"_FillValue": "-"}})
    with netCDF4.Dataset(path) as file:
        assert file["s"][:].tolist() == [["a", "b"], ["c", "d"]]
        assert file["gaps"][:].tolist() == [["a", "-"], ["日本語", ""]]
        assert file["name"][:].tolist() == ["first", "second"]
        assert file["s"].coordinates == "name"
    with xr.open_dataset(path, engine="isotach", string_dtype=with_gaps()) as read:
        assert read["s"].dtype == read["gaps"].dtype == with_gaps()
        assert read["gaps"].values.astype(object)[0, 1] is np.nan
        assert read["gaps"].encoding["_FillValue"] == "-"
        assert read["gaps"][1].values.tolist() == ["日本語", ""]
        assert read["name"].values.tolist() == ["first", "second"]
        # It is written again as it was read.
        again = path.with_name("again.nc")
        isotach.to_netcdf(read, again)
    with xr.open_datatree(path, engine="isotach", string_dtype="T") as tree:
        assert tree["gaps"].values.tolist() == [["a", "-"], ["日本語", ""]]
    with xr.open_dataset(again, engine="netcdf4") as theirs:
        assert theirs["gaps"].values.tolist() == [["a", np.nan], ["日本語", ""]]
    with isotach.Dataset(path) as file, pytest.raises(ValueError, match="call set_string_dtype"):
        xr.open_dataset(
            isotach.xarray_backend.IsotachDataStore(file), engine="isotach", string_dtype="T"
        )


def test_xarray_appends(path):
    first = xr.Dataset({"s": ("t", np.array(["a", "b"], "T"))})
    isotach.to_netcdf(first, path, unlimited_dims="t")
    isotach.to_netcdf(xr.Dataset({"s": ("t", np.array(["c"], "T"))}), path, append_dim="t")
    with netCDF4.Dataset(path) as file:
        assert file["s"][:].tolist() == ["a", "b", "c"]
