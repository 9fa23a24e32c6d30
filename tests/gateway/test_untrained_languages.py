"""A key may accept, for its requests that do not state it, languages that a model did not learn."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Engine, select

from shared.ledger import keys
from shared.ledger.tables import jobs
from shared.process.settings import Settings
from tests.batches import URL as SCORES
from tests.batches import Scene, line
from tests.gateway.conftest import Opens
from tests.gateway.test_keys import made
from tests.gateway.test_scores import GOOD, URL

NAME = "accept_untrained_languages"
STATED = [({}, None), ({NAME: False}, False), ({NAME: True}, True)]


def kept(engine: Engine, name: str = NAME) -> list[Any]:
    """What the jobs that there are will be scored with, oldest first."""
    with engine.connect() as connection:
        found = connection.execute(select(jobs.c.request).order_by(jobs.c.id)).scalars()
        return [request[name] for request in found]


@pytest.mark.parametrize("accepts", [False, True])
def test_what_a_request_states_comes_before_its_key(
    opens: Opens, engine: Engine, accepts: bool
) -> None:
    client = opens(accept_untrained_languages=accepts)
    for more, _ in STATED:
        assert client.post(URL, json=GOOD | more).status_code == 202
    expected = [accepts if stated is None else stated for _, stated in STATED]
    assert kept(engine) == expected


def test_many_in_one_call_are_as_one(opens: Opens, engine: Engine) -> None:
    client = opens(accept_untrained_languages=True)
    sent = {"metric": "hatexscore", "requests": [GOOD | more for more, _ in STATED]}
    assert client.post("/v1/scores:batchCreate", json=sent).status_code == 202
    assert sorted(kept(engine)) == [False, True, True]


def test_a_service_without_languages_is_asked_as_before(opens: Opens) -> None:
    client = opens(accept_untrained_languages=True)
    answer = client.post("/v1/similarity", json={"pairs": [{"a": "one", "b": "two"}]})
    assert answer.status_code == 202, answer.text


def test_a_batch_remembers_the_key_that_made_it(
    opens: Opens, engine: Engine, chosen: Settings
) -> None:
    """Its lines are read when no key is at hand any more."""
    client = opens("a", "batch", accept_untrained_languages=True)
    scene = Scene(client, engine, chosen)
    lines = [line(f"n{n}", f"a post of {n}", **more) for n, (more, _) in enumerate(STATED)]
    batch = scene.read(scene.make(lines))
    assert batch["status"] == "in_progress"
    scene.feeder().round()
    assert sorted(kept(engine)) == [False, True, True]


def test_a_batch_has_one_language_for_the_lines_that_state_none(
    opens: Opens, engine: Engine, chosen: Settings
) -> None:
    """The same file can be scored again in a language that is sent afterwards."""
    scene = Scene(opens("a", "batch"), engine, chosen)
    stated: list[dict[str, str]] = [{}, {"language": "auto"}, {"language": "de"}]
    first = scene.make([line(f"n{n}", f"a post of {n}", **more) for n, more in enumerate(stated)])
    body = {"input_file_id": first["input_file_id"], "endpoint": SCORES, "language": "en"}
    again = scene.client.post("/v1/batches", json=body).json()
    for batch in (first, again):
        assert scene.read(batch)["status"] == "in_progress"
    scene.feeder().round()
    assert sorted(kept(engine, "language")) == ["auto", "auto", "de", "de", "en", "en"]


def test_the_command_makes_such_a_key(
    capsys: pytest.CaptureFixture[str], engine: Engine, chosen: Settings
) -> None:
    made(capsys, "--accept-untrained-languages")
    made(capsys)
    with engine.connect() as connection:
        found = keys.all_of(connection)
    assert [one.accept_untrained_languages for one in found] == [True, False]
