"""NumPy's strings of any length, `numpy.dtypes.StringDType`, which NumPy has since 2.0."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

#: The kind of these dtypes.
KIND = "T"


def string_dtype(dtype: Any) -> Any:
    """The `StringDType` that is meant: `"T"`, the class, or one of them. None stays None.

    `RuntimeError` where NumPy has none, `TypeError` for what is another dtype.
    """
    if dtype is None:
        return None
    kind = getattr(getattr(np, "dtypes", None), "StringDType", None)
    if kind is None:
        raise RuntimeError(f"StringDType needs NumPy 2.0 or later, this is NumPy {np.__version__}")
    found = kind() if dtype is kind else np.dtype(dtype)
    if found.kind != KIND:
        raise TypeError(f"strings are read as StringDType or as objects, not as {found}")
    return found


def is_string_dtype(dtype: Any) -> bool:
    """Whether it is a dtype of that kind."""
    return getattr(dtype, "kind", None) == KIND


def as_objects(data: npt.NDArray[Any], missing: Any, about: str) -> npt.NDArray[Any]:
    """The strings of an array of that kind as `str`, with `missing` for those that are missing.

    `ValueError` where there are such, and `missing` is None.
    """
    objects = data.astype(object)
    if not hasattr(data.dtype, "na_object") or isinstance(data.dtype.na_object, str):
        return objects
    gaps = _are_missing(objects)
    if gaps.any():
        if missing is None:
            raise ValueError(f"{about}: missing strings need a _FillValue, which it does not have")
        objects[gaps] = missing
    return objects


def as_string_dtype(objects: npt.NDArray[Any], dtype: Any, missing: Any) -> npt.NDArray[Any]:
    """Strings in a dtype of that kind. If it has an object for missing strings, those that are
    `missing` are that; None stands for no string.
    """
    if missing is not None and hasattr(dtype, "na_object") and objects.size:
        gaps = np.asarray(objects == missing, bool)
        if gaps.any():
            objects = objects.copy()
            objects[gaps] = dtype.na_object
    return np.asarray(objects).astype(dtype)


def _are_missing(objects: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    each = (not isinstance(found, str) for found in objects.reshape(-1))
    return np.fromiter(each, bool, objects.size).reshape(objects.shape)
