"""MST and AIM on top of ``mbi`` (inference only): the rivals of ``utility_rivals.py``, in an environment of their own.

Runs as a worker: one JSON object a line on standard input (``data`` and ``out`` are .npy files of codes, ``sizes``,
``method``, ``rho``, ``seed``), one line on standard output when it is done. Both protect one row added or removed, by
rho-zCDP. Noise here is numpy's: fit for a benchmark, not for a release.

**MST** [1]. A third of rho each for all one-way margins, the choice of a spanning tree, and the margins of its
edges. An edge is drawn among those that join two parts of the forest with probability proportional to
exp(e s/2), s the L1 distance of the pair's counts from the model of the one-way margins (sensitivity 1), e = sqrt(8
rho/3/(d-1)). Levels whose noisy count is below 3 sigma are merged into one for selection and measurement, and
split evenly afterwards. **AIM** [2], workload: all three-way margins. Budget annealed from 16 d rounds, one table
chosen and measured in each.

References: [1] McKenna, Miklau & Sheldon 2021, "Winning the NIST contest", section 4; [2] McKenna, Mullins, Sheldon
& Miklau 2022, "AIM", Alg. 2.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import networkx as nx
import numpy as np
import pandas as pd
from mbi import Domain, Factor, LinearMeasurement, MarkovRandomField, estimation, junction_tree
from scipy import sparse

STEPS = 2000
LARGEST_JOINT = 1 << 24  # cells of a joint table that margins are summed from
DENSE = 1 << 12  # joint tables up to this many cells are fitted whole: the same model, without compiling
LARGEST_MODEL = 80.0 * 2**20 / 8  # cells of the junction tree, as in [2]


def counted(codes: Any, sizes: dict[str, int], clique: tuple[str, ...]) -> Any:
    """The table of ``clique`` as a vector of counts."""
    shape = [sizes[name] for name in clique]
    cells = np.ravel_multi_index([codes[name] for name in clique], shape)
    return np.bincount(cells, minlength=math.prod(shape)).astype(float)


class Joint:
    """A model held as its whole joint table; ``mbi`` draws synthetic rows from it as from one of its own."""

    def __init__(self, domain: Any, cliques: Any, theta: Any, total: float) -> None:
        self.domain, self.cliques, self.theta, self.total = domain, cliques, theta, total
        weight = np.exp(theta - theta.max())
        self.table = (total * weight / weight.sum()).reshape(domain.shape)

    def margin(self, clique: tuple[str, ...]) -> Any:
        """The counts over ``clique``, axes in that order."""
        names = list(self.domain.attrs)
        at = [names.index(name) for name in clique]
        kept = self.table.sum(axis=tuple(i for i in range(len(names)) if i not in at))
        return kept.transpose(np.argsort(np.argsort(at)))

    def project(self, clique: Any) -> Any:
        """The margin as mbi's sampler takes it."""
        clique = (clique,) if isinstance(clique, str) else tuple(clique)
        return Factor(self.domain.project(clique), jnp.asarray(self.margin(clique)))

    def synthetic_data(self) -> Any:
        """Rows, by mbi's rounding and shuffling column by column."""
        return MarkovRandomField.synthetic_data(self)


class Tree(Joint):
    """A model held as potentials of its measured cliques; the joint table is made when a margin is asked for.

    Where that would be too large (alarm), margins are those of nodes of the junction tree.
    """

    def __init__(self, domain: Any, potentials: dict[Any, Any], total: float) -> None:
        self.domain, self.cliques, self.total = domain, tuple(potentials), total
        self.potentials = potentials

    @cached_property
    def _nodes(self) -> list[tuple[tuple[str, ...], Any]]:
        """Columns and counts of every node."""
        passing = Passing(self.domain, self.cliques)
        back = passing.sums(self.domain, self.cliques).T.tocsr()
        counts = passing(back @ np.concatenate(list(self.potentials.values())), self.total)
        parts = np.split(counts, passing.ends)
        return [(n, p.reshape(s)) for n, p, s in zip(passing.nodes, parts, passing.shapes, strict=True)]

    def margin(self, clique: tuple[str, ...]) -> Any:
        """The counts over ``clique``, axes in that order."""
        if self.domain.size() <= LARGEST_JOINT:
            return super().margin(clique)
        names, counts = next((names, counts) for names, counts in self._nodes if set(clique) <= set(names))
        at = [names.index(name) for name in clique]
        kept = counts.sum(axis=tuple(i for i in range(len(names)) if i not in at))
        return kept.transpose(np.argsort(np.argsort(at)))

    @cached_property
    def table(self) -> Any:  # type: ignore[override]
        """The joint counts."""
        names = self.domain.attrs
        theta = np.zeros(self.domain.shape)
        for clique, values in self.potentials.items():
            inner = self.domain.project(clique).shape
            order = np.argsort([names.index(name) for name in clique])
            values = values.reshape(inner).transpose(order)
            shape = [
                size if name in clique else 1 for name, size in zip(names, self.domain.shape, strict=True)
            ]
            theta += values.reshape(shape)
        weight = np.exp(theta - theta.max())
        return self.total * weight / weight.sum()


def fitted(sizes: dict[str, int], taken: list[Any], start: Any = None) -> Any:
    """The graphical model of the least weighted squared distance to the measurements (mirror descent)."""
    domain = Domain(tuple(sizes), tuple(sizes.values()))
    total = float(estimation.minimum_variance_unbiased_total(taken))
    cliques = tuple(dict.fromkeys(m.clique for m in taken))
    if domain.size() <= DENSE:
        return Joint(domain, cliques, _dense(domain, taken, total, start), total)
    return Tree(domain, _descended(domain, cliques, taken, total, start), total)


class Passing:
    """Sums and products on the junction tree of ``cliques``: potentials of its nodes -> their expected counts."""

    def __init__(self, domain: Any, cliques: Any) -> None:
        tree, _ = junction_tree.make_junction_tree(domain, [set(c) for c in cliques])
        self.nodes = list(tree.nodes)  # columns of a node stand in the order of the domain
        self.shapes = [domain.project(node).shape for node in self.nodes]
        self.ends = np.cumsum([math.prod(shape) for shape in self.shapes])[:-1]
        at = {node: i for i, node in enumerate(self.nodes)}
        order = list(nx.dfs_edges(tree, self.nodes[0]))
        self._steps = []  # (from, to, what comes in, axes to sum, shape at the end): to the root, then back
        for sender, receiver in [*((b, a) for a, b in reversed(order)), *order]:
            both = set(sender) & set(receiver)
            axes = tuple(i for i, name in enumerate(sender) if name not in both)
            shape = tuple(domain[name] if name in both else 1 for name in receiver)
            incoming = [(at[other], at[sender]) for other in tree[sender] if other != receiver]
            self._steps.append((at[sender], at[receiver], incoming, axes, shape))
        self._incoming = [[(at[other], i) for other in tree[node]] for i, node in enumerate(self.nodes)]
        self._starts = np.array([0, *self.ends])
        self._widths = np.diff([*self._starts, sum(math.prod(shape) for shape in self.shapes)])

    def sums(self, domain: Any, cliques: Any) -> Any:
        """The matrix that takes the cells of all nodes, one after the other, to those of all cliques."""
        rows, columns, offset = [], [], 0
        starts = [0, *self.ends]
        for clique in cliques:
            i = next(i for i, node in enumerate(self.nodes) if set(clique) <= set(node))
            index = np.indices(self.shapes[i]).reshape(len(self.nodes[i]), -1)
            inner = domain.project(clique).shape
            place = [index[self.nodes[i].index(name)] for name in clique]
            rows.append(np.ravel_multi_index(place, inner) + offset)
            columns.append(np.arange(index.shape[1]) + starts[i])
            offset += math.prod(inner)
        at = (np.concatenate(rows), np.concatenate(columns))
        width = int(starts[-1] + math.prod(self.shapes[-1]))
        return sparse.csr_matrix((np.ones(at[0].size), at), shape=(offset, width))

    def __call__(self, theta: Any, total: float) -> Any:
        top = np.maximum.reduceat(theta, self._starts)
        parts = np.split(np.exp(theta - np.repeat(top, self._widths)), self.ends)
        factors = [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]
        sent: dict[tuple[int, int], Any] = {}
        for sender, receiver, incoming, axes, shape in self._steps:
            value = factors[sender]
            for way in incoming:
                value = value * sent[way]
            sent[sender, receiver] = value.sum(axis=axes).reshape(shape)
        belief = []
        for value, incoming in zip(factors, self._incoming, strict=True):
            for way in incoming:
                value = value * sent[way]
            belief.append(value.ravel() * (total / value.sum()))
        return np.concatenate(belief)


def _descended(domain: Any, cliques: Any, taken: list[Any], total: float, start: Any) -> dict[Any, Any]:
    """Potentials of the measured cliques: mbi's mirror descent with its line search.

    mbi compiles the descent anew for every set of cliques, which took most of the time; this doesn't.
    """
    passing = Passing(domain, cliques)
    sums = passing.sums(domain, cliques)
    back = sums.T.tocsr()
    weight = {c: sum(m.stddev**-2.0 for m in taken if m.clique == c) for c in cliques}
    means = [  # several measurements of a table count as their weighted mean
        sum(np.asarray(m.noisy_measurement, float) * m.stddev**-2.0 for m in taken if m.clique == c)
        / weight[c]
        for c in cliques
    ]
    widths = [mean.size for mean in means]
    wanted, weights = np.concatenate(means), np.repeat([weight[c] for c in cliques], widths)
    old = start.potentials if start is not None else {}
    theta = np.concatenate([old.get(c, np.zeros(width)) for c, width in zip(cliques, widths, strict=True)])

    def model(theta: Any) -> tuple[Any, Any, float]:
        counts = sums @ passing(back @ theta, total)
        off = counts - wanted
        return counts, off, float(0.5 * (weights * off) @ off)

    alpha = 2.0 / max(m.stddev**-2.0 for m in taken) / total
    counts, off, loss = model(theta)
    for _ in range(STEPS):
        slope = weights * off
        counts_new, off_new, loss_new = model(theta - alpha * slope)
        if loss - loss_new >= 0.5 * alpha * slope @ (counts - counts_new):
            theta = theta - alpha * slope
            counts, off, loss, alpha = counts_new, off_new, loss_new, alpha * 1.01
        else:
            alpha *= 0.5
    return dict(zip(cliques, np.split(theta, np.cumsum(widths)[:-1]), strict=True))


def _dense(domain: Any, taken: list[Any], total: float, start: Any) -> Any:
    """Potentials of the joint cells, the same descent."""
    index = np.indices(domain.shape).reshape(len(domain.shape), -1)
    place = {name: i for i, name in enumerate(domain.attrs)}
    maps, offset = [], 0
    for m in taken:
        shape = domain.project(m.clique).shape
        maps.append(np.ravel_multi_index([index[place[name]] for name in m.clique], shape) + offset)
        offset += math.prod(shape)
    sums = np.zeros((offset, index.shape[1]))
    for row in maps:
        sums[row, np.arange(index.shape[1])] = 1.0
    wanted = np.concatenate([np.asarray(m.noisy_measurement, float) for m in taken])
    weight = np.concatenate([np.full(np.size(m.noisy_measurement), m.stddev**-2.0) for m in taken])
    theta = np.zeros(index.shape[1]) if start is None else start.theta

    def model(theta: Any) -> tuple[Any, Any, float]:
        cells = np.exp(theta - theta.max())
        cells *= total / cells.sum()
        off = sums @ cells - wanted
        return cells, off, float(0.5 * (weight * off) @ off)

    alpha = 2.0 / weight.max() / total
    cells, off, loss = model(theta)
    for _ in range(STEPS):
        slope = sums.T @ (weight * off)
        new = theta - alpha * slope
        cells_new, off_new, loss_new = model(new)
        if loss - loss_new >= 0.5 * alpha * slope @ (cells - cells_new):
            theta, cells, off, loss, alpha = new, cells_new, off_new, loss_new, alpha * 1.05
        else:
            alpha *= 0.5
            if alpha * weight.max() * total < 1e-9:
                break
    return theta


def drawn(rng: Any, scores: list[float], epsilon: float, sensitivity: float) -> int:
    """Exponential mechanism."""
    return int(np.argmax(0.5 * epsilon / sensitivity * np.asarray(scores) + rng.gumbel(size=len(scores))))


def measured(rng: Any, codes: Any, sizes: dict[str, int], clique: tuple[str, ...], sigma: float) -> Any:
    """One margin with Gaussian noise."""
    exact = counted(codes, sizes, clique)
    return LinearMeasurement(exact + rng.normal(0.0, sigma, exact.size), clique, sigma)


def merged(rng: Any, codes: Any, sizes: dict[str, int], sigma: float) -> tuple[Any, dict[str, int], Any, Any]:
    """(codes, sizes, one-way measurements, levels behind each new one): rare levels made one."""
    taken, behind, new_sizes, new_codes = [], {}, {}, {}
    for name, size in sizes.items():
        noisy = np.asarray(measured(rng, codes, sizes, (name,), sigma).noisy_measurement)
        rare = noisy < 3.0 * sigma
        if rare.all():
            rare = np.arange(size) != np.argmax(noisy)
        groups = [[level] for level in range(size) if not rare[level]]
        if rare.any():
            groups.append([level for level in range(size) if rare[level]])
        place = np.zeros(size, int)
        for i, group in enumerate(groups):
            place[group] = i
        sums = np.array([noisy[group].sum() for group in groups])
        behind[name], new_sizes[name], new_codes[name] = groups, len(groups), place[codes[name]]
        taken.append(LinearMeasurement(sums, (name,), sigma))
    return new_codes, new_sizes, taken, behind


def mst(rng: Any, codes: Any, sizes: dict[str, int], rho: float) -> Any:
    """Synthetic rows by MST, as a frame of codes."""
    d = len(sizes)
    codes, sizes, taken, behind = merged(rng, codes, sizes, math.sqrt(d / (2 * rho / 3)))
    alone = fitted(sizes, taken)
    pairs = list(itertools.combinations(sizes, 2))
    scores = []
    for a, b in pairs:
        one, other = (alone.margin((name,)) for name in (a, b))
        expected = np.outer(one, other).ravel() / max(one.sum(), 1.0)
        scores.append(float(np.abs(counted(codes, sizes, (a, b)) - expected).sum()))
    part = {name: i for i, name in enumerate(sizes)}
    epsilon = math.sqrt(8 * (rho / 3) / (d - 1))
    for _ in range(d - 1):
        open_pairs = [i for i, (a, b) in enumerate(pairs) if part[a] != part[b]]
        a, b = pairs[open_pairs[drawn(rng, [scores[i] for i in open_pairs], epsilon, 1.0)]]
        taken.append(measured(rng, codes, sizes, (a, b), math.sqrt((d - 1) / (2 * rho / 3))))
        gone = part[b]
        part = {name: part[a] if at == gone else at for name, at in part.items()}
    rows = fitted(sizes, taken).synthetic_data().df
    for name, groups in behind.items():
        pick = rng.random(len(rows))
        level = rows[name].to_numpy()
        widths = np.array([len(group) for group in groups])[level]
        table = np.zeros((len(groups), max(map(len, groups))), int)
        for i, group in enumerate(groups):
            table[i, : len(group)] = group
        rows[name] = table[level, (pick * widths).astype(int)]
    return rows


def aim(rng: Any, codes: Any, sizes: dict[str, int], rho: float) -> Any:
    """Synthetic rows by AIM for all three-way margins."""
    names, d = tuple(sizes), len(sizes)
    work = list(itertools.combinations(names, min(3, d)))
    candidates = [c for k in (1, 2, 3) for c in itertools.combinations(names, k)]
    weight = {c: sum(len(set(c) & set(w)) for w in work) for c in candidates}
    exact = {c: counted(codes, sizes, c) for c in candidates}
    cells = {c: exact[c].size for c in candidates}
    rounds = 16 * d
    sigma, epsilon = math.sqrt(rounds / (2 * 0.9 * rho)), math.sqrt(8 * 0.1 * rho / rounds)
    taken = [measured(rng, codes, sizes, (name,), sigma) for name in names]
    used = d / (2 * sigma**2)
    model = fitted(sizes, taken)
    domain = Domain(names, tuple(sizes.values()))
    last = False
    while not last:
        if rho - used < 2 * (0.5 / sigma**2 + epsilon**2 / 8):
            left, last = rho - used, True
            sigma, epsilon = math.sqrt(1 / (2 * 0.9 * left)), math.sqrt(8 * 0.1 * left)
        used += 0.5 / sigma**2 + epsilon**2 / 8
        room = LARGEST_MODEL * min(used / rho, 1.0)
        held = [m.clique for m in taken]
        free = {c for c in candidates if any(set(c) <= set(h) for h in held)}
        all_fit = (
            domain.size() <= room
        )  # a tree of columns with two or more levels has no more cells than the joint
        fits = [c for c in candidates if all_fit or c in free or _tree_cells(domain, [*held, c]) <= room]
        noise = math.sqrt(2 / math.pi) * sigma
        before = {c: model.margin(c).ravel() for c in fits}
        scores = [weight[c] * (float(np.abs(exact[c] - before[c]).sum()) - noise * cells[c]) for c in fits]
        chosen = fits[drawn(rng, scores, epsilon, float(max(weight[c] for c in fits)))]
        taken.append(measured(rng, codes, sizes, chosen, sigma))
        model = fitted(sizes, taken, model)
        after = model.margin(chosen).ravel()
        if np.abs(after - before[chosen]).sum() <= noise * cells[chosen]:
            sigma, epsilon = sigma / 2, epsilon * 2
    return model.synthetic_data().df


def _tree_cells(domain: Any, cliques: list[tuple[str, ...]]) -> float:
    """Cells of the junction tree that the cliques need."""
    tree, _ = junction_tree.make_junction_tree(domain, [set(c) for c in cliques])
    return float(sum(domain.project(tuple(c)).size() for c in tree.nodes))


def main() -> None:
    """Serve jobs until standard input ends."""
    for line in sys.stdin:
        job = json.loads(line)
        rng = np.random.default_rng(job["seed"])
        np.random.seed(job["seed"])  # noqa: NPY002 (mbi draws its rows from the global generator)
        table = np.load(job["data"])
        sizes = {f"c{i}": size for i, size in enumerate(job["sizes"])}
        codes = {name: table[i].astype(int) for i, name in enumerate(sizes)}
        made = {"mst": mst, "aim": aim}[job["method"]](rng, codes, sizes, job["rho"])
        frame = pd.DataFrame(made)[list(sizes)]
        np.save(job["out"], frame.to_numpy().T.astype(np.uint8))
        print(json.dumps({"rows": len(frame)}), flush=True)


if __name__ == "__main__":
    main()
