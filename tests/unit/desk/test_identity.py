"""Tokens of an identity provider: checked by key, issuer, audience and time; the desk says what the person may do."""

from __future__ import annotations

import json
import time

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey

from dpcausal.core.errors import InputError
from dpcausal.desk.identity import Identity

RIGHT = {"iss": "https://login", "aud": "desk", "sub": "anna"}


@pytest.fixture
def desk_and_key(make_desk, tmp_path):
    key = RSAKey.generate_key(2048, parameters={"kid": "one"})
    (tmp_path / "keys.json").write_text(json.dumps(KeySet([key]).as_dict(private=False)))
    oidc = {"issuer": "https://login", "audience": "desk", "keys": str(tmp_path / "keys.json")}
    return make_desk(oidc=oidc), key


def signed(key, algorithm="RS256", **claims):
    body = {**RIGHT, "exp": int(time.time()) + 60, **claims}
    return jwt.encode({"alg": algorithm, "kid": "one"}, {k: v for k, v in body.items() if v is not None}, key)


def test_a_right_token_names_a_person_of_the_desk(desk_and_key):
    desk, key = desk_and_key
    found = Identity(desk).person(signed(key))
    assert (found.name, found.role) == ("anna", "analyst")


def test_wrong_tokens_name_nobody(desk_and_key):
    desk, key = desk_and_key
    identity = Identity(desk)
    other = RSAKey.generate_key(2048, parameters={"kid": "one"})
    wrong = [
        signed(key, iss="https://other"),
        signed(key, aud="other"),
        signed(key, aud=None),
        signed(key, exp=int(time.time()) - 60),
        signed(key, exp=None),
        signed(key, sub="stranger"),
        signed(key, sub=["anna"]),
        signed(other),
        signed(key)[:-4] + "AAAA",
        jwt.encode({"alg": "HS256"}, RIGHT, OctKey.import_key("x" * 32)),
        "a.b.c",
        "x" * 9000,
        "",
    ]
    assert [identity.person(token) for token in wrong] == [None] * len(wrong)
    assert identity.person(desk.issue("anna", "token")).name == "anna"


def test_a_token_of_a_provider_means_nothing_without_settings(make_desk, desk_and_key):
    _, key = desk_and_key
    assert Identity(make_desk()).person(signed(key)) is None


def test_keys_that_cannot_be_read(make_desk, tmp_path):
    oidc = {"issuer": "i", "audience": "a", "keys": str(tmp_path / "none.json")}
    with pytest.raises(InputError):
        Identity(make_desk(oidc=oidc))
