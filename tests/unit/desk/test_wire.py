"""Results as JSON and back: the same objects, and nothing that holds rows."""

import json

import pytest

import dpcausal as dc
from dpcausal.desk.wire import from_wire, to_wire

ASKED = [
    {},
    {"method": "priv-pc"},
    {"latent": True},
    {"target": "Cancer"},
    {"method": "curate"},
    {"method": "em-pc"},
]


@pytest.fixture(scope="module")
def data():
    return dc.networks.load("cancer").sample(5000, seed=1)


@pytest.mark.parametrize("options", ASKED, ids=str)
def test_a_graph_comes_back_as_it_was(data, options):
    result = dc.discover(data, epsilon=2.0, delta=1e-6, anyway=True, **options)
    back = from_wire(to_wire(result))
    assert back == result
    assert back.to_json() == result.to_json()
    assert str(back) == str(result)
    if result.release is not None:
        assert back.release.discover().to_json() == result.release.discover().to_json()


def test_tests_effects_and_plans_come_back(data):
    test = dc.ci_test(data, "Smoker", "Cancer", epsilon=1.0)
    effect = dc.effect(data, "Smoker", "Cancer", adjust=["Pollution"], epsilon=1.0)
    plan = dc.plan(data.schema, 5000, 1.0, 1e-6)
    for one in (test, effect, plan):
        back = from_wire(to_wire(one))
        assert type(back) is type(one)
        assert back.to_json() == one.to_json()
        assert str(back) == str(one)


def test_nothing_with_rows_leaves(data):
    kept = dc.discover(data, epsilon=2.0, delta=1e-6, reserve=0.3, anyway=True)
    for held in (data, kept, dc.Budget(1.0), {"deep": [data]}, object()):
        with pytest.raises(dc.InputError):
            to_wire(held)


@pytest.mark.parametrize(
    "value",
    [
        {"class": "os:environ", "fields": {}},
        {"class": "dpcausal.data.dataset:Dataset", "fields": {}},
        {"class": "dpcausal.privacy.budget:Budget", "fields": {}},
        {"class": "dpcausal.core.statement:PrivacyStatement", "fields": {"private": True}},
        {"class": "dpcausal.desk.wire:json.JSONDecoder", "fields": {}},
        {"enum": "dpcausal.core.neighbours:Neighbours", "name": "nobody"},
        {"tuple_of": "dpcausal.core.statement:PrivacyStatement", "items": []},
        {"array": "O", "shape": [1], "data": ""},
        {"strange": 1},
    ],
    ids=str,
)
def test_what_is_no_result_is_refused(value):
    with pytest.raises(dc.InputError):
        from_wire(json.dumps({"format": 1, "value": value}))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2, "value": 1}', "\x00"])
def test_damaged_texts_are_refused(text):
    with pytest.raises(dc.InputError):
        from_wire(text)
