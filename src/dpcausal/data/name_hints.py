"""What names and labels suggest: identifiers, ages, codes, grades, a time and its event. No cell is looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dpcausal.data.columns import Categorical, Column, Numeric

_IDENTIFIER_NAME = re.compile(
    r"(^|[^a-z])(id|identifier|pid|mrn|uuid|guid|ssn)([^a-z]|$)"
    r"|^(person|patient|subject|participant)[ _.-]*(no|nr|num|number|key|code)?$",
    re.IGNORECASE,
)
_CAMEL_CASE_ID = re.compile(r"[a-z](Id|ID)$")


def is_identifier_name(name: str) -> bool:
    """Return whether the name of a column is a usual one for identifiers.

    >>> [is_identifier_name(name) for name in ("patient_id", "SubjectID", "id", "bmi", "acid", "paid")]
    [True, True, True, False, False, False]
    """
    return bool(_IDENTIFIER_NAME.search(name) or _CAMEL_CASE_ID.search(name))


_AGE_NAME = re.compile(
    r"(^|[^a-zà-ÿ])(age|alter|âge|edad|età|leeftijd|ålder|alder|idade)($|[^a-zà-ÿ])", re.IGNORECASE
)


def is_age_name(name: str) -> bool:
    """Return whether the name of a column suggests ages.

    >>> is_age_name("age_at_entry"), is_age_name("stage")
    (True, False)
    """
    return bool(_AGE_NAME.search(name))


_CODED = (  # what has a code or a number, but is counted in nothing
    "village|ward|site|cluster|household|psu|tract|dorf|gemeinde|haushalt|ménage|code|zip|plz|icd|ort|kreis|hospital|klinik"
)
_COUNTED = "school|class ?room|clinic|centre|center|practice|schule|station|praxis|hôpital|école"  # in years or visits
_CODE_NAME = re.compile(
    r"(place|state|region|country|county|district|center|centre|occupation|industry|nationality|bundesland|beruf)$"
    rf"|(^|[^a-z])(id|nr|num|{_CODED})$|[a-z]{{3}}(num|nr)$|^({_CODED}|{_COUNTED})[ _.-]?(id|nr|no|num)$"
)
_CAMEL_CASE_CODE = re.compile(r"[a-z](Id|ID|Nr)$")
_CODE_LABEL = re.compile(
    rf"\b(id|identifier|nr|nummer)\b|\b({_CODED}|{_COUNTED}) (number|no\.?|code)\b|^({_CODED})$",
    re.IGNORECASE,
)


def names_codes(name: str, label: str) -> bool:
    """Return whether the name or label of a column suggests codes, such as those of places or groups.

    >>> [names_codes(*one) for one in (("villnum", ""), ("v1", "Village ID"), ("ward_nr", ""), ("birthplace", ""))]
    [True, True, True, True]
    >>> [names_codes(*one) for one in (("visits", "Number of visits"), ("school", ""), ("dose", "Dose at site"))]
    [False, False, False]
    """
    return bool(_CODE_NAME.search(name.lower()) or _CAMEL_CASE_CODE.search(name) or _CODE_LABEL.search(label))


_GRADE_WORD = re.compile(
    r"\b(none|no|not at all|never|rarely|seldom|sometimes|occasional(ly)?|often|usually|always|daily|weekly|monthly|"
    r"low|lower|medium|middle|moderate(ly)?|high|higher|mild|severe|light|heavy|little|some|much|many|most|very|"
    r"poor|fair|good|excellent|bad|small|large|first|second|third|fourth|primary|secondary|tertiary|college|"
    r"active|inactive|quite|rather|less|more|under|over|below|above|grade|stage|class|stufe|grad|klasse|stadium|"
    r"agree|disagree|keine?|nie|selten|manchmal|oft|immer|gering|niedrig|mittel|hoch|leicht|mäßig|schwer|stark|wenig|viel|"
    r"sehr|schlecht|gut|jamais|rarement|parfois|souvent|toujours|faible|moyen(ne)?|élevée?|légère?|modérée?|sévère)\b"
    r"|[<>≤≥]|\d",
    re.IGNORECASE,
)


def has_grade_word(level: str) -> bool:
    """Return whether a label contains a word or number of a graded scale."""
    return bool(_GRADE_WORD.search(level))


# ---- a time and its event

MAX_EVENT_LEVELS = 5  # of a column that may say whether a time ended in an event
_SPAN = "(time|days?|weeks?|wks?|months?|mos?|years?|yrs?|[dwmy])"
_TIME = re.compile(
    rf"^(time|fu|tte|os|pfs|dfs|efs)([ _.-]?{_SPAN})?$"
    r"|^[a-z]{1,3}[ _.-]?time$|follow[ _.-]?up"
    r"|surv(ival)?[ _.-]?(time|days?|weeks?|months?|years?|yrs?)|time[ _.-]?to"
    r"|überleb|ueberleb|beobachtungs(zeit|dauer)|nachbeobachtung",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"death|died|dead|deceased|mortality|^[a-z]{0,3}[ _.-]?stat(us)?$|event|censor|relaps|recurr|progress(ed|ion)|^tod"
    r"|verst[oa]rb|gestorben",
    re.IGNORECASE,
)
_WORDS_OF_TIME = re.compile(
    r"^time[ _.-]?to[ _.-]?|[ _.-]?time.*$|[ _.-]?(days?|weeks?|wks?|months?|mos?|years?|yrs?)$|[ _.-][dwmy]$",
    re.IGNORECASE,
)


def follow_up_columns(columns: Mapping[str, Column]) -> list[tuple[str, str]]:
    """Return columns that may be a time to an event, each with the status that may belong to it.

    That is one whose name begins as that of the time does (ptime and pstat, os_days and os_event, time_to_death and
    death), else the first of the others.

    >>> bit, time = Categorical([0, 1]), Numeric(0, 9)
    >>> follow_up_columns({"ptime": time, "pstat": bit, "futime": time, "death": bit, "sex": bit})
    [('ptime', 'pstat'), ('futime', 'death')]
    """
    events = [
        name
        for name, column in columns.items()
        if isinstance(column, Categorical) and column.size <= MAX_EVENT_LEVELS and _EVENT.search(name)
    ]
    times = [name for name, column in columns.items() if isinstance(column, Numeric) and _TIME.search(name)]
    own = {time: _of_one_name(time, events) for time in times}
    free = [event for event in events if event not in own.values()] or events
    return [(time, event or free[0]) for time, event in own.items() if event or free]


def _of_one_name(time: str, events: list[str]) -> str | None:
    """Return the status column whose name has the same beginning as that of a time; None where none has."""
    first = _WORDS_OF_TIME.sub("", time).lower()
    return next((event for event in events if first and event.lower().startswith(first)), None)
