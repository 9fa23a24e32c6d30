"""The command that makes keys, and the gateway that refuses others until there is one."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta

import pytest
from sqlalchemy import Engine

from services.gateway.keys import WRONG, main
from services.gateway.site_security import KeyRequiredError, is_loopback, keys_needed
from shared.ledger import keys, tenants
from shared.ledger.engine import connect
from shared.process.settings import Settings
from tests.answers import CheckedClient
from tests.gateway.serving import serving
from tests.patience import SECONDS, busy


def made(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    """The key that the command prints, alone on standard output."""
    assert main(["create", *options]) == 0
    said = capsys.readouterr()
    (secret,) = said.out.splitlines()
    assert secret not in said.err
    return str(secret)


def test_a_key_is_made_listed_and_revoked(
    capsys: pytest.CaptureFixture[str], engine: Engine, chosen: Settings
) -> None:
    secret = made(capsys, "--tenant", "acme", "--name", "ci", "--scope", "score", "--days", "7")
    with engine.begin() as connection:
        (key,) = keys.all_of(connection)
        assert keys.authenticate(connection, secret) == key
    assert (key.tenant, key.name, key.scopes) == ("acme", "ci", ["score"])
    assert key.expires_at is not None
    assert main(["list"]) == 0
    listed = capsys.readouterr()
    assert key.id in listed.out
    assert secret[keys.SHOWN_CHARACTERS :] not in listed.err + listed.out
    assert main(["revoke", key.id]) == 0
    assert main(["revoke", key.id]) == 0
    with engine.begin() as connection:
        assert keys.authenticate(connection, secret) is None
    assert main(["revoke", "key_0"]) == WRONG


def test_the_first_key_says_that_it_locks_the_service(
    capsys: pytest.CaptureFixture[str], chosen: Settings
) -> None:
    for says in (True, False):
        assert main(["create"]) == 0
        assert ("Every request now needs a key" in capsys.readouterr().err) is says


def test_a_tenant_s_retention_is_set_and_shown(
    capsys: pytest.CaptureFixture[str], engine: Engine, chosen: Settings
) -> None:
    assert main(["retention", "acme", "--days", "1"]) == WRONG
    assert "a tenant exists once a key is created" in capsys.readouterr().err
    made(capsys, "--tenant", "acme")
    for words, days in (("--days", "7"), 7), ((), 7), (("--default",), None):
        assert main(["retention", "acme", *words]) == 0
        assert (str(days or "TOUCHSTONE_RETENTION_HOURS")) in capsys.readouterr().err
        with engine.begin() as connection:
            term = tenants.retention_of(connection, "acme")
        assert term == (None if days is None else timedelta(days=days))


def test_the_key_opens_the_service(capsys: pytest.CaptureFixture[str], chosen: Settings) -> None:
    secret = made(capsys)
    with serving(chosen) as url, CheckedClient(base_url=url, timeout=SECONDS) as client:
        assert client.get("/v1/jobs").status_code == 401
        bearer = {"Authorization": f"Bearer {secret}"}
        assert client.get("/v1/jobs", headers=bearer).status_code == 200


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["create", "--tenant", "Two Words"],
        ["create", "--scope", "everything"],
        ["create", "--requests-per-minute", "0"],
        ["create", "--days", "-1"],
        ["retention", "acme", "--days", "0"],
        ["retention", "acme", "--days", "1.5"],
        ["retention", "acme", "--days", "7", "--default"],
        ["revoke"],
    ],
)
def test_bad_arguments_are_refused(arguments: list[str], chosen: Settings) -> None:
    with pytest.raises(SystemExit) as refused:
        main(arguments)
    assert refused.value.code == 2


def test_two_keys_are_never_alike(capsys: pytest.CaptureFixture[str], chosen: Settings) -> None:
    made_keys = {made(capsys) for _ in range(20)}
    assert len(made_keys) == 20
    assert all(keys.FORM.fullmatch(secret) for secret in made_keys)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.7", False),
        ("example.com", False),
        ("", False),
    ],
)
def test_loopback_is_this_machine_alone(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


def gateway(chosen: Settings, **environment: str) -> subprocess.CompletedProcess[str]:
    """The gateway's process, which is expected to refuse."""
    base = {
        "DATABASE_URL": chosen.database_url.get_secret_value(),
        "REDIS_URL": chosen.redis_url.get_secret_value(),
        "PATH": "/usr/bin:/bin",
    }
    return subprocess.run(
        [sys.executable, "-m", "services.gateway"],
        env=base | environment,
        capture_output=True,
        text=True,
        timeout=SECONDS * busy(),
        check=False,
    )


def test_without_keys_another_host_is_refused_with_a_clear_word(chosen: Settings) -> None:
    ended = gateway(chosen, TOUCHSTONE_HOST="0.0.0.0", TOUCHSTONE_PORT="0")
    assert ended.returncode == 1
    for part in ("will not listen on 0.0.0.0", "services.gateway.keys create", "127.0.0.1"):
        assert part in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize(
    ("host", "authentication", "made_keys", "needed"),
    [
        ("127.0.0.1", "auto", 0, None),
        ("0.0.0.0", "auto", 1, True),
        ("0.0.0.0", "keys", 0, True),
        ("0.0.0.0", "none", 0, False),
        ("127.0.0.1", "keys", 0, True),
    ],
)
def test_who_may_listen_where(
    chosen: Settings,
    engine: Engine,
    capsys: pytest.CaptureFixture[str],
    host: str,
    authentication: str,
    made_keys: int,
    needed: bool | None,
) -> None:
    for _ in range(made_keys):
        made(capsys)
    asked = chosen.model_copy(update={"host": host, "authentication": authentication})
    assert keys_needed(asked, engine) is needed


def test_a_revoked_last_key_opens_no_door(
    chosen: Settings, engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    everywhere = chosen.model_copy(update={"host": "0.0.0.0"})
    with pytest.raises(KeyRequiredError):
        keys_needed(everywhere, engine)
    made(capsys)
    with engine.begin() as connection:
        keys.revoke(connection, keys.all_of(connection)[0].id)
    assert keys_needed(everywhere, engine) is True


def test_a_ledger_that_cannot_be_asked_opens_no_door(chosen: Settings) -> None:
    away = connect("postgresql://nobody@127.0.0.1:1/x")
    assert keys_needed(chosen.model_copy(update={"host": "0.0.0.0"}), away) is True
    away.dispose()
