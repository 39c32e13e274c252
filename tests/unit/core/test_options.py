"""A wrong or missing keyword in Python: told in one line, with the name that was meant."""

from __future__ import annotations

from typing import Any

import pytest

import dpcausal as dc


@pytest.fixture(scope="module")
def data() -> dc.Dataset:
    return dc.networks.load("cancer").sample(200, seed=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "smaller is safer, and epsilon=0.5 is a start (half of a budget of 1); "),
        ({"eps": 1}, "needs an epsilon, and there is no 'eps' (did you mean epsilon?)"),
        ({"colour": 1}, "needs an epsilon: what"),
        ({"epsilon": 1, "delt": 1e-6}, "has no option 'delt' (did you mean \"delta\"?)"),
        ({"epsilon": 1, "neighbors": "add-remove"}, '(did you mean "neighbours"?)'),
        ({"epsilon": 1, "colour": 1}, "has no option 'colour'; it has "),
    ],
)
def test_the_option_that_was_meant_is_named(data: dc.Dataset, options: dict[str, Any], said: str) -> None:
    with pytest.raises(dc.InputError) as by_discover:
        dc.discover(data, **options)
    with pytest.raises(dc.InputError) as by_test:
        dc.ci_test(data, "Smoker", "Cancer", **options)
    assert said in str(by_discover.value)
    assert said in str(by_test.value)


def test_an_option_of_the_method_comes_first(data: dc.Dataset) -> None:
    with pytest.raises(dc.InputError, match=r"gcm .*'bandwith' .*bandwidth"):
        dc.ci_test(data, "Smoker", "Cancer", epsilon=1, method="gcm", bandwith=1.0)
    with pytest.raises(dc.InputError, match=r"measured .*'confidenc' .*confidence"):
        dc.discover(data, epsilon=1, method="measured", confidenc=5)


def test_what_a_test_says_of_itself_is_no_option(data: dc.Dataset) -> None:
    with pytest.raises(dc.InputError, match=r"measured .*'own_delta'"):
        dc.ci_test(data, "Smoker", "Cancer", epsilon=1, method="measured", own_delta=True)


def test_every_misspelt_column_is_named() -> None:
    yes_no = dc.Categorical(["no", "yes"])
    data = dc.read({"smoke": ["no"], "lung": ["yes"]}, dc.Schema(smoke=yes_no, lung=yes_no))
    both = '"smok" (did you mean "smoke"?), "lun" (did you mean "lung"?)'
    for call in (
        lambda: dc.ci_test(data, "smok", "lun", epsilon=1.0),
        lambda: dc.discover(data, epsilon=1.0, tiers=[["smok"], ["lun"]]),
        lambda: dc.discover(data, epsilon=1.0, required=[("smok", "lun")]),
        lambda: dc.Schema.draft({"smoke": ["no"], "lung": ["yes"]}, columns=["smok", "lun"]),
        lambda: data.schema.select(["smok", "lun"]),
    ):
        with pytest.raises(dc.InputError) as caught:
            call()
        assert f"no columns {both}" in str(caught.value)
