"""Whatever a line holds, it is refused with its place or kept, and stops nobody."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import text

from services.registry import contracts
from services.scheduler import batch_files
from shared.ledger.batches import Fault
from shared.process.settings import settings
from tests.batches import Json, Scene, line
from tests.poison import places, planted, raw_values

FULL = line("x", "x") | {
    "body": next(iter(contracts()["hatexscore"].examples.values()))
    | {"metadata": {"a": "b"}, "context": {"puid": "p"}, "webhook": "we_" + "0" * 32}
}
FULL_LINE = json.dumps(FULL).encode()
RAW = {
    "broken UTF-8": b'{"custom_id": "\xff"}',
    "a surrogate in UTF-8": b'{"custom_id": "\xed\xa0\x80"}',
    "UTF-16": FULL_LINE.decode().encode("utf-16"),
    "a carriage return": FULL_LINE + b"\r",
    "a name twice": FULL_LINE[:-1] + b', "custom_id": "y"}',
    "a byte order mark in the middle": b"\xef\xbb\xbf" + FULL_LINE,
    "two objects": FULL_LINE + FULL_LINE,
    "NUL": b"\x00",
    "white space": b"\x0b\x0c",
    "wider white space": "\u2003".encode(),
    "null": b"null",
}
KEPT = [("custom_id",), ("body", "text"), ("body", "metadata", "a"), ("body", "context", "puid")]


def outcome(scene: Scene, raw: bytes) -> Json:
    """The batch with this line in the middle, at its end."""
    with scene.engine.begin() as connection:
        connection.execute(
            text(
                "TRUNCATE jobs, batches, batch_lines, result_facts, files, idempotency_keys CASCADE"
            )
        )
    made = scene.read(scene.make([line("first", "a"), raw, line("last", "b")]))
    return made if made["status"] == "failed" else scene.finish(made)


def holds(scene: Scene, batch: Json) -> None:
    """Refused with its place, or kept and shown."""
    if batch["status"] == "failed":
        for fault in batch["errors"]["data"]:
            assert fault["line"] == 2
            assert fault["code"] != "unreadable_line"
            assert fault["code"] == "line_too_long" or fault["param"].startswith("#")
        return
    assert batch["status"] == "completed"
    answers = scene.file(batch["output_file_id"])
    assert {"first", "last"} <= {one["custom_id"] for one in answers}
    assert len(answers) == batch["request_counts"]["total"]
    for path in (f"/batches/{batch['id']}", f"/batches/{batch['id']}/results.csv"):
        assert scene.client.get(path).status_code == 200


@pytest.mark.parametrize("name", list(RAW))
def test_a_strange_line_stops_nobody(scene: Scene, name: str) -> None:
    holds(scene, outcome(scene, RAW[name]))


@pytest.mark.parametrize("place", KEPT, ids=lambda place: place[-1])
def test_a_strange_value_that_is_kept_stops_nobody(
    scene: Scene, place: tuple[str | int, ...]
) -> None:
    for _, raw in raw_values():
        holds(scene, outcome(scene, planted(FULL, place, raw).encode()))


def test_a_strange_value_anywhere_is_a_line_or_a_fault(scene: Scene) -> None:
    reader = batch_files.Reader(
        contracts()["hatexscore"],
        FULL["url"],
        scene.filing()._catalogue,
        100,
        10_000_000,
        settings().work_limit,
    )
    for place in places(FULL):
        for name, raw in raw_values():
            content = planted(FULL, place, raw).encode()
            found = reader.line(content, 7, len(content))
            if isinstance(found, Fault):
                assert (found.line, found.code) != (7, "unreadable_line"), (place, name)
                assert str(found.param).startswith("#"), (place, name)


def test_an_id_that_the_ledger_cannot_keep_is_refused_with_its_place(scene: Scene) -> None:
    batch = outcome(scene, json.dumps(line("a\x00b", "x")).encode())
    (fault,) = batch["errors"]["data"]
    assert (fault["code"], fault["line"], fault["param"]) == ("invalid_line", 2, "#/custom_id")
    assert "U+0000" in fault["message"]


def test_a_line_that_crashes_its_reader_is_named(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = batch_files.Reader.read

    def crash_or_read(reader: batch_files.Reader, raw: bytes) -> object:
        if b"second" in raw:
            raise RecursionError
        return real(reader, raw)

    monkeypatch.setattr(batch_files.Reader, "read", crash_or_read)
    batch = outcome(scene, json.dumps(line("second", "x")).encode())
    (fault,) = batch["errors"]["data"]
    assert (fault["code"], fault["line"], fault["param"]) == ("unreadable_line", 2, "#")


def test_the_output_is_split_into_the_same_lines_by_everybody(scene: Scene) -> None:
    ends = "\x85\u2028\u2029\x1c"
    batch = scene.finish(scene.make([line(f"a{ends}", f"x{ends}y")]))
    (one,) = scene.file(batch["output_file_id"])  # by `str.splitlines`
    assert one["custom_id"] == f"a{ends}"
    assert one["response"]["body"]["result"]["echo"] == f"x{ends}y"
