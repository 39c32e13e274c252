"""``--desk URL``: ask a custodian's desk in place of a file; the token is in ``DPCAUSAL_TOKEN``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from dpcausal.desk.client import RemoteDataset

DeskUrl = Annotated[
    str | None,
    typer.Option(
        "--desk",
        help="A custodian's desk; DPCAUSAL_TOKEN.",
        metavar="URL",
    ),
]


def at_desk(
    url: str, dataset: str | None, unused: Mapping[str, Any], purpose: str | None = "free"
) -> RemoteDataset:
    """Return the data set at a desk; refuse options that go with a file here, by their names in ``unused``."""
    given = [name for name, value in unused.items() if value]
    if given:
        raise InputError(f"with --desk the custodian has the rows: leave out {', '.join(given)}")
    if dataset is None:
        raise InputError("name the data set at the desk: --dataset NAME")
    if not purpose:
        raise InputError("a desk records what a question is for: --purpose TEXT")
    from dpcausal.desk.client import remote

    return remote(url)[dataset]
