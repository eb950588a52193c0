"""Arrays of characters and arrays of strings."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from isotach._string_dtype import as_objects, is_string_dtype

#: Names of encodings that stand for bytes as they are.
_BYTES = ("none", "None", "bytes")

#: Encodings in which the bytes below 128 are ASCII, which needs no decoder.
_OF_ASCII = ("ascii", "utf-8", "latin-1")


def _kind_and_encoding(dtype: np.dtype[Any], encoding: str | None) -> tuple[str, str]:
    if dtype.kind not in "SU":
        raise ValueError("type must string or unicode ('S' or 'U')")
    if encoding is None:
        encoding = "ascii" if dtype.kind == "S" else "utf-8"
    return dtype.kind, encoding


def chartostring(b: npt.NDArray[Any], encoding: str | None = None) -> npt.NDArray[Any]:
    """An array of strings with one dimension less than the array `b` of characters.

    Bytes are decoded by `encoding` (``"bytes"``: not at all); masked characters count as the
    array's fill value.
    """
    kind, encoding = _kind_and_encoding(b.dtype, encoding)
    if isinstance(b, np.ma.MaskedArray):
        b = b.filled()
    length = b.shape[-1]
    if length == 0:
        return np.zeros(b.shape[:-1], "U1" if encoding not in _BYTES else "S1")
    joined = np.ascontiguousarray(b).view(f"{kind}{length}").reshape(b.shape[:-1])
    if encoding in _BYTES:
        return joined.astype(f"S{length}")
    if kind == "U":
        return joined
    characters = joined.reshape(*joined.shape, 1).view("u1")
    if encoding in _OF_ASCII and not (characters & 0x80).any():
        return characters.astype("u4").view(f"U{length}").reshape(joined.shape)
    return np.asarray(np.char.decode(joined, encoding)).astype(f"U{length}")


def stringtochar(
    a: npt.NDArray[Any], encoding: str | None = None, n_strlen: int | None = None
) -> npt.NDArray[Any]:
    """An array of characters with one dimension more than the array `a` of strings.

    Each string is encoded by `encoding` (``"bytes"``: bytes as they are) and padded with zeros or
    cut to `n_strlen` bytes, by default the bytes of one of `a`'s elements.
    """
    if is_string_dtype(a.dtype):
        a = np.asarray(as_objects(a, None, "stringtochar"), "U")
    kind, encoding = _kind_and_encoding(a.dtype, encoding)
    length = a.dtype.itemsize if n_strlen is None else n_strlen
    if kind == "U" and encoding == "ascii":
        characters = np.ascontiguousarray(a).astype(f"U{length}").view("U1")
        return characters.reshape((*a.shape, length))
    encoded = a if kind == "S" else np.asarray(np.char.encode(a, encoding))
    padded = np.ascontiguousarray(encoded.astype(f"S{length}"))
    shape = a.shape if a.ndim or encoding in ("ascii", *_BYTES) else (1,)
    return padded.view("S1").reshape((*shape, length))


def stringtoarr(string: str | bytes, NUMCHARS: int, dtype: str = "S") -> npt.NDArray[Any]:
    """The characters of `string` as an array of length `NUMCHARS`, padded with zeros."""
    if dtype not in ("S", "U"):
        raise ValueError("dtype must string or unicode ('S' or 'U')")
    array = np.zeros(NUMCHARS, dtype + "1")
    text = string.decode("latin-1") if isinstance(string, bytes) else string
    array[: len(text)] = list(text)
    return array
