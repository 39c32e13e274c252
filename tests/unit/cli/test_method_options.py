"""--option NAME=VALUE: every option of every method is listed, converted by its type, and refused in one line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dpcausal import networks
from dpcausal.cli.app import run
from dpcausal.cli.method_options import default_word, parse_options, types_of
from dpcausal.core.errors import InputError
from dpcausal.discovery.discover import METHODS


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("options")
    data = networks.load("cancer").sample(400, seed=1)
    lines = [",".join(data.columns)]
    levels = [[data.schema[name].levels[i] for i in data.codes[name]] for name in data.columns]
    lines += [",".join(map(str, row)) for row in zip(*levels, strict=True)]
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    (folder / "schema.toml").write_text(data.schema.to_toml())
    return folder


def discover(place: Path, *words: str) -> list[str]:
    files = [str(place / "data.csv"), "--schema", str(place / "schema.toml"), "--out", str(place / "out")]
    return ["discover", *files, "--epsilon", "2", "--json", *words]


@pytest.mark.parametrize("method", METHODS)
def test_every_option_has_a_type_that_takes_its_own_default(method: str) -> None:
    types = types_of(method, [])
    for name, default in METHODS[method].options.items():
        assert parse_options([f"{name}={default_word(default)}"], types, method) == {name: default}
        assert METHODS[method].option_lines[name][0].islower()


def test_the_help_page_lists_every_option_of_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["discover", "--help-methods"]) == 0
    page = re.sub(r"\s+", " ", capsys.readouterr().out)
    for name, method in METHODS.items():
        part = page.partition(f" {name}: {method.description} ")[2]
        for option, default in method.options.items():
            assert f"{option}={default_word(default)}: {method.option_lines[option]} (" in part


@pytest.mark.parametrize(
    ("method", "text", "said"),
    [
        ("priv-pc", "hits", "--option takes NAME=VALUE, not 'hits'"),
        ("priv-pc", "hits=many", "--option hits takes a whole number or none, not 'many'"),
        ("priv-pc", "hits=2.5", "--option hits takes a whole number or none, not '2.5'"),
        ("priv-pc", "subsample=best", "takes a whole number, optimal or none, not 'best'"),
        ("priv-pc", "share=inf", "--option share takes a number, not 'inf'"),
        ("priv-pc", "share=2", "share must lie strictly between 0 and 1, not 2.0"),
        ("priv-pc", "hit=3", "priv-pc has no option 'hit' (did you mean \"hits\"?)"),
        ("svt-pc", "positives=0", "positives must be at least 1, not 0"),
        ("svt-pc", "on=rows", "--option on takes values or table, not 'rows'"),
        ("em-pc", "orders=0", "orders must be at least 1, not 0"),
        ("curate", "margins=0.1", "--option margins takes 2 numbers with a comma, not '0.1'"),
        ("curate", "margins=0.1,11", "margins must be two numbers between 0 and 10"),
        ("curate", "stable=maybe", "--option stable takes true or false, not 'maybe'"),
        ("tests", "test=nothing", "no test is called 'nothing'"),
        ("tests", "median=mean", "median"),
        ("auto", "hits=3", "auto has no option 'hits'"),
    ],
)
def test_what_can_not_be_used_is_one_line_and_exit_2(
    place: Path, method: str, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(discover(place, "--method", method, "--option", text)) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert shown.out == ""


def test_an_option_given_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"--option hits .*3 .*'4'"):
        parse_options(["hits=3", "hits=4"], types_of("priv-pc", []), "priv-pc")


def test_options_reach_the_method_and_the_report(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--method", "priv-pc", "--option", "hits=3", "--option", "share=0.25"]
    assert run(discover(place, *words)) == 0
    told = json.loads(capsys.readouterr().out)
    assert len(told["privacy"]["events"]) <= 3
    report = (place / "out" / "report.html").read_text()
    assert "--option hits=3 --option share=0.25" in report
    assert "hits=3, share=0.25" in report


@pytest.mark.parametrize(
    ("words", "said", "unsaid"),
    [
        (["discover", "--method", "priv-pc", "--help"], "for priv-pc: ", "positives="),
        (["discover", "--method=svt-pc", "--help"], "positives=none: ", "hits="),
        (["test", "--method", "crt", "--help"], "for crt: ", "for gcm: "),
    ],
)
def test_the_help_of_a_method_lists_its_options(
    words: list[str], said: str, unsaid: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 0
    told = capsys.readouterr().out
    assert said in told.partition("--option takes, ")[2]
    assert unsaid not in told.partition("--option takes, ")[2]
    assert run([words[0], "--help"]) == 0
    assert "--option takes, " not in capsys.readouterr().out
