"""The five networks that come with the package, from our own data files.

Each file is one JSON object: ``name``, ``source`` (the publication its numbers are from), ``variables`` with
``name``, ``levels``, ``ordered``, ``parents`` and ``rows``, one row of probabilities per configuration of the
parents' levels, the last parent's level changing fastest.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

import numpy as np

from dpcausal.core.errors import InputError, did_you_mean
from dpcausal.networks.network import Network, Variable

_NAMES = ("asia", "cancer", "earthquake", "sachs", "survey")


def names() -> tuple[str, ...]:
    """Return the names that ``load`` knows.

    >>> names()
    ('asia', 'cancer', 'earthquake', 'sachs', 'survey')
    """
    return _NAMES


@cache
def load(name: str) -> Network:
    """Return the network of that name that comes with the package; ``read_bif`` reads others from files.

    Parameters
    ----------
    name : str
        One of ``names()``.

    Returns
    -------
    Network

    Raises
    ------
    InputError
        If there is none of that name.

    Examples
    --------
    >>> load("cancer").dag
    Graph(Pollution -> Cancer, Smoker -> Cancer, Cancer -> Xray, Cancer -> Dyspnoea)
    """
    if name not in _NAMES:
        hint = did_you_mean(str(name), _NAMES)
        raise InputError(f'no network "{name}"{hint}: known are {", ".join(_NAMES)}; read_bif reads others')
    found = json.loads(files(__package__).joinpath("data", f"{name}.json").read_text(encoding="utf-8"))
    sizes = {entry["name"]: len(entry["levels"]) for entry in found["variables"]}
    return Network(
        found["name"],
        [
            Variable(
                entry["name"],
                entry["levels"],
                entry["parents"],
                np.reshape(
                    entry["rows"], [*(sizes[parent] for parent in entry["parents"]), sizes[entry["name"]]]
                ),
                ordered=entry["ordered"],
            )
            for entry in found["variables"]
        ],
    )
