"""The answer at the top of a batch: its counts add up, follow the filter, and lead to a remedy."""

from __future__ import annotations

import csv
import io
import json
import re
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, text

from services.gateway.pages.answer_card import CONTROLS, card_of, clusters_of
from services.gateway.results.result_pages import (
    CardCounts,
    ResultFilter,
    card_counts,
    count_of,
    metadata_keys,
    metadata_values,
)
from services.hatexscore.contract import HatexscoreRequest
from services.registry import fact_plan, metrics
from shared.contracts.checks import ACTIONS
from shared.contracts.fields import options_of
from shared.ledger import result_facts
from shared.ledger.tables import jobs
from tests.gateway.judged import make_batch
from tests.gateway.pages.parsed import FormFields
from tests.gateway.pages.test_batch_outcome import view
from tests.gateway.pages.test_new_batches import confirmed, uploaded
from tests.gateway.pages.test_pages import token

HATEXSCORE = metrics()["hatexscore"]
COUNTS = CardCounts(
    {"holds_up": 150, "problem_found": 90, "not_tested": 60},
    {"succeeded": 300, "failed": 2},
    {"misquoted": 40, "group-not-named": 30, "opposite-decision": 7, "no-score": 9},
    {"too-few-places": 40, "language-undecided": 18, "one-of-two": 2, "no-words": 1},
)  # fmt: skip


def test_the_sentence_counts_contradictions_by_themselves() -> None:
    card = card_of(view(), HATEXSCORE, COUNTS, 302)
    assert card.sentence == (
        "We checked 240 of 300 explanations: 150 hold up and 90 have a problem (7 say the opposite "
        "of the decision)."
    )
    assert [parse_qsl(urlsplit(address).query) for _, address in card.phrases if address] == [
        [("verdict", "holds_up")],
        [("verdict", "problem_found")],
        [("reason", "opposite-decision")],
    ]  # fmt: skip
    assert [(one.name, one.count) for one in card.problems] == [
        ("says the opposite", 7), ("misquotes the post", 40), ("group missing", 30),
    ]  # fmt: skip
    assert [one.control for one in card.untested] == ["without", "language", None, None]
    assert [one.name for one in card.missing] == ["failed"]


def test_no_problem_and_no_reason_is_left_out_however_rare(
    client: httpx.Client, engine: Engine, untested: str
) -> None:
    reasons = {"too-few-places": 1, "language-undecided": 2, "one-of-two": 1, "no-words": 1}
    codes = list(HATEXSCORE.problems)
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE result_facts SET reasons = :problems, facets = :why WHERE line = 5"),
            {"problems": codes, "why": [f"untested={reason}" for reason in reasons]},
        )
    card = client.get(f"/batches/{untested}").text.partition('class="actions"')[2]
    problems, _, not_tested = card.partition("</section>")[0].partition("Not tested")
    assert re.findall(r"<bdi>([^<]+)</bdi>", problems) == list(HATEXSCORE.problems.values())
    assert f"<summary>{len(codes) - 3} more: {len(codes) - 3}</summary>" in problems
    assert [*re.findall(r">(\d+): <bdi>", not_tested)] == ["2", "1", "1", "1"]
    assert "<summary>1 more: 1</summary>" in not_tested


def test_a_line_without_a_score_is_no_failure() -> None:
    assert "no-score" not in [one.code for one in clusters_of(view(), COUNTS)]


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
def test_the_sentence_is_whole_whatever_is_counted(holding: int, wrong: int, opposite: int) -> None:
    verdicts = {"holds_up": holding, "problem_found": wrong + opposite, "not_tested": 1}
    counts = CardCounts(verdicts, {}, {"opposite-decision": opposite} if opposite else {}, {})
    card = card_of(view(), HATEXSCORE, counts, 30)
    assert card.sentence.endswith(".")
    assert [int(words.split()[0]) for words, address in card.phrases if address] == [
        count for count in (holding, wrong + opposite, opposite) if count
    ]


def test_a_link_keeps_the_filters_in_force() -> None:
    shown = view(("meta", "market=nl"), ("why", "no-words"))
    [short, *_] = card_of(shown, HATEXSCORE, COUNTS, 302).untested
    for address in (short.address, f"?{short.query}"):
        pairs = parse_qsl(urlsplit(address).query)
        assert pairs == [("meta", "market=nl"), ("why", "too-few-places")]


def test_every_control_resolves_a_known_reason() -> None:
    assert CONTROLS.keys() <= ACTIONS.keys()
    assert {one for one in CONTROLS.values() if one != "without"} <= set(
        HATEXSCORE.request.model_fields | options_of(HATEXSCORE.request)
    )


@pytest.fixture
def untested(client: httpx.Client, engine: Engine) -> str:
    """A batch of six lines, two of them in no known language."""
    batch_id, _ = make_batch(engine, [0.9, 0.8, 0.7, 0.2, None, None])
    client.get(f"/batches/{batch_id}").raise_for_status()
    with engine.begin() as connection:
        change = "UPDATE result_facts SET facets = '{untested=language-undecided}' WHERE line > 4"
        connection.execute(text(change))
    return batch_id


def said_of(page: str) -> str:
    """The summary sentence of a batch's page."""
    return page.partition('class="finding" data-said="')[2].partition('"')[0]


def test_the_card_counts_the_lines_that_the_filter_leaves(
    client: httpx.Client, engine: Engine, untested: str
) -> None:
    whole = ResultFilter(tenant="default", batch_id=untested)
    with engine.connect() as connection:
        counts = card_counts(connection, whole)
        assert sum(counts.verdicts.values()) == count_of(connection, whole) == 6
    assert counts.untested == {"language-undecided": 2}
    page = client.get(f"/batches/{untested}").text
    assert said_of(page) == "We checked 4 of 6 explanations: 3 hold up and 1 has a problem."
    filtered = client.get(f"/batches/{untested}?verdict=holds_up").text
    assert said_of(filtered) == (
        "We checked 3 of the 3 lines that match the filters (of 6): 3 hold up."
    )
    assert "These lines are in" not in filtered


def test_the_scores_of_the_desk_have_their_scale(client: httpx.Client, untested: str) -> None:
    assert ">Score, 0 to 1</a>" in client.get(f"/batches/{untested}").text


def test_one_form_sets_the_language_of_its_lines_and_scores_them_again(
    client: httpx.Client, engine: Engine, untested: str
) -> None:
    page = client.get(f"/batches/{untested}").text
    form = page.partition(f'action="/batches/{untested}/again"')[2].partition("</form>")[0]
    sent = FormFields(f"<form>{form}").sent
    assert sent["query"] == "why=language-undecided"
    made = client.post(f"/batches/{untested}/again", data=sent | {"language": "pt"})
    assert made.status_code == 303
    lines = client.get(f"/v1/batches/{made.headers['location'].rpartition('/')[2]}").json()
    content = client.get(f"/v1/files/{lines['input_file_id']}/content").text.splitlines()
    assert len(content) == 2
    assert all('"language": "pt"' in one or '"language":"pt"' in one for one in content)
    with engine.connect() as connection:  # the old lines stay as they are
        [old] = connection.execute(jobs.select().where(jobs.c.batch_id == untested).limit(1)).all()
        assert old.request["language"] == "auto"


def test_a_third_class_that_counts_as_hateful_becomes_a_class_of_its_own(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, _ = make_batch(engine, [0.9, 0.8, 0.7, 0.2], decision="toxic")
    path = f"/batches/{batch_id}"
    with engine.begin() as connection:
        result_facts.write_of_lines(connection, fact_plan, 4, batch_id)
    change = text(
        "UPDATE result_facts SET decision_sent = :word, facets = ARRAY['class=' || :side] "
        "WHERE batch_id = :batch AND line = :line"
    )
    words = (
        ("hate speech", "hateful"), ("toxic", "hateful"), ("toxic", "toxic"),
        ("normal", "non-hateful"),
    )  # fmt: skip
    with engine.begin() as connection:
        for line, (word, side) in enumerate(words, 1):
            named = {"word": word, "side": side, "batch": batch_id, "line": line}
            connection.execute(change, named)
    page = client.get(path).text
    form = page.partition("Counted as hateful")[2].partition("<form")[2].partition("</form>")[0]
    sent = FormFields(f"<form{form}").sent
    assert "We checked 1 of the 1 line " in client.get(f"{path}?{sent['query']}").text
    made = client.post(f"{path}/again", data=sent)
    assert made.status_code == 303
    lines = client.get(f"/v1/batches/{made.headers['location'].rpartition('/')[2]}").json()
    [content] = client.get(f"/v1/files/{lines['input_file_id']}/content").text.splitlines()
    body = HATEXSCORE.request.model_validate(json.loads(content)["body"])
    assert isinstance(body, HatexscoreRequest)
    assert body.decision_class == "toxic"
    refused = client.post(f"{path}/again", data=sent | {"metric": "ice", "once": "x" * 32})
    assert (refused.status_code, "does not accept labels" in refused.text) == (422, True)


def test_a_label_without_a_class_is_placed_by_choice_in_all_its_lines(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, _ = make_batch(engine, [0.9, 0.8, 0.7, 0.2], decision="offensive")
    path = f"/batches/{batch_id}"
    with engine.begin() as connection:
        result_facts.write_of_lines(connection, fact_plan, 4, batch_id)
        connection.execute(
            text(
                "UPDATE result_facts SET decision_sent = CASE line WHEN 4 THEN 'hateful' ELSE "
                "'offensive' END, facets = CASE WHEN line < 3 THEN "
                "ARRAY['untested=judge-has-no-such-label'] ELSE '{}' END"
            )
        )
    page = client.get(path).text
    assert "2: <bdi>judge has no such label: offensive</bdi>" in page
    form = page.partition(f'action="{path}/again"')[2].partition("</form>")[0]
    assert '<select name="counts_as" required><option value="">' in form
    assert "Score all 3 lines again" in form
    sent = FormFields(f"<form>{form}").sent
    assert sent["counts_as"] == ""
    made = client.post(f"{path}/again", data=sent | {"counts_as": "non-hateful"})
    new = client.get(made.headers["location"]).text
    assert f"<bdi>{batch_id[-6:]}, scored again</bdi>" in new
    assert f'href="{path}">Earlier scores of these lines</a>' in new
    batch = client.get(f"/v1/batches/{made.headers['location'].rpartition('/')[2]}").json()
    content = client.get(f"/v1/files/{batch['input_file_id']}/content").text.splitlines()
    bodies = [HATEXSCORE.request.model_validate(json.loads(line)["body"]) for line in content]
    assert [getattr(body, "decision_class", "") for body in bodies] == ["non-hateful"] * 3


def test_a_label_without_a_class_beside_more_labels_than_are_counted(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, _ = make_batch(engine, [line / 60 for line in range(53)])
    change = (
        "UPDATE result_facts SET decision_sent = 'label ' || line, facets = CASE line WHEN 53 "
        "THEN ARRAY['untested=judge-has-no-such-label'] ELSE '{}' END"
    )
    with engine.begin() as connection:
        result_facts.write_of_lines(connection, fact_plan, 53, batch_id)
        connection.execute(text(change))
    page = client.get(f"/batches/{batch_id}").text
    assert "1: <bdi>judge has no such label: label 53</bdi>" in page


def test_a_language_that_is_none_is_refused_in_place(client: httpx.Client, untested: str) -> None:
    page = client.get(f"/batches/{untested}")
    sent = {
        "csrf": token(page), "metric": "hatexscore", "query": "why=language-undecided",
        "language": "no tag",
    }  # fmt: skip
    refused = client.post(f"/batches/{untested}/again", data=sent)
    assert refused.status_code == 422
    assert 'value="no tag"' in refused.text


def test_a_file_with_texts_becomes_the_same_requests_again(
    client: httpx.Client, engine: Engine, untested: str
) -> None:
    path = f"/batches/{untested}/results"
    assert "quite friendly" not in client.get(f"{path}.csv").text
    rows = list(csv.DictReader(io.StringIO(client.get(f"{path}.csv?texts=1").text, newline="")))
    assert rows[0]["text"] == "post number 1 is quite friendly"
    assert rows[0]["explanation"].startswith("Post 1 greets")
    assert "states-a-decision: passed" in rows[0]["checks"]
    for row in rows:
        row |= {"probabilities.original": "0.9", "probabilities.masked": "0.2"}
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    answer = confirmed(client, uploaded(client, table.getvalue().encode()))
    assert answer.status_code == 303, answer.text
    batch = client.get(f"/v1/batches/{answer.headers['location'].rpartition('/')[2]}").json()
    content = client.get(f"/v1/files/{batch['input_file_id']}/content").text.splitlines()
    bodies = [json.loads(one)["body"] for one in content]
    assert [one["text"] for one in bodies] == [row["text"] for row in rows]
    assert bodies[0]["decision"] == "non-hateful"
    assert bodies[0]["probabilities"] == {"original": 0.9, "masked": 0.2}
    lines = [json.loads(one) for one in client.get(f"{path}.jsonl?texts=1").text.splitlines()]
    assert lines[0]["request"]["text"] == rows[0]["text"]


def test_a_downloaded_table_is_uploaded_without_its_quotes_and_results(
    client: httpx.Client, engine: Engine, untested: str
) -> None:
    with engine.begin() as connection:
        change = "UPDATE jobs SET request = jsonb_set(request::jsonb, '{text}', to_jsonb(:said))"
        said = "@you post is quite friendly"
        connection.execute(text(change.replace(":said", "CAST(:said AS text)")), {"said": said})
        user = """UPDATE result_facts SET metadata = '{"user": "=u1"}'"""
        connection.execute(text(user))
    table = client.get(f"/batches/{untested}/results.csv?texts=1").content
    assert b",'@you" in table
    names = {"reason", "model"}  # an uploaded table's own names for other things
    bare = client.get(f"/batches/{untested}/results.csv").text
    both = [list(csv.DictReader(io.StringIO(file))) for file in (table.decode(), bare)]
    assert all(names.isdisjoint(rows[0]) for rows in both)
    assert both[0][0]["verdict_reason"]
    assert [row["checks"] for row in both[0]] == [row["checks"] for row in both[1]]
    answer = confirmed(client, uploaded(client, table))
    assert answer.status_code == 303, answer.text
    batch = client.get(f"/v1/batches/{answer.headers['location'].rpartition('/')[2]}").json()
    content = client.get(f"/v1/files/{batch['input_file_id']}/content").text.splitlines()
    for body in (json.loads(line)["body"] for line in content):
        assert body["text"] == said
        assert body["metadata"] == {"user": "=u1"}


def test_a_cell_with_several_values_is_found_by_each(
    client: httpx.Client, engine: Engine, untested: str
) -> None:
    cells = {1: "African, Women", 2: "Women;Islam", 3: "Women of colour", 4: "African"}
    with engine.begin() as connection:
        change = (
            "UPDATE result_facts SET metadata = jsonb_build_object('target', CAST(:cell AS text)) "
            "WHERE line = :line"
        )
        for line, cell in cells.items():
            connection.execute(text(change), {"cell": cell, "line": line})
    for value, count in (("African", 2), ("Women", 2), ("Islam", 1), ("African, Women", 1)):
        page = client.get(f"/batches/{untested}", params={"meta": f"target={value}"}).text
        assert f"{count} of 6 lines" in page, value
    whole = ResultFilter(tenant="default", batch_id=untested)
    with engine.connect() as connection:
        offered = metadata_values(connection, whole, metadata_keys(connection, whole))
    assert offered["target"] == {"African": 2, "Women": 2, "Islam": 1, "Women of colour": 1}
