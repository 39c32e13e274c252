"""``forecast_ci_test`` and ``test --forecast``: which test, why, and what it finds, from public numbers alone."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpcausal as dc
from dpcausal.citests.base import Question
from dpcausal.citests.forecast import forecast_of_test, power_curve
from dpcausal.citests.registry import TESTS, make_test
from dpcausal.citests.result import ByQuestion, FewRows, NoOrder, NumbersGiven, Reason
from dpcausal.cli.app import run
from dpcausal.core.errors import InputError
from dpcausal.core.forecast import Margins, UnderpoweredError
from dpcausal.privacy.ledger import Ledger

SCHEMA = dc.Schema(
    arm=dc.Categorical(list("abcd")),
    sex=dc.Categorical(["f", "m"]),
    before=dc.Numeric(0, 1),
    after=dc.Numeric(0, 1),
)


def rows(n: int, seed: int = 1) -> dc.Dataset:
    rng = np.random.default_rng(seed)
    numbers = {name: rng.random(n) for name in ("before", "after")}
    arm, sex = rng.choice(list("abcd"), n).tolist(), rng.choice(["f", "m"], n).tolist()
    return dc.read({"arm": arm, "sex": sex, **numbers}, SCHEMA)


QUESTIONS: list[tuple[str, str, list[str], type[Reason]]] = [
    ("arm", "after", ["before"], NumbersGiven),
    ("sex", "after", ["before"], FewRows),
    ("sex", "after", [], ByQuestion),
    ("arm", "sex", [], NoOrder),
]


@pytest.mark.parametrize(("x", "y", "given", "reason"), QUESTIONS)
def test_it_names_the_test_that_will_be_taken_and_does_not_look_at_rows(
    x: str, y: str, given: list[str], reason: type[Reason]
) -> None:
    asked: dict[str, Any] = {"epsilon": 0.4}
    found = dc.forecast_ci_test(rows(900), x, y, given, **asked)
    assert found == dc.forecast_ci_test(rows(900, seed=2), x, y, given, **asked)
    assert found == dc.forecast_ci_test(SCHEMA, x, y, given, rows=900, **asked)
    answer = dc.ci_test(rows(900), x, y, given, anyway=True, **asked)
    assert (found.method, found.reason) == (answer.method, answer.reason)
    assert isinstance(found.reason, reason)
    assert found.weak is not None
    assert found.medium is not None
    assert found.strong is not None
    assert 0.04 < found.weak < found.medium < found.strong
    assert all(a < b for a, b in zip((found.weak, found.medium), found.without_noise, strict=False))
    question = Question.of(SCHEMA, x, y, given)
    assert found.power == forecast_of_test(make_test(found.method, {}), question, 900, 0.4, 0.0, 0.05).power
    assert f"test {found.method}" in str(found)
    assert f"a strong one (.5) in {found.strong:.0%}" in str(found) or found.strong > 0.99


@pytest.mark.parametrize("n", [60, 900, 1000, 2139, 7777])
def test_it_says_from_which_epsilon_on_kendall_is_used(n: int) -> None:
    few = dc.forecast_ci_test(SCHEMA, "sex", "after", ["before"], rows=n, epsilon=0.01)
    assert few.method == "gcm"
    enough = few.reason.enough
    assert dc.forecast_ci_test(SCHEMA, "sex", "after", ["before"], rows=n, epsilon=enough).method == "kendall"
    less = enough - 10.0 ** (math.floor(math.log10(enough)) - 1)  # in the last of two digits
    assert dc.forecast_ci_test(SCHEMA, "sex", "after", ["before"], rows=n, epsilon=less).method == "gcm"


def test_it_says_nothing_of_an_epsilon_where_kendall_is_never_used() -> None:
    many = dc.Schema(**SCHEMA, site=dc.Categorical([f"s{i}" for i in range(90)]))
    found = dc.forecast_ci_test(many, "sex", "after", ["before", "site"], rows=900, epsilon=0.1)
    assert (found.method, found.reason.enough) == ("gcm", None)
    assert "kendall is used" not in str(found)
    protected = dc.ci_test(rows(900), "sex", "after", ["before"], epsilon=0.1, neighbours="add-remove")
    assert "kendall is used" not in str(protected)
    answer = dc.ci_test(rows(900), "sex", "after", ["before"], epsilon=0.4, anyway=True)
    assert answer.reason == FewRows(1, 0.89)


def test_what_it_says_is_refused_is_and_what_it_proposes_is_not() -> None:
    few = dc.forecast_ci_test(rows(60), "sex", "after", epsilon=0.05)
    assert few.refused
    assert few.enough is not None
    with pytest.raises(UnderpoweredError):
        dc.ci_test(rows(60), "sex", "after", epsilon=0.05)
    assert few.refused
    assert f"takes epsilon {few.enough:g}, or more rows" in str(few)
    more = dc.forecast_ci_test(rows(60), "sex", "after", epsilon=few.enough)
    assert more.strong is not None
    assert more.strong >= 0.8
    assert more.enough is None
    assert dc.ci_test(rows(60), "sex", "after", epsilon=few.enough).method == few.method


@pytest.mark.parametrize("method", sorted(set(TESTS) - {"kendall", "spearman", "measured", "gcm", "crt"}))
def test_a_test_of_unknown_power_says_so(method: Any) -> None:
    schema = dc.Schema(a=dc.Categorical([0, 1]), b=dc.Categorical([0, 1]))
    found = dc.forecast_ci_test(schema, "a", "b", rows=500, epsilon=0.5, method=method)
    assert (found.method, found.strong, found.refused, found.enough) == (method, None, False, None)


def test_several_columns_and_protected_rows() -> None:
    found = dc.forecast_ci_test(rows(900), ["sex", "before"], "after", epsilon=0.5)
    assert (found.method, found.question.widths) == ("gcm", (2, 1))
    for x, known in (
        ("sex", True),
        (["sex", "before"], False),
    ):  # gcm deals rows whose number it does not know
        hidden = dc.forecast_ci_test(SCHEMA, x, "after", rows=900, epsilon=0.5, neighbours="add-remove")
        assert (hidden.strong is not None) == known


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": None}, "it needs an epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"rows": None}, "needs rows="),
        ({"rows": -1}, "zero or above"),
        ({"method": "nothing"}, "nothing"),
        ({"strata": 3}, "strata"),
        ({"neighbours": "all"}, "neighbours"),
        ({"source": rows(30), "rows": None, "neighbours": "add-remove"}, "protected"),
        ({"source": {"a": [1]}}, "dc.read"),
        ({"y": "arm"}, "twice"),
    ],
)
def test_bad_input_is_one_line(change: dict[str, Any], words: str) -> None:
    asked = {"source": SCHEMA, "x": "arm", "y": "after", "rows": 900, "epsilon": 0.5, **change}
    with pytest.raises(InputError) as caught:
        dc.forecast_ci_test(**asked)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    SCHEMA.write("s.toml")
    text = [
        "arm,sex,before,after",
        *(f"{'abcd'[i % 4]},{'fm'[i % 2]},0.{i % 9},0.{i % 7}" for i in range(300)),
    ]
    (tmp_path / "t.csv").write_text("\n".join(text) + "\n")
    ledger = Ledger.open("sqlite:///l.db", create=True)
    ledger.create("cohort", 1.0, 0.0)
    asked = ["test", "--schema", "s.toml", "--x", "arm", "--y", "after", "--given", "before", "--forecast"]
    charged = ["--ledger", "sqlite:///l.db", "--dataset", "cohort"]
    assert run([*asked, "t.csv", "--epsilon", "0.5", *charged]) == 0
    of_file = capsys.readouterr().out
    assert "test gcm, " in of_file
    assert "ledger has epsilon 1 left" in of_file
    assert run([*asked, "t.csv", "--epsilon", "2", *charged]) == 0
    assert "epsilon 1 left, less" in capsys.readouterr().out
    assert ledger.show()[0].releases == 0
    assert run([*asked, "--rows", "300", "--epsilon", "0.5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == dc.forecast_ci_test(SCHEMA, "arm", "after", ["before"], rows=300, epsilon=0.5).to_dict()
    for wrong, words in (
        (["--no-privacy", "--rows", "300"], "needs an epsilon"),
        (["--epsilon", "0.5"], "--rows N"),
        (["t.csv", "--epsilon", "0.5", "--rows", "300"], "not both"),
    ):
        assert run([*asked, *wrong]) == 2
        said = capsys.readouterr()
        assert words in said.err
        assert (said.out, said.err.count("\n")) == ("", 1)
    assert run([*asked[:-1], "t.csv", "--epsilon", "0.5", "--rows", "300"]) == 2
    assert "--rows goes with --forecast" in capsys.readouterr().err


@pytest.mark.slow
def test_what_kendall_finds_given_a_number_is_what_was_forecast() -> None:
    """Four rows a stratum: of each stratum one row tells nothing. 120 data sets: within four standard errors."""
    schema = dc.Schema(x=dc.Categorical([0, 1]), y=dc.Categorical([0, 1]), z=dc.Numeric(0, 1))
    n, sets, epsilon = 2_000, 120, 0.2
    ahead = dc.forecast_ci_test(schema, "x", "y", ["z"], rows=n, epsilon=epsilon, method="kendall").weak
    assert ahead is not None
    found = 0
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 2, n)
        y = np.where(rng.random(n) < 0.1, x, rng.integers(0, 2, n))
        data = dc.read({"x": x, "y": y, "z": rng.random(n)}, schema)
        with dc.testing.seeded(seed):
            answer = dc.ci_test(data, "x", "y", ["z"], epsilon=epsilon, method="kendall", anyway=True)
        found += answer.pvalue <= 0.05
    assert abs(found / sets - ahead) < 4 * (ahead * (1 - ahead) / sets) ** 0.5


@pytest.mark.thin(3)
@pytest.mark.parametrize(
    ("n", "epsilon", "w", "sizes", "options"),
    [
        (2_000, 0.5, 0.1, {"a": 63, "b": 63}, {}),  # 3,969 combinations of levels: most rows are alone
        (300, 1.0, 0.3, {"a": 100, "z": 0}, {}),  # a number beside 100 levels
        (200, 1.0, 0.3, {"z": 0}, {"strata": 100}),
    ],
    ids=["levels", "a number and levels", "strata of equal width"],
)
def test_of_strata_only_those_with_rows_are_subtracted(
    n: int, epsilon: float, w: float, sizes: dict[str, int], options: dict[str, Any]
) -> None:
    """120 data sets: within four standard errors."""
    given = {
        name: dc.Categorical(list(range(size))) if size else dc.Numeric(0, 1) for name, size in sizes.items()
    }
    schema = dc.Schema({"x": dc.Categorical([0, 1]), "y": dc.Categorical([0, 1]), **given})
    asked: dict[str, Any] = {"epsilon": epsilon, "method": "kendall", **options}
    ahead = dc.forecast_ci_test(schema, "x", "y", list(sizes), rows=n, **asked)
    chance = ahead.weak if w == 0.1 else ahead.medium
    assert chance is not None
    found, sets = 0, 120
    for seed in range(sets):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 2, n)
        y = np.where(rng.random(n) < w, x, rng.integers(0, 2, n))
        held = {name: rng.integers(0, size, n) if size else rng.random(n) for name, size in sizes.items()}
        data = dc.read({"x": x, "y": y, **held}, schema)
        with dc.testing.seeded(seed):
            found += dc.ci_test(data, "x", "y", list(sizes), anyway=True, **asked).pvalue <= 0.05
    assert abs(found / sets - chance) < 4 * (chance * (1 - chance) / sets) ** 0.5


@pytest.mark.parametrize(
    ("asked", "instead"),
    [
        (("arm", "cd4", ["age"]), "measured"),  # levels without an order
        (("sex", "cd4", ["age", "weight"]), "kendall"),
    ],
)
def test_a_test_that_finds_more_and_was_passed_over_is_explained(
    asked: tuple[str, str, list[str]], instead: str
) -> None:
    schema = dc.Schema(
        arm=dc.Categorical(["a", "b", "c"]),
        sex=dc.Categorical(["f", "m"]),
        cd4=dc.Numeric(0, 1500),
        age=dc.Numeric(0, 100),
        weight=dc.Numeric(0, 200),
    )
    ahead = dc.forecast_ci_test(schema, *asked, rows=2_000, epsilon=0.2)
    assert ahead.method == "gcm"
    assert ahead.instead is not None
    assert ahead.medium is not None
    name, medium = ahead.instead
    assert name == instead
    assert medium > ahead.medium
    other = dc.forecast_ci_test(schema, *asked, rows=2_000, epsilon=0.2, method=instead)  # type: ignore[arg-type]
    assert other.medium == medium
    assert other.instead is None  # as asked: there is nothing to explain
    text = str(ahead)
    assert f"Why not {instead}: " in text
    assert f"method='{instead}' takes {instead}." in text
    assert ahead.to_dict()["instead"] == {"method": instead, "medium": medium}
    many = dc.forecast_ci_test(schema, *asked, rows=1_000_000, epsilon=1.0)
    assert many.instead is None  # both find it: nothing to choose by
    assert "Why not" not in str(many)


TWO = dc.Schema(
    sick=dc.Categorical(["no", "yes"]),
    exposed=dc.Categorical(["no", "yes"]),
    a=dc.Numeric(0, 1),
    b=dc.Numeric(0, 1),
)


def test_a_rare_exposure_has_the_power_that_its_share_says() -> None:
    """Held against runs: at a share of 4% this dependence is found about as often as forecast, and not as if even."""
    n, share, w, sets, epsilon = 2_000, 0.04, 0.12, 150, 0.3
    asked: dict[str, Any] = {"epsilon": epsilon, "method": "kendall"}
    test = make_test("kendall", {}, ())
    question = Question.of(TWO, "exposed", "sick", ())
    curves = [power_curve(test, question, n, epsilon, 0.0, 0.05, share=one) for one in (None, share)]
    even, rare = (0.0 if curve is None else curve(w) for curve in curves)
    rng, found = np.random.default_rng(3), 0
    both = share**2 + w * share * (1 - share)
    cells = [both, share - both, share - both, 1 - 2 * share + both]
    for seed in range(sets):
        cell = rng.choice(4, n, p=cells)
        columns = {"exposed": np.where(cell < 2, "yes", "no"), "sick": np.where(cell % 2 == 0, "yes", "no")}
        data = dc.read({**columns, "a": np.zeros(n), "b": np.zeros(n)}, TWO)
        with dc.testing.seeded(seed):
            found += not dc.ci_test(data, "exposed", "sick", anyway=True, **asked).independent
    assert abs(found / sets - rare) < 4 * (rare * (1 - rare) / sets) ** 0.5 + 0.05
    assert found / sets < even - 0.2


def test_a_forecast_says_for_which_margins_it_holds() -> None:
    asked: dict[str, Any] = {"rows": 2_500, "epsilon": 0.3}
    even, rare, half = (
        dc.forecast_ci_test(TWO, "exposed", "sick", **asked, share=share) for share in (None, 0.05, 0.5)
    )
    assert even.margins is not None
    assert (even.margins.share, even.margins.rare) == (None, rare.power)
    assert (rare.margins, half.power) == (Margins(0.05), even.power)
    assert rare.weak is not None
    assert even.weak is not None
    assert rare.weak < even.weak - 0.2
    assert "with equally common levels" in str(even)
    assert "Where the rarest level of x and of y has 5% of the rows: " in str(even)
    assert "where the rarest level of x and of y has 5% of the rows" in str(rare)
    assert "equally common" not in str(rare)
    assert even.to_dict()["rare"]["weak"] == rare.to_dict()["weak"]
    assert (even.to_dict()["share"], rare.to_dict()["share"]) == (None, 0.05)


@pytest.mark.parametrize("method", ["gcm", "measured"])
def test_numbers_have_no_share_and_other_tests_claim_no_power_for_rare_levels(method: Any) -> None:
    """A simulation at a share of 4%: ``measured`` found 11%, where its noise alone would have let it find 45%."""
    asked: dict[str, Any] = {"rows": 2_500, "epsilon": 1.0}
    assert dc.forecast_ci_test(TWO, "a", "b", **asked).margins is None
    with pytest.raises(InputError, match="both are numbers"):
        dc.forecast_ci_test(TWO, "a", "b", **asked, share=0.1)
    even, rare = (
        dc.forecast_ci_test(TWO, "exposed", "a", ["b"], **asked, method=method, share=share)
        for share in (None, 0.03)
    )
    assert even.margins == Margins(None, None)
    assert "how much is not known" in str(even)
    assert (rare.power, rare.hopeless) == (None, False)
    assert "not known for this test of rare levels" in str(rare)
    for wrong in (0, 0.6, True, "x"):
        with pytest.raises(InputError, match="share must be above 0"):
            dc.forecast_ci_test(TWO, "exposed", "sick", **asked, share=wrong)  # type: ignore[arg-type]


def test_an_answer_that_found_nothing_says_for_which_margins() -> None:
    rng = np.random.default_rng(1)
    columns = {name: rng.choice(["no", "yes"], 2_500, p=[0.97, 0.03]) for name in ("exposed", "sick")}
    data = dc.read({**columns, "a": np.zeros(2_500), "b": np.zeros(2_500)}, TWO)
    with dc.testing.seeded(1):
        found = dc.ci_test(data, "exposed", "sick", epsilon=0.1)
    assert found.independent
    text = found.summary()
    assert (
        "that holds for equally common levels, and where the rarest of each column has 5% of the rows" in text
    )
