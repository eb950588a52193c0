"""Files that are changed in session after session do not grow without bound."""

import h5py
import isotach
import netCDF4
import numpy as np
import pytest

SHAPE, CHUNKS = (200, 300), (50, 100)


def values(round_):
    """Compresses a little, each time otherwise."""
    return np.random.default_rng(round_).integers(0, 1000 + 100 * round_, SHAPE).astype("i4")


def create_with_netcdf(module):
    def create(path):
        with module.Dataset(path, "w") as dataset:
            dataset.createDimension("t", None)
            dataset.createDimension("x", SHAPE[1])
            variable = dataset.createVariable("v", "i4", ("t", "x"), zlib=True, chunksizes=CHUNKS)
            variable[:] = values(0)
            words = dataset.createVariable("words", str, ("x",))
            words[:] = np.array([f"word {i}" for i in range(SHAPE[1])], object)

    return create


def create_with_h5py(path):
    with h5py.File(path, "w", libver="latest") as file:
        options = {"chunks": CHUNKS, "compression": "gzip", "maxshape": (None, SHAPE[1])}
        file.create_dataset("v", data=values(0), **options)
        words = [f"word {i}" for i in range(SHAPE[1])]
        file.create_dataset("words", data=words, dtype=h5py.string_dtype())


CREATORS = {
    "isotach": create_with_netcdf(isotach),
    "netCDF4": create_with_netcdf(netCDF4),
    "h5py": create_with_h5py,
}


@pytest.mark.parametrize("creator", CREATORS)
def test_overwritten_in_every_session(tmp_path, creator):
    path = tmp_path / "file.nc"
    CREATORS[creator](path)
    sizes = []
    for round_ in range(1, 16):
        words = np.array([f"word {i} of round {round_}" for i in range(SHAPE[1])], object)
        with isotach.Dataset(path, "a") as dataset:
            dataset["v"][:] = values(round_)
            dataset["words"][:] = words
        sizes.append(path.stat().st_size)
        with h5py.File(path) as file:
            np.testing.assert_array_equal(file["v"][:], values(round_))
            assert file["words"].asstr()[:].tolist() == words.tolist()
    # The values become longer, by a tenth at last.
    assert max(sizes[5:]) <= 1.25 * max(sizes[:5]), sizes
    # Who does not know of the gaps goes on with the file, and we behind.
    if creator == "h5py":
        # libnetcdf does not write to files without orders of creation.
        with h5py.File(path, "a") as file:
            file["v"][:] = values(0)
            file.create_dataset("w", data=values(1), chunks=CHUNKS, compression="gzip")
    else:
        with netCDF4.Dataset(path, "a") as dataset:
            dataset["v"][:] = values(0)
            along = dataset["v"].dimensions
            dataset.createVariable("w", "i4", along, zlib=True)[:] = values(1)
    with isotach.Dataset(path, "a") as dataset:
        dataset["v"][:] = values(2)
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["v"][:], values(2))
        np.testing.assert_array_equal(file["w"][: SHAPE[0]], values(1))
        assert file["words"].asstr()[:].tolist() == words.tolist()


def test_free_space_that_libhdf5_keeps_account_of_is_left_to_it(tmp_path):
    path = tmp_path / "file.h5"
    with h5py.File(path, "w", fs_strategy="fsm", fs_persist=True) as file:
        for name in "abc":
            file.create_dataset(name, data=values(0), chunks=CHUNKS, compression="gzip")
    with h5py.File(path, "a") as file:
        del file["b"]
    for round_ in range(3):
        with isotach.Dataset(path, "a") as dataset:
            dataset["a"][:] = values(round_)
        with h5py.File(path, "a") as file:
            name = f"new {round_}"
            file.create_dataset(name, data=values(round_), chunks=CHUNKS, compression="gzip")
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["a"][:], values(2))
        np.testing.assert_array_equal(file["c"][:], values(0))
        for round_ in range(3):
            np.testing.assert_array_equal(file[f"new {round_}"][:], values(round_))
