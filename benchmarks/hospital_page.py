"""The tables of ``docs/hospital.md`` and ``docs/hospital_tables.md``, from the results that ``hospital.py`` keeps."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import hospital_null as null
import hospital_points as grid
import hospital_real as real
import hospital_time as clock
from hospital_points import Point, Results, Setting, shuffled

DOCS = Path(__file__).parents[1] / "docs"
PAGES = DOCS / "hospital.md", DOCS / "hospital_tables.md"
FIGURE = DOCS / "figures" / "hospital.png"
NETWORKS = (*grid.SMALL, "alarm")
BRIEF_ROWS, BRIEF_EPSILONS = (1_000, 10_000), (1.0, 3.0)

# Skeleton F1, delta 1e-6: (network, rows, relation) -> epsilon -> what was asked for.
BARS: dict[tuple[str, int, str], dict[float, float]] = {
    ("sachs", 1_000, "replace-one"): {1.0: 0.50, 3.0: 0.75},
    ("sachs", 3_000, "replace-one"): {1.0: 0.77, 3.0: 0.90},
    ("sachs", 10_000, "replace-one"): {1.0: 0.93, 3.0: 1.00},
    ("asia", 1_000, "replace-one"): {1.0: 0.52, 3.0: 0.68},
    ("asia", 3_000, "replace-one"): {1.0: 0.72, 3.0: 0.83},
    ("asia", 10_000, "replace-one"): {1.0: 0.82, 3.0: 0.93},
    ("alarm", 10_000, "replace-one"): {1.0: 0.58, 3.0: 0.76},
    ("alarm", 30_000, "replace-one"): {1.0: 0.78, 3.0: 0.86},
    ("sachs", 1_000, "add-remove"): {1.0: 0.65},
}

SIZES = {  # edges and pairs of columns
    "earthquake": (4, 10),
    "cancer": (4, 10),
    "survey": (6, 15),
    "asia": (8, 28),
    "sachs": (17, 55),
    "alarm": (46, 666),
}


def all_pairs(network: str) -> float:
    """Skeleton F1 of a graph that claims every pair.

    >>> round(all_pairs("asia"), 2)
    0.44
    """
    edges, pairs = SIZES[network]
    return 2 * edges / (edges + pairs)


def settings() -> list[Setting]:
    """All settings of the grid."""
    return list(grid.settings(NETWORKS))


def measured(where: Setting) -> Any:
    """Our point there."""
    return grid.of_method("measured", where)[0]


def bars(results: Results) -> list[str]:
    """Markdown: the bars that were asked for, and whether they are reached."""
    lines = [
        "| network | rows | relation | epsilon | skeleton F1 | bar | reached | seeds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (network, n, neighbours), wanted in BARS.items():
        for epsilon, bar in wanted.items():
            ours = measured(Setting(network, n, neighbours, epsilon))
            if not results.values(ours):
                continue
            mean, error = results.mean(ours)[0], results.error(ours)[0]
            near = mean < bar <= mean + error
            said = "yes" if mean >= bar else "within one s.e." if near else f"**no**, {mean - bar:+.2f}"
            lines.append(
                f"| {network} | {n:,} | {neighbours} | {epsilon:g} | {mean:.3f} ± {error:.3f} | {bar:.2f} | {said} | "
                f"{len(results.values(ours))} |"
            )
    return lines


def both(results: Results, point: Point) -> str:
    """Skeleton F1 / CPDAG F1 of a point."""
    return " / ".join(f"{score:.2f}" for score in results.mean(point)[:2])


def brief(results: Results, now: Results) -> list[str]:
    """Markdown: the scores of ``measured`` at a few points as it is now, with those of the full run in brackets."""
    asked = [(n, epsilon) for n in BRIEF_ROWS for epsilon in BRIEF_EPSILONS]
    heads = [f"{n:,} rows, epsilon {epsilon:g}" for n, epsilon in asked]
    lines = [f"| network | {' | '.join(heads)} | PC without privacy |", "|---" * (len(heads) + 2) + "|"]
    for network in NETWORKS:
        spots = [Setting(network, n, "replace-one", epsilon) for n, epsilon in asked]
        if not all(results.values(measured(where)) for where in spots):
            continue
        scores = []
        for point in map(measured, spots):
            new = [both(now, point)] if now.values(point) else []
            scores.append(" ".join([*new, f"({both(results, point)})"]))
        plain = results.best("pc", spots[-1])
        scores.append("" if plain is None else both(results, plain))
        lines.append(f"| {network} | {' | '.join(scores)} |")
    return lines


def all_points(results: Results) -> list[str]:
    """Markdown: ``measured``, the best private rival and the ceilings at every point."""
    lines = [
        "| network | relation | rows | epsilon | measured | best rival | PC | HC | false edges | open "
        "| CPU s | seeds |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for where in settings():
        ours = measured(where)
        if not results.values(ours):
            continue
        mean = results.mean(ours)
        others = {
            method: point
            for method in (*grid.PRIVATE, *grid.SYNTHETIC)
            if (point := results.best(method, where)) is not None
        }
        best = []
        for i in (0, 1):
            top = max(
                ((float(results.mean(p)[i]), name) for name, p in others.items()), default=(math.nan, "")
            )
            few = len(results.values(others[top[1]])) if top[1] else 0
            best.append(
                f"{shown(top[1])} {top[0]:.2f}" + (f" ({few})" if few < 10 else "") if top[1] else "none"
            )
        plain = [results.best(method, where) for method in grid.CEILINGS]
        ceilings = [
            f"{results.mean(p)[0]:.2f} / {results.mean(p)[1]:.2f}" if p is not None else "" for p in plain
        ]
        lines.append(
            f"| {where.network} | {where.neighbours} | {where.n:,} | {where.epsilon:g} | "
            f"{mean[0]:.2f} / {mean[1]:.2f} | "
            f"{' / '.join(best)} | {ceilings[0]} | {ceilings[1]} | {mean[3]:.2f} | {mean[4]:.1f} | {mean[5]:.2f} | "
            f"{len(results.values(ours))} |"
        )
    return lines


def shown(method: str) -> str:
    """As the tables call it."""
    return f"{method} + pc" if method in grid.SYNTHETIC else method


def above(results: Results) -> tuple[list[tuple[Setting, Point]], int, int]:
    """(where a rival is above ``measured`` by more than one standard error, comparisons, points)."""
    found, compared, at = [], 0, 0
    for where in settings():
        ours = measured(where)
        if not results.values(ours):
            continue
        at += 1
        for method in (*grid.PRIVATE, *grid.SYNTHETIC):
            point = results.best(method, where)
            if point is None:
                continue
            lead, error = results.lead(ours, point)
            compared += 1
            if lead < 0 and not lead + error >= 0:
                found.append((where, point))
    return found, compared, at


def behind_table(results: Results) -> list[str]:
    """Markdown: where a rival is above; first where shuffled columns give it less, then where they don't."""
    found, compared, at = above(results)
    head = [
        "| network | relation | rows | epsilon | measured | rival | difference | the rival, columns shuffled "
        "| false edges, ours / theirs | seeds |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    learned, empty, unknown = [], [], 0
    for where, point in found:
        ours, without = measured(where), shuffled(point)
        lead, error = results.lead(ours, point)
        gain, gain_error = results.lead(point, without)
        unknown += math.isnan(gain)
        wrong = [results.mean(p)[3] for p in (ours, point)]
        line = (
            f"| {where.network} | {where.neighbours} | {where.n:,} | {where.epsilon:g} | "
            f"{results.mean(ours)[0]:.2f} | {shown(point.method)} {results.mean(point)[0]:.2f} | "
            f"{lead:+.2f} ± {error:.2f} | "
            + (f"{results.mean(without)[0]:.2f}" if results.values(without) else "not run")
            + f" | {wrong[0]:.1f} / {number(wrong[1])} | "
            f"{len(set(results.values(ours)) & set(results.values(point)))} |"
        )
        (empty if gain <= gain_error else learned).append(line)
    said = (
        f"In {len(found)} of {compared} comparisons, at {at} points, a rival is more than one standard error above. In "
        f"{len(learned) - unknown} of these it is also above its own score on shuffled columns, by more than one "
        f"standard error (by chance alone one in six would be). In {len(empty)} it is not."
        + (f" For {unknown}, shuffled columns were not run." if unknown else "")
    )
    lines = [said]
    titles = (
        "Above its own score on shuffled columns, or not run on them:",
        "Not above its own score on shuffled columns:",
    )
    for title, some in zip(titles, (learned, empty), strict=True):
        if some:
            lines += ["", title, "", *head, *some]
    return lines


def number(value: float) -> str:
    """One digit, or a dash where it is not known.

    >>> number(1.23), number(float("nan"))
    ('1.2', '-')
    """
    return "-" if math.isnan(value) else f"{value:.1f}"


def figure(results: Results) -> None:
    """Skeleton F1 by rows: a panel for each network, replace-one, epsilon 1 and 3."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    held = [
        name
        for name in NETWORKS
        if any(w.network == name and results.values(measured(w)) for w in settings())
    ]
    figure, axes = plt.subplots(
        2, len(held), figsize=(2.6 * len(held), 5.2), sharex=True, sharey=True, squeeze=False
    )
    styles = {"measured": ("C0", "o-"), "pc": ("0.5", "--"), "hc": ("0.5", ":")}
    for row, epsilon in enumerate((1.0, 3.0) if 3.0 in grid.EPSILONS else grid.EPSILONS * 2):
        for column, network in enumerate(held):
            axis = axes[row][column]
            for i, method in enumerate(("measured", *grid.PRIVATE, *grid.CEILINGS)):
                spots = [
                    (where.n, results.mean(point)[0], results.error(point)[0])
                    for where in settings()
                    if (where.network, where.neighbours, where.epsilon) == (network, "replace-one", epsilon)
                    and (point := results.best(method, where)) is not None
                ]
                if spots:
                    colour, style = styles.get(method, (f"C{i}", "-"))
                    x, y, error = zip(*spots, strict=True)
                    width = 2.0 if method == "measured" else 1.0
                    label = {"pc": "PC, not private", "hc": "hill climbing, not private"}.get(method, method)
                    axis.errorbar(x, y, error, fmt=style, color=colour, lw=width, ms=3, label=label)
            asked = [
                (n, b[epsilon])
                for (name, n, r), b in BARS.items()
                if (name, r) == (network, "replace-one") and epsilon in b
            ]
            if asked:
                axis.plot(*zip(*asked, strict=True), "k_", ms=12, mew=1.5, label="bar")
            axis.set_xscale("log")
            axis.set_ylim(0, 1.03)
            axis.grid(alpha=0.3)
            if row == 0:
                axis.set_title(network, fontsize=10)
            else:
                axis.set_xlabel("rows")
            if column == 0:
                axis.set_ylabel(f"skeleton F1, epsilon {epsilon:g}")
    lines: dict[str, Any] = {}
    for axis in axes.flat:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            lines.setdefault(label, handle)
    figure.legend(lines.values(), lines.keys(), loc="lower center", ncol=5, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    FIGURE.parent.mkdir(exist_ok=True)
    figure.savefig(FIGURE, dpi=110)
    plt.close(figure)


def folded(words: str, lines: list[str]) -> list[str]:
    """A long table that opens at a click.

    >>> folded("All", ["| a |"])
    ['<details markdown="1"><summary>All</summary>', '', '| a |', '', '</details>']
    """
    return [f'<details markdown="1"><summary>{words}</summary>', "", *lines, "", "</details>"]


def parts() -> dict[str, list[str]]:
    """Name of a part of the page -> its lines."""
    results = Results(grid.RESULTS)
    return {
        "brief": brief(results, Results(grid.NOW)),
        "bars": bars(results),
        "behind": behind_table(results),
        "null": [null.worst(), "", *folded("All settings, as a table", null.table())],
        "references": real.references(),
        "real": [*real.table(), "", "Edges of `measured` without support:", "", *real.unsupported()],
        "time": clock.table(),
        "all": folded("All points, as a table", all_points(results)),
    }


def filled(page: str) -> str:
    """The page with its parts made anew: what stands between ``<!-- NAME -->`` and ``<!-- end -->``."""
    for name, lines in parts().items():
        before, found, rest = page.partition(f"<!-- {name} -->\n")
        if found:
            page = before + found + "\n".join(lines) + "\n<!-- end -->" + rest.partition("<!-- end -->")[2]
    return page


def write(*, only_print: bool = False) -> None:
    """Print every part; put them into the pages where there are any, and draw the figure."""
    for name, lines in parts().items():
        print(f"\n{name}\n" + "\n".join(lines))
    if only_print:
        return
    for page in PAGES:
        if page.exists():
            page.write_text(filled(page.read_text()))
    figure(Results(grid.RESULTS))
    print(f"\nfigure: {FIGURE.name}")
