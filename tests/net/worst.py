"""Find the neighbours on which ``dpcausal audit`` runs public calls: those that come nearest to the charge.

    python tests/net/worst.py [NAME ...]      all calls, or these; writes src/dpcausal/audit/neighbours.json

For every call of ``audit/calls.py`` and every relation, the searches of ``tests/net/neighbours.py`` (extreme and random
rows, then a hill climb) are run with the noise intercepted. The share of a pair is the mean over the charges of a call
of loss found/loss charged: 1 would be a pair that uses up the whole budget. The pair of the largest share is kept, with
where it came from. Where answers are yes or no the largest loss may be that of a rare answer, so pairs come first whose
exact answers differ: an audit sees those if noise is missing. The pair that is stored already is tried first, so that a
new search, whose climb may go another way, never keeps a worse one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from itertools import combinations, islice
from pathlib import Path
from statistics import mean
from typing import Any
from unittest import mock

import neighbours as near
import numpy as np
import test_wiring as wiring
from capture import compared, record
from neighbours import Star

from dpcausal.audit.calls import ADD, CALLS, FIXED, Call, built, decoded, returned
from dpcausal.audit.empirical import answers
from dpcausal.privacy import noise

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "src" / "dpcausal" / "audit" / "neighbours.json"
MOST, CLIMB = 40, 40  # stars, and steps up from the best of them
TRIED = 12  # pairs of a star, the best first, that are run without noise where answers are yes or no:
BY_THRESHOLD = {"discover:svt-pc", "discover:priv-pc", "discover:em-pc", "gwas:svt"}
SEARCHES: dict[str, Callable[[], Iterator[Star]]] = {
    "bits": lambda: near.level_stars(dict.fromkeys("xyz", 2), 0),
    "piles": lambda: near.pile_stars("xyz", range(8, 32)),
    "parts": lambda: near.level_stars(dict.fromkeys("xy", 2), 0, rows=(84,)),
    "numbers": lambda: near.number_stars("xyz", 0, rows=(23, 60)),
    "line": lambda: near.number_stars("xy", 0, rows=(23, 60)),
    "far": lambda: near.far_stars("xyz", 3),
    "tied": lambda: near.far_stars("xyz", 3, tied=0.6),
    "labels": wiring.labelled,
    "people": lambda: near.genotype_stars(5, 6, (31, 61), 2),
}


def rounded(star: Star) -> Star:
    """The same with numbers as they are stored."""

    def short(value: Any) -> Any:
        cell = np.asarray(value)
        return np.round(cell, 6) if cell.dtype.kind == "f" else cell

    base = {name: short(column) for name, column in star.base.items()}
    return Star(base, tuple({name: short(cell) for name, cell in row.items()} for row in star.candidates))


def pairs(call: Call, star: Star, relation: str, seed: int) -> Iterator[tuple[float, Any, Any]]:
    """Every pair of a star: its share, and either row (None: the base alone)."""
    runs: list[Any] = []
    for columns in near.data_sets(star, relation):
        replay = runs[0] if runs else None
        runs.append(
            record(lambda data: call.run(data, 1.0, relation), built(call, columns), seed=seed, replay=replay)
        )
    rows = [None, *star.candidates] if relation == ADD else list(star.candidates)
    chosen = list(combinations(range(len(runs)), 2))
    if relation == ADD:
        chosen = [(0, i) for i in range(1, len(runs))]
    for i, j in chosen:
        losses = compared(runs[i], runs[j], relation)
        if losses:
            yield mean(max(loss.ratio, 0.0) for loss in losses), rows[i], rows[j]


def silenced(call: Call, columns: Any, relation: str) -> dict[str, Any]:
    """What is seen of the call where every threshold and every query has no noise: what a fault would show."""

    def nothing(scale: float, size: int | None = None) -> Any:
        return 0 if size is None else np.zeros(size, np.int64)

    data = built(call, columns)
    with (
        mock.patch.object(noise, "geometric", nothing),
        mock.patch.object(noise, "discrete_laplace", nothing),
        mock.patch.object(noise, "bernoulli_exp_many", lambda steps, _: np.asarray(steps) <= 0),
        answers() as found,
    ):
        result = call.run(data, 1.0, relation)
    return {**found, **returned(result)}


def straddles(call: Call, star: Star, rows: Any, relation: str) -> bool:
    """Whether the exact answers differ: the two data sets lie on both sides of some threshold."""
    worlds = [star.base if row is None else near.with_row(star.base, row) for row in rows]
    first, second = ([silenced(call, world, relation) for _ in range(3)] for world in worlds)
    constant = all(
        runs[0] == run for runs in (first, second) for run in runs
    )  # where scores tie, chance chooses
    return constant and first[0] != second[0]


def stored_star(kept: dict[str, Any]) -> tuple[Star, int]:
    """A pair as it is stored, and the seed of its public coins."""
    base = {column: decoded(cells) for column, cells in kept["base"].items()}
    rows = tuple({column: decoded([cell])[0] for column, cell in row.items()} for row in kept["rows"] if row)
    return Star(base, rows), int(kept["from"].split(" star ")[1].split(",")[0])


def worst(call: Call, relation: str, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """The pair with the largest share; of answers that are no numbers, the one of the best that shows most.

    ``before`` is what is stored for the call; it counts if it came from the same kind of search.
    """
    found: list[tuple[float, Star, Any, str]] = []

    def tried(star: Star, seed: int, words: str) -> None:
        ranked = sorted(pairs(call, star, relation, seed), key=lambda pair: -pair[0])
        if call.name in BY_THRESHOLD:  # 1 more for a pair whose exact answers differ
            ranked = [(s + straddles(call, star, rows, relation), *rows) for s, *rows in ranked[:TRIED]]
            ranked.sort(key=lambda pair: -pair[0])
        found.extend((pair[0], star, pair[1:], words) for pair in ranked[:1])

    if before is not None and before["from"].startswith(f"{call.rows}, "):
        tried(*stored_star(before), before["from"])
    for seed, star in enumerate(islice(SEARCHES[call.rows](), MOST)):
        tried(rounded(star), seed, f"{call.rows}, star {seed}")
    rng = np.random.default_rng(MOST)
    for step in range(CLIMB if call.schema is not None and relation != FIXED else 0):
        share, star, _, words = max(found, key=lambda one: one[0])
        if share > (1.9 if call.name in BY_THRESHOLD else 0.98):
            break
        start = words.split(", step")[0]
        tried(rounded(near.nudged(star, rng)), int(start.split()[-1]), f"{start}, step {step} up")
    found.sort(key=lambda one: -one[0])
    share, star, rows, words = found[0]
    share = share - 1 if share > 1 else share
    cells = {name: [cell(value) for value in column] for name, column in star.base.items()}
    two = [row and {name: cell(value) for name, value in row.items()} for row in rows]
    return {"from": words, "share": round(share, 4), "base": cells, "rows": two}


def cell(value: Any) -> Any:
    """A cell as it is stored."""
    found = np.asarray(value)
    if found.dtype.kind == "f":
        return float(found)
    return "".join(str(int(digit)) for digit in np.atleast_1d(found))


def main() -> None:
    """Search and write, after every call."""
    for name in sys.argv[1:] or CALLS:
        call = CALLS[name]
        stored = json.loads(FILE.read_text()) if FILE.exists() else {}
        before = stored.get(name, {})
        found = {relation: worst(call, relation, before.get(relation)) for relation in call.relations}
        kept = stored | {name: found}
        lines = [f"{json.dumps(name)}: {json.dumps(kept[name])}" for name in CALLS if name in kept]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
        shares = {relation: (one["share"], one["from"]) for relation, one in found.items()}
        sys.stdout.write(f"{name} {shares}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
