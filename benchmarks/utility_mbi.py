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
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from mbi import CliqueVector, Domain, Factor, LinearMeasurement, MarkovRandomField, estimation, junction_tree
from mbi.marginal_oracles import message_passing_fast

STEPS = 2000
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

    def project(self, clique: Any) -> Any:
        """The margin over ``clique``, axes in that order."""
        names = list(self.domain.attrs)
        at = [names.index(name) for name in ((clique,) if isinstance(clique, str) else clique)]
        kept = self.table.sum(axis=tuple(i for i in range(len(names)) if i not in at))
        values = kept.transpose(np.argsort(np.argsort(at)))
        return Factor(self.domain.project(tuple(clique)), jnp.asarray(values))

    def synthetic_data(self) -> Any:
        """Rows, by mbi's rounding and shuffling column by column."""
        return MarkovRandomField.synthetic_data(self)


def fitted(sizes: dict[str, int], taken: list[Any], start: Any = None) -> Any:
    """The graphical model of the least weighted squared distance to the measurements (mirror descent)."""
    domain = Domain(tuple(sizes), tuple(sizes.values()))
    total = float(estimation.minimum_variance_unbiased_total(taken))
    cliques = tuple(dict.fromkeys(m.clique for m in taken))
    if domain.size() <= DENSE:
        return Joint(domain, cliques, _dense(domain, taken, total, start), total)
    values = tuple(jnp.asarray(m.noisy_measurement, jnp.float32) for m in taken)
    spread = tuple(jnp.float32(m.stddev**2) for m in taken)
    most = tuple(c for c in cliques if not any(set(c) < set(other) for other in cliques))
    zero = CliqueVector.zeros(domain, list(most)) if start is None else start.potentials.expand(list(most))
    theta = _compiled(domain, tuple(m.clique for m in taken))(values, spread, jnp.float32(total), zero)
    return MarkovRandomField(potentials=theta, marginals=message_passing_fast(theta, total), total=total)


@cache
def _compiled(domain: Any, cliques: tuple[Any, ...]) -> Any:
    """mbi's mirror descent with its line search, all steps in one compiled loop."""

    def run(values: Any, spread: Any, total: Any, start: Any) -> Any:
        def loss(mu: Any) -> Any:
            parts = [
                jnp.sum((mu.project(c).datavector() - y) ** 2) / (2 * v)
                for c, y, v in zip(cliques, values, spread, strict=True)
            ]
            return sum(parts)

        def step(_: int, state: Any) -> Any:
            theta, alpha = state
            mu = message_passing_fast(theta, total)
            at, slope = jax.value_and_grad(loss)(mu)
            new = theta - alpha * slope
            mu_new = message_passing_fast(new, total)
            better = at - loss(mu_new) >= 0.5 * alpha * slope.dot(mu - mu_new)
            theta = jax.tree.map(lambda a, b: jnp.where(better, a, b), new, theta)
            return theta, jnp.where(better, 1.01 * alpha, 0.5 * alpha)

        return jax.lax.fori_loop(0, STEPS, step, (start, 2.0 * min_spread(spread) / total))[0]

    def min_spread(spread: Any) -> Any:
        return jnp.min(jnp.stack(spread))

    return jax.jit(run)


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
        one, other = (np.asarray(alone.project((name,)).datavector()) for name in (a, b))
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
        fits = [c for c in candidates if c in free or _tree_cells(domain, [*held, c]) <= room]
        noise = math.sqrt(2 / math.pi) * sigma
        before = {c: np.asarray(model.project(c).datavector()) for c in fits}
        scores = [weight[c] * (float(np.abs(exact[c] - before[c]).sum()) - noise * cells[c]) for c in fits]
        chosen = fits[drawn(rng, scores, epsilon, float(max(weight[c] for c in fits)))]
        taken.append(measured(rng, codes, sizes, chosen, sigma))
        model = fitted(sizes, taken, model)
        after = np.asarray(model.project(chosen).datavector())
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
