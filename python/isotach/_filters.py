"""What netCDF4-python tells of a variable's filters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

DEFLATE, SHUFFLE, FLETCHER32, SZIP = 1, 2, 3, 4
BZIP2, BLOSC, ZSTANDARD, BLOSC2 = 307, 32001, 32015, 32026

_BLOSC_COMPRESSORS = (
    "blosc_lz",
    "blosc_lz4",
    "blosc_lz4hc",
    "blosc_snappy",
    "blosc_zlib",
    "blosc_zstd",
)
#: What netCDF4-python has no names for, numbered as Blosc's; Blosc 2 has no snappy.
_BLOSC2_COMPRESSORS = (
    "blosc2_lz",
    "blosc2_lz4",
    "blosc2_lz4hc",
    None,
    "blosc2_zlib",
    "blosc2_zstd",
)
#: The families of compressors, by the filter's number.
_COMPRESSORS = {
    BLOSC: ("blosc", _BLOSC_COMPRESSORS),
    BLOSC2: ("blosc2", _BLOSC2_COMPRESSORS),
}
#: The bit of szip's options that says nearest neighbour; without it, entropy coding.
_SZIP_NEAREST_NEIGHBOUR = 32
_SZIP_CODINGS = {"ec": 4, "nn": _SZIP_NEAREST_NEIGHBOUR}

#: The attributes that tell how numbers were rounded off, and the ways.
QUANTIZATION = {
    "_QuantizeBitGroomNumberOfSignificantDigits": "BitGroom",
    "_QuantizeGranularBitRoundNumberOfSignificantDigits": "GranularBitRound",
    "_QuantizeBitRoundNumberOfSignificantBits": "BitRound",
}


_NO_FILTERS: dict[str, Any] = {
    "zlib": False,
    "szip": False,
    "zstd": False,
    "bzip2": False,
    "blosc": False,
    "shuffle": False,
    "complevel": 0,
    "fletcher32": False,
}


def filter_dict(filters: Sequence[tuple[int, str, Sequence[int]]]) -> dict[str, Any]:
    """The dict that `Variable.filters` gives, for filters as `(id, name, parameters)`.

    Of Blosc 2 it tells under a name of its own, `"blosc2"`, where a variable has it.
    """
    found = _NO_FILTERS.copy()
    level = {DEFLATE: "zlib", ZSTANDARD: "zstd", BZIP2: "bzip2"}
    for number, _, parameters in filters:
        if number in level:
            found[level[number]] = True
            found["complevel"] = parameters[0] if parameters else 0
        elif number == SHUFFLE:
            found["shuffle"] = True
        elif number == FLETCHER32:
            found["fletcher32"] = True
        elif number == SZIP and len(parameters) >= 2:
            nearest = parameters[0] & _SZIP_NEAREST_NEIGHBOUR
            found["szip"] = {
                "coding": "nn" if nearest else "ec",
                "pixels_per_block": parameters[1],
            }
        elif number in _COMPRESSORS and len(parameters) >= 7:
            kind, names = _COMPRESSORS[number]
            compressor = parameters[6]
            name = names[compressor] if compressor < len(names) else None
            found[kind] = {
                "compressor": name or f"{kind}_{compressor}",
                "shuffle": parameters[5],
            }
            found["complevel"] = parameters[4]
    return found


def quantization(attributes: dict[str, Any]) -> tuple[int, str] | None:
    """Digits and algorithm, by the attributes that libnetcdf writes for quantized data."""
    for name, algorithm in QUANTIZATION.items():
        if name in attributes:
            return int(attributes[name]), algorithm
    return None


def compression_filters(
    compression: str | None,
    *,
    level: int,
    shuffle: bool | None,
    szip: tuple[str, int],
    blosc_shuffle: int,
    fletcher32: bool,
) -> list[tuple[int, list[int]]]:
    """The filters that `createVariable` is asked for, as `(id, parameters)`.

    Where nothing is said of `shuffle` (None), it goes before zlib alone, as in netCDF4-python,
    which leaves it out before zstd and bzip2 also where it is asked for.
    """
    filters: list[tuple[int, list[int]]] = []
    shuffled = [(SHUFFLE, list[int]())]
    if compression == "zlib":
        filters = [*shuffled * (shuffle is None or bool(shuffle)), (DEFLATE, [level])]
    elif compression == "szip":
        coding, pixels = szip
        if coding not in _SZIP_CODINGS:
            raise ValueError("unknown szip coding ('ec' or 'nn' supported)")
        filters = [(SZIP, [_SZIP_CODINGS[coding], pixels])]
    elif compression == "zstd":
        filters = [*shuffled * bool(shuffle), (ZSTANDARD, [level])]
    elif compression == "bzip2":
        filters = [*shuffled * bool(shuffle), (BZIP2, [level])]
    elif compression in _BLOSC_COMPRESSORS and compression != "blosc_snappy":
        compressor = _BLOSC_COMPRESSORS.index(compression)
        filters = [(BLOSC, [0, 0, 0, 0, level, blosc_shuffle, compressor])]
    elif compression and compression in _BLOSC2_COMPRESSORS:
        compressor = _BLOSC2_COMPRESSORS.index(compression)
        filters = [(BLOSC2, [0, 0, 0, 0, level, blosc_shuffle, compressor])]
    elif compression:
        raise ValueError(f"Unsupported value for compression kwarg: {compression!r}")
    return [*filters, *[(FLETCHER32, [])] * bool(fletcher32)]
