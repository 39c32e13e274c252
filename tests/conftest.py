"""Which tests run first, and how many cases of the long ones ``make test`` takes; ``make test-all`` takes them all.

``make test`` (``-m "not slow"``) must end within six minutes on two cores, so within 700 seconds of their time with the
collection. It takes one case in so many of the tests in ``THINNED``, an eighth of the examples of every property test,
and no case that is marked ``covered``: others ask its question under other terms, and other questions under its terms.
In the files of ``QUICK_FILES`` a search that nobody asked for a number of repeats makes ``QUICK_REPEATS`` of them.
A test that is named on the command line, by the mutation run for one, is not thinned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

LONG_FILES = (
    "tests/net/test_wiring.py",
    "tests/net/test_non_interference.py",
    "tests/property/data/test_row_independence.py",
    "tests/conformance/test_mixed_columns.py",
    "tests/audit/test_empirical.py",
    "tests/statistical/test_noise.py",
    "tests/e2e/test_docs.py",
    "tests/e2e/test_help.py",
    "tests/unit/test_estimators.py",
    "tests/unit/test_contributing.py",
    "tests/e2e/test_interrupt.py",
)
FAST = "not slow"
EXAMPLES = 8  # one in so many examples of a property test, but at least
LEAST_EXAMPLES = 10
QUICK_REPEATS = 5  # of a search on other samples, in place of 20 to 100: half of the time went there
QUICK_FILES = {  # whose tests do not count what repeats tell, or ask for a number of them
    "tests/e2e/test_asked_before.py",
    "tests/e2e/test_discover.py",
    "tests/e2e/test_help.py",
    "tests/e2e/test_second_ledger.py",
    "tests/unit/discovery/test_evidence.py",
    "tests/unit/discovery/measured/test_whole_graphs.py",
    "tests/unit/discovery/measured/test_method.py",
    "tests/unit/discovery/measured/test_larger.py",
    "tests/unit/discovery/test_orientation.py",
    "tests/unit/test_estimators.py",
}
NEVER = 0
THINNED = {  # one case in so many; NEVER: under make test-all only
    "tests/conformance/test_mixed_columns.py::test_auto_answers_every_combination": 3,
    "tests/property/discovery/test_measured_neighbours.py::test_no_neighbour_moves_more_than_the_sensitivity": 2,
    "tests/unit/test_contributing.py::test_the_checks_of_every_test_pass_with_it": NEVER,
    "tests/property/discovery/test_score_sensitivity.py::test_no_neighbours_break_the_bound": 3,
    "tests/statistical/test_gcm_level.py::test_level_where_z_moves_both_columns_most": NEVER,
    "tests/unit/privacy/mechanisms/test_selection.py::test_samplers_have_their_exact_laws": NEVER,
    "tests/statistical/test_noise.py::test_fits_and_a_wrong_scale_does_not": 2,
    "tests/audit/test_empirical.py::test_a_true_claim_is_not_refuted": 3,
    "tests/audit/test_empirical.py::test_catches_broken_variants_quickly": 2,
    "tests/audit/test_empirical.py::test_the_bound_comes_near_the_truth": 2,
    "tests/statistical/test_test_of_gcm_level.py::test_level": NEVER,
    "tests/e2e/test_help.py::test_the_shell_completes": 3,
    "tests/property/stats/test_continuous_rank_sensitivity.py::test_climbing_stays_below_every_bound": 4,
    "tests/conformance/test_counts.py::test_random_schemas_agree": 2,
    "tests/conformance/test_counts.py::test_most_levels": 2,
    "tests/conformance/test_counts.py::test_bad_requests_are_one_line": 2,
    "tests/statistical/test_partial.py::test_level": 3,
    "tests/unit/discovery/measured/test_method.py::test_no_edges_are_found_where_there_are_none": NEVER,
    "tests/property/stats/test_ridge_choice.py::test_bound_is_kept_by_searched_neighbours": 4,
    "tests/property/stats/test_spearman_sensitivity.py::test_climbing_stays_below_every_bound": 4,
    "tests/property/stats/test_kendall_sensitivity.py::test_climbing_stays_below_every_bound": 3,
    "tests/statistical/test_citests_level.py::test_tests_on_parts_stay_below_their_level": 4,
    "tests/statistical/test_citests_level.py::test_level_where_sampling_rules": 2,
    "tests/statistical/test_citests_level.py::test_level_where_noise_rules": 2,
    "tests/unit/data/test_check.py::test_the_largest_domain_can_be_checked": NEVER,
    "tests/statistical/test_subsample.py::test_small_cases_follow_the_exact_law": 2,
    "tests/unit/discovery/test_moments.py::test_skewed_columns_make_no_edges": 2,
    "tests/unit/discovery/test_moments.py::test_level_with_and_without_noise": 2,
    "tests/unit/discovery/test_moments.py::test_numbers_and_levels_at_a_large_budget": 2,
    "tests/unit/planning/test_plan.py::test_the_epsilon_that_is_enough_is": 2,
    "tests/statistical/test_noise.py::test_coins_and_choices_fit": NEVER,
    "tests/statistical/test_noise.py::test_the_law_is_that_of_opendp": 2,
    "tests/statistical/test_citests_level.py::test_a_noise_scale_30_percent_off_is_caught": 2,
    "tests/unit/citests/test_gcm.py::test_every_variant_sees_a_strong_dependence": 2,
    "tests/unit/discovery/measured/test_method.py::test_larger_schemas_go_order_by_order": 2,
    "tests/unit/discovery/measured/test_method.py::test_small_networks_are_found": 3,
    "tests/unit/stats/test_crt.py::test_no_neighbour_passes_the_bound_and_one_30_percent_smaller_is_caught": 2,
    "tests/property/graphs/test_equivalence_classes.py::test_cpdag_and_extension_of_every_class_on_five_nodes": NEVER,
    "tests/unit/gwas/test_null_law.py::test_family_wise_error_without_signal": 3,
    "tests/unit/gwas/test_floor.py::test_family_wise_error": 2,
    "tests/statistical/test_discovery_private.py::test_above_the_reference": 4,
    "tests/property/stats/test_measured_level.py::test_level_is_kept": 3,
    "tests/property/stats/test_gcm_sensitivity.py::test_bins_hold_and_30_percent_smaller_is_caught": 2,
    "tests/property/stats/test_gcm_sensitivity.py::test_kernel_ridge_bounds_hold": 3,
    "tests/property/discovery/test_value_scores_sensitivity.py::test_scores_move_by_at_most_one_and_a_smaller_bound_is_caught": 2,  # noqa: E501
    "tests/property/graphs/test_possible_edges.py::test_an_arrow_stands_in_every_graph_that_fits": 2,
    "tests/property/stats/test_chosen_pairs_sensitivity.py::test_many_columns_no_row_passes_the_bound": 2,
    "tests/unit/privacy/test_accounting_filter.py::test_adaptive_runs_keep_the_guarantee": 3,
    "tests/unit/planning/test_look.py::test_the_power_of_a_single_test_is_about_that_of_the_test": NEVER,
    "tests/statistical/test_plan.py::test_components": 3,
    "tests/unit/discovery/test_orientation.py::test_every_graph_of_measured_has_members_and_others_say_where_not": 4,
    "tests/unit/stats/test_gcm_fit.py::test_a_turning_column_is_taken_out": NEVER,
    "tests/unit/privacy/test_many_coins.py::test_unsettled_bits_are_compared_with_the_true_exponential": 2,
    "tests/unit/discovery/measured/test_whole_graphs.py::test_more_is_found_than_by_pairs_alone": NEVER,
    "tests/unit/discovery/measured/test_method.py::test_weak_triples_are_oriented_by_all_sets": NEVER,
    "tests/unit/discovery/measured/test_tree.py::test_the_plan_says_how_often_a_link_is_found": 2,
    "tests/unit/discovery/measured/test_target.py::test_neighbours_of_the_target_are_found_and_nothing_else": 2,
    "tests/unit/stats/test_kendall_null.py::test_closed_form_agrees_with_quadrature": 4,
    "tests/unit/citests/test_forecast.py::test_of_strata_only_those_with_rows_are_subtracted": 3,
    "tests/unit/citests/test_several_columns.py::test_independent_groups_are_seldom_rejected": NEVER,
    "tests/conformance/test_mixed_columns.py::test_unordered_levels_keep_the_level_where_bins_lose_it": NEVER,
    "tests/unit/citests/test_forecast.py::test_what_kendall_finds_given_a_number_is_what_was_forecast": NEVER,
}


QUICK = pytest.StashKey[bool]()


@pytest.fixture(autouse=True, scope="module")
def quick_repeats(request: pytest.FixtureRequest) -> Iterator[None]:
    """In a fast run of everything, few repeats in some files where nobody asks for a number of them."""
    with pytest.MonkeyPatch.context() as patch:
        if request.config.stash.get(QUICK, False) and request.node.nodeid in QUICK_FILES:
            patch.setattr("dpcausal.discovery.repeats.REPEATS", QUICK_REPEATS)
            patch.setattr("dpcausal.discovery.repeats.MIN_REPEATS", QUICK_REPEATS)
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Move the tests of long files to the front; in a fast run of everything, thin out the long ones."""
    place = {name: i for i, name in enumerate(LONG_FILES)}
    items.sort(key=lambda item: place.get(item.nodeid.partition("::")[0], len(place)))
    asked = {(config.rootpath / argument).resolve() for argument in config.args}
    if asked != {config.rootpath / path for path in config.getini("testpaths")}:
        return
    gone = THINNED.keys() - {item.nodeid.partition("[")[0] for item in items}
    if gone:
        raise pytest.UsageError(
            f"tests/conftest.py thins tests that are not there: {', '.join(sorted(gone))}"
        )
    if config.option.markexpr != FAST:
        return
    config.stash[QUICK] = True
    items[:], left_out = thinned(items)
    config.hook.pytest_deselected(items=left_out)
    for item in items:
        fewer_examples(getattr(item, "obj", None))


def thinned(items: list[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """The tests that a fast run takes, and those that it leaves to the long one.

    Of so many cases in a row one is taken, and the next time the one before it: of a grid of two by two two corners,
    which have both values of both terms. The first of each row would always have the same value of the last term.
    """
    seen: Counter[str] = Counter()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        name = item.nodeid.partition("[")[0]
        share = THINNED.get(name, 1)
        row, place = divmod(seen[name], share or 1)
        taken = share != NEVER and (row + place) % share == 0 and item.get_closest_marker("covered") is None
        (kept if taken else left_out).append(item)
        seen[name] += 1
    return kept, left_out


def fewer_examples(test: Any) -> None:
    """Give a property test a part of its examples."""
    test = getattr(test, "__func__", test)
    asked = getattr(test, "_hypothesis_internal_use_settings", None)
    if asked is not None and asked.max_examples > LEAST_EXAMPLES:
        fewer = max(LEAST_EXAMPLES, asked.max_examples // EXAMPLES)
        test._hypothesis_internal_use_settings = settings(asked, max_examples=fewer)
