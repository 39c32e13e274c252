"""Levels that read as "no value known", in a few languages: a list of words, and nothing of any row."""

from __future__ import annotations

_MISSING_LEVELS = frozenset(
    (
        "missing", "missing value", "unknown", "unk", "not known", "unspecified", "not stated", "not asked",
        "not available", "not recorded", "not reported", "no answer", "no response", "refused", "refusal", "declined",
        "don't know", "don\N{RIGHT SINGLE QUOTATION MARK}t know", "do not know", "prefer not to say",
        "prefer not to answer", "na", "n/a", "n.a.", "nan", "null", "none given", "?",
        "k.a.", "k. a.", "keine angabe", "ohne angabe", "keine antwort", "unbekannt", "nicht bekannt", "weiß nicht",
        "weiss nicht", "verweigert", "antwort verweigert", "fehlend", "fehlt",
        "inconnu", "inconnue", "non précisé", "non précisée", "non renseigné", "non renseignée", "manquant",
        "manquante", "donnée manquante", "ne sait pas", "nsp", "refus", "sans réponse", "pas de réponse",
        "desconocido", "no sabe", "onbekend", "okänt", "sconosciuto",
    )
)  # fmt: skip


def reads_as_missing(level: str) -> bool:
    """Return whether a level reads as "no value known".

    >>> reads_as_missing("Not  known"), reads_as_missing("Non renseigné"), reads_as_missing("never")
    (True, True, False)
    """
    return " ".join(level.casefold().split()) in _MISSING_LEVELS
