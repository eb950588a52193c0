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


def _StartCountStride(
    elem: Any,
    shape: Sequence[int],
    dimensions: Any = None,
    grp: Any = None,
    datashape: Any = None,
    put: bool = False,
    use_get_vars: bool = True,
) -> tuple[Any, Any, Any, Any]:
    """The blocks that a selection is read in: where each starts, how many elements it has along
    each axis and with what strides, and where they go in the result.

    Each array has an axis for each axis of the variable, along which there is one block, or one for
    each index of a list without an even step; and a last one for the numbers of the variable's
    axes. Blocks go to indices of the result, or to `slice(None)`; -1 stands for an axis that it
    does not have. Only `elem` and `shape` count. `NotImplementedError` for `put`.
    """
    if put:
        raise NotImplementedError("_StartCountStride(put=True): only selections to be read")
    rank = len(shape)
    along = [_blocks(index, length) for index, length in zip(_each(elem, rank), shape, strict=True)]
    # A scalar is one element along an axis that it does not have.
    along = along or [[(0, 1, 1, slice(None))]]
    steps = [len(blocks) for blocks in along]
    found = [np.empty((*steps, len(along)), kind) for kind in (int, int, int, object)]
    for place in np.ndindex(*steps):
        for axis, number in enumerate(place):
            for array, value in zip(found, along[axis][number], strict=True):
                array[(*place, axis)] = value
    start, count, stride, target = found
    return start, count, stride, target


def _each(elem: Any, rank: int) -> list[Any]:
    """An index for each axis."""
    given = list(elem) if isinstance(elem, tuple) else [elem]
    gaps = [place for place, index in enumerate(given) if index is Ellipsis]
    if gaps:
        missing = rank - (len(given) - len(gaps))
        given[gaps[0] : gaps[0] + 1] = [slice(None)] * max(missing, 0)
        given = [slice(None) if index is Ellipsis else index for index in given]
    if len(given) > rank:
        raise ValueError("slicing expression exceeds the number of dimensions of the variable")
    return given + [slice(None)] * (rank - len(given))


def _blocks(index: Any, length: int) -> list[tuple[int, int, int, Any]]:
    """Start, count, stride and place in the result of each block along an axis."""
    whole = slice(None)
    if isinstance(index, slice):
        start, stop, step = index.indices(length)
        return [(start, len(range(start, stop, step)), step, whole)]
    indices = np.asarray(index)
    if indices.ndim > 1:
        raise IndexError("Index cannot be multidimensional")
    if indices.ndim == 1 and indices.dtype.kind == "b":
        if len(indices) != length:
            raise IndexError(f"{len(indices)} truth values select along an axis of {length}")
        indices = np.flatnonzero(indices)
    if indices.dtype.kind not in "iu":
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), and 1-d integer or boolean arrays are"
            " valid indices"
        )
    indices = np.where(indices < 0, indices + length, indices)
    if indices.ndim == 0:
        return [(int(indices), 1, 1, -1)]
    steps = np.diff(indices)
    step = int(steps[0]) if len(steps) else 1
    if step > 0 and (steps == step).all():
        first = int(indices[0]) if len(indices) else 0
        return [(first, len(indices), step, whole)]
    return [(int(found), 1, 1, place) for place, found in enumerate(indices)]


def _out_array_shape(count: np.ndarray[Any, Any]) -> list[int]:
    """The shape of a result that is read in blocks; `count` has their lengths along each axis."""
    steps = count.shape[:-1]
    return [
        int(count[..., axis].flat[0]) if step == 1 and count.size else step
        for axis, step in enumerate(steps)
    ]
