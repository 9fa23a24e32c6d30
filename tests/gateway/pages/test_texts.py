"""All results for one text, and requests that were edited."""

from __future__ import annotations

from collections.abc import Mapping

import httpx
import pytest
from sqlalchemy import Engine, select

from services.gateway.pages.score_again import request_for
from services.gateway.pages.texts import MOST_LANES
from services.registry import fact_plan, metrics
from shared.ledger import leases, result_facts
from shared.ledger.tables import jobs
from tests.batches import MINUTE, OWN
from tests.gateway.conftest import Opens
from tests.gateway.pages.test_pages import entered, token
from tests.gateway.results import a_result

KEY = "0123456789abcdef0123456789abcdef"
TEXT = "Nobody here wants them"


def scored(client: httpx.Client, engine: Engine, metric: str, body: Mapping[str, object]) -> str:
    """A finished job; its row is written."""
    job: str = client.post(f"/v1/scores/{metric}", json=body).raise_for_status().json()["id"]
    found = a_result(0.5, metric)
    found["provenance"] |= {"text_key": KEY}
    found["evidence"] = [{"kind": "quote", "start": 12, "end": 22, "text": "wants them"}]
    with engine.begin() as connection:
        claim = leases.claim(connection, job, lease=MINUTE, max_attempts=3)
        assert claim is not None
        assert leases.succeed(connection, claim, found)
    with engine.begin() as connection:
        while result_facts.write_job_rows(connection, fact_plan, 100):
            pass
    return job


def test_a_text_shows_every_result_of_its_tenant(opens: Opens, engine: Engine) -> None:
    own, other = entered(opens, "a", "score"), entered(opens, "b", "score")
    api = opens("a", "score")
    first = scored(api, engine, "hatexscore", OWN | {"text": TEXT})
    second = scored(api, engine, "ice", {"text": TEXT, "attribution": "attention"})
    page = own.get(f"/texts/{KEY}").text
    assert first in page
    assert second in page
    assert "needs a premise and a hypothesis" in page
    assert "needs a language model, but none is configured" in page  # HAF
    assert "ready to score with embedded-hate" in page  # Consistency has no default
    assert '<span class="lane0 lane1">wants them</span>' in page  # where both mark
    assert page.count(TEXT[:12]) == 1  # once, under its lanes
    third = scored(api, engine, "hatexscore", OWN | {"text": TEXT, "explanation": "Because so."})
    page = own.get(f"/texts/{KEY}").text
    assert page.count('">Because so.</bdi>') == 1  # what tells it from the first
    assert 'class="lane0 lane1 lane2"' in page
    assert third in page
    assert other.get(f"/texts/{KEY}").status_code == 404
    assert own.get("/texts/nothing-of-ours").status_code == 404
    assert f'href="/texts/{KEY}"' in own.get(f"/jobs/{first}").text
    form = {"csrf": token(own.get(f"/texts/{KEY}")), "job": first, "metric": "ice"}
    form |= {"once": "0" * 32}
    for _ in range(2):  # pressed twice: one job
        assert own.post(f"/texts/{KEY}", data=form).headers["location"] == f"/texts/{KEY}"
    assert other.post(f"/texts/{KEY}", data=form).status_code in (403, 404)
    with engine.connect() as connection:
        requests = connection.execute(
            select(jobs.c.request).where(jobs.c.metric == "ice", jobs.c.status == "queued")
        )
        [asked] = requests.scalars()
    assert asked["text"] == TEXT
    assert asked["rationale"] == [{"of": "text", "start": 12, "end": 22}]


def test_a_text_of_more_results_than_lines_says_so(client: httpx.Client, engine: Engine) -> None:
    for number in range(MOST_LANES + 1):
        page = client.get(f"/texts/{KEY}").text
        assert "results fit under the text" not in page
        said = {"text": TEXT, "explanation": f"Because of {number}."}
        scored(client, engine, "hatexscore", {**OWN, **said})
    page = client.get(f"/texts/{KEY}").text
    assert f"Only 8 of {MOST_LANES + 1} results fit under the text" in page


def test_a_request_is_edited_and_its_versions_know_each_other(
    client: httpx.Client, engine: Engine
) -> None:
    first = scored(client, engine, "hatexscore", OWN | {"text": TEXT})
    form = client.get(f"/try?from={first}")
    assert TEXT in form.text
    fields = {"csrf": token(form), "metric": "hatexscore", "action": "score", "parent": first}
    fields |= {"text": TEXT.replace("them", "us"), "explanation": "hateful", "rest": "{}"}
    made = client.post("/try", data=fields)
    assert made.status_code == 303, made.text
    second = made.headers["location"].rpartition("/")[2]
    page = client.get(f"/jobs/{second}").text
    assert "versions" not in page  # it has no result yet
    with engine.begin() as connection:
        claim = leases.claim(connection, second, lease=MINUTE, max_attempts=3)
        assert claim is not None
        found = a_result(0.75) | {"not_applicable": {"tgi": "no group"}}
        found |= {"probability_original": None, "components": found["components"] | {"tgi": None}}
        found["provenance"] |= {"models": []}
        assert leases.succeed(connection, claim, found)
    page = client.get(f"/jobs/{second}").text
    best = "2 versions, best score of those that hold up 0.75"
    assert best in page
    assert best in client.get(f"/jobs/{first}").text  # its parent says so
    found |= {"verdict": "problem_found"}
    with engine.begin() as connection:
        connection.execute(jobs.update().where(jobs.c.id == second).values(result=found))
    page = client.get(f"/jobs/{second}").text
    versions = page.partition('id="versions"')[2].partition("</ul>")[0]
    assert "best score of those that hold up 0.5<" in versions
    assert "problem found" in versions
    assert "succeeded" not in versions
    assert page.index('id="versions"') < page.index("Provenance")
    assert client.get(f"/v1/jobs/{second}").json()["metadata"]["edited_from"] == first
    after = page.partition('id="versions"')[2]
    probability = after.partition("P(hateful) of the text as sent")[2].partition("</tr>")[0]
    assert probability.endswith('<span class="none">no model was called</span></td>')
    named = after.partition("Names who is targeted")[2].partition("</tr>")[0]
    assert named.endswith('<span class="none">does not apply</span></td>')
    assert f'<dt>Edited from</dt><dd><a href="/jobs/{first}">' in page
    assert "edited_from" not in page.partition("</dl>")[0]
    assert "<dt>Language of the text</dt><dd>English (en)</dd>" in page
    assert "<del>them</del><ins>us</ins>" in page.replace("\n", "").replace(" ", "") or (
        "<del>" in page and "<ins>" in page
    )
    assert "Edit and score again" in page


def test_a_job_is_compared_with_another_result_of_its_text(opens: Opens, engine: Engine) -> None:
    api, own, other = (
        opens("a", "score"),
        entered(opens, "a", "score"),
        entered(opens, "b", "score"),
    )
    first = scored(api, engine, "hatexscore", OWN | {"text": TEXT})
    second = scored(
        api, engine, "hatexscore", OWN | {"text": TEXT, "explanation": "It is hateful."}
    )
    third = scored(api, engine, "ice", {"text": TEXT, "attribution": "attention"})
    page = own.get(f"/jobs/{second}").text
    assert f'href="/jobs/{second}?with={first}#compared"' in page
    assert third not in page
    page = own.get(f"/jobs/{second}", params={"with": first}).text
    assert "Compared with" in page
    assert "Explanation: what changed" in page
    assert "States its conclusion" in page.partition('id="compared"')[2]
    for stranger, path in ((own, f"/jobs/{second}?with={third}"), (other, f"/jobs/{second}")):
        assert stranger.get(path).status_code == 404
    foreign = scored(opens("b", "score"), engine, "hatexscore", OWN | {"text": TEXT})
    assert own.get(f"/jobs/{second}", params={"with": foreign}).status_code == 404
    assert foreign not in own.get(f"/jobs/{second}").text


def test_a_foreign_job_is_not_edited(opens: Opens, engine: Engine) -> None:
    other = entered(opens, "b", "score")
    job = scored(opens("a", "score"), engine, "hatexscore", OWN | {"text": TEXT})
    assert other.get(f"/try?from={job}").status_code == 404


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_a_metric_says_what_it_lacks_or_makes_a_request_that_it_takes(metric: str) -> None:
    target = metrics()[metric]
    for source, contract in metrics().items():
        for example in contract.examples.values():
            found = request_for(target, source, example)
            assert (found.body is None) == bool(found.lacks)
            if found.body is not None:
                target.request.model_validate(found.body)
                if source == metric:
                    assert {**found.body, **example} == found.body
