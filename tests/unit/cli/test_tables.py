"""Tables at every width: all numbers whole, nothing cut."""

from __future__ import annotations

import pytest

from dpcausal.cli.output import print_answer, wrap_line
from dpcausal.present.text import ruled

HEADS = ["data set", "epsilon", "spent", "delta"]
ROWS = [["a_cohort_with_quite_a_long_name", "10.25", "9.876543", "1.23456e-05"], ["b [red]", "4", "0.5", "0"]]


@pytest.mark.parametrize("width", [120, 80, 60, 50, 47])
def test_every_number_is_whole(width: int) -> None:
    lines = ruled(HEADS, ROWS, left=HEADS[:1], width=width)
    words = " ".join(lines).split()
    assert all(cell in words for row in ROWS for cell in row[1:])
    assert max(map(len, lines)) <= width
    assert any("b [red]" in line for line in lines)


def test_what_does_not_fit_side_by_side_is_cut_into_several_tables() -> None:
    def tables(width: int) -> int:
        return sum("─" in line for line in ruled(HEADS, ROWS, left=HEADS[:1], width=width))

    assert (tables(80), tables(47)) == (1, 3)


def test_a_last_column_of_text_goes_on_beneath_itself() -> None:
    rows = [["1", "one two three four five six seven eight nine ten"], ["2", ""]]
    lines = ruled(["entry", "what"], rows, left=["what"], width=40)
    assert max(map(len, lines)) <= 40
    assert sum("─" in line for line in lines) == 1
    assert " ".join(" ".join(lines).split()).startswith("entry what")
    assert " ".join(" ".join(lines[3:]).split()) == "1 one two three four five six seven eight nine ten 2"


def test_sentences_are_broken_between_words_in_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "one two-three four five six\n  a -> b   a line of the table is kept whole\n\nend"
    print_answer(text)
    assert capsys.readouterr().out == text + "\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "20")
    print_answer(text)
    wrap_line = "one two-three four\nfive six\n  a -> b   a line of the table is kept whole\n\nend\n"
    assert capsys.readouterr().out == wrap_line


def test_the_last_column_of_a_table_goes_on_beneath_itself() -> None:
    row = "  smoke - bronc  95% or more  direction not decided; may come from age, held fixed only by groups of values"
    lines = wrap_line(row, 80).splitlines()
    assert len(lines) == 2
    assert all(len(line) <= 80 for line in lines)
    assert lines[1] == " " * row.index("direction") + "fixed only by groups of values"
    assert " ".join(wrap_line(row, 80).split()) == " ".join(row.split())
    assert wrap_line(row, 200) == row
    assert wrap_line(row, 45) == row  # too little room beside the other columns
    assert wrap_line("  (no edge found: a_long_name, another_one)", 30).splitlines()[1] == "  another_one)"
