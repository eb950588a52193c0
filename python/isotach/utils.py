"""Small functions that packages take from `netCDF4.utils`."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence, ValuesView
from typing import Any

import numpy as np

from isotach._conversions import _nc3tonc4, _nc4tonc3, nc3tonc4, nc4tonc3, ncinfo
from isotach._group_members import GroupMembers
from isotach._reading import _same
from isotach._variable import _find_dimension
from isotach._writing import _rounder


def _safecast(a: Any, b: Any) -> bool:
    """Whether the values of `b` are those of `a`; NaN is as NaN."""
    try:
        return _same(a, b)
    except Exception:
        # Whatever cannot be compared is not the same.
        return False


def _sortbylist(A: Sequence[Any], B: Sequence[Any]) -> list[Any]:
    """The elements of `A` in the order that sorts those of `B`."""
    return [A[place] for place in sorted(range(len(A)), key=B.__getitem__)]


def _find_dim(grp: GroupMembers, dimname: str) -> Any:
    """The dimension of that name in the group, or in the nearest group above."""
    return _find_dimension(grp, dimname)


def _walk_grps(topgrp: Any) -> Iterator[ValuesView[Any]]:
    """The groups below a group, level by level of each branch."""
    yield topgrp.groups.values()
    for group in topgrp.groups.values():
        yield from _walk_grps(group)


def _getgrp(g: Any, p: str) -> Any:
    """The group that the path `p` leads to from `g`."""
    for name in p.split("/"):
        if name:
            g = g.groups[name]
    return g


def _quantize(data: Any, least_significant_digit: int) -> Any:
    """Numbers rounded to a decimal digit, in a way that compresses well."""
    return _rounder(least_significant_digit)(data)


def _is_int(a: Any) -> bool:
    """Whether a number is whole."""
    try:
        return bool(operator.eq(int(a), a))
    except Exception:
        # Arrays, texts and None, each with an exception of its own.
        return False


def _tostr(s: Any) -> str:
    """Its text."""
    return str(s)


def _out_array_shape(count: np.ndarray[Any, Any]) -> list[int]:
    """The shape of a result that is read in blocks; `count` has their lengths along each axis."""
    steps = count.shape[:-1]
    return [
        int(count[..., axis].flat[0]) if step == 1 and count.size else step
        for axis, step in enumerate(steps)
    ]
