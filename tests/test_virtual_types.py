"""Virtual data sets whose sources have another type: what is read is what libhdf5 makes of it."""

import h5py
import isotach
import numpy as np
import pytest

SIGNED = ("<i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8")
UNSIGNED = ("<u1", "<u2", ">u2", "<u4", ">u4", "<u8", ">u8")
FLOATS = ("<f4", ">f4", "<f8", ">f8")
NUMBERS = SIGNED + UNSIGNED + FLOATS


def make(path, source_values, target_type, *, source_options=None, fill=0):
    """A virtual data set `v` over all of the data set `source` of a file beside it."""
    source_path = path.with_name("source.h5")
    with h5py.File(source_path, "w") as file:
        file.create_dataset("source", data=source_values, **(source_options or {}))
    shape = source_values.shape
    layout = h5py.VirtualLayout(shape=shape, dtype=target_type)
    layout[...] = h5py.VirtualSource("source.h5", "source", shape=shape)
    with h5py.File(path, "w", libver="latest") as file:
        file.create_virtual_dataset("v", layout, fillvalue=fill)


def check(path, selections=((...,),), name="v"):
    """What is read is what h5py reads, of the same type."""
    with h5py.File(path) as theirs, isotach.Dataset(path) as ours:
        ours.set_auto_maskandscale(False)
        variable = ours[name]
        for selection in selections:
            expected = theirs[name][selection]
            found = variable[selection]
            assert found.dtype.newbyteorder("=") == expected.dtype.newbyteorder("=")
            np.testing.assert_array_equal(found, expected, err_msg=str(selection))


def extremes(source, target):
    """Values of the source's type, those at the ends of all types among them."""
    source, target = np.dtype(source), np.dtype(target)
    ends = [0, 1, 2, 100]
    for bits in (7, 8, 15, 16, 31, 32, 63):
        ends += [2**bits - 1, 2**bits, 2**bits + 1]
    ends += [-end for end in ends]
    if source.kind == "f":
        values = [float(end) for end in ends] + [0.5, -0.5, 2.9, -2.9, 1e30, -1e30]
        values = np.array(values, source)
        if target.kind == "f":
            return values
        # The first value beyond: libhdf5 compares with a rounded bound and leaves to the machine
        # what a cast makes of it.
        return values[values != float(np.iinfo(target).max + 1)]
    limits = np.iinfo(source)
    return np.array([end for end in ends if limits.min <= end <= limits.max], source)


def only_swapped(source, target):
    """Integers of the same size whose signs and byte orders differ: libhdf5 changes the order and
    forgets the sign, so that -1 is 65535 between orders and 0 within one; here it is 0 always."""
    source, target = np.dtype(source), np.dtype(target)
    return (
        {source.kind, target.kind} == {"i", "u"}
        and source.itemsize == target.itemsize > 1
        and source.byteorder != target.byteorder
    )


@pytest.mark.parametrize("source", NUMBERS)
def test_every_pair_of_numbers(tmp_path, source):
    for target in NUMBERS:
        values = extremes(source, target)
        if only_swapped(source, target):
            limits = np.iinfo(target)
            values = values[(values >= limits.min) & (values <= limits.max)]
        path = tmp_path / target.strip("<>") / target[0].replace("<", "le") / "virtual.h5"
        path.parent.mkdir(parents=True)
        make(path, values, target)
        check(path, [(...,), (slice(1, None, 3),)])


@pytest.mark.parametrize("order", "<>")
def test_what_is_out_of_range_whatever_the_byte_order(tmp_path, order):
    make(tmp_path / "virtual.h5", np.array([-1, 5], "<i2"), f"{order}u2")
    with isotach.Dataset(tmp_path / "virtual.h5") as dataset:
        assert dataset["v"][:].tolist() == [0, 5]


def test_not_a_number_becomes_zero(tmp_path):
    make(tmp_path / "virtual.h5", np.array([np.nan, 1.5]), "<i4")
    with isotach.Dataset(tmp_path / "virtual.h5") as dataset:
        assert dataset["v"][:].tolist() == [0, 1]


def test_doubles_beyond_floats_become_infinite(tmp_path):
    make(tmp_path / "virtual.h5", np.array([1e300, -1e300, np.nan, np.inf, 0.1]), ">f4")
    check(tmp_path / "virtual.h5")


def test_chunks_are_converted_where_they_are_wanted(tmp_path):
    values = (np.arange(300 * 400, dtype=">i4").reshape(300, 400) - 5000) * 7
    options = {"chunks": (37, 51), "compression": "gzip", "shuffle": True}
    make(tmp_path / "virtual.h5", values, "<i2", source_options=options)
    selections = [
        (...,),
        (slice(3, 200, 7), slice(100, 300)),
        (17, slice(None)),
        (slice(None), 399),
        (5, 6),
    ]
    check(tmp_path / "virtual.h5", selections)


def test_more_than_is_converted_at_a_time(tmp_path):
    values = np.random.default_rng(1).normal(0, 30000, (1500, 1700))
    # Not to big-endian integers: of those libhdf5 makes -32768 out of some numbers like -0.14.
    make(tmp_path / "virtual.h5", values, "<i2")
    check(tmp_path / "virtual.h5", [(...,), (slice(None, None, 5), slice(1, None))])


def test_only_fill_of_the_source(tmp_path):
    with h5py.File(tmp_path / "source.h5", "w") as file:
        file.create_dataset("source", shape=(20,), dtype=">i8", chunks=(6,), fillvalue=70000)
        file["source"][8:10] = [1, -70000]
    layout = h5py.VirtualLayout(shape=(24,), dtype="<i2")
    layout[2:22] = h5py.VirtualSource("source.h5", "source", shape=(20,))
    with h5py.File(tmp_path / "virtual.h5", "w", libver="latest") as file:
        file.create_virtual_dataset("v", layout, fillvalue=-3)
    check(tmp_path / "virtual.h5")


def test_another_shape(tmp_path):
    values = np.arange(60, dtype=">f4").reshape(6, 10) * 1000
    with h5py.File(tmp_path / "source.h5", "w") as file:
        file["source"] = values
    layout = h5py.VirtualLayout(shape=(4, 5), dtype=">i2")
    layout[...] = h5py.VirtualSource("source.h5", "source", shape=(6, 10))[2:4, :]
    with h5py.File(tmp_path / "virtual.h5", "w", libver="latest") as file:
        file.create_virtual_dataset("v", layout)
    check(tmp_path / "virtual.h5", [(...,), (slice(1, 3), slice(None, None, 2)), (3, 4)])


def test_a_source_that_grows(tmp_path):
    with h5py.File(tmp_path / "source.h5", "w", libver="latest") as file:
        file.create_dataset(
            "source", data=np.arange(30.0).reshape(10, 3) * 5000, maxshape=(None, 3)
        )
    layout = h5py.VirtualLayout(shape=(4, 3), dtype="<i2", maxshape=(None, 3))
    source = h5py.VirtualSource("source.h5", "source", shape=(4, 3), maxshape=(None, 3))
    layout[: h5py.h5s.UNLIMITED, :] = source[: h5py.h5s.UNLIMITED, :]
    with h5py.File(tmp_path / "virtual.h5", "w", libver="latest") as file:
        file.create_virtual_dataset("v", layout, fillvalue=-1)
    check(tmp_path / "virtual.h5", [(...,), (slice(7, None),)])


def printf_style(path, target, names, *, fill):
    """`v`, whose block `n` is the data set `source` of the file `part-<n>.h5`."""
    space = h5py.h5s.create_simple((4, 5), (h5py.h5s.UNLIMITED, 5))
    unlimited = h5py.h5s.UNLIMITED
    space.select_hyperslab((0, 0), (unlimited, 1), (2, 1), (2, 5))
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_fill_value(np.array(fill, target))
    properties.set_virtual(space, b"part-%b.h5", b"source", h5py.h5s.create_simple((2, 5)))
    with h5py.File(path, "w", libver="latest") as file:
        kind = h5py.h5t.py_create(np.dtype(target))
        h5py.h5d.create(file.id, b"v", kind, space, properties)
    for number in names:
        values = np.arange(10, dtype=">i4").reshape(2, 5) * 9999 * (number + 1)
        with h5py.File(path.with_name(f"part-{number}.h5"), "w") as file:
            file["source"] = values


@pytest.mark.parametrize("names", [(0, 1, 2), (0, 1, 3)])
def test_numbered_files(tmp_path, names):
    printf_style(tmp_path / "virtual.h5", "<u2", names, fill=7)
    check(tmp_path / "virtual.h5", [(...,), (3,)])


def test_a_source_smaller_than_what_is_mapped(tmp_path):
    with h5py.File(tmp_path / "source.h5", "w") as file:
        file["source"] = np.arange(6, dtype=">i8") * 20000
    layout = h5py.VirtualLayout(shape=(10,), dtype="<i2")
    layout[...] = h5py.VirtualSource("source.h5", "source", shape=(10,))
    with h5py.File(tmp_path / "virtual.h5", "w", libver="latest") as file:
        file.create_virtual_dataset("v", layout, fillvalue=-9)
    with h5py.File(tmp_path / "virtual.h5") as theirs, pytest.raises(OSError):
        theirs["v"][...]
    with (
        isotach.Dataset(tmp_path / "virtual.h5") as ours,
        pytest.raises(RuntimeError, match="different numbers of elements"),
    ):
        ours["v"][...]


def test_enumerations_of_the_same_members(tmp_path):
    names = {"red": 1, "green": 2, "blue": 300}
    values = np.array([1, 2, 300, 1])
    source = h5py.enum_dtype(names, basetype=">i4")
    make(tmp_path / "virtual.h5", values.astype(source), h5py.enum_dtype(names, basetype="<i4"))
    check(tmp_path / "virtual.h5")
    make(tmp_path / "virtual.h5", values.astype(source), "<f8")
    check(tmp_path / "virtual.h5")


def test_compounds_in_another_byte_order(tmp_path):
    source = np.dtype([("a", ">i2"), ("b", ">f8"), ("c", "S3")])
    target = np.dtype([("a", "<i2"), ("b", "<f8"), ("c", "S3")])
    values = np.array([(1, 2.5, b"abc"), (-300, 1e300, b"")], source)
    make(tmp_path / "virtual.h5", values, target, fill=None)
    with (
        h5py.File(tmp_path / "virtual.h5") as theirs,
        isotach.Dataset(tmp_path / "virtual.h5") as ours,
    ):
        for name in ("a", "b"):
            np.testing.assert_array_equal(ours["v"][:][name], theirs["v"][:][name])


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("<f2", "<f8"),
        (">f2", "<f4"),
        ("<f8", "<f2"),
        ("<i4", ">f2"),
        (">f2", "<i2"),
        (">f2", "<f2"),
    ],
)
def test_floats_of_two_bytes(tmp_path, source, target):
    # libhdf5 makes the lowest integer of -0.25, where 0 is right.
    values = np.array([0.5, -3, 100.25, 0, -0.75, 2048]).astype(source)
    make(tmp_path / "virtual.h5", values, target)
    check(tmp_path / "virtual.h5")


@pytest.mark.parametrize(
    ("values", "target"),
    [
        (np.array([b"12"], "S2"), "<i4"),
        (np.array([(1,)], [("a", "<i4")]), "<i4"),
        (np.array([1], "<i2"), h5py.enum_dtype({"one": 1}, basetype="<i2")),
    ],
)
def test_what_does_not_convert_is_named(tmp_path, values, target):
    make(tmp_path / "virtual.h5", values, target, fill=None)
    with (
        isotach.Dataset(tmp_path / "virtual.h5") as dataset,
        pytest.raises(RuntimeError, match="do not convert to"),
    ):
        dataset["v"][:]
