"""Result objects as JSON, and back: what a desk sends and ``dc.remote`` rebuilds.

A value is written with the name of its class and its fields, and read by setting those fields again: the object is the
same one that the function returned. Only values travel: facts, enumerations and frozen dataclasses of this package,
and of other types numbers, texts, collections of them and arrays of numbers. Whatever could hold rows is refused by
name, on both sides: data sets, counts, and budgets with the rows behind them (``Reserve``).

Nothing that arrives is executed: a name outside of this package, or of something that is no such value, is refused.
"""

from __future__ import annotations

import base64
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from types import MappingProxyType
from typing import Any

import numpy as np

from dpcausal.citests import ci_test
from dpcausal.core.errors import InputError
from dpcausal.data.schema import Schema
from dpcausal.discovery import discover, release
from dpcausal.effects import effect
from dpcausal.graphs.graph import Graph
from dpcausal.gwas import screen
from dpcausal.planning import plan

LOADED = ci_test, discover, effect, plan, release, screen  # and with them every class of a result

FORMAT = 1
# rooms, modules and a class whose values hold rows, or a right to spend
HOLDS_ROWS = (
    "dpcausal.counts",
    "dpcausal.privacy",
    "dpcausal.data.dataset",
    "dpcausal.discovery.effect_after:Reserve",
    "dpcausal.gwas.cohort:GenotypeCounts",
    "dpcausal.gwas.cohort:Cohort",
)
# noisy tables, which were released
NOISY = ("dpcausal.discovery.measured.tables:JointTable", "dpcausal.discovery.measured.tables:Components")


def to_wire(value: Any) -> str:
    """Return a result as JSON text."""
    return json.dumps({"format": FORMAT, "value": _plain(value)}, allow_nan=False, separators=(",", ":"))


def from_wire(text: str) -> Any:
    """Return the result that ``to_wire`` wrote; raise ``InputError`` for anything else."""
    try:
        found = json.loads(text)
        if found["format"] != FORMAT:
            raise InputError("this result was written by another version of dpcausal: upgrade the older side")
        return _value(found["value"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, ImportError):
        raise InputError("this is no result of a desk, or it was damaged on the way") from None


def _class_name(kind: type) -> str:
    """Return the name of a class; refuse those that may not travel."""
    name = f"{kind.__module__}:{kind.__qualname__}"
    if not kind.__module__.startswith("dpcausal.") or name.startswith(HOLDS_ROWS):
        raise InputError(f"a {kind.__name__} does not leave the desk")
    return name


def _is_plain(kind: type) -> bool:
    """Return whether values of a class are written by their attributes, although it is no dataclass."""
    return f"{kind.__module__}:{kind.__qualname__}" in NOISY


def _plain(value: Any) -> Any:
    """Return a value as plain data; every kind but text, whole number, truth and None has a tag."""
    if isinstance(value, Enum):
        return {"enum": _class_name(type(value)), "name": value.name}
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            raise InputError("only arrays of numbers leave the desk")
        data = base64.b64encode(np.ascontiguousarray(value).tobytes()).decode()
        return {"array": value.dtype.str, "shape": list(value.shape), "data": data}
    if isinstance(value, Schema):
        return {"schema": value.to_toml()}
    if isinstance(value, Graph):
        return {"graph": value.to_json()}
    if isinstance(value, Mapping | tuple | list | frozenset | set):
        return _plain_collection(value)
    if _is_plain(type(value)):
        named = vars(value)
    elif is_dataclass(value) and not isinstance(value, type):
        named = {one.name: getattr(value, one.name) for one in fields(value)}
    else:
        raise InputError(f"a {type(value).__name__} does not leave the desk")
    return {
        "class": _class_name(type(value)),
        "fields": {name: _plain(one) for name, one in named.items()},
    }


def _plain_collection(value: Any) -> Any:
    """Return a collection of values as plain data."""
    if isinstance(value, Mapping):
        pairs = [[_plain(key), _plain(one)] for key, one in value.items()]
        return {"frozen" if isinstance(value, MappingProxyType) else "dict": pairs}
    items = [_plain(one) for one in value]
    if hasattr(value, "_fields"):
        return {"tuple_of": _class_name(type(value)), "items": items}
    tag = next(kind.__name__ for kind in (list, tuple, frozenset, set) if isinstance(value, kind))
    return {tag: sorted(items, key=repr) if tag.endswith("set") else items}


def _value(plain: Any) -> Any:
    """Return the value that ``_plain`` wrote."""
    if not isinstance(plain, dict):
        return plain
    match plain:
        case {"enum": name, "name": member}:
            return _class(name, Enum)[member]
        case {"float": text}:
            return float(text)
        case {"array": kind, "shape": shape, "data": data}:
            if np.dtype(kind).kind not in "biuf":
                raise InputError("only arrays of numbers come from a desk")
            return np.frombuffer(base64.b64decode(data), dtype=kind).reshape(shape).copy()
        case {"schema": text}:
            return Schema.from_toml_string(text)
        case {"graph": text}:
            return Graph.from_json(text)
        case {"dict": pairs}:
            return {_value(key): _value(one) for key, one in pairs}
        case {"frozen": pairs}:
            return MappingProxyType({_value(key): _value(one) for key, one in pairs})
        case {"tuple_of": name, "items": items}:
            return _class(name, tuple)(*map(_value, items))
        case {"list": items}:
            return [_value(one) for one in items]
        case {"tuple": items}:
            return tuple(map(_value, items))
        case {"frozenset": items}:
            return frozenset(map(_value, items))
        case {"set": items}:
            return set(map(_value, items))
        case {"class": name, "fields": named}:
            return _rebuilt(_class(name, object), named)
    raise InputError("this is no result of a desk, or it was damaged on the way")


def _class(name: str, kind: type) -> Any:
    """Return a class of this package by its name; refuse any other."""
    module, _, qualified = name.partition(":")
    found: Any = sys.modules.get(module) if module.startswith("dpcausal.") else None
    for part in qualified.split("."):
        found = getattr(found, part)
    if not isinstance(found, type) or not issubclass(found, kind) or _class_name(found) != name:
        raise InputError(f"{name} is no result of a desk")
    return found


def _rebuilt(kind: type, named: Mapping[str, Any]) -> Any:
    """Return a dataclass with these fields; no code of the class is run."""
    if not _is_plain(kind) and (not is_dataclass(kind) or {one.name for one in fields(kind)} != set(named)):
        raise InputError("this result was written by another version of dpcausal: upgrade the older side")
    found: Any = object.__new__(kind)
    for name, one in named.items():
        object.__setattr__(found, name, _value(one))
    return found
