"""Many files along one dimension, as if they were one."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator, Sequence
from glob import glob
from typing import Any

import numpy as np
from numpy import ma

from isotach import _moving
from isotach._dataset import Dataset
from isotach._variable import Variable


class MFDataset(Dataset):
    """Files whose variables are joined along one dimension, their first.

    What does not lie along that dimension, and all attributes, come from the master file.
    """

    __slots__ = (
        "_along",
        "_excluded",
        "_files",
        "_is_spanned",
        "_lengths",
        "_master",
        "_parts",
        "_spanned",
        "_spanned_dimensions",
    )

    def __init__(
        self,
        files: str | Sequence[Any],
        check: bool = False,
        aggdim: str | None = None,
        exclude: Sequence[str] = (),
        master_file: Any = None,
        *,
        allow_external: bool | str | os.PathLike[str] | Sequence[Any] | None = None,
        missing_bytes: str | None = None,
    ) -> None:
        """Opens `files`: a sequence of paths, or a pattern such as `*.nc`.

        They are joined along `aggdim`, by default the unlimited dimension. `check` makes sure that
        their variables are alike; those in `exclude` come from the master file alone, which is the
        first one unless `master_file` names another. `allow_external` and
        `missing_bytes` are as for `Dataset`.
        """
        if isinstance(files, str):
            if files.startswith("http"):
                raise ValueError("cannot using file globbing for remote (OPeNDAP) datasets")
            files = sorted(glob(files))
        if not files:
            raise OSError("no files specified (file list is empty)")
        if master_file is not None and master_file not in files:
            raise ValueError("master_file not in files list")
        master = files[0] if master_file is None else master_file
        reading: dict[str, Any] = {"allow_external": allow_external, "missing_bytes": missing_bytes}
        super().__init__(master, **reading)
        parts = []
        try:
            parts = [Dataset(file, **reading) for file in files]
            self._join(files, parts, master, check, aggdim, exclude)
        except BaseException:
            for part in parts:
                part.close()
            super().close()
            raise

    def _join(
        self,
        files: Sequence[Any],
        parts: list[Dataset],
        master: Any,
        check: bool,
        aggdim: str | None,
        exclude: Sequence[str],
    ) -> None:
        first = parts[list(files).index(master)]
        put = object.__setattr__
        put(self, "_files", list(files))
        put(self, "_parts", parts)
        put(self, "_master", first)
        put(self, "_along", _joined_dimension(first, aggdim, master))
        put(self, "_excluded", frozenset(exclude))
        put(self, "_lengths", [])
        put(self, "_spanned", {})
        names = self._joined_names()
        if not names:
            raise OSError(f"master dataset {master} does not have any variables to aggregate")
        if check:
            for file, part in zip(files, parts, strict=True):
                for name in names:
                    _check_alike(first.variables[name], part, name, master, file)
        for part in parts:
            if part.data_model == "NETCDF4":
                raise ValueError(
                    "MFNetCDF4 only works with NETCDF3_* and NETCDF4_CLASSIC formatted files, "
                    "not NETCDF4"
                )
        self._span()

    def _joined_names(self) -> list[str]:
        """The variables that go on from file to file."""
        return [
            name
            for name, variable in self._master.variables.items()
            if name not in self._excluded and variable.dimensions[:1] == (self._along,)
        ]

    def _span(self) -> None:
        """Joins what the files have by now; what was joined before is renewed."""
        first, parts, lengths = self._master, self._parts, self._lengths
        lengths[:] = [len(part.dimensions[self._along]) for part in parts]
        spanned: dict[str, Any] = dict(first.variables.items())
        for name in self._joined_names():
            own = [part.variables[name] for part in parts]
            joined = self._spanned.get(name)
            if isinstance(joined, _Variable):
                joined._renew(first.variables[name], own)
            else:
                joined = _Variable(self, name, first.variables[name], own, lengths)
            spanned[name] = joined
        dimensions: dict[str, Any] = dict(first.dimensions)
        dimensions[self._along] = _Dimension(self._along, lengths)
        object.__setattr__(self, "_spanned_dimensions", dimensions)
        object.__setattr__(self, "_spanned", spanned)
        object.__setattr__(self, "_is_spanned", True)

    def refresh(self) -> bool:
        """Shows all files as their newest commits have them; see `Dataset.refresh`.

        Joined variables that were asked for before go on to the new ends. The list of files stays
        what it was.
        """
        self._check()
        with _moving.moving():
            files = (self, *self._parts)
            renewals = [(file, file._found_anew(is_asked_for=True)) for file in files]
            # Each of them is shown.
            is_new: bool = sum(file._show(renewal) for file, renewal in renewals) > 0
            if is_new or not self._is_spanned:
                object.__setattr__(self, "_is_spanned", False)
                self._span()
        return is_new

    @property
    def variables(self) -> Any:
        """The variables by name."""
        return self._spanned

    @property
    def dimensions(self) -> Any:
        """The dimensions by name."""
        return self._spanned_dimensions

    @property
    def file_format(self) -> Any:
        """The data model of each file."""
        return [part.file_format for part in self._parts]

    @property
    def data_model(self) -> Any:
        """The data model of each file."""
        return self.file_format

    @property
    def disk_format(self) -> Any:
        """The format of each file."""
        return [part.disk_format for part in self._parts]

    def _set(self, **settings: Any) -> None:
        for part in self._parts:
            part._set(**settings)

    def isopen(self) -> bool:
        """Whether all files are open."""
        return all(part.isopen() for part in self._parts)

    def close(self) -> None:
        """Closes all files."""
        for part in self._parts:
            part.close()
        super().close()

    def __repr__(self) -> str:
        lines = [repr(type(self))]
        model, disk = self.data_model[0], self.disk_format[0]
        lines.append(f"root group ({model} data model, file format {disk}):")
        lines += [f"    {name}: {self.getncattr(name)!s}" for name in self.ncattrs()]
        lines.append(f"    dimensions = {tuple(self.dimensions)}")
        lines.append(f"    variables = {tuple(self.variables)}")
        lines.append("    groups = ()")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        raise NotImplementedError("MFDataset is not picklable")


class _Dimension:
    """The dimension that the files are joined along."""

    def __init__(self, name: str, lengths: list[int]) -> None:
        self.dimlens = lengths
        self.name = self._name = name

    @property
    def dimtotlen(self) -> int:
        return sum(self.dimlens)

    def __len__(self) -> int:
        return self.dimtotlen

    @property
    def size(self) -> int:
        return self.dimtotlen

    def isunlimited(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"\"{type(self)!r}\" (unlimited): name = '{self._name}', size = {len(self)}"


class _Variable:
    """A variable that goes on from file to file."""

    def __init__(
        self, dataset: Any, name: str, master: Variable, own: list[Variable], lengths: list[int]
    ) -> None:
        self._dset = self._grp = dataset
        self._recLen = lengths
        self._name = name
        self._attributes: list[str] = []
        self._renew(master, own)

    def _renew(self, master: Variable, own: list[Variable]) -> None:
        """Goes on with what the files have by now."""
        for attribute in self._attributes:
            self.__dict__.pop(attribute, None)
        self._mastervar = master
        self._recVar = own
        self.name = self._name
        self.dimensions = master.dimensions
        self.dtype = master.dtype
        self._attributes = master.ncattrs()
        for attribute in self._attributes:
            self.__dict__[attribute] = master.getncattr(attribute)

    @property
    def shape(self) -> tuple[int, ...]:
        return (sum(self._recLen), *self._mastervar.shape[1:])

    @property
    def ndim(self) -> int:
        return len(self.dimensions)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=object))

    def __len__(self) -> int:
        return sum(self._recLen)

    def typecode(self) -> Any:
        return self.dtype

    def ncattrs(self) -> list[str]:
        return self._mastervar.ncattrs()

    def getncattr(self, name: str) -> Any:
        return self._mastervar.getncattr(name)

    def set_auto_chartostring(self, value: bool) -> None:
        for variable in self._recVar:
            variable.set_auto_chartostring(value)

    def set_auto_maskandscale(self, value: bool) -> None:
        for variable in self._recVar:
            variable.set_auto_maskandscale(value)

    def set_auto_mask(self, value: bool) -> None:
        for variable in self._recVar:
            variable.set_auto_mask(value)

    def set_auto_scale(self, value: bool) -> None:
        for variable in self._recVar:
            variable.set_auto_scale(value)

    def set_string_dtype(self, dtype: Any) -> None:
        for variable in self._recVar:
            variable.set_string_dtype(dtype)

    def set_always_mask(self, value: bool) -> None:
        for variable in self._recVar:
            variable.set_always_mask(value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self[...], dtype)

    def __getitem__(self, elem: Any) -> Any:
        first, *rest = _each_axis(elem, self.ndim)
        for index in (first, *rest):
            if isinstance(index, slice) and index.step is not None and index.step < 0:
                raise IndexError(
                    "negative strides not allowed when slicing MFVariable Variable instance"
                )
        if isinstance(first, slice):
            positions = np.arange(*first.indices(len(self)))
        else:
            positions = _positions(first, len(self))
        wanted = np.atleast_1d(positions)
        parts, order = [], []
        for variable, of_result, of_part in self._pieces(wanted):
            parts.append(variable[(_compact(of_part), *rest)])
            order.append(of_result)
        if not parts:
            parts.append(self._recVar[0][(slice(0, 0), *rest)])
        if len(parts) > 1:
            last = parts[next(n for n, records in enumerate(order) if wanted.size - 1 in records)]
            if not last.size and not isinstance(_compact(wanted), slice):
                # A list of records is of the type of the last one, also where nothing is read.
                return np.empty((*positions.shape, *last.shape[1:]), last.dtype)
        joined = _joined(parts)
        if len(parts) > 1:
            joined = joined[np.argsort(np.concatenate(order), kind="stable")]
        data = joined if positions.ndim else joined[0]
        if ma.isMA(data) and data is not ma.masked and not ma.getmaskarray(data).any():
            data = data.filled()
        return data

    def _pieces(self, wanted: Any) -> Iterator[tuple[Variable, Any, Any]]:
        """For each file with wanted records: which of the result, and which of the file."""
        begin = 0
        for variable, length in zip(self._recVar, self._recLen, strict=True):
            inside = np.flatnonzero((wanted >= begin) & (wanted < begin + length))
            if inside.size:
                yield variable, inside, wanted[inside] - begin
            begin += length

    def __repr__(self) -> str:
        lines = [repr(type(self)), f"{self.dtype} {self._name}{self.dimensions}"]
        lines += [f"    {name}: {self.getncattr(name)!s}" for name in self.ncattrs()]
        grows = [name for name in self.dimensions if self._grp.dimensions[name].isunlimited()]
        lines.append(f"unlimited dimensions = {tuple(grows)!r}")
        lines.append(f"current size = {self.shape!r}")
        return "\n".join(lines)


class MFTime(_Variable):
    """A time variable of an `MFDataset`, in the same units and calendar in all files."""

    def __init__(self, time: _Variable, units: str | None = None, calendar: str | None = None):
        """Counts in `units` (by default the master's) of `calendar`.

        Without a calendar all files must name the same one.
        """
        super().__init__(time._dset, time._name, time._mastervar, time._recVar, time._recLen)
        self._time = time
        if calendar is None:
            calendars = {getattr(variable, "calendar", None) for variable in self._recVar}
            if None in calendars:
                raise ValueError(
                    "MFTime requires that the time variable in all files "
                    "have a calendar attribute if no default calendar is provided."
                )
            if len(calendars) > 1:
                raise ValueError(
                    "MFTime requires that the same time calendar is "
                    "used by all files if no default calendar is provided."
                )
            calendar = calendars.pop()
        from cftime import date2num

        self.calendar = calendar
        self.units = units or time._mastervar.units
        reference = datetime.datetime(1900, 1, 1)
        target = date2num(reference, self.units, self.calendar)
        steps = [
            target - date2num(reference, variable.units, self.calendar) for variable in self._recVar
        ]
        self._steps = np.asarray(steps)

    def __getitem__(self, elem: Any) -> Any:
        # As long as the files are by now.
        delta = np.repeat(self._steps, self._recLen).astype(self._time.dtype)
        return self._time[elem] + delta[elem]


def _joined_dimension(first: Dataset, aggdim: str | None, master: Any) -> str:
    found = [
        name
        for name, dimension in first.dimensions.items()
        if (dimension.isunlimited() if aggdim is None else name == aggdim)
    ]
    if not found:
        raise OSError(f"master dataset {master} does not have a aggregation dimension")
    return found[-1]


def _check_alike(first: Variable, part: Dataset, name: str, master: Any, file: Any) -> None:
    other = part.variables.get(name)
    if other is None:
        raise OSError(f"aggregation variable {name} not defined in {file}")
    pairs = {
        "dimensions": (first.dimensions, other.dimensions),
        "rank": (first.ndim, other.ndim),
        "shape": (first.shape[1:], other.shape[1:]),
        "data type": (first.dtype, other.dtype),
    }
    for what, (here, there) in pairs.items():
        if here != there:
            raise OSError(
                f"variable {name} : {what} mismatch between master {master} ({here}) "
                f"and extension {file} ({there})"
            )


def _each_axis(elem: Any, rank: int) -> list[Any]:
    """One index for each axis."""
    items = list(elem) if isinstance(elem, tuple) else [elem]
    ellipses = sum(item is Ellipsis for item in items)
    if ellipses > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    if len(items) - ellipses > rank:
        raise ValueError("slicing expression exceeds the number of dimensions of the variable")
    whole = [slice(None)] * (rank - len(items) + ellipses)
    at = next((n for n, item in enumerate(items) if item is Ellipsis), len(items))
    return items[:at] + whole + items[at + ellipses :]


def _positions(index: Any, length: int) -> Any:
    """An integer, or an array of integers or booleans, as positions from the start."""
    positions = np.asarray(index)
    if positions.dtype.kind == "b" and positions.ndim == 1:
        if positions.size != length:
            raise IndexError("Boolean array must have the same shape as the data")
        return np.flatnonzero(positions)
    if positions.dtype.kind not in "iu" or positions.ndim > 1:
        raise IndexError("only integers, slices, ellipsis and 1-d arrays are valid indices")
    positions = np.where(positions < 0, positions + length, positions)
    if ((positions < 0) | (positions >= length)).any():
        raise IndexError("integer index exceeds dimension size")
    return positions


def _compact(positions: Any) -> Any:
    """A slice where the positions are evenly spaced, which reads faster."""
    if positions.size == 1:
        return slice(int(positions[0]), int(positions[0]) + 1)
    steps = np.diff(positions)
    if steps[0] > 0 and (steps == steps[0]).all():
        return slice(int(positions[0]), int(positions[-1]) + 1, int(steps[0]))
    return positions


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        (part,) = parts
        # Without the part's fill value, as `ma.concatenate` has it.
        return ma.MaskedArray(part.data, mask=ma.getmask(part)) if ma.isMA(part) else part
    if any(ma.isMA(part) for part in parts):
        return ma.concatenate(parts)  # type: ignore[no-untyped-call]
    return np.concatenate(parts)
