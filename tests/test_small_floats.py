"""Floats of two bytes, as h5py and libhdf5 write them: numbers in every face."""

import ctypes
import subprocess

import h5py
import isotach
import numpy as np
import pytest
import xarray as xr
from h5py import h5d, h5p, h5s, h5t
from test_copy import copy

RANDOM = np.random.default_rng(8)
VALUES = np.concatenate(
    [
        RANDOM.standard_normal(997) * 10.0 ** RANDOM.integers(-5, 4, 997),
        [0.0, -0.0, 1.5, np.inf, -np.inf, np.nan, 6.1e-5, 5.96e-8, 65504],
    ]
).astype("f4")


def brain_float(big_endian=False):
    """bfloat16: the upper half of a single."""
    made = (h5t.IEEE_F16BE if big_endian else h5t.IEEE_F16LE).copy()
    made.set_fields(15, 7, 8, 0, 7)
    made.set_ebias(127)
    return made


def tiny_float():
    """A float of one byte with four bits of exponent."""
    made = h5t.IEEE_F16LE.copy()
    made.set_fields(7, 3, 4, 0, 3)
    made.set_precision(8)
    made.set_size(1)
    made.set_ebias(7)
    return made


KINDS = {
    "float16": (h5t.IEEE_F16LE, "<f2"),
    "float16-big": (h5t.IEEE_F16BE, ">f2"),
    "bfloat16": (brain_float(), "<f4"),
    "bfloat16-big": (brain_float(big_endian=True), ">f4"),
    "float8": (tiny_float(), "<f4"),
}


def contiguous(properties):
    properties.set_layout(h5d.CONTIGUOUS)


def compact(properties):
    properties.set_layout(h5d.COMPACT)


def chunked(properties):
    properties.set_chunk((100,))


def deflated(properties):
    properties.set_chunk((300,))
    properties.set_shuffle()
    properties.set_deflate(4)


def define(file, name, stored, shape, *settings):
    properties = h5p.create(h5p.DATASET_CREATE)
    for setting in settings:
        setting(properties)
    return h5d.create(file.id, name, stored, h5s.create_simple(shape), dcpl=properties)


def filled(properties):
    properties.set_fill_value(np.array(2.5, "f4"))


def make(path, stored):
    with h5py.File(path, "w", track_order=True) as file:
        for setting in (contiguous, compact, chunked, deflated):
            name = setting.__name__.encode()
            define(file, name, stored, VALUES.shape, setting).write(h5s.ALL, h5s.ALL, VALUES)
        define(file, b"unwritten", stored, (7,), chunked_by_seven, filled)
        attribute = h5py.h5a.create(file["deflated"].id, b"a", stored, h5s.create_simple((4,)))
        attribute.write(np.array([1, -2.5, np.inf, 3], "f4"))
        one = h5py.h5a.create(file["deflated"].id, b"one", stored, h5s.create(h5s.SCALAR))
        one.write(np.array(0.5, "f4"))


def chunked_by_seven(properties):
    properties.set_chunk((7,))


def read(path, name="deflated"):
    """What libhdf5 makes of it as singles."""
    with h5py.File(path) as file:
        values = np.empty(file[name].shape, "f4")
        file[name].id.read(h5s.ALL, h5s.ALL, values)
        return values


def stored_type(path, name="deflated"):
    with h5py.File(path) as file:
        return file[name].id.get_type()


@pytest.mark.parametrize("kind", KINDS)
def test_python_reads_and_writes(tmp_path, kind):
    stored, dtype = KINDS[kind]
    path = tmp_path / "small.h5"
    make(path, stored)
    expected = read(path)
    with isotach.Dataset(path) as dataset:
        for name in ("contiguous", "compact", "chunked", "deflated"):
            variable = dataset[name]
            assert variable.dtype == dtype, name
            assert repr(variable)
            np.testing.assert_array_equal(variable[:].astype("f4"), expected)
            np.testing.assert_array_equal(variable[5:800:7].astype("f4"), expected[5:800:7])
            assert not np.ma.is_masked(variable[:])
        assert variable[998] == 0
        np.testing.assert_array_equal(dataset["unwritten"][:], np.full(7, 2.5))
        np.testing.assert_array_equal(variable.a, [1, -2.5, np.inf, 3])
        assert variable.one == 0.5
        assert variable.one.dtype == np.dtype(dtype).newbyteorder("=")
    with isotach.Dataset(path, "a") as dataset:
        dataset["chunked"][100:300] = expected[100:300][::-1]
        dataset["deflated"][:] = expected[::-1]
        dataset["unwritten"][2] = np.float16(0.5)
    assert stored_type(path) == stored
    np.testing.assert_array_equal(read(path), expected[::-1])
    np.testing.assert_array_equal(read(path, "chunked")[100:300], expected[100:300][::-1])
    np.testing.assert_array_equal(read(path, "unwritten"), [2.5, 2.5, 0.5] + 4 * [2.5])


def test_missing_values_are_masked(tmp_path):
    path = tmp_path / "missing.h5"
    with h5py.File(path, "w") as file:
        for name, attributes in {
            "fill": {"_FillValue": np.float16(-9)},
            "range": {"valid_min": np.float16(0)},
            "packed": {"scale_factor": 2.0, "missing_value": np.float16(-9)},
            "none": {},
        }.items():
            file.create_dataset(name, data=np.array([-9, 1.5, np.inf], "f2"))
            file[name].attrs.update(attributes)
    with isotach.Dataset(path, "a") as dataset:
        assert dataset["fill"][:].mask.tolist() == [True, False, False]
        assert dataset["fill"][:].fill_value == -9
        assert dataset["range"][:].mask.tolist() == [True, False, False]
        assert dataset["packed"][:].tolist() == [None, 3.0, np.inf]
        assert dataset["none"][:].tolist() == [-9, 1.5, np.inf]
        dataset["fill"][1:] = np.ma.masked_array([4, 5], [True, False])
        assert dataset["fill"][:].tolist() == [None, None, 5]
        with pytest.raises(ValueError, match="float16 has no default fill value"):
            dataset["none"][1:] = np.ma.masked_array([4, 5], [True, False])


def test_members_are_as_h5py_gives_them(tmp_path):
    path = tmp_path / "members.h5"
    dtype = np.dtype([("n", "i2"), ("half", "<f2"), ("big", ">f2", (3,)), ("x", "f8")])
    data = np.zeros(4, dtype)
    data["n"], data["half"], data["big"] = range(4), np.arange(4) / 4, np.arange(12).reshape(4, 3)
    with h5py.File(path, "w") as file:
        file["v"] = data
        file["v"].attrs["a"] = data[:2]
        brain = h5t.create(h5t.COMPOUND, 8)
        for offset, (name, member) in enumerate(
            {b"b": brain_float(), b"n": h5t.STD_I16BE, b"c": brain_float(True)}.items()
        ):
            brain.insert(name, 2 * offset, member)
        made = h5d.create(file.id, b"brain", brain, h5s.create_simple((3,)))
        members = np.array([(0.5, 1, -2), (1.5, 2, 3), (np.inf, 3, 0)], "f4,i2,f4")
        members.dtype.names = ("b", "n", "c")
        made.write(h5s.ALL, h5s.ALL, members)
    with isotach.Dataset(path) as dataset:
        for found in (dataset["v"][:], dataset["v"].a):
            assert found["half"].dtype == "f2"
            for name in dtype.names:
                np.testing.assert_array_equal(found[name], data[name][: len(found)])
        found = dataset["brain"][:]
        for name in ("b", "n", "c"):
            np.testing.assert_array_equal(found[name], members[name])
    with isotach.Dataset(path, "a") as dataset:
        values = dataset["brain"][:]
        values["b"] = [8, 9, 10]
        dataset["brain"][:] = values
    members["b"] = [8, 9, 10]
    with h5py.File(path) as file:
        # h5py's own memory for such members is too small.
        found = np.zeros(3, members.dtype)
        file["brain"].id.read(h5s.ALL, h5s.ALL, found)
        np.testing.assert_array_equal(found, members)


def test_xarray_reads_them(tmp_path):
    path = tmp_path / "small.h5"
    make(path, h5t.IEEE_F16BE)
    with xr.open_dataset(path, engine="isotach") as dataset:
        assert dataset["deflated"].dtype == np.float16
        np.testing.assert_array_equal(dataset["deflated"], read(path))


@pytest.mark.parametrize("kind", KINDS)
def test_copies_keep_them_where_the_format_can(tmp_path, kind):
    stored = KINDS[kind][0]
    path, new, classic = (tmp_path / name for name in ("small.h5", "new.nc", "classic.nc"))
    make(path, stored)
    done = copy(path, new)
    assert (done.returncode, done.stderr) == (0, "")
    expected = read(path)
    for name in ("contiguous", "compact", "chunked", "deflated"):
        assert stored_type(new, name) == stored
        np.testing.assert_array_equal(read(new, name), expected)
    np.testing.assert_array_equal(read(new, "unwritten"), np.full(7, 2.5))
    with h5py.File(new) as file:
        # netCDF's attributes are in the machine's byte order.
        attribute = file["deflated"].attrs.get_id("a").get_type()
        assert attribute.get_fields() == stored.get_fields()
        assert attribute.get_ebias() == stored.get_ebias()
        assert file["deflated"].attrs["a"].tolist() == [1, -2.5, np.inf, 3]
        assert file["deflated"].chunks == (300,)
        assert file["unwritten"].id.get_create_plist().fill_value_defined() == 2
    word = kind.partition("-")[0]
    for flags in (["-k", "cdf5"], ["-k", "nc7"]):
        done = copy(*flags, path, classic)
        assert done.returncode == 0, done.stderr
        assert f"/deflated: {word} becomes float" in done.stderr
        assert f"/deflated:a: {word} becomes float" in done.stderr
        with isotach.Dataset(classic) as dataset:
            assert dataset["deflated"].dtype.str[1:] == "f4"
            np.testing.assert_array_equal(dataset["deflated"][:], expected)
            np.testing.assert_array_equal(dataset["deflated"].a, [1, -2.5, np.inf, 3])


def test_the_command_shows_numbers(tmp_path):
    path = tmp_path / "small.h5"
    with h5py.File(path, "w") as file:
        file["half"] = np.array([0.5, -2], "f2")
        made = h5d.create(file.id, b"brain", brain_float(), h5s.create_simple((2,)))
        made.write(h5s.ALL, h5s.ALL, np.array([0.25, 3], "f4"))
    command = copy.__globals__["COMMAND"]
    shown = subprocess.run([command, "dump", path], capture_output=True, text=True, check=True)
    assert "float half(phony_dim_0)" in shown.stdout
    assert "half = 0.5, -2 ;" in shown.stdout
    assert "brain = 0.25, 3 ;" in shown.stdout
    shown = subprocess.run([command, "info", path], capture_output=True, text=True, check=True)
    assert "float (float16)" in shown.stdout
    assert "float (bfloat16)" in shown.stdout


def test_c_moves_them_as_float(tmp_path, libraries):
    path = tmp_path / "small.h5"
    make(path, h5t.IEEE_F16BE)
    before = read(path)
    library = ctypes.CDLL(str(libraries.folder / "libnetcdf.so.22"))
    file, variable, kind = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()

    def call(name, *arguments):
        assert getattr(library, name)(*arguments) == 0, name

    call("nc_open", str(path).encode(), 1, ctypes.byref(file))
    call("nc_inq_varid", file, b"deflated", ctypes.byref(variable))
    call("nc_inq_vartype", file, variable, ctypes.byref(kind))
    assert kind.value == 5
    values, doubles = np.zeros(VALUES.size, "f4"), np.zeros(VALUES.size, "f8")
    call("nc_get_var", file, variable, values.ctypes)
    np.testing.assert_array_equal(values, before)
    call("nc_get_var_double", file, variable, doubles.ctypes)
    np.testing.assert_array_equal(doubles, before)
    one = (ctypes.c_size_t * 1)(999)
    call("nc_get_var1_float", file, variable, one, values.ctypes)
    assert values[0] == 1.5
    call("nc_get_att", file, variable, b"a", values.ctypes)
    assert values[:4].tolist() == [1, -2.5, np.inf, 3]
    call("nc_inq_atttype", file, variable, b"a", ctypes.byref(kind))
    assert kind.value == 5
    values[:] = before[::-1]
    call("nc_put_var_float", file, variable, values.ctypes)
    call("nc_put_var1_double", file, variable, one, np.array([0.75]).ctypes)
    too_large = np.array([1e6], "f4")
    assert (
        library.nc_put_var1_float(file, variable, (ctypes.c_size_t * 1)(0), too_large.ctypes) == -60
    )
    call("nc_close", file)
    expected = before[::-1].copy()
    expected[[999, 0]] = 0.75, np.inf
    np.testing.assert_array_equal(read(path), expected)
