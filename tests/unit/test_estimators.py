"""Estimators: scikit-learn's own checks, and what each of them promises on frames, arrays and data sets."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import estimator_html_repr
from sklearn.utils.estimator_checks import check_estimator
from sqlalchemy.engine import make_url

import dpcausal as dc
from dpcausal.discovery import discover as discovering
from dpcausal.estimators import base
from dpcausal.estimators.base import Estimator
from dpcausal.estimators.frames import as_data

pytestmark = [pytest.mark.long_file, pytest.mark.usefixtures("few_repeats")]

PRIVATE = [dc.MeasuredPC, dc.PrivPC, dc.SvtPC, dc.EmPC, dc.CuratePC, dc.MomentsPC, dc.CodesPC]
EVERY = dc.Numeric(-10, 10, bins=[0.0])  # scikit-learn's checks bring arrays of any width


@pytest.mark.parametrize("kind", [dc.PrivPC, dc.PC])
def test_the_checks_of_scikit_learn_pass(kind: type[Estimator]) -> None:
    """All but the two it skips itself: estimators that are random by design, and an array API that is not set."""
    budget = {} if kind is dc.PC else {"epsilon": 1.0}
    found = check_estimator(kind(EVERY, max_order=1, **budget), on_fail="raise", on_skip=None)
    assert sum(check["status"] == "passed" for check in found) >= 30
    skipped = {check["check_name"] for check in found if check["status"] == "skipped"}
    assert skipped <= {"check_pipeline_consistency", "check_array_api_input"}


@pytest.fixture(scope="module")
def data() -> dc.Dataset:
    return dc.networks.load("cancer").sample(20_000, seed=1)


@pytest.mark.parametrize("kind", PRIVATE)
def test_a_private_fit_is_a_private_discovery(kind: type[Estimator], data: dc.Dataset) -> None:
    found = kind(epsilon=2.0, delta=1e-6, level=0.01, max_order=1).fit(data)
    assert found.privacy_.private
    assert found.privacy_.epsilon <= 2.0
    assert found.result_.method == kind.method
    assert found.skeleton_ == found.causal_graph_.skeleton
    assert list(found.feature_names_in_) == list(data.columns)
    assert found.n_features_in_ == 5


class Asked(Exception):
    """Raised in place of a discovery."""


@pytest.mark.parametrize("kind", [*PRIVATE, dc.PC])
def test_a_fit_asks_discover_with_its_own_defaults(
    kind: type[Estimator], data: dc.Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}

    def ask(rows: dc.Dataset, **given: Any) -> None:
        assert rows is data
        asked.update(given)
        raise Asked

    monkeypatch.setattr(base, "discover", ask)
    budget = {"epsilon": None} if kind is dc.PC else {"epsilon": 0.7}
    with pytest.raises(Asked):
        kind(**({} if kind is dc.PC else budget)).fit(data)
    signature = inspect.signature(dc.discover).parameters
    own = discovering.METHODS[kind.method].options
    defaults = {name: one.default for name, one in signature.items()} | own | budget | {"method": kind.method}
    assert asked == {name: defaults[name] for name in asked}
    assert asked.keys() >= {"epsilon", "method", "level", "max_order", *own}


@pytest.mark.parametrize("kind", PRIVATE)
def test_no_epsilon_is_refused_as_discover_refuses_it(kind: type[Estimator], data: dc.Dataset) -> None:
    """An estimator that was given none spent 1."""
    for given in ({}, {"eps": 1.0}):
        with pytest.raises(dc.InputError) as caught:
            kind(**given)
        with pytest.raises(dc.InputError) as expected:
            dc.discover(data, method=kind.method, **given)
        assert str(caught.value).partition(": ")[0].removeprefix(kind.__name__) == str(
            expected.value
        ).partition(": ")[0].removeprefix("discover")
    with pytest.raises(dc.InputError):
        kind(epsilon=None).fit(data)


@pytest.mark.parametrize("given", [{"required": None}, {"tiers": 0}, {"level": 2}, {"max_order": -1}])
def test_what_discover_refuses_a_fit_refuses(given: dict[str, Any], data: dc.Dataset) -> None:
    """None, 0 and the like stood for no background knowledge here, and were errors there."""
    with pytest.raises(dc.InputError) as expected:
        dc.discover(data, epsilon=None, method="pc", **given)
    with pytest.raises(dc.InputError) as caught:
        dc.PC(**given).fit(data)
    assert str(caught.value) == str(expected.value)


def test_what_discover_warns_about_a_fit_warns_about() -> None:
    many = dc.networks.load("sachs").sample(2000, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", dc.NoDelta)
        with pytest.raises(dc.NoDelta):
            dc.MeasuredPC(epsilon=1.0, anyway=True).fit(many)


def test_effects_can_be_named_beforehand(data: dc.Dataset) -> None:
    given = {"epsilon": 5.0, "max_order": 0, "effect": ("Smoker", "Cancer")}
    reserve = dc.PrivPC(**given).fit(data).result_.reserve
    assert reserve is not None
    assert reserve.named == (("Smoker", "Cancer"),)


def test_classical_pc_is_not_private_and_finds_the_graph(data: dc.Dataset) -> None:
    found = dc.PC(level=0.01).fit(data)
    assert not found.privacy_.private
    assert found.causal_graph_ == dc.discover(data, epsilon=None, method="pc", level=0.01).graph


def frame(rows: int = 500) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, rows)
    return pd.DataFrame({"a": a, "b": a ^ (rng.random(rows) < 0.1), "c": rng.normal(size=rows)})


SCHEMA = dc.Schema(a=dc.Categorical([0, 1]), b=dc.Categorical([0, 1]), c=dc.Numeric(-3, 3, bins=[0]))


def test_frames_arrays_and_dicts_give_the_same_graph() -> None:
    table = frame()
    sources = [table, pl.from_pandas(table), table.to_dict("list"), table.to_numpy(dtype=float)]
    graphs = [dc.PC(SCHEMA).fit(source).causal_graph_ for source in sources]
    assert all(graph == graphs[0] for graph in graphs)
    assert frozenset(("a", "b")) in graphs[0].skeleton
    named = dc.PC(SCHEMA).fit(table)
    assert list(named.feature_names_in_) == ["a", "b", "c"]
    assert not hasattr(named.fit(table.to_numpy()), "feature_names_in_")


def test_options_and_knowledge_reach_the_search(data: dc.Dataset) -> None:
    found = dc.PrivPC(epsilon=5.0, required=[("Smoker", "Xray")], max_order=0).fit(data)
    assert ("Smoker", "Xray") in found.causal_graph_.directed
    assert dc.PC(test="g", options={"least": 5}).get_params()["options"] == {"least": 5}


@pytest.mark.parametrize("name", ["data", "epsilon", "method", "level", "stable", "nonsense"])
def test_options_of_a_test_replace_no_parameter(name: str, data: dc.Dataset) -> None:
    """They replaced any of them: a private estimator's method and epsilon, too."""
    with pytest.raises(dc.InputError, match=repr(name)):
        dc.PC(test="g", options={name: None}).fit(data)
    assert [kind for kind in PRIVATE if "options" in kind(epsilon=1.0).get_params()] == []


def test_options_of_the_method_are_parameters(data: dc.Dataset) -> None:
    estimator = dc.MeasuredPC(epsilon=5.0, delta=1e-6, confidence=2)
    assert clone(estimator).get_params()["confidence"] == 2
    assert repr(estimator) == "MeasuredPC(epsilon=5.0, delta=1e-06, confidence=2)"
    assert estimator.fit(data).result_.repeats == 2
    assert estimator.set_params(confidence=0).fit(data).result_.repeats is None
    assert dc.PC(test="chi2").fit(data).result_.notes[0].tests == ("chi2",)
    assert dc.PC(test="chi2").get_params()["stable"] is True
    for kind in (dc.MeasuredPC(epsilon=1.0), dc.PC()):
        for call in (type(kind), kind.set_params):
            with pytest.raises(dc.InputError, match="'hits'"):
                call(**kind.get_params(), hits=3)


def test_a_fit_charges_the_ledger_and_an_empty_one_refuses(data: dc.Dataset, tmp_path: object) -> None:
    from dpcausal.privacy.ledger import Ledger

    url = f"sqlite:///{tmp_path}/l.db"
    Ledger.open(url, create=True).create("d", 1.5)
    estimator = dc.PrivPC(epsilon=1.0, ledger=url, dataset="d", max_order=0)
    estimator.fit(data)
    with pytest.raises(dc.BudgetError):
        clone(estimator).fit(data)
    (account,) = Ledger.open(url).show("d")
    assert (account.left_epsilon, account.releases) == (0.5, 1)


@pytest.mark.parametrize(
    ("schema", "X", "words"),
    [
        (None, np.zeros((5, 2)), "a schema is needed"),
        ("schema.toml", np.zeros((5, 2)), "must be a Schema"),
        (SCHEMA, np.zeros((5, 2)), "the schema declares 3"),
        (SCHEMA, np.zeros(5), "expected a 2D array"),
        (SCHEMA, pd.DataFrame({"a": [1], "b": [1], "d": [1]}), 'no column "c"'),
        (SCHEMA, iter([1]), "expected a 2D array"),
    ],
)
def test_wrong_shapes_and_schemas_are_one_line(schema: object, X: object, words: str) -> None:
    with pytest.raises(dc.InputError, match=words) as caught:
        dc.PC(schema).fit(X)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_parameters_are_checked_by_name() -> None:
    estimator = dc.PrivPC(SCHEMA, epsilon=0.5)
    assert estimator.set_params(epsilon=2.0).get_params()["epsilon"] == 2.0
    with pytest.raises(dc.InputError, match='"epsilon"'):  # the nearest
        estimator.set_params(epsilom=1.0)
    again = pickle.loads(pickle.dumps(estimator))  # noqa: S301
    assert again.get_params() == estimator.get_params()
    assert repr(again) == repr(estimator)
    assert repr(dc.PrivPC(epsilon=3.0)) == repr(clone(dc.PrivPC(epsilon=3.0))) == "PrivPC(epsilon=3.0)"


LOGINS: list[Any] = [
    "postgresql://ada:s3cret@host/db",
    "postgresql://ada:x@s3cret@host/db?sslmode=require",
    "postgresql://host/db?user=ada&password=s3cret",
    "sqlite:///l.db?password=s3cret",
    "ada:s3cret@host/db",
    "host=h password=s3cret",
    "postgresql:/ada:s3cret://host",
    b"postgresql://ada:s3cret@host/db",
    make_url("postgresql://ada:s3cret@host/db"),
]


@pytest.mark.parametrize("ledger", LOGINS)
@pytest.mark.parametrize("kind", PRIVATE)
def test_no_password_of_a_ledger_is_shown(kind: type[Estimator], ledger: Any) -> None:
    """Not by itself, not in a pipeline, not in an error; ``get_params`` gives it whole, for ``clone``."""
    estimator = kind(epsilon=2.0, ledger=ledger, dataset="d")
    assert clone(estimator).get_params()["ledger"] == ledger
    whole = Pipeline([("discover", estimator)])
    shown = [repr(estimator), str(estimator), f"{estimator}", estimator._repr_html_(), repr([estimator])]
    shown += [repr(whole), estimator_html_repr(whole), estimator_html_repr(estimator)]
    with pytest.raises(dc.InputError) as caught:
        estimator.set_params(ledgr=ledger)
    assert not [text for text in (*shown, str(caught.value)) if "s3cret" in text]
    assert shown[0].startswith(f"{kind.__name__}(epsilon=2.0, ledger='")
    assert shown[0].endswith(", dataset='d')")


def test_where_a_ledger_is_can_still_be_seen() -> None:
    shown = repr(dc.PrivPC(epsilon=1, ledger="postgresql://ada:s3cret@host/db", dataset="d"))
    assert shown == "PrivPC(epsilon=1, ledger='postgresql://...@host/db', dataset='d')"
    assert repr(dc.PrivPC(epsilon=1, ledger="sqlite:///l.db")) == "PrivPC(epsilon=1, ledger='sqlite:///l.db')"


def test_scikit_learn_is_not_needed() -> None:
    """Fitting imports nothing of it."""
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "import dpcausal as dc\n"
        "data = dc.networks.load('cancer').sample(500, seed=1)\n"
        "print(dc.PrivPC(epsilon=1.0, max_order=0).fit(data).n_features_in_)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "5\n"


ODD_ROWS: list[Any] = [
    [],
    [1],
    [1, 0, 2, 3],
    "text",
    None,
    7,
    {"a": 1},
    np.zeros((2, 2)),
    ["x", None, object()],
]


@pytest.mark.parametrize("place", [0, 5])
@pytest.mark.parametrize("odd", range(len(ODD_ROWS)))
def test_no_row_of_a_list_decides_an_error_or_how_the_others_are_read(place: int, odd: int) -> None:
    """The first row's length and type decided how many columns there were, and whether there was an error."""
    rows: list[Any] = frame(20).to_numpy(dtype=object).tolist()
    whole = as_data(rows, SCHEMA)[0]
    rows[place] = ODD_ROWS[odd]
    changed = as_data(rows, SCHEMA)[0]
    others = np.arange(20) != place
    assert changed.n == whole.n
    for name in SCHEMA:
        assert np.array_equal(changed.codes[name][others], whole.codes[name][others])
    assert np.array_equal(changed.values["c"][others], whole.values["c"][others])


@pytest.mark.parametrize("rows", [[[1, 2], [3, 4]], [[1], [3, 4]], ["a", [3, 4]], [1.0, 2.0]])
def test_a_list_of_rows_needs_declared_columns(rows: list[Any]) -> None:
    """How many columns a list has is in its rows: with one declaration for all columns the line is always the same."""
    errors = []
    for given in (rows, [[1, 2], [3, 4]]):
        with pytest.raises(dc.InputError) as caught:
            dc.PC(dc.Categorical([1, 2, 3, 4])).fit(given)
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
