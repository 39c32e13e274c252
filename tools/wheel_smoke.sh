#!/usr/bin/env bash
# Build sdist and wheel, install the wheel into a clean environment, and use it as a newcomer would. A minute or two.
#   tools/wheel_smoke.sh [PYTHON]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
python=${1:-python3}
most_bytes=$((5 * 1024 * 1024))
most_seconds=0.6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

die() {
  echo "wheel_smoke: $*" >&2
  exit 1
}
pip() { "$1/bin/python" -m pip --disable-pip-version-check --quiet "${@:2}"; }

# the files of the repository and nothing else: no caches, no leftovers
mkdir "$work/source"
(cd "$root" && git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' f; do
  if [ -f "$f" ]; then printf '%s\0' "$f"; fi
done | tar --null --no-recursion -T - -cf -) | tar -xf - -C "$work/source"

"$python" -m venv "$work/build"
pip "$work/build" install build "setuptools>=77" # what pyproject.toml asks of a build
"$work/build/bin/python" -m build --no-isolation --outdir "$work/dist" "$work/source" >"$work/build.log" 2>&1 ||
  die "build failed: $(tail -n 5 "$work/build.log")" # the wheel is made from the sdist
wheel=$(echo "$work"/dist/*.whl)
sdist=$(echo "$work"/dist/*.tar.gz)
[ -f "$wheel" ] && [ -f "$sdist" ] || die "no wheel or no sdist"
for made in "$wheel" "$sdist"; do
  size=$(wc -c <"$made")
  [ "$size" -lt "$most_bytes" ] || die "$(basename "$made") has $size bytes, more than $most_bytes"
  echo "wheel_smoke: $(basename "$made") $((size / 1024)) KiB"
done

"$python" -m venv "$work/clean"
pip "$work/clean" install --no-compile --constraint "$root/constraints.txt" "$wheel"
pip "$work/clean" check || die "pip check failed"
cd "$work" # away from the source
bin=$work/clean/bin
stated=$(sed -n 's/^__version__ = "\(.*\)"$/\1/p' "$root/src/dpcausal/_version.py")
[ "$("$bin/dpcausal" --version)" = "dpcausal $stated" ] || die "dpcausal --version is not $stated"
case $(basename "$wheel") in "dpcausal-$stated-"*) ;; *) die "the wheel is not of version $stated" ;; esac
"$bin/dpcausal" --help >help.txt
grep -q "discover" help.txt || die "--help lists no discover"

"$bin/python" -c '
import dpcausal as dc, dpcausal
from importlib.resources import files
assert "clean" in dpcausal.__file__, dpcausal.__file__
for name in ("py.typed", "present/templates/report.html", "present/templates/style.css", "present/templates/graph.js",
             "networks/data/asia.json", "privacy/mechanisms/additive.proof.md"):
    assert files("dpcausal").joinpath(name).is_file(), name
import csv
data = dc.networks.clinic.patients(2000, seed=1)
columns = ["sex", "smoking", "heart_disease"]
with open("data.csv", "w", newline="") as file:
    csv.writer(file).writerows([columns, *zip(*(data[c] for c in columns))])
dc.networks.clinic.SCHEMA.select(columns).write("schema.toml")
'
"$bin/dpcausal" discover data.csv --schema schema.toml --epsilon 1 --delta 1e-6 --out out --json >found.json
"$bin/python" -c 'import json; assert json.load(open("found.json"))["privacy"]["private"] is True'
for name in graph.json graph.dot graph.graphml privacy.json report.html; do
  [ -s "out/$name" ] || die "discover wrote no $name"
done

"$bin/dpcausal" reproduce curate-sensitivity --out figures >/dev/null || die "the wheel can't reproduce"
[ -s figures/curate-sensitivity.md ] || die "reproduce wrote no page"

best=$("$bin/python" - <<'PY'
import subprocess, sys, time
def run(code):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start
run("import dpcausal")
print(f"{min(run('import dpcausal') for _ in range(5)) - min(run('pass') for _ in range(5)):.3f}")
PY
)
awk "BEGIN { exit !($best < $most_seconds) }" || die "import dpcausal takes $best s, more than $most_seconds"
echo "wheel_smoke: import dpcausal $best s; discover, report and pip check done"
