"""Keep commands light: what libraries load along the way and no command uses.

All of it only changes what is imported, and falls back to the libraries' own way where something is not as expected.
"""

from __future__ import annotations

import re
import sys
from importlib.abc import MetaPathFinder
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

ARROW_FILES = {".csv", ".tsv", ".txt", ".parquet", ".pq", ".arrow", ".feather", ".ipc"}
SPARED = ("f2py", "testing")  # of numpy
SPECIAL = "scipy.special"
COMPUTE, MENTIONED = "pyarrow.compute", "utf8_zero_fill"
PLAIN_NUMBER = re.compile(r"[+-]?\d{1,15}(\.\d{1,15})?([eE][+-]?\d{1,2})?")


def load_scipy() -> None:
    """Load the functions of ``scipy.special`` that are compiled, and not what wraps them for other array libraries.

    Whoever asks for more of it gets the whole package.
    """
    if SPECIAL in sys.modules:
        return
    try:
        _load_special()
    except (ImportError, AttributeError):
        for name in [name for name in sys.modules if name.startswith(SPECIAL)]:
            del sys.modules[name]
        _load_all_of_special()


def _load_special() -> None:
    """Put a package in the place of ``scipy.special`` that has its compiled functions and loads the rest if asked."""
    import scipy

    place = find_spec(SPECIAL)
    if place is None or place.submodule_search_locations is None:
        raise ImportError(SPECIAL)
    small = ModuleType(SPECIAL)
    small.__path__ = list(place.submodule_search_locations)
    small.__spec__ = place
    small.__file__ = place.origin
    sys.modules[SPECIAL] = small
    from scipy.special import _ufuncs

    small.__dict__.update({name: getattr(_ufuncs, name) for name in _ufuncs.__all__})

    def rest(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        del small.__dict__["__getattr__"]
        del sys.modules[SPECIAL]
        _load_all_of_special()
        small.__dict__.update(sys.modules[SPECIAL].__dict__)
        return getattr(small, name)

    small.__dict__["__getattr__"] = rest
    scipy.__dict__["special"] = small


def _load_all_of_special() -> None:
    """Import ``scipy.special`` without numpy's Fortran compiler and test tools.

    scipy copies every public name of numpy, and asking for these two names imports them. They are given empty modules
    meanwhile; whoever asks for them afterwards gets the real ones.
    """
    import numpy as np

    put = {name: ModuleType(f"numpy.{name}") for name in SPARED if name not in vars(np)}
    for name, empty in put.items():
        setattr(np, name, empty)
    try:
        import scipy.special  # noqa: F401
    finally:
        for name, empty in put.items():
            if vars(np).get(name) is empty:
                delattr(np, name)


def spare_pydantic() -> None:
    """Let typer take texts, plain numbers and flags as they are; pydantic is for what is not so plain.

    Where a value is not plain, or typer is built in another way than expected, typer does it all.
    """
    try:
        from typer import core

        names: dict[str, Any] = vars(core)
        build = names["build_runtime_param"]
    except (ImportError, KeyError):
        return
    names["build_runtime_param"] = lambda descriptor: _Plain(descriptor, build)


class _Plain:
    """What typer asks to turn a word of the command line into a value."""

    def __init__(self, descriptor: Any, build: Any) -> None:
        self.descriptor, self.build = descriptor, build

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of a word, or of the words of an option that may be repeated."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        found = plain_value(value, self.descriptor.annotation, self.descriptor.parameter_info)
        return self.build(self.descriptor).coerce(value, param=param, ctx=ctx) if found is None else found


def plain_value(value: Any, kind: Any, info: Any) -> Any:
    """Return the value of this kind, or None where pydantic has to look.

    >>> from typer.models import OptionInfo
    >>> [plain_value(word, float, OptionInfo()) for word in ("1e-6", "three")]
    [1e-06, None]
    """
    limits = (info.min, info.max, info.formats)
    if any(limit is not None for limit in limits):
        return None
    if info.parser is not None:
        try:
            return info.parser(value)
        except Exception:  # said by typer, in its words
            return None
    if kind is str and type(value) is str:
        return value
    if kind is bool and type(value) is bool:
        return value
    if kind in (float, int) and type(value) is kind:
        return value
    if kind is float and type(value) is str and PLAIN_NUMBER.fullmatch(value):
        return float(value)
    if kind is int and type(value) is str and re.fullmatch(r"\d{1,15}", value):
        return int(value)
    if kind == list[str] and isinstance(value, list | tuple) and all(type(one) is str for one in value):
        return list(value)
    return None


def load_help() -> None:
    """Import what typer writes help with, without the parts of rich for Markdown and tracebacks: no command has any."""
    if "typer.rich_utils" in sys.modules:
        return
    put = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
    empty = {name: ModuleType(name) for name in put if name not in sys.modules}
    for name, module in empty.items():
        setattr(module, put[name], type(put[name], (), {}))
        sys.modules[name] = module
    try:
        import typer.rich_utils  # noqa: F401
    except (ImportError, AttributeError):
        sys.modules.pop("typer.rich_utils", None)
    finally:
        for name, module in empty.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]


def load_pyarrow(data: Path | None) -> None:
    """Import pyarrow so that it does not look for pandas, where the rows are in a file that pyarrow reads itself.

    pyarrow imports pandas, where it is installed, when it makes its first array, to recognise frames: here are none.
    """
    if data is None or data.suffix.lower() not in ARROW_FILES or "pandas" in sys.modules:
        return
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        import pyarrow as pa

        pa.array([0])
    finally:
        sys.meta_path.remove(hidden)
    load_compute()


def load_compute() -> None:
    """Import ``pyarrow.compute`` so that it makes each of its 300 functions when somebody asks for it.

    pyarrow writes the help of all of them when it is imported.
    """
    if COMPUTE in sys.modules:
        return
    try:
        _load_compute()
    except (ImportError, AttributeError, KeyError):
        sys.modules.pop(COMPUTE, None)
        import pyarrow.compute  # noqa: F401


def _load_compute() -> None:
    """Import it with a registry that lists the one function it mentions; others are listed as they are asked for."""
    from pyarrow import _compute

    ask = _compute.function_registry
    listed = {name: name for name in ask().list_functions()} | {"and_": "and", "or_": "or"}
    _compute.function_registry = lambda: _Listing(ask(), [MENTIONED])
    try:
        from pyarrow import compute

        names = vars(compute)
    finally:
        _compute.function_registry = ask
    lock = Lock()

    def rest(name: str) -> Any:
        with lock:
            if name in listed and name not in names:
                names["function_registry"] = lambda: _Listing(ask(), [listed[name]])
                try:
                    names["_make_global_functions"]()
                finally:
                    names["function_registry"] = ask
        if name not in names:  # it makes none of those that can't be called alone
            raise AttributeError(f"module {COMPUTE!r} has no attribute {name!r}")
        return names[name]

    names["function_registry"], names["__getattr__"] = ask, rest


class _Listing:
    """pyarrow's registry of functions that lists only some of them."""

    def __init__(self, registry: Any, names: list[str]) -> None:
        self.get_function, self.names = registry.get_function, names

    def list_functions(self) -> list[str]:
        return self.names


class _Hidden(MetaPathFinder):
    """Says that there is no pandas."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError("pandas is not needed here", name="pandas")
