"""Isotach in the place of the module `netCDF4`, for every package that imports that."""

from __future__ import annotations

import importlib.machinery
import importlib.metadata
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

import isotach
from isotach import _netCDF4, utils

#: The release of netCDF4-python whose interface this is: packages choose by it what they call.
INTERFACE = "1.7.5.1"
#: A folder that leads `import netCDF4` here where it is on Python's path.
FOLDER = Path(__file__).with_name("replacement")

_NAME = "netCDF4"
_TYPES = f"{_NAME}._netCDF4"
_UTILS = f"{_NAME}.utils"


def replace_netcdf4() -> None:
    """Puts Isotach in the place of the module `netCDF4`, for the whole process: every package that
    imports it from now on gets Isotach. Of no effect where that is done already.

    `RuntimeError` where netCDF4-python itself is imported: whoever has imported it would keep it,
    and two packages would share a file without knowing of each other.
    """
    there = sys.modules.get(_NAME)
    if there is not None and not isinstance(there, StandIn):
        raise RuntimeError(
            f"netCDF4 is imported already, from {getattr(there, '__file__', 'nowhere')}: call"
            " replace_netcdf4() before anything imports it, or start the program with"
            " `python -m isotach.run`"
        )
    if there is None:
        install()


def install() -> None:
    """Puts the modules where `import` finds them, whatever is there."""
    sys.modules.update(_modules())
    if not any(isinstance(finder, _Distributions) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Distributions())


def lead_children() -> None:
    """Has Python processes that this one starts import Isotach for `netCDF4`, too."""
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(FOLDER) not in before:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(FOLDER), *filter(None, before)])
    # Those of `multiprocessing` take over this path. It begins with the program's own folder.
    if str(FOLDER) not in sys.path:
        sys.path.insert(1, str(FOLDER))


class StandIn(ModuleType):
    """A module in the place of one of netCDF4-python's."""

    def __getattr__(self, name: str) -> Any:
        # Names whose modules are loaded only for those who use them.
        if name in self.__dict__.get("__all__", ()):
            return self.__dict__.setdefault(name, getattr(isotach, name))
        raise AttributeError(f"isotach, which stands in for {self.__name__}, has no {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*self.__dict__, *self.__dict__.get("__all__", ())})


class _Distribution(importlib.metadata.Distribution):
    """What `importlib.metadata` tells of the package that is stood in for."""

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        return (
            f"Metadata-Version: 2.1\nName: {_NAME}\nVersion: {INTERFACE}\n"
            f"Summary: isotach {isotach.__version__} in its place\n"
        )

    def locate_file(self, path: Any) -> Path:
        return Path(FOLDER, path)


class _Distributions:
    """A finder of no module, and of that distribution for who asks for it by name."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Leaves all modules to other finders."""

    def find_distributions(self, context: Any = None) -> Iterable[importlib.metadata.Distribution]:
        """The distribution, for those who name it."""
        name = getattr(context, "name", None)
        is_meant = name is not None and name.lower() == _NAME.lower()
        return [_Distribution()] if is_meant else []


def _modules() -> dict[str, StandIn]:
    own = vars(ModuleType(_NAME)).keys() | {"__all__", "__builtins__", "__cached__", "__file__"}
    found = {name: value for name, value in vars(_netCDF4).items() if name not in own}
    found["__version__"] = INTERFACE
    helpers = {name: value for name, value in vars(utils).items() if name not in own}
    types = _module(_TYPES, found, _netCDF4.__all__)
    tools = _module(_UTILS, helpers, [])
    public = {name: value for name, value in found.items() if _is_public(name)}
    package = _module(_NAME, public | {"_netCDF4": types, "utils": tools}, _netCDF4.__all__)
    package.__path__ = []
    return {_NAME: package, _TYPES: types, _UTILS: tools}


def _is_public(name: str) -> bool:
    return name in _netCDF4.__all__ or name.startswith(("__", "NC_"))


def _module(name: str, members: dict[str, Any], public: list[str]) -> StandIn:
    module = StandIn(name, f"Isotach {isotach.__version__} in the place of {name}.")
    is_package = name == _NAME
    module.__spec__ = importlib.machinery.ModuleSpec(
        name, None, origin=isotach.__file__, is_package=is_package
    )
    module.__package__ = _NAME
    module.__file__ = isotach.__file__
    module.__dict__.update(members)
    module.__dict__["__all__"] = public
    return module
