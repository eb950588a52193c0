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
