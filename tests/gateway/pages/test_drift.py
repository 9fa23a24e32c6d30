"""Scores by the hour, and whether they have moved: laws, then the pages."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import httpx
import numpy as np
import pytest
from scipy import stats
from sqlalchemy import Engine

from services.gateway.pages.drift import psi, psi_threshold, score_shift, sentence_of
from services.registry import fact_plan, metrics
from shared.ledger import leases, result_facts, score_hours
from shared.ledger.score_hours import ScoreSums, edges_of
from shared.ledger.tables import DEFAULT_TENANT
from shared.statistics.clusters import Floats
from tests.batches import MINUTE, OWN
from tests.gateway.conftest import Opens
from tests.gateway.pages.test_pages import entered, token
from tests.gateway.pages.test_texts import TEXT, scored
from tests.gateway.results import a_result

EDGES = edges_of(metrics()["hatexscore"])


def sums(scores: Floats) -> ScoreSums:
    found = ScoreSums()
    for score in scores:
        found.see(None if np.isnan(score) else float(score), None, EDGES)
    return found


def beta(seed: int, size: int, shift: float = 0.0) -> Floats:
    return np.clip(np.random.default_rng(seed).beta(2, 2, size) + shift, 0, 1)


def test_a_shift_is_said_and_no_shift_is_not() -> None:
    quiet = [score_shift(sums(beta(seed, 700)), sums(beta(seed + 999, 300))) for seed in range(20)]
    assert sum(found.has_shift for found in quiet) <= 2
    assert sum(found.has_changed_shape for found in quiet) <= 4
    for seed in range(20):
        found = score_shift(sums(beta(seed, 700)), sums(beta(seed + 999, 300, 0.15)))
        assert found.has_shift
        assert "higher than before" in sentence_of(found)


def test_it_agrees_with_scipy() -> None:
    a, b = beta(1, 900), beta(2, 400, 0.02)
    found = score_shift(sums(a), sums(b))
    oracle = stats.ttest_ind(b, a, equal_var=False).confidence_interval()
    assert found.low == pytest.approx(oracle.low, abs=1e-3)
    assert found.high == pytest.approx(oracle.high, abs=1e-3)


def test_psi_is_nothing_for_equal_shares_and_its_chance_value_is_that_of_chi_square() -> None:
    assert psi([10, 20, 0], [30, 60, 0]) == pytest.approx(0)
    assert psi([10, 0], [0, 10]) > 1
    bins = [50] * 20
    wanted = (1 / 1000 + 1 / 1000) * stats.chi2.ppf(0.95, 19)
    assert psi_threshold(bins, bins) == pytest.approx(wanted, rel=0.01)


def test_few_results_say_nothing() -> None:
    found = score_shift(sums(beta(1, 199)), sums(beta(2, 1_000)))
    assert found.difference is None
    assert sentence_of(found).startswith("There are too few scores")


def filled(
    engine: Engine,
    tenant: str,
    days_ago: int,
    scores: Floats,
    version: str,
    model: str = "m_1",
    **metadata: str,
) -> None:
    """An hour of results."""
    hour = datetime.now(UTC) - timedelta(days=days_ago)
    rows = [
        {
            "tenant": tenant, "metric": "hatexscore", "metric_version": version, "model": model,
            "variant": "robust", "finished_at": hour, "status": "succeeded",
            "score": None if np.isnan(score) else float(score), "verdict": "holds_up",
            "metadata": metadata,
        }
        for score in scores
    ]  # fmt: skip
    with engine.begin() as connection:
        score_hours.add_results(connection, rows[: len(rows) // 2], metrics()["hatexscore"])
        score_hours.add_results(connection, rows[len(rows) // 2 :], metrics()["hatexscore"])


def test_hours_add_up_and_are_forgotten_after_their_term(engine: Engine) -> None:
    scores = np.append(beta(3, 50), [np.nan, np.nan, 1.0, 0.0])
    filled(engine, "t", 3, scores, "1")
    now = datetime.now(UTC)
    with engine.begin() as connection:
        [found] = score_hours.sums_of(connection, "t", now - timedelta(days=4), now).values()
        assert (found.results, found.undefined) == (54, 2)
        assert found.total == pytest.approx(np.nansum(scores))
        assert found.squares == pytest.approx(np.nansum(scores**2))
        assert found.bins == np.histogram(scores[~np.isnan(scores)], EDGES)[0].tolist()
        assert sum(found.verdicts) == 54
        assert not score_hours.sums_of(connection, "other", now - timedelta(days=4), now)
        assert score_hours.delete_before(connection, days=2) == 1


def test_the_page_says_whether_it_moved_to_its_tenant_alone(opens: Opens, engine: Engine) -> None:
    filled(engine, "a", 20, beta(1, 500), "1.0")
    filled(engine, "a", 1, beta(2, 500, 0.15), "2.0")
    own, other = entered(opens, "a", "score"), entered(opens, "b", "score")
    page = own.get("/drift").text
    assert "The mean has changed and is now" in page
    assert "New in this window: robust 2.0" in page
    assert "No text has been scored here yet" in other.get("/drift").text
    start = own.get("/?days=30").text
    assert "Scores over time" in start
    assert "On this day robust 2.0 was used for the first time" in start
    assert "Scores over time" not in other.get("/").text


def test_groups_without_scores_are_one_line_together(opens: Opens, engine: Engine) -> None:
    for model in ("m_1", "m_2", "m_3"):
        scores = beta(1, 5) if model == "m_3" else np.full(2, np.nan)
        filled(engine, "a", 1, scores, "1.0", model)
    page = entered(opens, "a", "score").get("/drift").text
    assert "2 groups have no score in either window: hatexscore by <bdi>m_1</bdi>, " in page
    assert page.count("<h2") == page.count('id="drift-') == 1


def test_what_somebody_edited_is_no_drift_and_is_counted(opens: Opens, engine: Engine) -> None:
    edited = {"edited_from": f"job_{'0' * 32}"}
    filled(engine, "a", 20, beta(1, 500), "1.0")
    filled(engine, "a", 1, beta(2, 500), "1.0", edited_from="an archive")  # a caller's own word
    quiet = entered(opens, "a", "score").get("/drift").text
    filled(engine, "a", 1, np.ones(300), "1.0", **edited)
    filled(engine, "a", 1, np.ones(9), "9.9", **edited)
    own = entered(opens, "a", "score")
    page = own.get("/drift").text
    assert sentences(page) == sentences(quiet)
    assert "robust 9.9" not in page
    assert "left out" not in quiet
    assert "309 results of these windows are left out, because people edited the requests" in page
    assert "left out" not in own.get("/drift?metric=ice").text
    start = own.get("/?days=30").text
    assert "309 results are left out, because people edited the requests" in start
    assert "robust 9.9 was used for the first time" not in start
    assert '<p class="muted">1\u202f000 results, latest mean' in start
    filled(engine, "b", 1, np.ones(1), "1.0", **edited)
    alone = entered(opens, "b", "score")
    assert "No text has been scored here yet" in alone.get("/drift").text
    assert "1 result of these windows is left out" in alone.get("/drift").text
    assert "Scores over time" not in alone.get("/").text


def sentences(page: str) -> list[str]:
    return re.findall(r'<p class="first">(.*?)</p>', page)


def test_a_job_that_is_edited_on_a_page_is_counted_as_that(
    client: httpx.Client, engine: Engine
) -> None:
    first = scored(client, engine, "hatexscore", OWN | {"text": TEXT})
    form = client.get(f"/try?from={first}")
    fields = {"csrf": token(form), "metric": "hatexscore", "action": "score", "parent": first}
    fields |= {"text": f"{TEXT} now", "explanation": "hateful", "rest": "{}"}
    second = client.post("/try", data=fields).headers["location"].rpartition("/")[2]
    with engine.begin() as connection:
        claim = leases.claim(connection, second, lease=MINUTE, max_attempts=3)
        assert claim is not None
        assert leases.succeed(connection, claim, a_result(0.75))
        assert result_facts.write_job_rows(connection, fact_plan, 100) == 1
        now = datetime.now(UTC)
        since = now - timedelta(hours=2)
        found = score_hours.sums_of(connection, DEFAULT_TENANT, since, now).values()
    assert sorted((one.results, one.edited) for one in found) in ([(1, 1)], [(0, 1), (1, 0)])


def test_an_empty_window_says_when_the_last_score_was_and_leads_there(
    opens: Opens, engine: Engine
) -> None:
    filled(engine, "c", 20, beta(4, 30), "1.0")
    own = entered(opens, "c", "score")
    empty = own.get("/drift?days=7").text
    assert "was scored in the last 7 days" in empty
    [link] = re.findall(r'href="(/drift\?[^"]*)">Look at the last', empty)
    assert "0 before and 30 now" in own.get(link.replace("&amp;", "&")).text
    assert "No text has been scored with ice here yet" in own.get("/drift?metric=ice").text


def test_strange_windows_are_refused(client: httpx.Client) -> None:
    assert client.get("/drift?days=0").status_code == 422
    assert client.get("/drift?days=1_0").status_code == 422
    for unknown in ("none", "%F0%9F%98%80"):
        refused = client.get(f"/drift?days=1&metric={unknown}")
        assert refused.status_code == 404
        assert "No such metric" in refused.text
    for query in (
        "days=%00",
        "metric=%00",
        "reference=%00",
        "days=0",
        "reference=366",
        "days=99999999999999999999",
    ):
        assert client.get(f"/drift?{query}").status_code == 422
