"""Words of ``dpcausal schema``: the file of a draft, and the table and lines of a check.

Both come from rows without noise, and both say so first. The functions take the facts of ``dpcausal.data.draft`` and
``dpcausal.data.check`` and add nothing to them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from dpcausal.data import findings as found
from dpcausal.data.check import ColumnCheck, SchemaCheck
from dpcausal.data.code_books import CodeBook
from dpcausal.data.columns import Categorical, reads_as_missing
from dpcausal.data.csv import RaggedRows
from dpcausal.data.dates import ISO
from dpcausal.data.draft import Draft, DraftedColumn
from dpcausal.data.findings import Finding, LeftOut, Relation
from dpcausal.data.schema import column_toml, format_toml, toml_header
from dpcausal.present.text import Words, as_sentence, few, filled, ruled

MAX_EMPTY_LISTED = 4  # empty levels or bins in a cell of the table
MAX_UNUSED_LISTED = 8  # columns of the data that the schema does not declare
MAX_SHARED_LISTED = 6  # columns with the same code in the same rows

NOT_PRIVATE = "not private: do not publish this output; it was computed from the rows without noise"
DRAFT_NOT_PRIVATE = (
    "levels and bounds were read from rows; a person must check every line against public knowledge"
)
_DRAFT_HEADER = """\
# DRAFT, read from the data itself: NOT PRIVATE. Levels, spellings, codes, bounds and cut points below come from rows.
# Check every line against public knowledge (a codebook, a form, common sense) before you use or show this file.
#   lower, upper: rounded outwards. A number beyond is moved to the bound. Close bounds: less noise in a mean.
#   bins: [40, 65] makes three: below 40, 40 to below 65, 65 and above. Take the cut points of your field.
#   other: what a missing value or an undeclared level becomes: here a middle value, or a level for it. Your choice.
#     Missing are empty cells, NA, N/A, NaN, null, None, text among numbers, and what `missing` lists.
#   missing_level = true: missing numbers have a bin of their own in tables.   ordered = true: levels have an order.
# `dpcausal schema DATA --check THIS_FILE` shows, on your own machine, what this file does to your rows.
draft = true  # delete this line and those above when every line is checked; until then every use warns
"""


def _listed_texts(texts: Sequence[tuple[str, int]], cells: int) -> str:
    """Return the most frequent of ``cells`` texts in one line: ``'n/a' (9), '<5' (3) and others``."""
    listed = ", ".join(f"{text!r} ({count:,})" for text, count in texts)
    return f"{listed} and others" if sum(count for _, count in texts) < cells else listed


OWN_BIN = "have a bin of their own in tables"
LEFT_OUT_OF_EFFECTS = (
    "and an effect leaves them out; methods that use the numbers themselves (kendall, spearman, gcm, moments, a "
    "regression) replace them by"
)

# ---- drafts


def draft_toml(draft: Draft) -> str:
    """Return the schema file of a draft: a warning on top, one table a column, notes as comments."""
    remarks = [*map(note_words, draft.notes), *_ragged_lines(draft.ragged)]
    comments = "".join(f"# {_printable(line)}\n" for line in remarks)
    top = _DRAFT_HEADER + format_toml(draft.format) + comments
    return "\n".join([top, *map(_drafted_table, draft.columns)])


def _drafted_table(drafted: DraftedColumn) -> str:
    """Return the TOML table of a drafted column with its notes as comments."""
    column = drafted.column
    if column is None:
        assert drafted.left_out is not None
        why = drafted.left_out
        return f"# {toml_header(drafted.name)}  left out: {left_out_words(why)}\n{_proposed(why)}"
    comments = [_printable(note_words(note)) for note in drafted.notes]
    if isinstance(column, Categorical):
        remarks = _level_remarks(drafted)
        return column_toml(drafted.name, column, comments=comments, remarks=remarks) + _order_hint(column)
    return column_toml(drafted.name, column, comments=comments, remarks=_number_remarks(drafted))


def _proposed(why: LeftOut) -> str:
    """Return, as comments, the declaration of a column that a draft leaves out; empty where it knows none."""
    if not isinstance(why, found.Dates):
        return ""
    lines = ['type = "date"', f'lower = "{why.first:04}-01-01"', f'upper = "{why.last:04}-12-31"']
    lines += [f'format = "{one}"' for one in why.written if one != ISO]
    return "".join(f"# {line}\n" for line in lines)


def _printable(text: str) -> str:
    """Return a text without characters that a TOML comment can't hold."""
    return "".join(character if character.isprintable() else " " for character in text)


def _order_hint(column: Categorical) -> str:
    """Return how to declare an order, where there are enough levels for one."""
    levels = [text for text in column.printed if not reads_as_missing(text)]
    if len(levels) < 3 or column.ordered:
        return ""
    unless = "" if len(levels) == column.size else "; no level may be for missing values"
    texts = all(isinstance(level, str) for level in column.levels)
    sort = ": sort them first" if texts and levels == sorted(levels) else ""
    return f"# ordered = true  # if they have an order{sort}{unless}\n"


def _level_remarks(drafted: DraftedColumn) -> dict[str, str]:
    """Return the remark on `other`, where no level is for missing values."""
    if any(isinstance(note, found.MissingLevel) for note in drafted.notes):
        return {}
    return {"other": "the first level: choose"}


def _number_remarks(drafted: DraftedColumn) -> dict[str, str]:
    """Return the remarks on where bounds and `other` come from."""
    guess = {"other": "from rows"}
    if any(isinstance(note, found.AgeBounds) for note in drafted.notes):
        return guess
    return {"lower": "from rows", "upper": "from rows"} | guess


_RELATIONS = {
    Relation.LINEAR: ("", ""),
    Relation.PRODUCT: ("", ", as a product or ratio"),
    Relation.CUTS: ("cut points on ", ""),
    Relation.CUTS_OF_SUM: ("cut points on the sum of ", ""),
    Relation.CUTS_OF_DIFFERENCE: ("cut points on the difference of ", ""),
    Relation.LEVELS: ("", ""),
}


def _determined(note: found.Determined) -> str:
    """Return that a column follows from others, and advice on which to leave out."""
    before, after = _RELATIONS[Relation(note.relation)]
    them = "one of the two" if len(note.by) == 1 else "one of the three"
    return f"follows from {before}{' and '.join(note.by)}{after}: leave out {them}, or true links may be lost"


def _missing_with(note: found.MissingWith) -> str:
    """Return that a column is missing where another has a value, and advice on which to keep."""
    keep = ", this one if you ask about the number" if note.number else ""
    cells = f"{note.cells:,} cells" if note.seen is None else f"{note.cells:,}{_first_rows(note.seen)} rows"
    return (
        f"is missing in (nearly) all rows in which {note.other} is {note.value!r} ({cells}), which tells "
        f"whether it is missing: keep one of the two{keep}; if it arises only afterwards (a cause of death), leave "
        "this one out"
    )


def _first_rows(seen: int | None) -> str:
    """Return "of the first N" where a number counts the first rows only; else empty."""
    return "" if seen is None else f" of the first {seen:,}"


def _repeated(note: found.RepeatedIdentifier) -> str:
    """Return that an identifier repeats, and what that means for the promise."""
    count = "1 row" if note.rows == 1 else f"{note.rows:,} rows"
    if note.unique is not None:
        return (
            f"{note.column} repeats in {count} and {note.unique} does not: if it says who belong together (a matched "
            "set, a family), intervals and tests take such rows for unrelated"
        )
    return (
        f"{note.column} repeats in {count}: the promise is for one row; to protect persons, make it the unit "
        f"(column = {json.dumps(note.column, ensure_ascii=False)} under [unit] in the schema, or --unit "
        f"{note.column} with a question)"
    )


def _unread(note: found.UnreadCells) -> str:
    """Return how many cells could not be read, and what they become."""
    what = f"no numbers ({_listed_texts(note.texts, note.cells)})" if note.texts else "missing"
    cells = f"{note.cells:,} of {note.rows:,} cells are {what} and"
    if isinstance(note.becomes, str):
        return f"{cells} become {note.becomes!r}"
    if note.own:
        return f"{cells} {OWN_BIN} (`missing_level`), {LEFT_OUT_OF_EFFECTS} {note.becomes:g} (`other`)"
    return f"{cells} are replaced by {note.becomes:g}"


def _missing_code(note: found.MissingCode) -> str:
    """Return that a number is treated as a code for missing, and what it becomes."""
    cells = f"{note.cells:,} {'cell' if note.cells == 1 else 'cells'}"
    if note.becomes is None:
        return (
            f"{note.code} occurs in {cells} and is treated as missing (`missing`): the bounds leave it out; a guess "
            "from rows: if it is a number, take it out"
        )
    becomes = f" (`missing`) and becomes {note.becomes!r}" if note.code != note.becomes else ""
    return (
        f"{note.code!r} occurs in {cells} and is treated as missing{becomes}; a guess from rows: if it is a level, "
        "move it to `levels`"
    )


def _missing_level(note: found.MissingLevel) -> str:
    """Return that a level reads as a missing value, and what follows."""
    if note.in_file:
        return (
            f"{note.level!r} reads as a missing value: `other` names it, for missing and undeclared values. Two "
            "columns with such a level can be linked only because values are missing in the same rows"
        )
    return f"{note.level!r} is a level of its own; to let them join another, take it out and name that one in `other`"


def _aliases(note: found.AliasesRead) -> str:
    """Return which spellings are read as a level, or as numbers."""
    spellings = ", ".join(map(repr, note.spellings))
    if note.level is None:
        return f"`aliases` reads {spellings} as numbers; if not, make them levels, as text"
    return f"`aliases` reads {spellings} as {note.level!r}, a guess from rows: check that they mean the same"


def _recognised(note: found.Recognised) -> str:
    """Return which reading of the file was guessed: encoding, decimal mark or the like."""
    cells = f"`{note.entry}`: {_cells(note.cells)}"
    match note.entry:
        case "encoding":
            looks = "looks" if note.cells == 1 else "look"
            return f"{cells} not UTF-8 and {looks} like {note.value}; check a word with an accent"
        case "decimal":
            return f"{cells} numbers with a decimal comma"
        case "thousands":
            return f"{cells} numbers with {note.value!r} between thousands"


def _uneven(note: found.UnevenBins) -> str:
    """Return that most numbers lie in one bin or are one value."""
    if note.same is not None:
        return f"{note.share:.0%} of the numbers are {note.same:g}: only strong links with it can show"
    return (
        f"{note.share:.0%} of the numbers lie in one bin: put cut points of your field inside it, or only strong links "
        "with this column can show"
    )


def _number_codes(note: found.NumberCodes) -> str:
    """Return that whole numbers of a column may be codes, and how to declare them."""
    many = "many" if note.values is None else note.values
    return (
        f"{many} different whole numbers that may be codes (a state, a ward, a cause of death): codes have no order, "
        'and bins of them mean nothing. If they are, declare levels, type = "categorical", or groups of them, or leave '
        "the column out"
    )


def _code_book(note: found.CodeBook) -> str:
    """Return that levels are value labels of the file."""
    read = ", which `aliases` reads as them" if note.codes else ""
    read += "; they read as grades: if that is their order, `ordered = true`" if note.grades else ""
    return f"the {note.levels:,} levels are the value labels of the file, in the order of their codes{read}"


def _shared_code(note: found.SharedCode) -> str:
    """Return that several columns have the same code in the same rows, and that it may mean missing."""
    others = few(note.columns, MAX_SHARED_LISTED)
    level = f'"{note.level}"' if isinstance(note.level, str) else str(note.level)
    return (
        f"these {len(note.columns) + 1} columns have {level} in the same {note.cells:,} of {note.seen:,} rows: "
        f"this one, {others}. A code for missing (not asked)? Then take it out of `levels` and write "
        f"`missing = [{level}]`"
    )


def _ordered_missing(note: found.OrderedMissingLevel) -> str:
    """Return where rank tests place the missing level of an ordered column."""
    where = f"between {note.below!r} and {note.above!r}"
    if note.below is None or note.above is None:
        where = "the lowest" if note.below is None else "the highest"
    return f'{note.column} is ordered and has the level "{note.level}": rank tests take it as {where}'


_WORDS: dict[type[Finding], Words] = {
    found.Recognised: _recognised,
    found.HeaderLikeValues: "Is the first line a header? Its names look like values: put a line with names above the "
    "rows",
    found.RepeatedIdentifier: _repeated,
    found.MissingTogether: lambda note: (
        f"Missing together: {', '.join(note.columns)} ({note.rows:,}{_first_rows(note.seen)} rows). "
        "Links among them may show only that: keep "
        "one of them, or ask only about people with complete rows, and decide that before you look"
    ),
    found.ManyColumns: "{columns} columns share one budget: `dpcausal schema DATA --columns age,sex,...` drafts "
    "only those that your question needs",
    found.Determined: _determined,
    found.MissingWith: _missing_with,
    found.SharedCode: _shared_code,
    found.OrderedMissingLevel: _ordered_missing,
    found.TimeToEvent: "is this the time to {event}? In a graph it mixes how long people were followed with what "
    "happened to them: leave out one of the two there; an effect takes both as they are (--time, --event, --horizon)",
    found.UnreadCells: _unread,
    found.MissingCode: _missing_code,
    found.MissingLevel: _missing_level,
    found.AliasesRead: _aliases,
    found.Abbreviation: "{letter!r} may be short for {level!r}: if so, take it out of `levels` and put it in "
    "`aliases`",
    found.WithSeparators: "{cells:,} of them are numbers with separators: write 1234, not 1,234, in the data",
    found.CodeBook: _code_book,
    found.QuantileBins: "cut points are round numbers near quantiles of the rows: replace them by those of your field",
    found.UnevenBins: _uneven,
    found.Skewed: 'most numbers are small, some far above: if ratios count (a dose, a cost), put `scale = "log"` and '
    "leave `bins` out",
    found.AgeBounds: "{lower:g} to {upper:g} are bounds for any age: narrow them to those of your study",
    found.NumberCodes: _number_codes,
    found.NumberLevels: "whole numbers from {lowest} to {highest}: for grades (a score, a decile) write "
    "`ordered = true`; codes have no order",
}


def note_words(note: Finding) -> str:
    """Return one finding in words, on one line.

    >>> note_words(found.RepeatedIdentifier("patient_id", 3000))
    'patient_id repeats in 3,000 rows: the promise is for one row; to protect persons, make it the unit \
(column = "patient_id" under [unit] in the schema, or --unit patient_id with a question)'
    >>> note_words(found.Determined("group", ("kappa", "lambda"), Relation.CUTS_OF_SUM))
    'follows from cut points on the sum of kappa and lambda: leave out one of the three, or true links may be lost'
    """
    return filled(_WORDS[type(note)], note)


def _cells(count: int) -> str:
    """Return a number of cells with its verb: "1 cell is" or "7 cells are"."""
    return "1 cell is" if count == 1 else f"{count:,} cells are"


UNUSABLE = {
    "no-name": "it has no name",
    "repeated-name": "more than one column has this name",
    "no-values": "no values",
}


def left_out_words(why: LeftOut) -> str:
    """Return why a column is not in a draft."""
    match why:
        case found.Unusable():
            return UNUSABLE[why.why]
        case found.UnknownType():
            return f"type {why.type}"
        case found.UnreadableNumbers():
            texts = _listed_texts(why.texts, why.cells)
            return f"numbers that can't be read as such ({texts}): write 3.5, not 3,5 or <3.5"
        case found.TooManyTexts():
            return (
                f"more than {why.limit} different texts: an identifier, a date or free text? If it tells whose a row "
                'is, name it under [unit]; if it is a date, declare type = "date" with its bounds and format'
            )
        case found.Dates():
            both = (
                ""
                if len(why.written) == 1
                else ". Day or month first fits these dates: keep the format that is true"
            )
            return (
                "dates. To analyse them, take the marks off these lines, and give bounds that are public: those below "
                f"are whole years around the first dates only{both}"
            )
        case found.SaysWhose():
            return "it says whose rows are, and is nothing to analyse. If it is, declare it"
        case found.AllDifferent():
            return f"all {why.rows:,} rows have different values: an identifier? If not, declare it"
    raise TypeError(f"no words for {why!r}")


# ---- checks


def check_json(check: SchemaCheck) -> dict[str, Any]:
    """Return a check as plain data for JSON; the first fields say that it is not private."""
    return {"private": False, "warning": NOT_PRIVATE, **check.to_dict()}


def _table_row(column: ColumnCheck) -> list[str]:
    """Return the row of the table of a check for one column."""
    categorical = column.type == "categorical"
    return [
        f"{column.name} ({column.label})" if column.label else column.name,
        share(column.missing, column.rows),
        share(column.not_a_level, column.rows) if categorical else "",
        "" if categorical else share(column.not_a_number, column.rows),
        "" if categorical else share(column.below + column.above, column.rows),
        few(column.empty, MAX_EMPTY_LISTED),
    ]


def share(count: int, rows: int) -> str:
    """Return a share of the rows in per cent, never rounded to 0.

    >>> share(0, 10), share(1, 8), share(1, 100_000)
    ('0', '12.5%', '<0.1%')
    """
    percent = 100.0 * count / rows if rows else 0.0
    return "0" if count == 0 else "<0.1%" if percent < 0.1 else f"{percent:.1f}%"


def check_lines(check: SchemaCheck) -> list[str]:
    """Return one line for each finding of a check, in the order of the columns."""
    lines = [f'Declared, but not in {check.label}: "{name}"' for name in check.not_in_data]
    lines += _ragged_lines(check.ragged)
    lines += map(_checked_note, check.notes)
    for column in check.columns:
        lines += (f"{column.name}: {line}" for line in _column_lines(column))
    if any(column.not_a_level for column in check.columns):
        lines.append('Another spelling of a level can be declared as one of its `aliases`: { Yes = "yes" }.')
    if check.draft:
        lines.append(
            "The schema is marked as a draft: delete its line `draft = true` when every line is checked."
        )
    if check.not_in_schema:
        names = few([f'"{name}"' for name in check.not_in_schema], MAX_UNUSED_LISTED)
        lines.append(f"In {check.label}, but not declared, so never read: {names}")
    return lines


def _checked_note(note: Finding) -> str:
    """Return a finding as a line of a check: with its column, or with what to declare."""
    match note:
        case found.Determined() | found.MissingWith():
            return f"{note.column} {note_words(note)}"
        case found.Recognised():
            return f'{note_words(note)}: put `{note.entry} = "{note.value}"` on top of the schema'
        case found.MissingTogether():
            return f"{note_words(note)}."
    return note_words(note)


_LEFT_REMARK = re.compile(r"#.*(from rows|: choose)\b")


def left_remarks(text: str) -> str:
    """Return how many remarks of a draft a schema file still has; empty if none.

    >>> left_remarks('other = 3  # from rows\\nother = "no"  # the first level: choose\\n')
    "2 lines of the schema still say 'from rows' or 'choose': check them, then delete these words."
    """
    lines = [line for line in text.splitlines() if not line.startswith("# DRAFT")]
    many = sum(bool(_LEFT_REMARK.search(line)) for line in lines)
    if not many:
        return ""
    which, them = (
        ("1 line of the schema still says", "it")
        if many == 1
        else (f"{many} lines of the schema still say", "them")
    )
    return f"{which} 'from rows' or 'choose': check {them}, then delete these words."


def check_verdict(check: SchemaCheck) -> str:
    """Return in one line whether the rows can be read by the schema, and whether anything in them is changed."""
    if not check.usable:
        return "The rows can't be read by this schema; below the table is why."
    if nothing := [column for column in check.columns if column.nothing_read]:
        return " ".join(
            f"{column.name}: {_nothing_words(column)}." for column in nothing[:MAX_UNUSED_LISTED]
        ) + (" All rows would count alike there: mend the schema, or the column's name.")
    ragged, repeats = check.ragged, check.notes_of(found.RepeatedIdentifier)
    whole = not (ragged.fewer or ragged.more or ragged.unclosed or repeats or check.not_in_schema)
    changed = sum(not column.fine for column in check.columns)
    if whole and not changed:
        return f"Every cell of {check.rows:,} rows is used unchanged."
    cells = f"; cells of {changed} of {len(check.columns)} columns are changed" if changed else ""
    return f"{check.rows:,} rows can be read by this schema{cells}: see below the table."


def _nothing_words(column: ColumnCheck) -> str:
    """Return that no cell of a column could be read, and what the cells hold."""
    what = "declared level" if column.type == "categorical" else "number"
    unreadable = column.not_a_level + column.not_a_number
    there = (
        f" (the file has {_listed_texts(column.texts, unreadable)})" if unreadable else ", all are missing"
    )
    return f"NO CELL HAS A {what.upper()}{there}"


def check_text(check: SchemaCheck, *, width: int | None = None, schema: str = "", fault: str = "") -> str:
    """Return a check as plain lines: that it is not private, the verdict, the table, what a person should know.

    ``schema``: the text of its file. ``fault``: an error that is shown by itself and not said twice.
    """
    heads = ["column", "missing", "not\ndeclared", "no\nnumber", "clamped", "empty levels\nor bins"]
    rows = [_table_row(column) for column in check.columns]
    more = [line for line in (left_remarks(schema), *check_lines(check)) if line]
    lines = [
        as_sentence(NOT_PRIVATE),
        check_verdict(check),
        *ruled(heads, rows, left=(heads[0], heads[-1]), width=width),
        *(line for line in more if not fault or not line.endswith(f": {fault}")),
    ]
    return "\n".join(lines)


def _become(column: ColumnCheck) -> str:
    """Return what missing or unreadable cells of a column become."""
    if column.own_bin:
        return f"{OWN_BIN}, {LEFT_OUT_OF_EFFECTS} {column.other}"
    counted = (
        f", so they count in the bin {column.other_bin} (`missing_level = true` gives them one of their own)"
    )
    return f"become {column.other}{counted if column.other_bin else ''}"


def _column_lines(column: ColumnCheck) -> Iterator[str]:
    """Yield what a check found in a column, one line each."""
    if column.fault:
        yield column.fault
    if column.missing:
        coded = (
            f" ({column.coded_missing:,} of them hold a code in `missing`)" if column.coded_missing else ""
        )
        yield f"{column.missing:,} missing cells {_become(column)}{coded}"
    if unreadable := column.not_a_level + column.not_a_number:
        what = "no number" if column.not_a_number else "no declared level"
        yield f"{what}, so they {_become(column)}: {_listed_texts(column.texts, unreadable)}"
    if column.below or column.above:
        yield (
            f"{column.below:,} cells are below the lower bound and {column.above:,} above the upper one; they are "
            "moved to the bound"
        )
    for code, cells in column.codes:
        yield f"{code} occurs in {cells:,} of these; if it means missing: `missing = [{code}]`"


def _ragged_lines(ragged: RaggedRows) -> Iterator[str]:
    """Yield what a check says of rows with more or fewer fields than the header."""

    def rows(count: int, than: str) -> str:
        return f"{count:,} {'row has' if count == 1 else 'rows have'} {than} fields than the header"

    if ragged.more:
        yield (
            f"{rows(ragged.more, 'more')}: what lies beyond is not read; where a text holds the delimiter without "
            "quotes, every field after it is one column off"
        )
    if ragged.fewer:
        yield f"{rows(ragged.fewer, 'fewer')}: the last ones are missing"
    if ragged.unclosed:
        yield (
            f"{_open_quotes(ragged.unclosed, ragged.unclosed_lines)}. Each is a row by itself, and the quote is a "
            "character of its cell; if line breaks inside quotes belong to a cell, put `quoted_newlines = true` on top "
            "of the schema"
        )
    if ragged.breaks:
        yield (
            f"{ragged.breaks:,} line {'break lies' if ragged.breaks == 1 else 'breaks lie'} inside quotes and "
            f"{'ends' if ragged.breaks == 1 else 'end'} no row, as `quoted_newlines = true` says: a quote that is "
            "never closed takes all rows after it"
        )


def _open_quotes(lines: int, first: Sequence[int]) -> str:
    """Return which lines have a quote that is not closed.

    >>> _open_quotes(1, [7]), _open_quotes(9, [2, 3])
    ('1 line has a quote that is not closed: 7', '9 lines have a quote that is not closed: 2, 3 and 7 more')
    """
    more = f" and {lines - len(first):,} more" if lines > len(first) else ""
    named = ", ".join(map(str, first))
    return f"{lines:,} line{' has' if lines == 1 else 's have'} a quote that is not closed: {named}{more}"


def code_book_lines(book: CodeBook) -> list[str]:
    """Return what a code book does not say, a line for each column, and which fields are no columns."""
    lines = [f"{name} is not declared: {_lacking(what)}" for name, what in book.lacking.items()]
    lines += [
        f'{name}: numbers between its labelled codes have no label, and become "{book.schema[name].public_other}"; '
        "if it is a number, declare lower and upper instead"
        for name in book.gaps
    ]
    if book.left_out:
        lines.append(f"Left out (identifiers, free text, files, headings): {', '.join(book.left_out)}")
    return lines


def _lacking(what: Sequence[str]) -> str:
    """Return what a column lacks.

    >>> _lacking(["upper"]), _lacking(["lower", "upper"]), _lacking(["levels"])
    ('upper is lacking', 'lower and upper are lacking', 'levels are lacking')
    """
    if what == ("decimal",):
        return "a file is read with one decimal mark, and not all numbers of the code book have the same"
    return f"{' and '.join(what)} {'is' if len(what) == 1 and what[0] != 'levels' else 'are'} lacking"
