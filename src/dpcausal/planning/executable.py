"""A plan as a file: what ``discover(plan=...)`` measures exactly, whoever made it and wherever the rows are.

**The file** is one JSON object, which may hold forecasts besides: ``format``; ``id``, a hash of the rest;
``schema``, the declared columns as a schema file; ``level``; and ``measurement``, the ``MeasurementPlan``.

**Guarantee.** It holds public numbers alone, and is executed only on rows that were read with the same schema. A file
that was damaged or edited is refused: what is measured is what was planned.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from dpcausal._version import __version__
from dpcausal.core.arguments import checked_level
from dpcausal.core.content_id import content_id
from dpcausal.core.errors import DpcausalError, InputError
from dpcausal.data.schema import Schema
from dpcausal.planning.measurement_plan import MeasurementPlan, PublicNumbers

FORMAT = 1
CONTENT = ("schema", "level", "measurement")  # what the id is made of


@dataclass(frozen=True)
class ExecutablePlan:
    """What is to be measured, on rows of which schema, and the level of every test.

    Attributes
    ----------
    schema : Schema
        The declared columns.
    measurement : MeasurementPlan
        What is measured, with the total, the relation and the target.
    level : float
        The level of every test.
    """

    schema: Schema
    measurement: MeasurementPlan
    level: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        content = {
            "schema": self.schema.to_toml(),
            "level": self.level,
            "measurement": self.measurement.to_dict(),
        }
        return {
            "format": FORMAT,
            "software": f"dpcausal {__version__}",
            "id": content_id(content),
            **content,
        }

    @classmethod
    def load(cls, path: str | PathLike[str]) -> ExecutablePlan:
        """Read a plan that ``Plan.save`` wrote.

        Raises
        ------
        InputError
            If there is no such file, or it is no plan, or one of a newer version.
        """
        name = fspath(path)
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(f"can't read the plan {name!r}: {error.strerror or error}") from None
        except (ValueError, RecursionError):
            raise InputError(f"{name!r} is no plan: not JSON in UTF-8") from None
        if not isinstance(data, dict) or "measurement" not in data:
            raise InputError(f"{name!r} is no plan: dpcausal plan --out writes one")
        if isinstance(data.get("format"), int) and data["format"] > FORMAT:
            raise InputError(f"{name!r} is a plan of format {data['format']}: written by a newer version")
        try:
            if data["id"] != content_id({name: data[name] for name in CONTENT}):
                raise ValueError("its id is not that of its contents")
            schema = Schema.from_toml_string(data["schema"])
            found = cls(schema, MeasurementPlan.from_dict(data["measurement"]), checked_level(data["level"]))
            found.check_fits(schema)
        except (DpcausalError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            told = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise InputError(f"{name!r} is damaged: {told}") from None
        return found

    def check_fits(self, schema: Schema) -> None:
        """Refuse rows of another schema than the one that was planned for.

        Raises
        ------
        InputError
            With the first column that differs.
        """
        for name in (*self.schema, *schema):
            if name not in schema:
                raise InputError(
                    f'the plan does not fit: it has a column "{name}", which the schema does not declare'
                )
            if name not in self.schema:
                raise InputError(
                    f'the plan does not fit: the schema declares "{name}", which it does not have'
                )
            if schema[name] != self.schema[name]:
                raise InputError(f'the plan does not fit: it declares "{name}" otherwise than the schema')
        if list(schema) != list(self.schema):
            raise InputError("the plan does not fit: it has the columns in another order than the schema")
        public = self.measurement.public
        planned = PublicNumbers.of_schema(
            schema, public.rows, public.epsilon, public.delta, public.neighbours
        )
        if planned.columns != public.columns or not (
            public.target is None or 0 <= public.target < len(schema)
        ):
            raise InputError("the plan does not fit its own schema: it was changed by hand")
