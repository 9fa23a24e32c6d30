"""One job's page over real HTTP: the verdict before the number, plain names, where it is from."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any, get_args

import httpx
import pytest
from sqlalchemy import Engine

from services.gateway.pages import templates
from services.gateway.pages.problem_steps import STEPS
from services.gateway.pages.terms import terms
from services.registry import metrics
from shared.contracts.messages import VerdictWord
from shared.ledger import jobs, leases
from shared.process.settings import Settings
from tests.batches import Scene, line
from tests.gateway.results import a_result

FAR = timedelta(hours=1)


def put(engine: Engine, metric: str, result: dict[str, Any], **more: Any) -> str:
    """A job of this metric's first example that has this result; its id."""
    asked = next(iter(metrics()[metric].examples.values())) | more
    request = metrics()[metric].request.model_validate(asked).model_dump(mode="json")
    job_id = jobs.new_id()
    with engine.begin() as connection:
        jobs.insert_job(connection, job_id, metric, request, FAR)
        claim = leases.claim(connection, job_id, lease=FAR, max_attempts=3)
        assert claim is not None
        assert leases.succeed(connection, claim, result)
    return job_id


def seen(html: str) -> str:
    """The words of a page, without its marks."""
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", html)))


@pytest.mark.parametrize("is_private", [False, True])
def test_a_job_without_a_result_shows_its_texts_when_they_are_stored(
    client: httpx.Client, engine: Engine, is_private: bool
) -> None:
    sent = {"text": "A fine bus.", "explanation": "It greets.", "do_not_store_text": is_private}
    request = metrics()["hatexscore"].request.model_validate(sent).model_dump(mode="json")
    job_id = jobs.new_id()
    with engine.begin() as connection:
        jobs.insert_job(connection, job_id, "hatexscore", request, FAR)
    page = client.get(f"/jobs/{job_id}").text
    shown = re.findall(r'class="sensitive block"[^>]*>([^<]+)<', page)
    assert shown == ([] if is_private else ["A fine bus.", "It greets."])


def test_the_next_steps_begin_with_the_problems(client: httpx.Client, engine: Engine) -> None:
    untested = [{"reason": "no-words", "action": "Send a text that contains words."}]
    faults = {"verdict": "problem_found", "problems": ["misquoted"], "untested": untested}
    steps = seen(client.get(f"/jobs/{put(engine, 'hatexscore', a_result(0.5) | faults)}").text)
    _, _, steps = steps.partition("Next steps:")
    assert steps.startswith("Misquoted: Copy the quoted words exactly from the post.")
    assert "No words: Send a text that contains words." in steps


def test_sentences_have_no_backticks_and_a_missing_number_is_no_value() -> None:
    macros: Any = templates.environment().get_template("macros.html").module
    check = {"name": "quotes-matter", "outcome": "not_tested", "sentence": "Name it in `model`."}
    result = {"checks": [check], "untested": []}
    html = f"{macros.checks(result)}{macros.why('Send `language`.', [], {})}"
    assert seen(html).endswith("Name it in model. Send language.")
    assert html.count("<code>") == 2
    assert seen(str(macros.number(None))) == "– no value"


def test_every_problem_has_a_next_step() -> None:
    assert set(STEPS) == {code for metric in metrics().values() for code in metric.problems}


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_the_verdict_stands_before_the_number(
    client: httpx.Client, engine: Engine, metric: str
) -> None:
    result = a_result(0.8125, metric)
    text = client.get(f"/jobs/{put(engine, metric, result)}").text
    verdict, number = text.index(f'class="finding {result["verdict"]}"'), text.index("0.812")
    assert verdict < text.index(f'<span class="word {result["verdict"]}">') < number
    assert result["reason"] in seen(text[verdict:number])


@pytest.mark.parametrize(
    ("verdict", "grey"),
    [("holds_up", False), ("problem_found", False), ("not_tested", True)],
)
def test_a_number_that_says_nothing_is_grey(
    client: httpx.Client, engine: Engine, verdict: str, grey: bool
) -> None:
    problems = ["opposite-decision"] if verdict == "problem_found" else []
    result = a_result(0.9) | {"verdict": verdict, "problems": problems}
    result["decision_match"] = not problems
    text = client.get(f"/jobs/{put(engine, 'hatexscore', result)}").text
    assert ('class="score unsure"' in text) is grey
    assert ("scored as an argument for <em>hateful</em>" in text) is (verdict == "problem_found")


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_parts_have_plain_names_and_a_popover_without_script(
    client: httpx.Client, engine: Engine, metric: str
) -> None:
    text = client.get(f"/jobs/{put(engine, metric, a_result(0.5, metric))}").text
    asked = set(re.findall(r'popovertarget="([^"]+)"', text))
    there = re.findall(r'<div popover class="popover" id="([^"]+)"', text)
    assert len(set(there)) == len(there)
    assert asked <= set(there)
    own = {term.id for term in terms()[metric].values()}
    assert asked & own
    for term in terms()[metric].values():
        assert term.says in unescape(text)


HEADS = re.compile(r"<(th|dt|h2|h3|caption|figcaption)\b[^>]*>(.*?)</\1>", re.DOTALL)
SHORT = re.compile(r"\b(?:[A-Z]{2,}s?|[A-Z][a-z]*[A-Z][A-Za-z-]*|[A-Z]\d)\b|[α-ωΔ]")
KNOWN = {"JSON", "SHA", "CSV", "DSA", "CoT2EL", "HateXScore"}  # what everybody, or the title, says


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_no_abbreviation_stands_without_its_sentence(
    client: httpx.Client, engine: Engine, metric: str
) -> None:
    """A visitor who never read the paper finds each in a popover of the page."""
    text = client.get(f"/jobs/{put(engine, metric, a_result(0.5, metric))}").text
    shown = {*KNOWN, *(name.upper() for name in metrics())}
    told = " ".join(
        f"{term.symbol} {term.name}"
        for term in (*terms()[metric].values(), *terms()["words"].values())
        if f'id="{term.id}"' in text
    )
    heads = [seen(inner) for _, inner in HEADS.findall(text)]
    found = {(short, head) for head in heads for short in SHORT.findall(head)}
    assert {one for one in found if one[0] not in shown and one[0] not in told} == set()


def test_every_verdict_has_its_sentence(client: httpx.Client, engine: Engine) -> None:
    for verdict in get_args(VerdictWord):
        result = a_result(0.9) | {"verdict": verdict}
        text = client.get(f"/jobs/{put(engine, 'hatexscore', result)}").text
        term = terms()["words"][verdict]
        headline = text.partition('class="headline"')[2][:400]
        assert f'popovertarget="{term.id}"' in headline
        assert term.says in unescape(text)


def test_it_says_where_it_is_from(client: httpx.Client, engine: Engine) -> None:
    result = a_result(0.5)
    (model,) = result["provenance"]["models"]
    job_id = put(engine, "hatexscore", result, metadata={"market": "<nl>"})
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE jobs SET request_id = 'req_of_mine'")
    text = client.get(f"/jobs/{job_id}").text
    for said in ("req_of_mine", "&lt;nl&gt;", f'title="{model["sha256"]}">{model["sha256"][:12]}<'):
        assert said in text


def test_a_line_says_its_batch_and_its_own_id(
    client: httpx.Client, engine: Engine, chosen: Settings
) -> None:
    scene = Scene(client, engine, chosen)
    own = line("mine", "one", metadata={"team": "own"})
    twins = [line("first", "two", metadata={"team": "a"}), line("<b>", "two")]
    made = scene.finish(scene.make([own, *twins]))
    found = client.get("/v1/jobs", params={"batch": made["id"]}).json()["data"]
    pages = [client.get(f"/jobs/{job['id']}").text for job in found]
    (alone,) = [page for page in pages if "mine" in page]
    (shared,) = [page for page in pages if "first" in page]
    assert f'href="/batches/{made["id"]}"' in alone
    assert "<bdi>team</bdi>" in alone
    assert "&lt;b&gt;" in shared
    assert "<bdi>team</bdi>" not in shared  # both lines share the job, not what they say of it
