"""Settings as people write them: lists with commas, secrets in files, each fault in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared.process.settings import CommandSettings, Settings, secret, unknown_settings
from shared.process.settings_sources import (
    entries,
    fields_of,
    format_errors,
    is_secret,
    variable_of,
)
from tests.deployment.manifests import ROOT

REDIS_SCHEMES = "must begin with redis://, rediss:// or unix://"
WRONG_PORT = "must be an address with a port of at most 65535"
SECRETS = [variable_of(name, field) for name, field in fields_of(Settings) if is_secret(field)]


KEY = "A" * 43 + "="  # 32 bytes


def faults(monkeypatch: pytest.MonkeyPatch, **variables: str) -> list[str]:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError) as caught:
        Settings()
    return list(format_errors(caught.value))


@pytest.mark.parametrize(
    ("variable", "written", "read"),
    [
        ("WEBHOOK_ALLOW", "127.0.0.1/32", (ip_network("127.0.0.1/32"),)),
        ("WEBHOOK_ALLOW", " 10.0.0.0/8 , ::1/128,", (ip_network("10.0.0.0/8"), ip_network("::1"))),
        ("WEBHOOK_ALLOW", '["127.0.0.1/32"]', (ip_network("127.0.0.1/32"),)),
        ("WEBHOOK_ALLOW", "", ()),
        ("WEBHOOK_SCHEDULE", "[443]", (443.0,)),
        ("WEBHOOK_SCHEDULE", "0, 1.5", (0.0, 1.5)),
        ("HOST_NAMES", "a.example,b.example", ("a.example", "b.example")),
        ("PROXIES", "10.0.0.7/32", (ip_network("10.0.0.7/32"),)),
    ],
)
def test_a_list_has_commas_or_is_json(
    monkeypatch: pytest.MonkeyPatch, variable: str, written: str, read: tuple[Any, ...]
) -> None:
    monkeypatch.setenv(f"TOUCHSTONE_{variable}", written)
    assert getattr(Settings(), variable.lower()) == read


WORDS = st.lists(st.from_regex(r"[a-z0-9./:-]+", fullmatch=True))


@given(WORDS)
def test_both_ways_to_write_a_list_say_the_same(words: list[str]) -> None:
    assert entries(",".join(words)) == entries(json.dumps(words)) == words


def test_every_list_can_be_written_so() -> None:
    lists = [field for _, field in fields_of(Settings) if "tuple" in str(field.annotation)]
    assert len(lists) == 4
    assert all(any("entries" in repr(one) for one in field.metadata) for field in lists)


def test_all_faults_are_said_at_once_a_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    said = faults(
        monkeypatch,
        TOUCHSTONE_WEBHOOK_ALLOW="127.0.0.1/33",
        TOUCHSTONE_WEBHOOK_SCHEDULE="443,loud",
        TOUCHSTONE_PROXIES="[x",
        TOUCHSTONE_PORT="loud",
    )
    assert said == [
        "TOUCHSTONE_PORT must be a whole number",
        "TOUCHSTONE_PROXIES must be a list separated by commas, or a JSON list",
        'TOUCHSTONE_WEBHOOK_ALLOW: "127.0.0.1/33" is not a network (as in 10.20.0.0/16)',
        'TOUCHSTONE_WEBHOOK_SCHEDULE: "loud" is not a number',
    ]


@pytest.mark.parametrize(
    ("variable", "value", "fault"),
    [
        ("REDIS_URL", "localhost:6379", REDIS_SCHEMES),
        ("REDIS_URL", "http://s3cret@localhost", REDIS_SCHEMES),
        ("REDIS_URL", "redis://s3cret@localhost:99999", WRONG_PORT),
        ("DATABASE_URL", "mysql://s3cret@a/b", "must begin with postgresql:// or postgres://"),
        ("DATABASE_URL", "postgresql://a:s3cret@b:loud/", WRONG_PORT),
    ],
)
def test_an_address_of_another_kind_is_one_line_without_its_secrets(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, fault: str
) -> None:
    assert faults(monkeypatch, **{variable: value}) == [f"{variable} {fault}"]


@pytest.mark.parametrize("variable", SECRETS)
def test_every_secret_may_stand_in_a_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str
) -> None:
    addresses = {
        "REDIS_URL": "redis://:secret@a",
        "DATABASE_URL": "postgresql://a:secret@b",
        "TOUCHSTONE_QUEUE_REDIS": "ice=redis://:secret@a",
    }
    secret = addresses.get(variable, KEY)
    (tmp_path / "secret").write_text(f"{secret}\n")
    monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv(f"{variable}_FILE", str(tmp_path / "secret"))
    name = next(name for name, field in fields_of(Settings) if variable_of(name, field) == variable)
    chosen = Settings()
    assert getattr(chosen, name).get_secret_value() == secret
    assert name in chosen.model_fields_set
    monkeypatch.setenv(variable, "other")
    assert faults(monkeypatch) == [
        f"{variable}_FILE: {variable} is set as well; set only one of them"
    ]


def test_the_command_lines_key_and_a_models_key_may_stand_in_files(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text("tsk_1\n")
    for name in ("TOUCHSTONE_API_KEY", "SOME_SERVERS_KEY"):
        monkeypatch.setenv(f"{name}_FILE", str(tmp_path / "key"))
    found = [CommandSettings().api_key, secret("SOME_SERVERS_KEY")]
    assert [one and one.get_secret_value() for one in found] == ["tsk_1", "tsk_1"]


def test_a_file_that_is_not_there_is_a_fault_like_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = str(tmp_path / "none")
    said = faults(monkeypatch, TOUCHSTONE_SECRET_KEYS_FILE=path, TOUCHSTONE_PORT="loud")
    monkeypatch.delenv("TOUCHSTONE_SECRET_KEYS", raising=False)
    assert len(said) == 2
    monkeypatch.delenv("TOUCHSTONE_PORT")
    assert faults(monkeypatch) == [
        f"TOUCHSTONE_SECRET_KEYS_FILE: {path} cannot be read: No such file or directory"
    ]


def test_an_unknown_name_is_told_with_the_nearest_known_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = unknown_settings()
    monkeypatch.setenv("TOUCHSTONE_WEBHOK_ALOW", "127.0.0.1/32")
    monkeypatch.setenv("TOUCHSTONE_REDIS_URL", "redis://localhost")
    monkeypatch.setenv("TOUCHSTONE_SECRET_KEYS_FILE", "/dev/null")
    assert [one for one in unknown_settings() if one not in before] == [
        ("TOUCHSTONE_REDIS_URL", "REDIS_URL"),
        ("TOUCHSTONE_WEBHOK_ALOW", "TOUCHSTONE_WEBHOOK_ALLOW"),
    ]


@pytest.mark.parametrize("module", ["services.gateway", "shared.ledger.migrate"])
def test_a_process_warns_and_ends_without_a_traceback(module: str) -> None:
    wrong = {"TOUCHSTONE_PORT": "loud", "TOUCHSTONE_WEBHOOK_ALLOW": "127.0.0.1/33"}
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", module],
        cwd=ROOT,
        env=os.environ | wrong,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert [line.split()[0].strip(":") for line in ran.stderr.splitlines()] == sorted(wrong)


@pytest.mark.parametrize("name", ["TOUCHSTONE_SECRET_KEYS", "TOUCHSTONE_WEBHOOK_KEYS"])
@pytest.mark.parametrize("keys", ["abc", "é" * 44, "A" * 43 + "=,short"])
def test_a_key_that_is_none_is_a_wrong_setting(
    monkeypatch: pytest.MonkeyPatch, name: str, keys: str
) -> None:
    [said] = faults(monkeypatch, **{name: keys})
    assert said == f"{name} must be keys of 32 bytes each in url-safe base64, separated by commas"
