"""Every wrong call: exit code 2 (3 where a budget refuses), one line on standard error, nothing on standard output.

In one process, through the entry point of the command; an exception that is not turned into a line fails the test.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcausal.cli.app import run
from dpcausal.privacy.ledger import Ledger

SCHEMA = """\
[columns.smoke]
type = "categorical"
levels = ["no", "yes"]

[columns.age]
type = "numeric"
lower = 0
upper = 110

[columns.bronc]
type = "categorical"
levels = ["no", "yes"]
"""
FAULTY = {
    "syntax.toml": SCHEMA.replace('"numeric"', '"numeric'),
    "twice.toml": SCHEMA + "[columns.age]\ntype = 'numeric'\nlower = 0\nupper = 1\n",
    "kind.toml": SCHEMA.replace("numeric", "number"),
    "order.toml": SCHEMA.replace("upper = 110", "upper = -1"),
    "bins.toml": SCHEMA.replace("upper = 110", "upper = 110\nbins = [65, 18]"),
    "other.toml": SCHEMA.replace('levels = ["no", "yes"]', 'levels = ["no", "yes"]\nother = "maybe"', 1),
    "levels.toml": SCHEMA.replace('levels = ["no", "yes"]', "levels = []", 1),
    "more.toml": SCHEMA + '[columns.asthma]\ntype = "categorical"\nlevels = [0, 1]\n',
    "one.toml": '[columns.smoke]\ntype = "categorical"\nlevels = ["no", "yes"]\n',
    "few.toml": '[columns.smoke]\ntype = "categorical"\nlevels = ["no", "yes"]\n',
    "single.toml": SCHEMA.replace('["no", "yes"]', '["no"]', 1),
    "bin.toml": SCHEMA.replace("upper = 110", "upper = 110\nbins = []"),
    "nothing.toml": "",
    "table.toml": SCHEMA.replace("columns.", "column."),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table, good and bad schemas, files that are not what they seem, and two ledgers."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "data.csv").write_text("smoke,age,bronc\n" + "yes,30,no\nno,60,yes\n" * 50)
    (folder / "schema.toml").write_text(SCHEMA)
    for name, text in FAULTY.items():
        (folder / name).write_text(text)
    (folder / "empty.csv").write_text("")
    (folder / "header.csv").write_text("smoke,age,bronc\n")
    (folder / "fake.parquet").write_text("smoke,age\n")
    (folder / "data.xlsx").write_bytes(b"PK")
    (folder / "latin.toml").write_bytes(b"# caf\xe9\n" + SCHEMA.encode())
    for name in ("utf-16", "utf-32"):
        (folder / f"{name}.csv").write_bytes("smoke,age,bronc\nyes,30,no\n".encode(name))
    (folder / "table2.toml").write_text("smoke,age,bronc\nyes,30,no\n")
    (folder / "binary.parquet").write_bytes(b"PAR1\xff\xfe")
    (folder / "folder").mkdir()
    (folder / "taken").write_text("a file")
    (folder / "half.bed").write_bytes(b"\x6c\x1b\x01")
    (folder / "bad.bed").write_bytes(b"not genotypes")
    for name in ("half", "bad"):
        (folder / f"{name}.fam").write_text("f p 0 0 1 2\nf q 0 0 1 1\n")
    (folder / "bad.bim").write_text("1 rs1 0 1 A C\n")
    assert run(["gwas-simulate", str(folder / "study"), "--people", "20", "--snps", "4"]) == 0
    ledger = f"sqlite:///{folder}/ledger.db"
    assert run(["ledger", "create", "--ledger", ledger, "--dataset", "cohort", "--epsilon", "0.5"]) == 0
    (folder / "text.db").write_text("this is no database, and long enough to be sure of that" * 20)
    return folder


D = "discover data.csv --schema schema.toml --out out"
T = "test data.csv --schema schema.toml"
E = "effect data.csv --schema schema.toml"
L = "--ledger sqlite:///ledger.db"
ONLY_FILE = 'column "bronc" is in data.csv but not in the schema: declare it there\n'

WRONG = [
    # usage
    ("no schema", "discover data.csv", "--schema"),
    ("no such command", "dicover data.csv", 'did you mean "discover"?'),
    ("a letter too many", "gwass study", "No such command 'gwass' (did you mean \"gwas\"?)\n"),
    (
        "no command is near",
        "gess study",
        "No such command 'gess'; there are schema, plan, discover, again, test, effect, gwas",
    ),
    ("no such command of the ledger", f"ledger sow {L}", '(did you mean "show"?)\n'),
    ("no such option", f"{D} --epsilon 1 --epsilom 2", '--epsilom (did you mean "--epsilon"?)\n'),
    ("another spelling", f"{D} --epsilon 1 --neighbors add-remove", '(did you mean "--neighbours"?)\n'),
    ("a letter missing", "discover data.csv --shema schema.toml", '--shema (did you mean "--schema"?)\n'),
    ("an option cut short", f"{T} --x smoke --y bronc --ep 1", '--ep (did you mean "--epsilon"?)\n'),
    ("an option like no other", f"{D} --zebra red", "No such option: --zebra\n"),
    ("too many arguments", f"{D} more.csv --epsilon 1", "more.csv"),
    ("two given", f"{T} --x smoke --y bronc --given age sex --epsilon 1", "no blanks: --given age,sex\n"),
    (
        "two given, the file last",
        f"{T[:5]}--schema schema.toml --x smoke --y bronc --epsilon 1 --given a b data.csv",
        "--given takes columns",
    ),
    ("x of two words", f"{T} --x smoke bronc --y age --epsilon 1", "(bronc); --x takes one column"),
    ("y of two words", f"{T} --x age --epsilon 1 --y smoke bronc", "(bronc); --y takes one column"),
    ("tiers of two words", f"{D} --epsilon 1 --tiers age smoke", "--tiers takes one text in quotes"),
    ("two required", f"{D} --epsilon 1 --required age:smoke age:bronc", "repeat --required for every edge"),
    (
        "a number with a separator",
        "plan --schema schema.toml --rows 8,000 --epsilon 1",
        "without separators: 8000\n",
    ),
    (
        "a pair with a blank",
        "plan --schema schema.toml --rows 100 --epsilon 1 --pair age smoke",
        "no blanks: --pair age,smoke\n",
    ),
    (
        "a pair of no columns",
        "plan --schema schema.toml --rows 100 --epsilon 1 --pair age,weight",
        "weight",
    ),
    ("half a row", "plan --schema schema.toml --rows 0.5 --epsilon 1", "must be a whole number, not '0.5'\n"),
    ("an option without its value", f"{T} --x smoke --y bronc --epsilon", "--epsilon"),
    ("no number", f"{D} --epsilon one", "--epsilon"),
    ("no whole number", f"{D} --epsilon 1 --max-order 1.5", "--max-order"),
    # schema: drafting
    ("schema of nothing", "schema", "Missing argument"),
    ("schema of a missing file", "schema nope.csv", "nope.csv"),
    ("schema of a directory", "schema folder", "directory"),
    ("schema of an empty file", "schema empty.csv", "empty"),
    ("schema of a spreadsheet", "schema data.xlsx", "data.xlsx is not a readable Excel workbook"),
    ("schema of another file", "schema latin.toml", "one of .csv, .tsv, .tab, .txt (also"),
    ("schema of UTF-16", "schema utf-16.csv", "utf-16.csv is UTF-16 text"),
    ("schema of UTF-32", "schema utf-32.csv", "utf-32.csv is UTF-32 text"),
    # schema: checking
    ("a check by a missing schema", "schema data.csv --check nope.toml", "nope.toml"),
    ("a check by bad TOML", "schema data.csv --check syntax.toml", "syntax.toml:6: not valid TOML"),
    ("a check of a missing file", "schema nope.csv --check schema.toml", "nope.csv"),
    ("a check of no rows", "schema header.csv --check schema.toml", "no rows"),
    # files
    ("missing data", f"{D.replace('data.csv', 'dta.csv')} --epsilon 1", "dta.csv"),
    ("a directory for data", f"{D.replace('data.csv', 'folder')} --epsilon 1", "directory"),
    ("no rows", f"{D.replace('data.csv', 'header.csv')} --epsilon 1", "no rows"),
    ("an empty file", f"{D.replace('data.csv', 'empty.csv')} --epsilon 1", "empty"),
    ("not Parquet", f"{D.replace('data.csv', 'fake.parquet')} --epsilon 1", "Parquet"),
    ("missing schema", f"{D.replace('schema.toml', 'shema.toml')} --epsilon 1", "shema.toml"),
    ("a directory for a schema", f"{D.replace('schema.toml', 'folder')} --epsilon 1", "directory"),
    ("a schema that is not UTF-8", f"{D.replace('schema.toml', 'latin.toml')} --epsilon 1", "UTF-8"),
    (
        "data for a schema",
        f"{D.replace('schema.toml', 'data.csv')} --epsilon 1",
        "data.csv looks like a data file",
    ),
    (
        "a table named as a schema",
        f"{D.replace('schema.toml', 'table2.toml')} --epsilon 1",
        "looks like a data file",
    ),
    (
        "a binary table for a schema",
        f"{D.replace('schema.toml', 'binary.parquet')} --epsilon 1",
        "dpcausal schema binary",
    ),
    # schema files
    ("bad TOML", f"{D.replace('schema.toml', 'syntax.toml')} --epsilon 1", "syntax.toml:6: not valid TOML"),
    ("a column twice", f"{D.replace('schema.toml', 'twice.toml')} --epsilon 1", "twice.toml:13"),
    ("an unknown kind", f"{D.replace('schema.toml', 'kind.toml')} --epsilon 1", "kind.toml:6"),
    ("bounds upside down", f"{D.replace('schema.toml', 'order.toml')} --epsilon 1", "order.toml:7"),
    ("bins out of order", f"{D.replace('schema.toml', 'bins.toml')} --epsilon 1", "bins.toml:9"),
    ("other is no level", f"{D.replace('schema.toml', 'other.toml')} --epsilon 1", "other.toml:4"),
    ("no levels", f"{D.replace('schema.toml', 'levels.toml')} --epsilon 1", "levels.toml:3"),
    ("a column the file lacks", f"{D.replace('schema.toml', 'more.toml')} --epsilon 1", "asthma"),
    ("an empty schema", f"{D.replace('schema.toml', 'nothing.toml')} --epsilon 1", "no columns"),
    (
        "columns misspelled",
        f"{D.replace('schema.toml', 'table.toml')} --epsilon 1",
        "table.toml:1: unknown entry",
    ),
    (
        "a column that the schema does not declare",
        f"{D.replace('schema.toml', 'few.toml')} --epsilon 1 --columns smoke,bronc,age",
        'columns "bronc", "age" are in data.csv but not in the schema: declare them there\n',
    ),
    (
        "a column that the schema does not declare, and another that is nowhere",
        f"{D.replace('schema.toml', 'few.toml')} --epsilon 1 --columns smoke,bronc,smkoe",
        'column "bronc" is in data.csv but not in the schema: declare it there; no column "smkoe" in the schema (did',
    ),
    *(
        (
            f"{words.split()[0]} names a column that only the file has",
            f"{start} {words} --epsilon 1".replace("schema.toml", "few.toml"),
            ONLY_FILE,
        )
        for start, words in (
            (D, "--target bronc"),
            (D, "--tiers smoke;bronc"),
            (D, "--required smoke:bronc"),
            (D, "--forbidden bronc--smoke"),
            (D, "--effect smoke,bronc"),
            (T, "--x bronc --y smoke"),
            (T, "--y bronc --x smoke"),
            (T, "--given bronc --x smoke --y smoke"),
            (E, "--treatment bronc --outcome smoke"),
            (E, "--outcome bronc --treatment smoke"),
            (E, "--adjust bronc --treatment smoke --outcome smoke"),
        )
    ),
    (
        "a target that --columns leave out",
        f"{D} --epsilon 1 --columns smoke,age --target bronc",
        'column "bronc" is in the schema but not in --columns: add it there\n',
    ),
    # names come before what the ledger or the plan says
    (
        "tiers before the budget",
        f"{D} --epsilon 9 {L} --dataset cohort --tiers age;smkoe",
        '(did you mean "smoke"',
    ),
    (
        "edges before the budget",
        f"{D} --epsilon 9 {L} --dataset cohort --forbidden age:smkoe",
        '(did you mean "smo',
    ),
    (
        "a target before the budget",
        f"{D} --epsilon 9 {L} --dataset cohort --target bronk",
        '(did you mean "bronc"',
    ),
    (
        "columns before the budget",
        f"{D} --epsilon 9 {L} --dataset cohort --columns age,bronk",
        '(did you mean "br',
    ),
    ("tiers before the plan", f"{D} --epsilon 0.01 --tiers age;smkoe", '(did you mean "smoke"?)'),
    ("edges before the plan", f"{D} --epsilon 0.01 --required age:smkoe", '(did you mean "smoke"?)'),
    ("a data set before the plan", f"{D} --epsilon 0.01 {L} --dataset cohrt", '"cohort"'),
    (
        "a data set before the power",
        f"{T} --x smoke --y bronc --epsilon 0.001 {L} --dataset cohrt",
        '"cohort"',
    ),
    (
        "no data set before the power",
        f"{T} --x smoke --y bronc --epsilon 0.001 {L}",
        "needs the name of a data set",
    ),
    (
        "a data set before the width",
        f"{E} --treatment smoke --outcome bronc --epsilon 0.001 {L} --dataset cohrt",
        '"cohort"',
    ),
    ("one column only", f"{D.replace('schema.toml', 'one.toml')} --epsilon 1", "two columns"),
    (
        "two columns, one of one level",
        f"{D.replace('schema.toml', 'single.toml')} --epsilon 1 --required smoke:age",
        'required names "smoke", which has one level',
    ),
    ("one bin", f"{D.replace('schema.toml', 'bin.toml')} --epsilon 1 --method measured", '"age" has one bin'),
    # discover
    ("no epsilon", D, "--epsilon"),
    ("epsilon zero", f"{D} --epsilon 0", "epsilon"),
    ("epsilon negative", f"{D} --epsilon -1", "epsilon"),
    ("epsilon nan", f"{D} --epsilon nan", "epsilon"),
    ("epsilon infinite", f"{D} --epsilon inf", "epsilon"),
    ("delta one", f"{D} --epsilon 1 --delta 1", "delta"),
    ("delta negative", f"{D} --epsilon 1 --delta -1e-6", "delta"),
    ("delta nan", f"{D} --epsilon 1 --delta nan", "delta"),
    ("level zero", f"{D} --epsilon 1 --level 0", "level"),
    ("level nan", f"{D} --epsilon 1 --level nan", "level"),
    ("unknown method", f"{D} --epsilon 1 --method priv-cp", 'did you mean "priv-pc"'),
    (
        "confidence of priv-pc",
        f"{D} --epsilon 1 --method priv-pc --confidence 5",
        "priv-pc has no option 'confidence'",
    ),
    ("confidence below zero", f"{D} --epsilon 1 --confidence -1", "zero or above, not -1\n"),
    ("private pc", f"{D} --epsilon 1 --method pc", "not private"),
    ("negative order", f"{D} --epsilon 1 --max-order -1", "max_order"),
    ("unknown neighbours", f"{D} --epsilon 1 --neighbours next-door", "not 'next-door'\n"),
    ("half of a relation", f"{D} --epsilon 1 --neighbours replace", '(did you mean "replace-one"?)\n'),
    ("unknown column required", f"{D} --epsilon 1 --required smoke:bronk", 'did you mean "bronc"'),
    ("a loop required", f"{D} --epsilon 1 --required smoke:smoke", "smoke"),
    (
        "required and forbidden",
        f"{D} --epsilon 1 --required smoke:bronc --forbidden smoke:bronc",
        "both required and forbidden",
    ),
    (
        "a column like none, in tiers",
        f"{D} --epsilon 1 --tiers weight;age",
        "; there are smoke, age, bronc\n",
    ),
    (
        "a column like none, forbidden",
        f"{D} --epsilon 1 --forbidden weight:age",
        "; there are smoke, age, bronc\n",
    ),
    (
        "a column like none",
        f"{T} --x weight --y age --epsilon 1",
        "in the schema; there are smoke, age, bronc\n",
    ),
    ("a column that begins alike", f"{T} --x smoking --y bronc --epsilon 1", '(did you mean "smoke"?)\n'),
    ("unknown column in tiers", f"{D} --epsilon 1 --tiers smok;age", 'did you mean "smoke"'),
    ("a target misspelt", f"{D} --epsilon 1 --target bronk", '(did you mean "bronc"?)\n'),
    ("a target like no other", f"{D} --epsilon 1 --target weight", "; there are smoke, age, bronc\n"),
    ("tiers of nothing", f"{D} --epsilon 1 --tiers ;;", "--tiers names no column"),
    ("empty tiers", f"{D} --epsilon 1 --tiers=", "--tiers names no column"),
    ("pc and a delta", f"{D} --method pc --delta 1e-6", "no --delta and no --ledger"),
    ("an empty out", f"{D.replace('--out out', '--out=')} --epsilon 1", "'--out': it is empty"),
    (
        "an empty schema's name",
        "discover data.csv --schema= --out out --epsilon 1",
        "'--schema': it is empty",
    ),
    ("out is a file", f"{D.replace('--out out', '--out taken')} --epsilon 1", "taken"),
    ("out where nobody can write", f"{D.replace('--out out', '--out /proc/dpcausal')} --epsilon 1", "/proc"),
    ("out below a file", f"{D.replace('--out out', '--out taken/out')} --epsilon 1", "taken"),
    # test
    ("unknown column", f"{T} --x smoked --y bronc --epsilon 1", 'did you mean "smoke"'),
    ("a column in capitals", f"{T} --x SMOKE --y bronc --epsilon 1", 'did you mean "smoke"'),
    ("unknown given", f"{T} --x smoke --y bronc --given ages --epsilon 1", 'did you mean "age"'),
    ("given nothing", f"{T} --x smoke --y bronc --given , --epsilon 1", "--given names no column"),
    ("given an empty text", f"{T} --x smoke --y bronc --given= --epsilon 1", "--given names no column"),
    ("a delta without privacy", f"{T} --x smoke --y bronc --no-privacy --delta 1e-6", "--no-privacy"),
    ("x is y", f"{T} --x smoke --y smoke --epsilon 1", "smoke"),
    ("x is given", f"{T} --x smoke --y bronc --given smoke --epsilon 1", "smoke"),
    ("given twice", f"{T} --x smoke --y bronc --given age,age --epsilon 1", "age"),
    ("a test in capitals", f"{T} --x smoke --y bronc --method KENDALL --epsilon 1", 'did you mean "kendall"'),
    (
        "neighbours in capitals",
        f"{T} --x smoke --y bronc --epsilon 1 --neighbours ADD-REMOVE",
        "replace-one or add-remove, not 'ADD-REMOVE' (did you mean \"add-remove\"?)",
    ),
    ("unknown test", f"{T} --x smoke --y bronc --method kendal --epsilon 1", 'did you mean "kendall"'),
    ("private and not", f"{T} --x smoke --y bronc --epsilon 1 --no-privacy", "--no-privacy"),
    ("neither", f"{T} --x smoke --y bronc", "--epsilon 0.5 is a start"),
    (
        "a test of one level",
        f"{T.replace('schema.toml', 'single.toml')} --x smoke --y age --epsilon 1",
        '"smoke" has one level',
    ),
    ("test into a file", f"{T} --x smoke --y bronc --epsilon 1 --out taken", "taken"),
    ("test into nothing", f"{T} --x smoke --y bronc --epsilon 1 --out=", "'--out': it is empty"),
    ("test level", f"{T} --x smoke --y bronc --epsilon 1 --level 1", "level"),
    ("test delta", f"{T} --x smoke --y bronc --epsilon 1 --delta 2", "delta"),
    # ledger
    ("a ledger without a data set", f"{T} --x smoke --y bronc --epsilon 1 {L}", "data set"),
    ("a data set without a ledger", f"{T} --x smoke --y bronc --epsilon 1 --dataset cohort", "ledger"),
    (
        "unknown data set",
        f"{T} --x smoke --y bronc --epsilon 0.1 --anyway {L} --dataset cohrt",
        'did you mean "cohort"',
    ),
    (
        "a ledger that is not there",
        f"{T} --x smoke --y bronc --epsilon 0.1 --anyway --ledger sqlite:///no.db --dataset d",
        "no.db",
    ),
    ("a ledger of another kind", "ledger show --ledger mysql://host/db", "mysql"),
    ("a ledger without a scheme", "ledger show --ledger ledger.db", "sqlite:///"),
    ("a ledger that is no database", "ledger show --ledger sqlite:///text.db", "text.db"),
    (
        "a ledger in no directory",
        "ledger create --ledger sqlite:///no/l.db --dataset d --epsilon 1",
        "no/l.db",
    ),
    ("a server that is not there", "ledger show --ledger postgresql://u@127.0.0.1:1/db", "127.0.0.1"),
    (
        "the same data set again",
        f"ledger create {L} --dataset cohort --epsilon 1",
        "total epsilon 0.5, delta 0 (replace-one); left",
    ),
    ("a total of nothing", f"ledger create {L} --dataset d --epsilon 0", "epsilon"),
    ("a total delta of two", f"ledger create {L} --dataset d --epsilon 1 --delta 2", "delta"),
    ("show of an unknown data set", f"ledger show {L} --dataset cohrt", 'did you mean "cohort"'),
    ("a wrong head", f"ledger verify {L} --head {'00ff' * 16}", "not in the chain"),
    ("half a head", f"ledger verify {L} --head 00ff", "--head takes the 64 digits"),
    ("no digits", f"ledger verify {L} --head {'z' * 64}", "--head takes the 64 digits"),
    ("an empty head", f"ledger verify {L} --head=", "--head takes the 64 digits"),
    # gwas
    ("gwas of nothing", "gwas --epsilon 1 --out out", "PREFIX"),
    ("missing plink files", "gwas nope --epsilon 1 --out out", "nope"),
    ("half of the plink files", "gwas half --epsilon 1 --out out", "half.bim"),
    ("no genotypes", "gwas bad --epsilon 1 --out out", "bad.bed"),
    ("gwas epsilon", "gwas study --epsilon -3 --out out", "epsilon"),
    ("gwas method", "gwas study --epsilon 3 --method lottery --out out", "lottery"),
    ("gwas hits", "gwas study --epsilon 3 --max-hits 0 --out out", "one hit"),
    ("gwas level", "gwas study --epsilon 3 --level 1.5 --out out", "level"),
    ("gwas column zero", "gwas study --epsilon 3 --mpheno 0 --out out", "--mpheno"),
    ("gwas into nothing", "gwas study --epsilon 3 --out=", "'--out': it is empty"),
    ("gwas keep list", "gwas study --epsilon 3 --keep nobody.txt --out out", "nobody.txt"),
    ("gwas out is a file", "gwas study --epsilon 3 --out taken", "taken"),
    ("simulated nobody", "gwas-simulate out/s --people 0", "people"),
    ("simulated frequencies", "gwas-simulate out/s --maf often", "--maf"),
    # plan
    ("a plan without rows", "plan --schema schema.toml --epsilon 1", "--rows"),
    ("a plan for no rows", "plan --schema schema.toml --rows 0 --epsilon 1", "rows"),
    ("a plan of no epsilon", "plan --schema schema.toml --rows 100 --epsilon nan", "epsilon"),
    ("a plan of a missing schema", "plan --schema no.toml --rows 100 --epsilon 1", "no.toml"),
    ("a plan below the level", "plan --schema schema.toml --rows 100 --epsilon 1 --power 0.01", "power"),
    (
        "a plan into nothing",
        "plan --schema schema.toml --rows 100 --epsilon 1 --out=",
        "'--out': it is empty",
    ),
    # audit, reproduce
    ("audit of an unknown method", "audit laplas", 'did you mean "laplace"'),
    ("audit in capitals", "audit LAPLACE", 'did you mean "laplace"'),
    ("audit epsilon", "audit laplace --epsilon 0", "--epsilon"),
    ("audit trials", "audit laplace --trials 0", "trials"),
    ("audit confidence", "audit laplace --trials 100 --confidence 2", "confidence"),
    ("an unknown figure", "reproduce priv-pc-figure2", "did you mean"),
]


@pytest.mark.parametrize(("call", "words"), [(c, w) for _, c, w in WRONG], ids=[name for name, _, _ in WRONG])
def test_wrong(
    call: str, words: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    code = run(call.split())
    said = capsys.readouterr()
    assert code == 2
    assert said.out == ""
    assert said.err.startswith("dpcausal: ")
    assert said.err.count("\n") == 1
    assert "Traceback" not in said.err
    assert words in said.err
    assert not (place / "out" / "graph.json").exists()


@pytest.mark.parametrize(
    "call",
    [
        f"{T} --x smoke --y bronc --epsilon 0.6 {L} --dataset cohort",
        f"{D} --epsilon 0.6 {L} --dataset cohort",
        f"{T} --x smoke --y bronc --epsilon 0.4 --delta 1e-9 --method measured {L} --dataset cohort",
    ],
)
def test_an_exhausted_budget_is_3_and_says_what_is_left(
    call: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    code = run(call.split())
    said = capsys.readouterr()
    assert (code, said.out, said.err.count("\n")) == (3, "", 1)
    assert "left 0" in said.err
    (account,) = Ledger.open("sqlite:///ledger.db").show("cohort")
    assert account.releases == 0


def test_there_are_more_than_forty() -> None:
    assert len({call for _, call, _ in WRONG}) == len(WRONG) > 40


def test_the_good_calls_they_are_made_from_work(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert (
        run(f"{D} --epsilon 1 --method pc".replace("--epsilon 1 ", "").replace("out out", "out good").split())
        == 0
    )
    assert run(f"{T} --x smoke --y bronc --epsilon 1".split()) == 0
    assert run(["ledger", "show", "--ledger", "sqlite:///ledger.db"]) == 0
    assert "cohort" in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [
        f"{D} --confidence -1",
        f"{D} --method priv-pc --confidence 5",
        f"{D} --method priv-pc --target smoke",
        f"{D} --method tests --latent",
        f"{D} --target smoke --latent",
        f"{D} --target smoke --option target=bronc",
        f"{D} --target smkoe",
        f"{D} --tiers age;smkoe",
        f"{D} --level 2",
        f"{D} --effect smoke,smoke",
        f"{D} --effect smoke,bronc --effect smoke,bronc",
        f"{D} --effect smoke,bronc --reserve 2",
        f"{D} --reserve 0.3",
        f"{D} --max-order -1",
        f"{T} --x smoke --y smoke",
        f"{T} --x smoke --y bronc --level 2",
        f"{T} --x smoke --y bronc --method kendall --option hits=3",
        f"{T} --x smoke --y bronc --rows 100",
        f"{T.replace('schema.toml', 'single.toml')} --x smoke --y bronc",
        f"{E} --treatment smoke --outcome bronc --level 0.05",
        f"{E} --treatment smoke --outcome bronc --graph nowhere.json",
        f"{E} --treatment smoke --outcome bronc --adjust smoke",
        f"{E} --treatment smoke --outcome bronc --method tables",
    ],
)
def test_what_the_library_refuses_it_refuses_before_a_charge(
    wrong: str, place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    assert run([*wrong.split(), "--epsilon", "0.5", "--anyway", *L.split(), "--dataset", "cohort"]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    (account,) = Ledger.open("sqlite:///ledger.db").show("cohort")
    assert (account.releases, account.spent_epsilon) == (0, 0)
    assert not (place / "out").exists()
