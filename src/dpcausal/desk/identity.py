"""Who sends a request: by a token of the desk, or by a token of an institution's identity provider (OIDC).

A desk has no passwords. Tokens of an identity provider are checked against its keys, issuer, audience and time; the
person must be known to the desk, too: the provider says who it is, the desk what the person may do.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from dpcausal.core.errors import InputError
from dpcausal.desk.config import Oidc
from dpcausal.desk.store import Desk, Person

ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"]
LONGEST = 8192  # characters of a token


class Identity:
    """Finds the person behind a token."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._oidc = desk, desk.config.oidc
        self._keys = None if self._oidc is None else read_keys(self._oidc)

    def person(self, token: str) -> Person | None:
        """Return the person of a token; None where it is not accepted."""
        if not token or len(token) > LONGEST:
            return None
        found = self._desk.who(token)
        if found is not None or self._oidc is None or token.count(".") != 2:
            return found
        name = self._claimed(token, self._oidc)
        return None if name is None else self._desk.person(name)

    def _claimed(self, token: str, oidc: Oidc) -> str | None:
        """Return the name that a signed token claims; None where anything in it is wrong."""
        expected: Any = {
            "iss": {"essential": True, "value": oidc.issuer},
            "aud": {"essential": True, "value": oidc.audience},
            "exp": {"essential": True},
        }
        try:
            assert self._keys is not None
            claims = jwt.decode(token, self._keys, algorithms=ALGORITHMS).claims
            jwt.JWTClaimsRegistry(now=lambda: int(time.time()), **expected).validate(claims)
        except (JoseError, ValueError, TypeError, KeyError):
            return None
        name = claims.get(oidc.claim)
        return name if isinstance(name, str) else None


def read_keys(oidc: Oidc) -> KeySet:
    """Return the public keys of an identity provider, from the JWKS file that the settings name."""
    try:
        return KeySet.import_key_set(json.loads(Path(oidc.keys).read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, JoseError):
        raise InputError(f"[oidc]: keys, a JWKS file, can't be read: {Path(oidc.keys).name}") from None
