"""Floats that are rounded before they are stored are, bit for bit, as libnetcdf makes them."""

import isotach
import netCDF4
import numpy as np
import pytest

BITS = {"f4": "u4", "f8": "u8"}
#: Digits, or bits, that each can keep of a float and of a double.
MOST = {"BitGroom": (6, 15), "GranularBitRound": (6, 15), "BitRound": (23, 52)}


def numbers(code, seed):
    """Numbers of every size, and all the odd ones there are."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, np.iinfo(BITS[code]).max, 500, BITS[code], endpoint=True)
    usual = random.normal(0, 1, 500) * 10.0 ** random.integers(-30, 30, 500)
    about = np.finfo(code)
    odd = [0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1, -1, 10, 0.1, 1e-40, 9.96920996838687e36]
    odd += [about.max, about.min, about.tiny, about.tiny / 2, about.eps, 1 + about.eps]
    return np.concatenate([bits.view(code), usual.astype(code), np.array(odd, code)])


def stored(library, path, data, mode, digits, fill):
    with library.Dataset(path, "w") as dataset:
        dataset.createDimension("x", data.size)
        variable = dataset.createVariable(
            "v", data.dtype, ("x",), significant_digits=digits, quantize_mode=mode, fill_value=fill
        )
        variable.set_auto_maskandscale(False)
        variable[: data.size // 2] = data[: data.size // 2]
        variable[data.size // 2 :] = data[data.size // 2 :]
    with netCDF4.Dataset(path) as dataset:
        dataset.set_auto_maskandscale(False)
        variable = dataset["v"]
        kept = variable[:].view(BITS[data.dtype.str[1:]])
        return kept, {name: variable.getncattr(name) for name in variable.ncattrs()}


@pytest.mark.parametrize("fill", [None, 7.0, np.nan], ids=["default", "given", "nan"])
@pytest.mark.parametrize("mode", MOST)
@pytest.mark.parametrize("code", BITS)
def test_as_libnetcdf_rounds(tmp_path, code, mode, fill):
    most = MOST[mode][list(BITS).index(code)]
    for digits in range(1, most + 1):
        data = numbers(code, digits)
        data[10:20] = netCDF4.default_fillvals[code] if fill is None else fill
        ours, said = stored(isotach, tmp_path / "ours.nc", data, mode, digits, fill)
        theirs, expected = stored(netCDF4, tmp_path / "theirs.nc", data, mode, digits, fill)
        # libnetcdf makes other numbers, and numbers that are none, of infinities.
        differ = np.flatnonzero((ours != theirs) & ~np.isinf(data))
        assert differ.size == 0, (digits, data[differ][:3], ours[differ][:3], theirs[differ][:3])
        assert repr(said) == repr(expected)


@pytest.mark.parametrize("code", BITS)
def test_what_stays_as_it_is(tmp_path, code):
    """What cannot be rounded: no number, no value, nothing after the point."""
    data = numbers(code, 0)
    fill = np.array(netCDF4.default_fillvals[code], code)
    for mode in MOST:
        kept, _ = stored(isotach, tmp_path / "ours.nc", data, mode, 3, None)
        same = ~np.isfinite(data) | (data == 0) | (data == fill)
        bits = data.view(BITS[code])
        nans = np.isnan(kept.view(code)) & np.isnan(data)
        assert ((kept == bits) | nans)[same].all()
