"""Files and groups."""

from __future__ import annotations

import io
import itertools
import os
import pathlib
import posixpath
import weakref
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, NoReturn

from isotach import _moving, _native, _opening, _sessions
from isotach._constants import NOT_VALID, READ_ONLY
from isotach._dimension import Dimension
from isotach._group_members import GROUPS, VARIABLES, GroupMembers
from isotach._lazy import CLOSED, LazyDict
from isotach._variable import DEFAULTS, Variable

#: How often a file is listed anew that changes meanwhile.
_MOST_LISTINGS = 200
#: Numbers of files that were opened, as libnetcdf gives them.
_file_numbers = itertools.count(1)


class Dataset(GroupMembers):
    """An open file, which is its root group.

    Nothing is read before it is asked for: opening costs the same for one variable and for
    100,000. It may be used by many threads at once, and it pickles: by path, or with the bytes or
    the file object it was made of. By a path that leads to another file since, it does not unpickle
    (`OSError`, `ESTALE`).
    """

    __slots__ = (
        "__weakref__",
        "_attributes",
        "_dimensions",
        "_dimensions_seen",
        "_ending",
        "_epoch",
        "_file",
        "_group_numbers",
        "_groups",
        "_grpid",
        "_is_snapshot",
        "_kind",
        "_native",
        "_ncstring_attrs__",
        "_path",
        "_session",
        "_settings",
        "_source",
        "_types",
        "_types_seen",
        "_variables",
        "_writer",
        "auto_complex",
        "keepweakref",
        "parent",
    )
    _own_fields = __slots__
    _attributes: dict[str, Any] | None
    _dimensions: dict[str, Dimension] | None
    _dimensions_seen: int | None
    _ending: Any
    _epoch: int
    _file: Any
    #: Gives groups their numbers. All groups of an open file have it, and no others.
    _group_numbers: Iterator[int]
    _groups: LazyDict[Group]
    #: A number that no other open group has.
    _grpid: int
    _is_snapshot: bool
    _kind: tuple[str, str]
    _native: Any
    _ncstring_attrs__: bool
    _path: str
    _session: Any
    _settings: dict[str, Any]
    _source: Any
    _types: list[Any] | None
    _types_seen: int | None
    _variables: LazyDict[Variable]
    _writer: Any
    auto_complex: bool
    keepweakref: bool
    parent: Dataset | None

    #: Variables are indexed axis by axis.
    __orthogonal_indexing__ = True

    def __init__(
        self,
        filename: Any,
        mode: str = "r",
        clobber: bool = True,
        format: str = "NETCDF4",
        diskless: bool = False,
        persist: bool = False,
        keepweakref: bool = False,
        memory: Any = None,
        encoding: str | None = None,
        parallel: bool = False,
        comm: Any = None,
        info: Any = None,
        auto_complex: bool = False,
        *,
        commit_interval: float | None = 5.0,
        durability: str = "process",
        lock: bool = True,
        atomic: bool = False,
        allow_external: bool | str | os.PathLike[str] | Iterable[Any] | None = None,
        missing_bytes: str | None = None,
        snapshot: bool = False,
        exclusive: bool = False,
        track_times: bool = False,
    ) -> None:
        """Opens `filename` for reading, opens it for changing it, or creates it.

        It is a path; for reading also a file object with `seek` and `read`, or the bytes of a
        file; with `memory`, which is such bytes, it is only a name. With `memory` (a size, which
        counts for nothing), a file that is created is in memory, and `close` gives its bytes; with
        `diskless` it goes to disk when it is closed, and only with `persist`.

        - `mode`: `"r"` reads; `"w"` creates, at once in place of what is there, but for
          `clobber=False` and where this process reads it; `"x"` creates where nothing is; `"a"`
          and `"r+"` change what is there, or create it. An `s` behind them changes nothing.
        - `format` of a new file: `"NETCDF4"`, `"NETCDF4_CLASSIC"`, `"NETCDF3_CLASSIC"`,
          `"NETCDF3_64BIT_OFFSET"` or `"NETCDF3_64BIT_DATA"`; `"latest"` is `"NETCDF4"` with the
          chunk indexes of HDF5 1.10, which older readers do not know.
        - `keepweakref`: variables and dimensions do not keep their group alive.
        - `auto_complex`: pairs of floats named r and i, and floats along a last dimension of length
          2 that is called `_pfnc_complex`, `complex` or `ri`, are complex numbers, and complex
          dtypes can be written.
        - `snapshot`: all that is read is of the state in which the file was opened, however it
          changes; where that cannot be kept (values of a classic file were overwritten, or
          another program has written the file), reading ends with an error. Without it, a file
          that is read moves on to its newest state where it has to.
        - `encoding`, `comm` and `info` count for nothing; `parallel=True` is refused.

        A file that is written is at every time what it was after the last `sync`, also where the
        process is killed. What is changed is in it after `commit_interval` seconds even without
        `sync`; with None only `sync` and `close` do that. With `durability="power"` commits also
        wait until the medium has them. While it is written nobody else can write it; `lock=False`
        is for file systems whose locks do not work. With `atomic`, mode `"w"` leaves a file that is
        there as it is until `close`, which puts the new one in its place; without `close`, or where
        a `with` block ends by an exception, the new one is dropped.

        With `track_times`, groups, variables and types of a netCDF-4 file say when they were made
        and last changed, as h5py and HDF5's tools show it; `ValueError` for classic files, which
        have no place for that. Without it, the same calls make the same bytes at any time.

        A file that this process writes already may be opened once more with mode `"a"` and the
        same options: what one of its datasets defines or writes, the others see. Each `close`
        commits, the last one closes the file. With `exclusive=True`, no other dataset may write
        it meanwhile.

        External links, virtual data sets and external raw data open other files only where these
        really lie (symbolic links resolved) in the file's own folder or below it; file objects and
        bytes have no folder. With `allow_external=True` they open all files, with False none;
        folders that are given count beside the file's own. The words of the environment variable
        `ISOTACH_ALLOW_EXTERNAL`, which counts where nothing is given, do as well.

        Values that a classic file, or one of external raw data, should have and has not, as it
        was cut short, are an error for those who ask for them; such a classic file is not changed
        either. With `missing_bytes="zeros"` they are zeros, as netCDF4-python has it; where nothing
        is given, the environment variable `ISOTACH_MISSING_BYTES` counts.

        `FileNotFoundError`, `PermissionError` or another `OSError` where it cannot be opened or
        another program writes to it, `ValueError` where the options do not fit.
        """
        mode, clobber = _opening.checked_mode(mode, clobber, filename, memory)
        if atomic and not (mode[0] == "w" and clobber):
            raise ValueError("atomic goes with mode 'w' and clobber")
        if snapshot and mode[0] != "r":
            raise ValueError("snapshot goes with mode 'r'")
        if mode[0] == "r" and (exclusive or track_times):
            name = "exclusive" if exclusive else "track_times"
            raise ValueError(f"{name} goes with a mode that writes")
        if track_times and mode[0] != "a" and format.startswith("NETCDF3"):
            raise ValueError(_opening.NO_TIMES)
        if parallel:
            raise ValueError("parallel mode requires MPI enabled netcdf-c")
        source = _opening.source_of(filename, memory, encoding)
        external = _opening.external(allow_external)
        reading: dict[str, Any] = {"allow_external": external, "missing_bytes": missing_bytes}
        if snapshot and source[0] == "object":
            raise ValueError("snapshot goes with a path, or with bytes")
        put = object.__setattr__
        put(self, "_session", None)
        put(self, "_writer", None)
        put(self, "_ending", None)
        put(self, "_is_snapshot", snapshot)
        put(self, "_epoch", 0)
        if mode[0] == "r":
            file = _opening.open_source(source, **reading, snapshot=snapshot)
        else:
            path = str(source[2] if memory is not None else source[1])
            how = {
                "durability": durability,
                "lock": lock,
                "commit_interval": commit_interval,
                "track_times": track_times,
            }
            settings: dict[str, Any] = {"reading": reading, "options": how, "exclusive": exclusive}
            settings["in_memory"] = diskless or memory is not None
            settings["keep"] = diskless and persist and memory is None
            if mode[0] == "a":
                session = _sessions.edit(path, **settings)
            else:
                settings.update(format=format, clobber=clobber, atomic=atomic)
                session = _sessions.create(path, **settings)
            file = session.native.file()
            if track_times and not _opening.kind_of(file)[0].startswith("NETCDF4"):
                session.forget()
                raise ValueError(_opening.NO_TIMES)
            put(self, "_session", session)
            put(self, "_writer", session.native.root())
            put(self, "_ending", weakref.finalize(self, session.forget))
            session.add(self)
        options = {"keepweakref": keepweakref, "auto_complex": auto_complex}
        put(self, "_source", (source, options | reading | {"snapshot": snapshot}))
        put(self, "_file", file)
        put(self, "_kind", _opening.kind_of(file))
        put(self, "_path", "/")
        put(self, "parent", None)
        put(self, "keepweakref", keepweakref)
        put(self, "auto_complex", auto_complex)
        put(self, "_ncstring_attrs__", False)
        put(self, "_settings", dict(DEFAULTS))
        put(self, "_group_numbers", itertools.count(next(_file_numbers) << 16))
        self._start(file.root())

    def _start(self, native: Any) -> None:
        put = object.__setattr__
        put(self, "_grpid", next(self._group_numbers))
        put(self, "_native", native)
        put(self, "_attributes", None)
        put(self, "_dimensions", None)
        put(self, "_dimensions_seen", None)
        put(self, "_types", None)
        put(self, "_types_seen", None)
        # A group whose dict is all that is left of it is still needed by the dict.
        me = weakref.ref(self) if self.keepweakref else lambda: self
        put(self, "_variables", _lazy(me, "variable", VARIABLES))
        put(self, "_groups", _lazy(me, "group", GROUPS))

    # What it is

    @property
    def data_model(self) -> str:
        """netCDF's name of the data model, such as `NETCDF4`."""
        return self._kind[0]

    @property
    def file_format(self) -> str:
        """The same as `data_model`."""
        return self._kind[0]

    @property
    def disk_format(self) -> str:
        """`HDF5` or `NETCDF3`."""
        return self._kind[1]

    @property
    def _is_netcdf4(self) -> bool:
        return self._kind[0] in ("NETCDF4", "NETCDF4_CLASSIC")

    @property
    def path(self) -> str:
        """Path of the group, `/` for the root group."""
        return self._path

    @property
    def name(self) -> str:
        """Last part of the path, `/` for the root group."""
        self._check()
        return posixpath.basename(self._path) or "/"

    def filepath(self, encoding: str | None = None) -> str:
        """The path that the file was opened by."""
        self._check()
        name: str = self._file.name
        return name

    def _check(self) -> None:
        if self._native is CLOSED:
            raise RuntimeError(NOT_VALID)

    # Open and closed

    def isopen(self) -> bool:
        """Whether the file is open."""
        return self._native is not CLOSED

    # Names that packages use of netCDF4-python's, though they begin with an underscore.

    @property
    def _isopen(self) -> int:
        return int(self.isopen())

    def _getname(self) -> str:
        return self.name

    def _redef(self) -> None:
        """Does nothing: things can be defined at any time."""
        self._check()

    def _enddef(self) -> None:
        """Does nothing, as `_redef` does nothing."""
        self._check()

    def _close_mem(self, check_err: bool = True) -> memoryview | None:
        """Closes the file, and gives the bytes of one that was created in memory. Errors are told
        whatever `check_err` says.
        """
        return self.close()

    def close(self) -> memoryview | None:
        """Closes the file; what has been read from it stays. What was written is in the file now,
        all of it or nothing, as `sync` says.

        Gives the bytes of a file that was created in memory.
        """
        self._check()
        if self._ending is None:
            self._close()
            return None
        if self._ending.detach() is None:
            raise RuntimeError(NOT_VALID)
        try:
            written = self._session.end()
        finally:
            self._close()
        in_memory = self._source[0][0] == "memory"
        return memoryview(written) if in_memory and written is not None else None

    def discard(self) -> None:
        """Closes a file that is written without what was changed since the last commit.

        The file is what `sync` made of it last; a new one that was never committed is gone. But
        what stood in a classic file, or in a variable of numbers without chunks of more than
        64 KiB, and was written over stays so. `RuntimeError` where the file was opened for writing
        more than once in this process: its other datasets would lose their changes, too.
        """
        self._check()
        if self._ending is None:
            raise RuntimeError(READ_ONLY)
        native = self._session.leave_alone()
        self._ending.detach()
        self._close()
        native.discard()

    def refresh(self) -> bool:
        """Shows the file as its newest commit has it, or the file that has taken its place.

        Tells whether it was read anew; where nothing has changed since, that costs one call to
        the operating system. Variables, dimensions and groups that were asked for before show
        the new state, too; those that are not there any more say so. Of no effect on a file that
        is written, on a snapshot, and on bytes in memory.
        """
        self._check()
        root: Dataset = self
        while root.parent is not None:
            root = root.parent
        with _moving.moving():
            return root._show(root._found_anew(is_asked_for=True))

    def _opened_anew(self) -> _native.File | None:
        """The file in its newest state; None where this dataset shows that."""
        if self._session is not None or self._is_snapshot or self._source[0][0] == "memory":
            return None
        source, options = self._source
        reading = (options["allow_external"], options["missing_bytes"])
        is_object = source[0] == "object"
        found: _native.File | None
        found = _opening.open_source(source, *reading) if is_object else self._file.refresh()
        return found

    def _found_anew(self, is_asked_for: bool) -> list[Callable[[], object]]:
        """What shows what is known of the file as it is now; empty where this dataset shows that.

        What may fail is done here: all is shown as it was, or all as it is now. Unless it was asked
        for, it is the same file, whatever its path leads to.
        """
        file = self._opened_anew()
        if file is None:
            return []
        for _ in range(_MOST_LISTINGS):
            if not is_asked_for:
                _opening.check_same(file, self._file.identity())
            try:
                kind = _opening.kind_of(file)
                return list(self._renewal(file, kind, file.root(), is_asked_for))
            except _native.Changed:
                file = file.refresh() or file
        raise _native.Changed(f"{file.name} changes all the time")

    def _show(self, renewal: list[Callable[[], object]]) -> bool:
        """Shows it, so that requests that are under way notice; whether there is anything new."""
        if not renewal:
            return False
        object.__setattr__(self, "_epoch", self._epoch + 1)
        try:
            for show in renewal:
                show()
        finally:
            object.__setattr__(self, "_epoch", self._epoch + 1)
        return True

    def _move_on(self) -> bool:
        """Shows the newest state of the file, because the one that was shown is gone."""
        return self._show(self._found_anew(is_asked_for=False))

    def _renewal(
        self, file: Any, kind: tuple[str, str], native: Any, is_asked_for: bool
    ) -> Iterator[Callable[[], object]]:
        """What shows this group, and what is known in it, as they are in `file`; it cannot fail."""
        if native is None:
            yield self._close
            return
        found = None if self._dimensions is None else self._present_dimensions(native)
        variables = self._variables.made_by_name()
        present = {name: native.variable(name) for name in variables}
        groups = self._groups.made_by_name()
        below = {name: native.group(name) for name in groups}
        yield lambda: self._renew(file, kind, native, found)
        for name, variable in variables.items():
            yield partial(variable._renew, present[name], is_asked_for)
        yield partial(self._variables.renew, _there(present))
        for name, group in groups.items():
            yield from group._renewal(file, kind, below[name], is_asked_for)
        yield partial(self._groups.renew, _there(below))

    def _renew(
        self, file: Any, kind: tuple[str, str], native: Any, found: dict[str, Dimension] | None
    ) -> None:
        put = object.__setattr__
        put(self, "_file", file)
        put(self, "_kind", kind)
        put(self, "_native", native)
        put(self, "_attributes", None)
        put(self, "_types", None)
        if found is not None:
            for name, dimension in (self._dimensions or {}).items():
                if name in found:
                    found[name] = dimension._renewed(found[name])
        put(self, "_dimensions", found)

    def _close(self) -> None:
        for variable in self._variables.made():
            variable._close()
        for group in self._groups.made():
            group._close()
        put = object.__setattr__
        put(self, "_native", CLOSED)
        put(self, "_file", CLOSED)
        put(self, "_writer", CLOSED)
        put(self, "_session", CLOSED)
        put(self, "_attributes", None)

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, kind: Any = None, *exception: object) -> None:
        if kind is not None and self._session is not None and self._session.is_atomic:
            self.discard()
        else:
            self.close()

    def sync(self) -> None:
        """Makes all that was defined and written since the last time a part of the file, or nothing
        of it where that fails or the writer is killed; of no effect on a file that is only read.

        Not all or nothing is what is written over in a classic file, or in a variable of numbers
        without chunks of more than 64 KiB: it is in the file at once. Appending writes over
        nothing.
        """
        self._check()
        if self._session is not None:
            self._session.native.commit()

    def _new_group(self, name: str, native: Any = None) -> Group:
        return Group(self, name, native=native)

    def _writing(self) -> _native.GroupWriter:
        """What changes the group; an error where the file is only read or closed."""
        if self._writer is None:
            raise RuntimeError(READ_ONLY)
        writer: _native.GroupWriter = self._writer
        return writer

    def set_fill_on(self) -> None:
        """Has elements of variables created from now on read as fill values until written."""
        self._writing()
        self._session.native.set_fill(True)

    def set_fill_off(self) -> None:
        """Leaves open what elements of variables created from now on read as until written."""
        self._writing()
        self._session.native.set_fill(False)

    # Filters and CDL

    def has_blosc_filter(self) -> bool:
        """Whether blosc can be read and written: it can."""
        return True

    def has_zstd_filter(self) -> bool:
        """Whether zstandard can be read and written: it can."""
        return True

    def has_bzip2_filter(self) -> bool:
        """Whether bzip2 can be read and written: it can."""
        return True

    def has_szip_filter(self) -> bool:
        """Whether szip can be read and written: it can."""
        return True

    @_moving.request
    def tocdl(self, coordvars: bool = False, data: bool = False, outfile: Any = None) -> str | None:
        """The whole file as CDL, as it is now: without values, or with `data` with all, or with
        those of coordinate variables if `coordvars`. It is written to `outfile` if there is one.
        """
        self._check()
        text: str = self._file.cdl(coordvars, data)
        if outfile is None:
            return text
        pathlib.Path(outfile).write_text(text, encoding="utf-8")
        return None

    @staticmethod
    def fromcdl(
        cdlfilename: str | os.PathLike[str],
        ncfilename: str | os.PathLike[str] | None = None,
        mode: str = "a",
        format: str = "NETCDF4",
    ) -> Dataset:
        """Creates a file from a text in CDL, as `ncgen` does, and opens it.

        It is `ncfilename`, or else the text's path with the suffix `.nc`, and must not be there yet
        (`FileExistsError`). `ValueError` says what is wrong with the text, and where.
        """
        text = pathlib.Path(cdlfilename)
        path = text.with_suffix(".nc") if ncfilename is None else pathlib.Path(ncfilename)
        content = text.read_bytes()
        if path.exists():
            raise FileExistsError(f"{path} is there already")
        _native.generate(str(path), content, format)
        return Dataset(path, mode)

    # How it is shown and sent

    @_moving.request
    def __repr__(self) -> str:
        self._check()
        lines = [repr(type(self))]
        if self._path == "/":
            lines.append(f"root group ({self.data_model} data model, file format {self._kind[1]}):")
        else:
            lines.append(f"group {self._path}:")
        lines += [f"    {name}: {self.getncattr(name)!s}" for name in self.ncattrs()]
        sizes = [f"{name}({len(dimension)})" for name, dimension in self.dimensions.items()]
        variables = [
            f"{variable.dtype} {name}({', '.join(variable.dimensions)})"
            for name, variable in self.variables.items()
        ]
        lines.append(f"    dimensions(sizes): {', '.join(sizes)}")
        lines.append(f"    variables(dimensions): {', '.join(variables)}")
        lines.append(f"    groups: {', '.join(self.groups)}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        self._check()
        if self._writer is not None:
            raise NotImplementedError("a Dataset that is being written cannot be pickled")
        (kind, what, name), options = self._source
        if kind == "path":
            # Whoever unpickles it may have another working directory.
            what = os.path.abspath(what)
        identity = self._file.identity()
        return (_reopened, ((kind, what, name), options, self._settings, identity))


class Group(Dataset):
    """A group in a file, with a path of its own."""

    __slots__ = ()

    def __init__(self, parent: Dataset, name: str, *, native: Any = None) -> None:
        """Defines a group, as `Dataset.createGroup` does."""
        put = object.__setattr__
        if native is None:
            writer = parent._writing().define_group(name)
            native = parent._native.group(name)
        else:
            writer = parent._writer and parent._writer.group(name)
        put(self, "_writer", writer)
        put(self, "_session", parent._session)
        put(self, "_ending", None)
        put(self, "_is_snapshot", parent._is_snapshot)
        put(self, "_epoch", 0)
        put(self, "_source", None)
        put(self, "_file", parent._file)
        put(self, "_kind", parent._kind)
        put(self, "_path", posixpath.join(parent.path, name))
        put(self, "parent", parent)
        put(self, "keepweakref", parent.keepweakref)
        put(self, "auto_complex", parent.auto_complex)
        put(self, "_ncstring_attrs__", parent._ncstring_attrs__)
        put(self, "_settings", dict(parent._settings))
        put(self, "_group_numbers", parent._group_numbers)
        self._start(native)

    def close(self) -> NoReturn:
        """Groups cannot be closed, only files."""
        raise OSError("cannot close a `Group` (only applies to Dataset)")

    def __reduce__(self) -> tuple[Any, ...]:
        return (_group_of, (self.parent, posixpath.basename(self._path)))


def _reopened(
    source: tuple[str, Any, str | None],
    options: dict[str, Any],
    settings: dict[str, Any],
    identity: tuple[Any, ...] | None = None,
) -> Dataset:
    kind, what, name = source
    if kind == "memory":
        dataset = Dataset(name or "<memory>", memory=what, **options)
    else:
        if kind == "object" and isinstance(what, io.IOBase):
            what.seek(0)
        dataset = Dataset(what, **options)
    _opening.check_same(dataset._file, identity, is_snapshot=dataset._is_snapshot)
    dataset._settings.update(settings)
    return dataset


def _group_of(parent: Dataset, name: str) -> Group:
    return parent.groups[name]


def _there(found: dict[str, Any]) -> set[str]:
    return {name for name, native in found.items() if native is not None}


def _lazy(me: Callable[[], Any], what: str, kind: int) -> LazyDict[Any]:
    def group() -> Any:
        found = me()
        if found is None:
            raise ReferenceError("weakly-referenced object no longer exists")
        return found

    def names() -> Any:
        return getattr(group()._native, f"{what}_names")()

    def make(name: str) -> Any:
        return getattr(group(), f"_{what}")(name)

    def revision() -> Any:
        return group()._revision(kind)

    def ask(find: Callable[[], Any]) -> Any:
        found = me()
        root = None if found is None else _moving.root_of(found)
        return find() if root is None else _moving.answer(root, find)

    return LazyDict(names, make, revision, ask)
