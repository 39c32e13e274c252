"""What one site measures and gives away: a folder with released tables and their privacy statement.

``contribute`` executes the plan of a protocol on the rows of one site by ``discover``, so that it is charged, counted
and noised as any other discovery is, and keeps what was released. The folder alone travels: ``release.json`` (the noisy
tables, as of ``discover``, so that the site can search them by itself), ``privacy.json`` and ``contribution.json``.

**The file** ``contribution.json`` has ``format``; ``site``; ``protocol``, whole; ``software``; ``release``, the id of
what was released; ``privacy``, a hash of the statement; ``rest_of``, in a second round; and ``id``, a hash of all
these. A folder of which any part was changed or exchanged is refused. It is no signature: whoever can write all of it
can write the id, too, and nobody can see whether the tables are of real rows.

**The second of two rounds** spends the rest of the charge that the site's own first contribution made for both, once
(``privacy/accounting/rounds.proof.md``). Its folder or its ledger says which.

**Guarantee** that of ``discover``: (epsilon, delta)-DP for the rows of this site, charged before noise is drawn; of two
rounds, for both together.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dpcausal._version import __version__
from dpcausal.core.arguments import checked_name, refuses_schema
from dpcausal.core.display import display
from dpcausal.core.errors import InputError
from dpcausal.core.facts import content_id
from dpcausal.core.json_files import check_kind, read_json, save_text
from dpcausal.core.neighbours import Neighbours
from dpcausal.core.statement import PrivacyStatement
from dpcausal.counts.memory import counts_of
from dpcausal.counts.protocol import Counts, unit_of
from dpcausal.data.dataset import Dataset
from dpcausal.discovery.discover import discover
from dpcausal.discovery.measured.measure import Measurements
from dpcausal.discovery.release import Release, load_release
from dpcausal.privacy.accounting.composition import FirstCharge
from dpcausal.privacy.budget import charged_for_two_rounds
from dpcausal.sites.protocol import Protocol, load_protocol, protocol_of

if TYPE_CHECKING:
    from dpcausal.privacy.ledger import Ledger

FORMAT = 1
Terms = tuple[float | None, float | None, Neighbours | None]
FILE, RELEASE, STATEMENT = "contribution.json", "release.json", "privacy.json"


@dataclass(frozen=True, eq=False)
class Contribution:
    """What a site released under a protocol.

    Attributes
    ----------
    site : str
        Its name.
    protocol : Protocol
        What it was asked to measure.
    release : Release
        The noisy tables; ``.discover()`` searches them at no cost.
    software : str
        What made it.
    rest_of : str or None
        In the second of two rounds: the id of the first contribution, of whose charge this is the rest, if named.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("asia").sample(2_000, seed=1)
    >>> found = dc.contribute(data, dc.protocol(data.schema, [2_000], epsilon=1.0, delta=1e-6), "north")
    >>> sorted(found.files())
    ['contribution.json', 'privacy.json', 'release.json']
    """

    site: str
    protocol: Protocol
    release: Release
    software: str = f"dpcausal {__version__}"
    rest_of: str | None = None

    def __repr__(self) -> str:
        return (
            f"Contribution({self.site!r}, round {self.protocol.round} of protocol {self.protocol.first_id})"
        )

    @property
    def privacy(self) -> PrivacyStatement:
        """What it cost the rows of this site."""
        return self.release.privacy

    @property
    def values(self) -> Measurements:
        """The noisy tables."""
        assert isinstance(self.release.values, Measurements)
        return self.release.values

    @property
    def id(self) -> str:
        """The name of the contribution, made from its content."""
        return content_id(self._content())

    def summary(self) -> str:
        """Return what was released and what it cost, in plain lines."""
        return display().summary(self)

    def __str__(self) -> str:
        return self.summary()

    def files(self) -> dict[str, str]:
        """Return the text of every file of the folder, by name."""
        head = {"format": FORMAT, "id": self.id}
        stamp = {"private": self.privacy.private}
        data = {**stamp, **head, **self._content(), "protocol": self.protocol.to_dict()}
        return {
            FILE: json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n",
            RELEASE: self.release.to_json() + "\n",
            STATEMENT: self.privacy.to_json() + "\n",
        }

    def save(self, folder: str | os.PathLike[str]) -> str:
        """Write the folder that ``dc.pool`` reads, and return its path.

        Raises
        ------
        InputError
            If it can't be written, or holds a contribution already.
        """
        where = Path(folder)
        refuse_used(where)
        try:
            where.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"can't write {str(where)!r}: {error.strerror or error}") from None
        for name, text in self.files().items():
            save_text(where / name, text)
        return str(where)

    def _content(self) -> dict[str, Any]:
        """Return what the id is made of."""
        return {
            "site": self.site,
            "protocol": self.protocol.id,
            "software": self.software,
            "release": self.release.id,
            "privacy": content_id(self.privacy.to_dict()),
            **({} if self.rest_of is None else {"rest_of": self.rest_of}),
        }


def refuse_used(folder: Path) -> None:
    """Refuse a folder that holds a contribution already: it was paid for."""
    if (folder / FILE).exists():
        raise InputError(
            f"{str(folder)!r} holds a contribution already, which was paid for: name another folder"
        )


@refuses_schema
def contribute(
    data: Dataset | Counts,
    protocol: Protocol | str | os.PathLike[str],
    site: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    neighbours: Literal["replace-one", "add-remove"] | Neighbours | None = None,
    rest_of: Contribution | str | os.PathLike[str] | None = None,
    ledger: str | Ledger | None = None,
    dataset: str | None = None,
    progress: bool = False,
) -> Contribution:
    """Measure what a protocol asks of one site.

    **Guarantee**: (epsilon, delta)-DP for the rows of this site, as of ``discover``: the charge comes before noise is
    drawn. What other sites contribute does not matter to it.

    Parameters
    ----------
    data : Dataset or Counts
        The rows of the site, read by the protocol's schema, or by a part of its columns where the site lacks some.
    protocol : Protocol or path
        What to measure.
    site : str
        The name of the site. It is shown with the result. In the second round it must be that of the first.
    epsilon, delta : float or None, default None
        What the site charges, for two rounds together, where that is not what the protocol asks for.
    neighbours : str, Neighbours or None, default None
        Of this site, where it is not that of the protocol.
    rest_of : Contribution, path or None, default None
        In the second of two rounds: this site's own contribution to the first, whose charge is for both, so that unit,
        terms and rows are compared. The rest of the charge can be spent once. None: the charge that the ledger has for
        the first round of this protocol; without a ledger it must be named.
    ledger, dataset, progress
        As for ``dc.discover``.

    Returns
    -------
    Contribution
        ``.save(folder)`` writes what travels.

    Raises
    ------
    InputError
        If an argument can't be used as given; nothing was charged.
    BudgetError
        If the ledger does not allow it, or the rest of the first round was spent; nothing was released.

    Examples
    --------
    >>> import dpcausal as dc
    >>> data = dc.networks.load("asia").sample(2_000, seed=1)
    >>> protocol = dc.protocol(data.schema, [2_000, 2_000], epsilon=1.0, delta=1e-6)
    >>> given = dc.contribute(data, protocol, "north")
    >>> given.site, given.privacy.epsilon <= 1.0
    ('north', True)
    """
    asked = protocol if isinstance(protocol, Protocol) else load_protocol(_checked_path(protocol))
    name = checked_site(site)
    if asked.sites and name not in asked.sites:
        known = ", ".join(asked.sites)
        raise InputError(f"no site {name!r} took part in the first round: there are {known}")
    counts = counts_of(data)
    relation = None if neighbours is None else Neighbours.parse(neighbours, labels=False)
    terms, first = (epsilon, delta, relation), first_of_two(rest_of, asked, name)
    if first is not None:
        terms = terms_of_both(first, terms)
        refuse_other_ledger(first, ledger, dataset)
        refuse_other_persons(first, counts)
    # for the rows of the protocol: discover takes those that there are, where their number is public
    plan = replace(asked.plan_for(counts.schema, max(asked.rows), *terms), searched=False)
    if asked.round == 2:
        plan = replace(plan, rest_of=charge_for_both(first, asked, ledger, dataset))
    if first is not None and plan.measurement.public.delta != first.values.plan.public.delta:
        raise InputError(
            "the second round would have another kind of noise than the first: use the version that made the first"
        )
    found = discover(
        data, plan=plan, ledger=ledger, dataset=dataset, progress=progress, anyway=True, confidence=0
    )
    assert isinstance(found.release, Release)
    return Contribution(name, asked, found.release, rest_of=None if first is None else first.id)


def charge_for_both(
    first: Contribution | None, asked: Protocol, ledger: str | Ledger | None, dataset: str | None
) -> FirstCharge:
    """Return the charge of the first round: as its folder says, or else as the ledger has it for this protocol."""
    if first is not None:
        return FirstCharge(first.release.id, (first.privacy.ledger or {}).get("release"))
    if ledger is None:
        raise InputError(
            "the second round spends the rest of what the first was charged: name the ledger, or the folder of this "
            "site's first contribution (--rest-of, or rest_of=)"
        )
    return FirstCharge(asked.first_id, charged_for_two_rounds(ledger, dataset, asked.first_id))


def first_of_two(
    rest_of: Contribution | str | os.PathLike[str] | None, asked: Protocol, site: str
) -> Contribution | None:
    """Return this site's contribution to the first round, of whose charge the second has the rest; None: not named."""
    if rest_of is None:
        return None
    if asked.round == 1:
        raise InputError("only the second round spends the rest of a charge: leave out rest_of (--rest-of)")
    first = rest_of if isinstance(rest_of, Contribution) else load_contribution(rest_of)
    if first.site != site or first.protocol.id != asked.first:
        raise InputError(
            f"that is {first.site}'s contribution to protocol {first.protocol.id}, not {site}'s to {asked.first}, the "
            "first round of this protocol"
        )
    part = first.values.plan.public.part
    if part is None or part.round != 1:
        raise InputError(f"the first round of {site} was charged for itself alone: there is no rest of it")
    if asked.part is None or asked.part.first != part.first:
        raise InputError(f"the first round of {site} had another share than this second one leaves it")
    return first


def terms_of_both(first: Contribution, asked: Terms) -> Terms:
    """Return epsilon, delta and neighbours as the first round charged them for both; refuse others."""
    public = first.values.plan.public
    both = (public.epsilon, public.delta, public.neighbours)
    if any(mine is not None and mine != theirs for mine, theirs in zip(asked, both, strict=True)):
        raise InputError(
            f"the first round was charged epsilon {both[0]:g}, delta {both[1]:g} ({both[2]}) for both: leave out others"
        )
    return both


def refuse_other_ledger(first: Contribution, ledger: object, dataset: str | None) -> None:
    """Refuse a second round that is counted elsewhere than the first."""
    before = first.privacy.ledger
    if (before is None) != (ledger is None):
        how = "no ledger: leave it out" if before is None else "a ledger: name the same one"
        raise InputError(f"the first round was charged to {how}")
    if before is not None and before["dataset"] != dataset:
        raise InputError(f"the first round was charged to data set {before['dataset']!r}, not {dataset!r}")


def refuse_other_persons(first: Contribution, counts: Counts) -> None:
    """Refuse a second round of other rows, as far as public numbers tell, or for another unit of privacy."""
    if first.privacy.unit != unit_of(counts):
        raise InputError(
            "the first round protected another unit: read the rows by the same schema, with the same unit"
        )
    if first.release.rows is not None and first.release.rows != counts.n:
        raise InputError(f"the first round was of {first.release.rows:,} rows, and these are {counts.n:,}")


def checked_site(site: object) -> str:
    """Return the name of a site, or refuse it: it stands in reports and lists."""
    name = checked_name(site, "the name of a site").strip()
    if not name or not name.isprintable() or len(name) > 60 or any(mark in name for mark in ",:;/\\"):
        raise InputError(
            f"the name of a site has 1 to 60 letters without commas, colons and slashes, not {name!r}"
        )
    return name


def _checked_path(path: object) -> str | os.PathLike[str]:
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"a protocol is what dc.protocol returns, or its file, not {path!r}")
    return path


def load_contribution(folder: str | os.PathLike[str]) -> Contribution:
    """Read the folder that a site gave away.

    Raises
    ------
    InputError
        If it is none, or anything in it was changed.
    """
    where, name = Path(folder), str(folder)
    lacking = [file for file in (FILE, RELEASE, STATEMENT) if not (where / file).exists()]
    if lacking:
        raise InputError(f"{name!r} is no contribution: it has no {lacking[0]}")
    data, statement = read_json(where / FILE, "contribution"), read_json(where / STATEMENT, "contribution")
    check_kind(
        data,
        name,
        "contribution",
        has=["site", "protocol", "id", "software"],
        newest=FORMAT,
        written_by="dpcausal contribute",
    )
    protocol = protocol_of(data["protocol"], f"{name}: its protocol")
    release = load_release(where)
    if not isinstance(release.values, Measurements):
        raise InputError(f"{name!r} is no contribution: its release holds no tables")
    protocol.check_fits(release.schema)
    found = Contribution(
        checked_site(data["site"]), protocol, release, str(data["software"]), data.get("rest_of")
    )
    if (
        json.loads(found.files()[FILE]) != data
        or PrivacyStatement.from_json(json.dumps(statement)) != found.privacy
    ):
        raise InputError(f"{name!r} was changed: its files are not those that were released together")
    return found
