"""One damaged object costs nothing but itself; and many chunks cost no more than each once."""

import io

import h5py
import isotach
import numpy as np
import pytest

NAMES = [f"v{number}" for number in range(12)]


@pytest.mark.parametrize("creation_order", [False, True])
@pytest.mark.parametrize("dense", [False, True])
def test_a_header_with_a_wrong_checksum(tmp_path, dense, creation_order):
    path = tmp_path / "file.h5"
    with h5py.File(path, "w", libver="latest", track_order=creation_order) as file:
        for number, name in enumerate(NAMES[: None if dense else 5]):
            file[name] = np.arange(3) + number
            file[name].attrs["number"] = number
        damaged = h5py.h5o.get_info(file["v3"].id).addr
        names = list(file)
    content = bytearray(path.read_bytes())
    assert content[damaged : damaged + 4] == b"OHDR"
    # A time stamp or a flag: nothing but the checksum tells.
    content[damaged + 8] ^= 1
    path.write_bytes(content)
    with isotach.Dataset(path) as dataset:
        assert list(dataset.variables) == [name for name in names if name != "v3"]
        for name, variable in dataset.variables.items():
            number = int(name.removeprefix("v"))
            assert variable[:].tolist() == [number, number + 1, number + 2]
            assert variable.number == number
        [(left_out, reason)] = dataset.left_out()
        assert left_out == "/v3"
        assert "checksum" in reason and f"address {damaged}" in reason
        with pytest.raises(IndexError):
            dataset["v3"]


class CountingFile(io.BytesIO):
    """Counts what is read of it."""

    def __init__(self, content):
        super().__init__(content)
        self.read_bytes = 0

    def read(self, size=-1):
        data = super().read(size)
        self.read_bytes += len(data)
        return data


@pytest.mark.parametrize(
    ("index", "shape", "limits"),
    [
        ("fixed array", (1024, 1024), (1024, 1024)),
        ("extensible array", (1024, 1024), (None, 1024)),
        ("version 2 B-tree", (1024, 1024), (None, None)),
    ],
)
def test_all_of_262144_chunks(tmp_path, index, shape, limits):
    values = np.random.default_rng(0).integers(0, 100, shape, "u1")
    path = tmp_path / "file.h5"
    with h5py.File(path, "w", libver="latest") as file:
        file.create_dataset("v", data=values, maxshape=limits, chunks=(2, 2), fletcher32=True)
        assert file["v"].id.get_num_chunks() == 1 << 18
    content = path.read_bytes()
    source = CountingFile(content)
    with isotach.Dataset(source) as dataset:
        np.testing.assert_array_equal(dataset["v"][:], values)
    # Index and chunks lie among one another; what is read twice is read ahead, not looked up again.
    assert source.read_bytes < 2 * len(content), index


NUMBERS = np.arange(64 * 64, dtype="i4").reshape(64, 64)


@pytest.fixture(params=["zlib", "fletcher32"])
def with_broken_chunk(request, tmp_path):
    """A file of `v`, whose chunk [1, 1] cannot be decoded, and `sound`."""
    path = tmp_path / "file.nc"
    with isotach.Dataset(path, "w") as dataset:
        dataset.createDimension("y", 64)
        dataset.createDimension("x", 64)
        options = {request.param: True, "chunksizes": (16, 16)}
        for name in ("v", "sound"):
            dataset.createVariable(name, "i4", ("y", "x"), **options)[:] = NUMBERS
    with h5py.File(path) as file:
        chunk = file["v"].id.get_chunk_info_by_coord((16, 16))
    content = bytearray(path.read_bytes())
    for place in range(chunk.byte_offset + 2, chunk.byte_offset + 8):
        content[place] ^= 0xFF
    path.write_bytes(content)
    with h5py.File(path) as file, pytest.raises(OSError):
        file["v"][...]
    return path


@pytest.mark.parametrize("key", [np.s_[20, 20], np.s_[20], np.s_[10:20, 20], np.s_[17:32, 16:32]])
def test_a_part_of_a_broken_chunk_is_refused(with_broken_chunk, key):
    with isotach.Dataset(with_broken_chunk, "a", commit_interval=None) as dataset:
        with pytest.raises(RuntimeError, match=r"file\.nc: /v: chunk \[1, 1\]"):
            dataset["v"][key] = -1
        dataset["sound"][key] = -1
        dataset.sync()
        # Who gives all of the chunk makes it whole.
        dataset["v"][16:32, 16:32] = 7
        dataset["v"][key] = -1
    expected = NUMBERS.copy()
    expected[key] = -1
    with h5py.File(with_broken_chunk) as file:
        np.testing.assert_array_equal(file["sound"][...], expected)
        expected[16:32, 16:32] = 7
        expected[key] = -1
        np.testing.assert_array_equal(file["v"][...], expected)


@pytest.mark.parametrize("ends", ["sync", "close"])
def test_a_part_that_met_a_broken_chunk_is_told_once(with_broken_chunk, ends):
    dataset = isotach.Dataset(with_broken_chunk, "a", commit_interval=None)
    # From the first element of the chunk on: all of it may follow, so that nothing is read back.
    dataset["v"][16, 16:20] = -1
    dataset["v"][0, 0] = -2
    dataset["sound"][16, 16:20] = -1
    with pytest.raises(RuntimeError, match=r"file\.nc: /v: chunk \[1, 1\]"):
        getattr(dataset, ends)()
    if ends == "sync":
        dataset.sync()
        dataset.close()
    expected = NUMBERS.copy()
    expected[16, 16:20] = -1
    with h5py.File(with_broken_chunk) as file:
        np.testing.assert_array_equal(file["sound"][...], expected)
        assert file["v"][0, 0] == -2
        np.testing.assert_array_equal(file["v"][32:], NUMBERS[32:])
        with pytest.raises(OSError):
            file["v"][16, 16]
