"""Planted privacy bugs: does the test suite catch them?

    python tools/mutants.py check                    every snippet is found exactly once, every mutant parses
    python tools/mutants.py run [--only ID ...]      plant each, run its tests, say killed or survived
                  [--tests "PATH ..."]               these instead of the mutant's own
                  [--broad]                          the tests of its rooms, too, before one is called a survivor
                  [--limit SECONDS] [--json FILE]    time for the tests of one stage; the result as JSON

``mutants.toml`` holds the list. A mutant is found by its text, not by its path: ``find`` must occur once in
``src/dpcausal`` (``within`` narrows that to functions or classes of this name), whatever white space there is between
its words. Lines of ``replace`` after the first are indented like the line that it stands in.

Nothing is changed here: the working tree is copied to a fixed directory for temporary files (so that compiled kernels
are kept between mutants), one mutant at a time is written there, and tests run on the copy. In turn: the mutant's own
``tests``, the doctests of the file it is in, and with ``--broad`` the tests of its ``rooms``. A failure counts only in
a test that passes without the mutant and fails twice with it; errors of import or collection count as errors, not as
a kill, and so does running out of time. Tests that fail at *any* change of a file (signatures of proofs, the shape of
the source) are left out.

A mutant with ``equivalent`` breaks no promise, for the reason that it gives: it is listed so that nobody plants it
again, and counts apart where it survives. The run fails if another one is not killed.
"""

from __future__ import annotations

import argparse
import ast
import fcntl
import hashlib
import importlib.util
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).with_suffix(".toml")
PACKAGE = Path("src") / "dpcausal"
LEFT_OUT = ("tests/unit/test_proofs.py", "tests/unit/test_architecture.py")
MALFORMED = ("ImportError", "ModuleNotFoundError", "NameError", "SyntaxError", "UnboundLocalError")
REPORT = "MUTANTS_REPORT"  # environment: the file to which the tests' outcome is written
NONE = "no tests"
EQUIVALENT = "equivalent"
ANY_MARK = ("-m", "not postgres")  # for a test that is named: slow ones, too
LIMIT = 600.0


# --- The list ---


@dataclass(frozen=True)
class Mutant:
    """One planted bug. ``tests``: pytest arguments most likely to catch it; ``rooms``: keys of ``[broad]``.

    ``equivalent``: why it breaks no promise, where it does not.
    """

    id: str
    what: str
    find: str
    replace: str
    tests: tuple[str, ...]
    rooms: tuple[str, ...]
    within: str | None = None
    equivalent: str | None = None


@dataclass(frozen=True)
class Place:
    """Where a mutant's snippet stands."""

    path: Path
    start: int
    stop: int


def read_list(path: Path = LIST) -> tuple[list[Mutant], dict[str, list[str]]]:
    """The mutants, and the tests of every room."""
    data = tomllib.loads(path.read_text())
    broad: dict[str, list[str]] = data["broad"]
    mutants = [
        Mutant(**{**entry, "tests": tuple(entry["tests"]), "rooms": tuple(entry["rooms"])})
        for entry in data["mutant"]
    ]
    return mutants, broad


def pattern_of(snippet: str) -> re.Pattern[str]:
    """The snippet with any white space between its words."""
    return re.compile(r"\s+".join(re.escape(word) for word in snippet.split()))


def spans(text: str, name: str | None) -> list[tuple[int, int]]:
    """Where to look: the whole text, or every function and class called ``name`` (last part of a dotted name)."""
    if name is None:
        return [(0, len(text))]
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    kinds = (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)

    def inside(node: ast.AST, parts: list[str]) -> Iterator[tuple[int, int]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, kinds) and child.name == parts[0]:
                if parts[1:]:
                    yield from inside(child, parts[1:])
                else:
                    yield starts[child.lineno - 1], starts[child.end_lineno or child.lineno]
            else:
                yield from inside(child, parts)

    return list(inside(ast.parse(text), name.split(".")))


def places(mutant: Mutant, root: Path) -> list[Place]:
    """Every place in the source at which the mutant's snippet stands."""
    pattern, found = pattern_of(mutant.find), []
    for path in sorted((root / PACKAGE).rglob("*.py")):
        text = path.read_text()
        if not pattern.search(text):
            continue
        for low, high in spans(text, mutant.within):
            found += [Place(path, m.start(), m.end()) for m in pattern.finditer(text, low, high)]
    return found


def planted(mutant: Mutant, place: Place) -> str:
    """The text of the file with the mutant in it."""
    text = place.path.read_text()
    line = text[text.rfind("\n", 0, place.start) + 1 : place.start]
    indent = line[: len(line) - len(line.lstrip())]
    new = mutant.replace.strip("\n").replace("\n", "\n" + indent)
    return text[: place.start] + new + text[place.stop :]


def faults(mutants: Sequence[Mutant], broad: dict[str, list[str]], root: Path = ROOT) -> list[str]:
    """One line for everything that is wrong with the list."""
    found = []
    for mutant in mutants:
        where = places(mutant, root)
        if len(where) != 1:
            found.append(
                f"{mutant.id}: its snippet is found {len(where)} times: {[str(p.path) for p in where]}"
            )
            continue
        try:
            same = ast.dump(ast.parse(planted(mutant, where[0]))) == ast.dump(
                ast.parse(where[0].path.read_text())
            )
        except SyntaxError as error:
            found.append(f"{mutant.id}: does not parse: {error}")
        else:
            if same:
                found.append(f"{mutant.id}: changes nothing")
        paths = [*mutant.tests, *(p for room in mutant.rooms for p in broad.get(room, ()))]
        found += [f"{mutant.id}: no tests at {path}" for path in sorted(missing(paths, root))]
        found += [f"{mutant.id}: no room {room}" for room in mutant.rooms if room not in broad]
    names = [mutant.id for mutant in mutants]
    found += [f"{name}: listed twice" for name in sorted({n for n in names if names.count(n) > 1})]
    return found


def missing(arguments: Sequence[str], root: Path) -> set[str]:
    """Test paths that are not there."""
    words = {word.split("::")[0] for argument in arguments for word in shlex.split(argument)}
    return {word for word in words if word.startswith("tests/") and not (root / word).exists()}


# --- The copy ---


def copy_of(root: Path) -> Path:
    """The fixed directory that ``root`` is copied to."""
    mark = hashlib.sha256(str(root).encode()).hexdigest()[:8]
    return Path(tempfile.gettempdir()) / f"dpcausal-mutants-{mark}"


@contextmanager
def copied(root: Path) -> Iterator[Path]:
    """The copy, the same as the working tree; files that did not change are left alone. One user at a time."""
    target = copy_of(root)
    target.mkdir(exist_ok=True)
    with target.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            check=True,
            capture_output=True,
            text=True,
        )
        wanted = {name for name in listed.stdout.split("\0") if name and (root / name).is_file()}
        for name in sorted(wanted):
            put(target / name, (root / name).read_bytes(), like=root / name)
        for path in sorted(target.rglob("*.py")):
            if str(path.relative_to(target)) not in wanted:
                path.unlink()
        yield target


def put(path: Path, content: bytes, like: Path | None = None) -> None:
    """Write a file if it is not the same, and forget its byte code: that knows times only to the second."""
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if like is not None:
        shutil.copymode(like, path)
    for old in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        old.unlink()


# --- The tests ---


@dataclass(frozen=True)
class Outcome:
    """What the tests said: ``killed``, ``survived``, ``error`` or ``timeout``; the first test that failed."""

    status: str
    test: str = ""
    why: str = ""
    cpu: float = 0.0


def pytest_sessionstart() -> None:
    """As a plugin, in the copy: make sure that it is the copy that is tested."""
    report = os.environ.get(REPORT)
    if report:
        found = importlib.util.find_spec("dpcausal")
        _note(report, {"source": str(found.origin if found else None)})


def pytest_collectreport(report: Any) -> None:
    """As a plugin: a file that can't be collected is no kill."""
    if report.failed and REPORT in os.environ:
        _note(os.environ[REPORT], {"collect": report.nodeid, "why": str(report.longrepr)[-300:]})


def pytest_runtest_logreport(report: Any) -> None:
    """As a plugin: note each failure."""
    if report.failed and REPORT in os.environ:
        crash = getattr(report.longrepr, "reprcrash", None)
        why = str(crash.message if crash is not None else report.longrepr)
        _note(os.environ[REPORT], {"test": report.nodeid, "when": report.when, "why": why[:300]})


def _note(file: str, line: dict[str, str]) -> None:
    with Path(file).open("a") as out:
        out.write(json.dumps(line) + "\n")


def run_tests(copy: Path, arguments: Sequence[str], limit: float, *, kernels: bool = False) -> Outcome:
    """Run pytest on the copy, up to the first failure. ``kernels``: the mutant is compiled, so keep its cache apart."""
    report = copy.with_suffix(".report")
    report.write_text("")
    shutil.rmtree(copy / ".hypothesis", ignore_errors=True)  # examples found by another mutant
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy / "tools")]),
        "OPENBLAS_NUM_THREADS": "1",
        REPORT: str(report),
    }
    with tempfile.TemporaryDirectory() as fresh:
        if kernels:
            environment["NUMBA_CACHE_DIR"] = fresh
        ignored = [f"--ignore={path}" for path in LEFT_OUT]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "mutants"]
        command += ["-m", "not slow and not postgres", *ignored, *arguments]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(
            command,
            cwd=copy,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return Outcome("timeout", why=f"after {limit:g} s", cpu=_cpu_since(before))
    return replace(_judged(noted(copy), process.returncode, said, copy), cpu=_cpu_since(before))


def twice(copy: Path, arguments: Sequence[str], limit: float, *, kernels: bool) -> Outcome:
    """The same, but a test that fails and then passes (by chance) is left out and counts for nothing."""
    chance: list[str] = []
    cpu = 0.0
    while True:
        left_out = [f"--deselect={test}" for test in chance]
        outcome = run_tests(copy, [*left_out, *arguments], limit, kernels=kernels)
        cpu += outcome.cpu
        if outcome.status != "killed" or outcome.test in chance:
            return replace(outcome, cpu=cpu)
        again = run_tests(copy, [*ANY_MARK, outcome.test], limit, kernels=kernels)
        cpu += again.cpu
        if again.status == "killed":
            return replace(outcome, cpu=cpu)
        chance.append(outcome.test)


def noted(copy: Path) -> list[dict[str, str]]:
    """What the plugin wrote in the last run."""
    return [json.loads(line) for line in copy.with_suffix(".report").read_text().splitlines()]


def _judged(lines: list[dict[str, str]], code: int, said: str, copy: Path) -> Outcome:
    """From what the plugin noted and pytest's exit code (0: all passed, 1: some failed, 5: none was there)."""
    sources = [line["source"] for line in lines if "source" in line]
    if not sources or not Path(sources[0]).is_relative_to(copy):
        return Outcome("error", why=f"tests did not import the copy: {sources}; {said[-300:]}")
    failed = [line for line in lines if line.get("when") == "call"]
    if failed and code == 1:
        why = failed[0]["why"]
        status = "error" if why.startswith(MALFORMED) else "killed"
        return Outcome(status, failed[0]["test"], why.splitlines()[0][:160])
    if code in (0, 5):
        return Outcome("survived", why=NONE if code == 5 else "")
    first = next((line["why"] for line in lines if "source" not in line), said[-300:])
    return Outcome("error", why=" ".join(first.split())[-300:])


def _cpu_since(before: resource.struct_rusage) -> float:
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return now.ru_utime + now.ru_stime - before.ru_utime - before.ru_stime


# --- One mutant ---


@dataclass(frozen=True)
class Result:
    """What became of one mutant; ``stage``: which tests said so (own, doctest, broad)."""

    id: str
    what: str
    file: str
    status: str
    stage: str
    test: str
    why: str
    cpu: float
    seconds: float


def tried(
    mutant: Mutant,
    copy: Path,
    broad: dict[str, list[str]],
    *,
    tests: Sequence[str] | None,
    wide: bool,
    limit: float,
) -> Result:
    """Plant, test in stages until one kills, take out again."""
    (place,) = places(mutant, copy)
    original = place.path.read_bytes()
    file = str(place.path.relative_to(copy))
    kernels = "@jit(" in original.decode()
    own = [word for argument in (tests or mutant.tests) for word in shlex.split(argument)]
    stages: list[tuple[str, list[str]]] = [("own", own), ("doctest", [file])]
    if wide:
        rooms = dict.fromkeys(path for room in mutant.rooms for path in broad[room])
        stages += [("broad", list(rooms))]
    outcome, reached, cpu, start = Outcome("survived"), "", 0.0, time.monotonic()
    for stage, arguments in stages:
        reached = stage
        try:
            put(place.path, planted(mutant, place).encode())
            outcome = twice(copy, arguments, limit, kernels=kernels)
        finally:
            put(place.path, original)
        cpu += outcome.cpu
        if stage == "own" and outcome.why == NONE:
            outcome = Outcome("error", why=NONE)
        if outcome.status != "survived":
            break
    seconds = time.monotonic() - start
    if outcome.status == "survived" and mutant.equivalent is not None:
        outcome = Outcome(EQUIVALENT, why=mutant.equivalent)
    return Result(
        mutant.id, mutant.what, file, outcome.status, reached, outcome.test, outcome.why, cpu, seconds
    )


def confirmed(results: Sequence[Result], copy: Path, limit: float) -> list[Result]:
    """The results, less kills by tests that fail without the mutant, too: all those tests are run once, on the copy."""
    tests = sorted({result.test for result in results if result.status == "killed"})
    if not tests:
        return list(results)
    clean = run_tests(copy, [*ANY_MARK, "--maxfail=1000", *tests], limit)
    failing = {line["test"] for line in noted(copy) if "test" in line}
    if clean.status in ("error", "timeout") and not failing:
        raise SystemExit(f"the tests that killed mutants could not be run without them: {clean.why}")
    return [
        replace(result, status="error", why="its test fails without the mutant, too")
        if result.status == "killed" and result.test in failing
        else result
        for result in results
    ]


def sums(results: Sequence[Result]) -> str:
    """How many were killed, in a line."""
    kinds = {
        status: sum(r.status == status for r in results) for status in ("killed", EQUIVALENT, "survived")
    }
    counted = [f"{count} {status}" for status, count in kinds.items()]
    other = len(results) - sum(kinds.values())
    cpu = sum(result.cpu for result in results)
    return f"{len(results)} mutants: {', '.join(counted)}, {other} neither; {cpu:.0f} s of processor time"


def line_of(result: Result) -> str:
    """One mutant in a line."""
    told = result.test or result.why
    return f"{result.status:<10} {result.stage:<8} {result.cpu:>6.0f} s  {result.id:<34} {told}"


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("check", help="every snippet is found exactly once")
    running = commands.add_parser("run", help="plant each mutant and run its tests")
    running.add_argument("--only", nargs="+", metavar="ID", help="these mutants (default: all)")
    running.add_argument("--tests", help="pytest arguments instead of each mutant's own tests")
    running.add_argument("--broad", action="store_true", help="the tests of its rooms, too, for a survivor")
    running.add_argument("--limit", type=float, default=LIMIT, help="seconds for the tests of one stage")
    running.add_argument("--json", type=Path, metavar="FILE", help="write the result, after every mutant")
    chosen = parser.parse_args()
    mutants, broad = read_list()
    if chosen.command == "run" and chosen.only:
        unknown = set(chosen.only) - {mutant.id for mutant in mutants}
        if unknown:
            sys.exit(f"no mutant is called {', '.join(sorted(unknown))}")
        mutants = [mutant for mutant in mutants if mutant.id in chosen.only]
    wrong = faults(mutants, broad)
    if wrong:
        sys.exit("\n".join(wrong))
    if chosen.command == "check":
        print(f"{len(mutants)} mutants: every snippet is found exactly once")
        return
    results: list[Result] = []
    with copied(ROOT) as copy:
        tests = [chosen.tests] if chosen.tests else None
        for mutant in mutants:
            result = tried(mutant, copy, broad, tests=tests, wide=chosen.broad, limit=chosen.limit)
            results.append(result)
            print(line_of(result), flush=True)
            if chosen.json:
                chosen.json.write_text(json.dumps([asdict(r) for r in results], indent=1) + "\n")
        results = confirmed(results, copy, max(chosen.limit, LIMIT))
    if chosen.json:
        chosen.json.write_text(json.dumps([asdict(r) for r in results], indent=1) + "\n")
    print(f"\n{sums(results)}")
    if any(result.status not in ("killed", EQUIVALENT) for result in results):
        sys.exit(1)


if __name__ == "__main__":
    main()
