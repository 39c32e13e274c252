"""``dpcausal test --method crt``: how one column depends on others, from a file or fitted to a public sample.

A file of a law is TOML or JSON, and public. Of numbers it holds the coefficients of a linear law, of levels a table:

    sd = 2.0                 given = ["sex"]
    intercept = 1.5          probabilities = [[0.9, 0.1], [0.2, 0.8]]   # a row for each level of sex, in declared order
    [slopes]
    age = 0.3
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcausal.core.errors import InputError

if TYPE_CHECKING:
    from dpcausal.citests.crt_models import LinearGaussian, TableModel
    from dpcausal.data.schema import Schema

FORMS = "sd, slopes and intercept of a linear law, or given and probabilities of a table"


def law_of(
    law: Path | None,
    public: Path | None,
    schema: Schema,
    column: str,
    given: Sequence[str],
    rows: Path | None,
) -> LinearGaussian | TableModel | None:
    """Return the law that --model or --model-from names; None where neither does."""
    if law is not None and public is not None:
        raise InputError("--model and --model-from both say how x depends on z: give one of them")
    if law is not None:
        return read_law(law)
    if public is not None:
        return fitted_law(public, schema, column, given, rows)
    return None


def read_law(path: Path) -> LinearGaussian | TableModel:
    """Return the law that a TOML or JSON file holds."""
    from dpcausal.citests.crt_models import LinearGaussian, TableModel

    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            f"can't read the law {str(path)!r}: {getattr(error, 'strerror', None) or error}"
        ) from None
    try:
        found: Any = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except ValueError as error:
        raise InputError(
            f"{path.name} is no {'JSON' if path.suffix == '.json' else 'TOML'}: {error}"
        ) from None
    names = set(found) if isinstance(found, dict) else set()
    try:
        if "sd" in names and names <= {"sd", "slopes", "intercept"}:
            slopes = {name: float(slope) for name, slope in found.get("slopes", {}).items()}
            return LinearGaussian(float(found.get("intercept", 0.0)), slopes, float(found["sd"]))
        if "probabilities" in names and names <= {"given", "probabilities"}:
            return TableModel(tuple(found.get("given", ())), found["probabilities"])
    except InputError:
        raise
    except (TypeError, ValueError, AttributeError):
        pass
    raise InputError(f"{path.name} must hold {FORMS}, as numbers")


def fitted_law(
    public: Path, schema: Schema, column: str, given: Sequence[str], rows: Path | None
) -> LinearGaussian | TableModel:
    """Return the law fitted to a public sample: linear for numbers, frequencies for levels. Not private.

    Refuses the file that is tested: fitted on its own rows a law is a release without noise.
    """
    import dpcausal as dc

    if rows is not None and public.exists() and rows.exists() and public.samefile(rows):
        raise InputError(
            "--model-from names the file that is tested: fit the law on a public sample, of other people"
        )
    sample = dc.read(public, schema.select([column, *given]))
    kind = dc.LinearGaussian if isinstance(schema[column], dc.Numeric) else dc.TableModel
    return kind.fit(sample, column, tuple(given))
