"""A batch's page: split by anything, saved views, opened rows, files of a selection."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from sqlalchemy import Engine, delete, event, func, select, text

from bench.pages import BATCH, PATH, fill
from services.gateway.pages import saved_views
from services.gateway.pages.batch_report import design_of
from services.gateway.pages.page_route import POLICY
from services.gateway.pages.result_query import NAMES
from services.gateway.pages.saved_views import MOST
from services.gateway.pages.templates import environment
from services.gateway.results.result_pages import (
    ResultFilter,
    card_counts,
    count_of,
    counts_of,
    job_ids,
    split_counts,
)
from services.registry import metrics
from shared.ledger import leases
from shared.ledger.tables import batches as ledger_batches
from shared.ledger.tables import jobs, result_facts, review_items
from shared.reports.pages.report_design import CountBars, Forest, HistogramBars
from tests.batches import MINUTE
from tests.gateway.conftest import Opens
from tests.gateway.judged import make_batch, quote_found, run_reports
from tests.gateway.pages.test_pages import created, entered, stranger, token
from tests.gateway.results import a_report

LINES = 200
SPLIT = {
    "by": "metadata.team",
    "values": [
        {
            "value": f"t{place}", "results": 50, "undefined": 10,
            "score": {"value": 0.5, "low": 0.40625, "high": 0.6, "of": 40},
        }
        for place in range(4)
    ],
    "without": 0, "texts": 9, "common_texts": 3, "p_value": 0.003,
    "within_texts": True, "pairs": [], "warnings": [],
}  # fmt: skip


@pytest.fixture
def _filled(client: httpx.Client, engine: Engine) -> None:
    fill(engine, LINES, a_report())


@pytest.mark.usefixtures("_filled")
def test_a_split_shows_counts_at_once_and_intervals_when_their_job_ends(
    client: httpx.Client, engine: Engine
) -> None:
    before = client.get(f"{PATH}/statistics?split=metadata.team").text
    assert "The intervals have not been computed yet" in before
    first = created(client, f"{PATH}/statistics?split=metadata.team").text
    assert "The intervals are being computed" in first
    for place in range(4):
        link = urlencode({"meta": f"team=t{place}"})
        assert f"{PATH}?{link}#items" in first
    with engine.begin() as connection:
        query = jobs.select().where(jobs.c.metric == "hatexscore-report", jobs.c.status == "queued")
        [made] = [row for row in connection.execute(query) if row.request["by"]]
        assert made.request["by"] == ["metadata.team"]
        claim = leases.claim(connection, made.id, lease=MINUTE, max_attempts=3)
        assert claim is not None
        assert leases.succeed(connection, claim, a_report() | {"splits": [SPLIT]})
    second = client.get(f"{PATH}/statistics?split=metadata.team").text
    assert "The values differ more than expected by chance" in second
    assert "p = 0.003" in second
    assert "[0.406, 0.600]" in second
    assert "Only 3 of 9 texts with a score have a score under every value" in second
    options = client.get(f"{PATH}/statistics").text
    assert '<option value="metadata.market">market</option>' in options
    assert '<option value="verdict">verdict</option>' in options
    assert "decision_sent" not in options.partition('name="split"')[2].partition("</select>")[0]


def test_statistics_are_those_of_the_lines_that_the_filter_leaves(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, ids = make_batch(engine, [0.9, 0.8, 0.7, 0.2, None])
    path, query = f"/batches/{batch_id}", "verdict=holds_up"
    assert f'href="{path}/statistics?{query}"' in client.get(f"{path}?{query}").text
    first = created(client, f"{path}/statistics?{query}").text
    assert "3 of 5 lines" in first
    assert "Of 3 explanations" in first
    [report] = run_reports(engine)
    with engine.connect() as connection:
        [made] = connection.execute(jobs.select().where(jobs.c.id == report)).all()
    assert (made.request["jobs"], made.result["scored"]) == (ids[:3], 3)
    second = client.get(f"{path}/statistics?{query}").text
    assert f"?{query}&amp;score_from=" in second  # a bar leads to its lines in this view
    assert "n = 3" in second
    none = client.get(f"{path}/statistics?text=nowhere").text
    assert "no line of the batch has a result" in none


@pytest.mark.parametrize(
    "wanted",
    [{}, {"equal": {"verdict": "holds_up"}}, {"ranges": {"score": (0.3, 0.85)}}, {"lines": [1, 5]}],
)
def test_all_counts_are_of_the_same_lines(
    client: httpx.Client, engine: Engine, wanted: dict[str, Any]
) -> None:
    batch_id, _ = make_batch(engine, [0.9, 0.8, 0.7, 0.2, None])
    client.get(f"/batches/{batch_id}").raise_for_status()
    selection = ResultFilter(tenant="default", batch_id=batch_id, **wanted)
    with engine.connect() as connection:
        counts = counts_of(connection, selection, [0.0, 0.5, 1.0])
        card = card_counts(connection, selection)
        assert counts.rows == count_of(connection, selection) == sum(card.verdicts.values())
        assert counts.values["verdict"] == card.verdicts
        assert sum(counts.bins) == counts.scored
        assert len(job_ids(connection, selection)) == counts.rows
        split = split_counts(connection, selection, "verdict")
    assert {one.value: one.rows for one in split} == card.verdicts


@pytest.mark.usefixtures("_filled")
def test_reasons_for_no_test_are_counted_and_lead_to_their_lines(
    client: httpx.Client, engine: Engine
) -> None:
    with engine.begin() as connection:
        connection.execute(
            text("UPDATE result_facts SET facets = '{untested=no-words,group=x}' WHERE line <= 20")
        )
    wanted = ResultFilter(tenant="default", batch_id=BATCH)
    with engine.connect() as connection:
        assert card_counts(connection, wanted).untested == {"no-words": 20}
    page = client.get(PATH, params={"why": "no-words"}).text
    assert "20 of 200 lines" in page


@pytest.mark.usefixtures("_filled")
def test_a_filter_that_cannot_be_read_is_told_and_no_file_is_made_of_it(
    client: httpx.Client,
) -> None:
    wrong = "score_from=much&verdict=not_tested"
    page = client.get(f"{PATH}?{wrong}").text
    assert "score_from = much: it is not a number" in page
    assert "67 of 200 lines" in page
    refused = client.get(f"{PATH}/results.csv?{wrong}")
    assert (refused.status_code, "it is not a number" in refused.text) == (422, True)
    body = {"batch": BATCH, "name": "n", "query": wrong}
    assert client.post("/v1/review-queues", json=body).status_code == 422
    assert client.get(f"{PATH}/results.csv?verdict=not_tested").status_code == 200


@pytest.mark.usefixtures("_filled")
def test_a_view_is_kept_under_a_name_as_a_tab(client: httpx.Client) -> None:
    query = urlencode([("verdict", "not_tested"), ("sort", "score"), ("col", "market")])
    page = client.get(f"{PATH}?{query}")
    form = {"csrf": token(page), "metric": "hatexscore", "query": query, "name": "odd ones"}
    saved = client.post("/views", data=form | {"next": f"{PATH}?{query}"})
    assert saved.headers["location"] == f"{PATH}?{query}"
    again = client.get(saved.headers["location"]).text
    assert "<bdi>odd ones</bdi>" in again
    assert 'aria-current="true"><bdi>odd ones' in again
    listed = client.get("/views")
    assert "odd ones" in listed.text
    client.post("/views/delete", data=form | {"csrf": token(listed)})
    assert "odd ones" not in client.get("/views").text
    assert client.post("/views", data=form | {"name": ""}).status_code == 422
    assert client.post("/views", data=form | {"csrf": "0" * 64}).status_code == 403
    elsewhere = client.post("/views", data=form | {"next": "https://elsewhere.example"})
    assert elsewhere.headers["location"] == "/"


def test_a_link_shows_its_lines_without_a_key_until_it_is_deleted(
    opens: Opens, engine: Engine
) -> None:
    own, other = entered(opens, "own", "batch"), entered(opens, "other", "batch")
    nobody = stranger(opens)
    batch_id = make_batch(engine, [0.9, 0.1, 0.8], tenant="own")[0]
    page = own.get(f"/batches/{batch_id}?verdict=holds_up")
    form = {
        "csrf": token(page), "metric": "hatexscore", "query": "verdict=holds_up",
        "name": "good ones", "share": batch_id,
    }  # fmt: skip
    for refused_form in ({"query": "verdict=bogus"}, {"query": "metric=sor"}, {"metric": "sor"}):
        assert own.post("/views", data=form | refused_form).status_code == 422, refused_form
    assert own.post("/views", data=form).headers["location"] == "/views"
    listed = own.get("/views")
    link = re.search(r'href="(/shared/own/hatexscore/[0-9a-f]{32}\.html)"', listed.text)
    assert link is not None
    with engine.begin() as connection:
        uploaded = ledger_batches.update().values(metadata={"uploaded": "posts.csv"})
        connection.execute(uploaded.where(ledger_batches.c.id == batch_id))
    shown = nobody.get(link[1])
    assert shown.status_code == 200
    assert shown.headers["content-disposition"] == "inline"
    assert "quite friendly" not in shown.text
    assert shown.text.count("✓") == 2
    for said in ("<bdi>good ones</bdi>", "It works until", "2 of 3", "verdict: holds up"):
        assert said in shown.text
    assert "<title>posts.csv</title>" in shown.text
    assert shown.text.count("→ use it") == 2
    assert "mean score" not in shown.text
    assert "too few for a conclusion" not in shown.text
    assert "Read-only link</a> until" in listed.text
    assert re.search(r'<input readonly size="44" value="http[^"]*/shared/', listed.text)
    refused = other.post("/views", data=form | {"csrf": token(other.get("/views"))})
    assert refused.status_code == 404  # the batch of somebody else
    for wrong in (link[1].replace(".html", "x.html"), f"/shared/own/hatexscore/{'0' * 32}.html"):
        assert nobody.get(wrong).status_code in (404, 422)
    own.post("/views/delete", data=form | {"csrf": token(listed), "kind": "shared"})
    assert nobody.get(link[1]).status_code == 404


def test_get_and_head_make_no_report_and_post_makes_one(opens: Opens, engine: Engine) -> None:
    own = entered(opens, "own", "batch", "review", "score")
    batch_id, ids = make_batch(engine, [place / 20 for place in range(20)], tenant="own")
    other = make_batch(engine, [0.9, 0.1, 0.8], tenant="own")[0]
    path, lines = f"/batches/{batch_id}", "verdict=holds_up"
    api = opens("own", "batch", "review", "score")
    asked = {"batch": batch_id, "name": "a look"}
    queue = api.post("/v1/review-queues", json=asked).raise_for_status().json()["id"]
    for job_id in ids:
        said = {"job_id": job_id, "verdict": "agree", "reviewer": "Ann", "queue": queue}
        api.post("/v1/judgements", json=said).raise_for_status()
    pages = ("statistics", f"statistics?{lines}", "statistics?split=verdict")
    files = ("report.html", "results.html", f"results.html?{lines}", "plots/means.svg")
    compared = f"/compare?baseline={batch_id}&new={other}"
    elsewhere = (compared, f"/queues/{queue}", f"/queues?batch={batch_id}")
    for address in (*(f"{path}/{name}" for name in (*pages, *files)), *elsewhere):
        for method in ("HEAD", "GET"):
            assert own.request(method, address).status_code in (200, 404, 409), address
            assert count_reports(engine) == 0, address
    api_report = f"/v1{path}/report"
    assert [api.head(api_report).status_code, api.get(api_report).status_code] == [409, 409]
    assert "POST" in api.get(api_report).json()["detail"]
    whole = {"own report", "agreement"}
    for address, count in (
        (f"{path}/statistics?{lines}", 1),
        (f"{path}/statistics", 1 + len(whole)),
        (compared, 2 + len(whole)),
        (f"/queues/{queue}", 3 + len(whole)),
    ):
        for _ in range(2):
            assert created(own, address).status_code == 200
            assert count_reports(engine) == count, address
    form = {"csrf": token(own.get("/"))}
    assert own.post(f"{path}/report.html", data=form).status_code == 409  # it is being made
    run_reports(engine)
    for name in ("report.html", "results.html"):
        assert own.post(f"{path}/{name}", data=form).status_code == 200
        assert own.get(f"{path}/{name}").status_code == 200


def test_who_only_looks_at_a_queue_takes_no_line(client: httpx.Client, engine: Engine) -> None:
    batch_id, _ = make_batch(engine, [0.9, 0.2])
    asked = {"batch": batch_id, "name": "a look"}
    queue = client.post("/v1/review-queues", json=asked).raise_for_status().json()["id"]
    client.cookies.set("touchstone_reviewer", "Ann")
    path = f"/queues/{queue}/judge"
    for method in ("HEAD", "GET"):
        assert client.request(method, path).status_code == 200
    reserved = select(func.count()).where(review_items.c.who.is_not(None))
    with engine.connect() as connection:
        assert connection.execute(reserved).scalar_one() == 0
    form = {"csrf": token(client.get(path)), "action": "start"}
    assert client.post(path, data=form).status_code == 303
    assert 'value="agree"' in client.get(path).text
    with engine.connect() as connection:
        assert connection.execute(reserved).scalar_one() == 1


def count_reports(engine: Engine) -> int:
    with engine.connect() as connection:
        query = select(func.count()).where(jobs.c.metric == "hatexscore-report")
        return int(connection.execute(query).scalar_one())


@pytest.mark.usefixtures("_filled")
def test_a_page_stays_light_under_as_many_views_as_can_be_kept(client: httpx.Client) -> None:
    before = len(client.get(PATH).content)
    form = {"csrf": token(client.get("/views")), "metric": "hatexscore"}
    meta = [("meta", f"key {place}={'v' * 150}") for place in range(10)]
    for place in range(MOST):
        sent = form | {"name": f"view {place}", "query": urlencode(meta)}
        assert client.post("/views", data=sent).status_code == 303
    refused = client.post("/views", data=form | {"name": "one more", "query": ""})
    assert refused.status_code == 429
    assert 'value="one more"' in refused.text
    assert len(client.get(PATH).content) - before < 50_000
    for place in range(MOST):
        client.post("/views/delete", data=form | {"name": f"view {place}"})
    assert "Nothing is saved yet" in client.get("/views").text


def test_a_mapping_is_listed_and_deleted(client: httpx.Client, engine: Engine) -> None:
    with engine.begin() as connection:
        kept = [["c.text", "<b>"], ["m", "market"]]
        saved_views.save_view(connection, "default", "columns ice", "posts", kept)
        saved_views.save_view(connection, "other", "columns ice", "theirs", kept)
    listed = client.get("/views")
    assert "text=&lt;b&gt;, metadata=market" in listed.text
    assert "theirs" not in listed.text
    form = {"csrf": token(listed), "kind": "columns", "metric": "ice"}
    client.post("/views/delete", data=form | {"name": "theirs"})
    client.post("/views/delete", data=form | {"name": "posts"})
    assert client.post("/views/delete", data=form | {"kind": "x"}).status_code == 422
    with engine.connect() as connection:
        assert saved_views.list_views(connection, "default", "columns ice") == {}
        assert saved_views.list_views(connection, "other", "columns ice") == {"theirs": kept}


def test_views_are_their_tenants_own(opens: Opens) -> None:
    own, other = entered(opens, "a", "batch"), entered(opens, "b", "batch")
    form = {"csrf": token(own.get("/views")), "metric": "ice", "query": "sort=score"}
    own.post("/views", data=form | {"name": "mine"})
    assert "mine" in own.get("/views").text
    assert "mine" not in other.get("/views").text
    for path in (
        f"{PATH}?open=1",
        f"/batches/{BATCH}/again",
        f"/batches/{BATCH}/results.html",
        PATH,
    ):
        assert other.get(path).status_code == 404


def test_failed_checks_stand_first() -> None:
    macros: Any = environment().get_template("macros.html").module
    outcomes = ["passed", "not_tested", "failed", "passed"]
    checks = [{"name": "a-check", "outcome": one, "sentence": "A sentence."} for one in outcomes]
    shown = re.findall(r'class="check (\w+)', macros.checks({"checks": checks, "untested": []}))
    assert shown == ["failed", "passed", "not_tested", "passed"]


def test_a_line_is_opened_as_a_page_or_as_a_part_of_one(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, ids = make_batch(engine, [0.9, 0.2])
    table = client.get(f"/batches/{batch_id}").text
    assert '<a href="?open=2">' in table
    page = client.get(f"/batches/{batch_id}?open=2")
    part = client.get(f"/batches/{batch_id}?open=2", headers={"HX-Request": "true"})
    plain = client.get(f"/batches/{batch_id}?open=2", headers={"HX-Request": "false"})
    assert "<header" in plain.text
    for answer in (page, part):
        shown = re.sub("<[^>]+>", "", answer.text)
        assert "number 2 is quite friendly" in shown
        assert answer.text.count('<div class="sensitive block"') == 2
        assert '<mark class="' in answer.text
        assert "number 1" not in shown
        assert f'href="/jobs/{ids[1]}"' in answer.text
    assert "<header" in page.text
    assert "<header" not in part.text
    assert part.headers["content-security-policy"] == POLICY
    assert part.headers["cache-control"] == "no-store"
    assert client.get(f"/batches/{batch_id}?open=3").status_code == 404
    assert client.get(f"/batches/{batch_id}?open=x").status_code == 422


def test_an_invented_quotation_is_marked_in_the_opened_line(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, _ = make_batch(engine, [0.2], explanation="It says “a green bus” of a bus.")
    invented = {"start": 9, "end": 20, "text": "a green bus", "misquotes": None}
    with engine.begin() as connection:
        result = connection.execute(select(jobs.c.result)).scalar_one()
        result |= {"hallucinated_quotes": [invented], "evidence": []}
        connection.execute(jobs.update().values(result=result))
    client.get(f"/batches/{batch_id}")  # the results table is written
    line = client.get(f"/batches/{batch_id}?open=1").text
    mark = '<mark class="mark-hallucinated" title="quoted, but not in the text">a green bus<'
    assert mark in line
    assert "Wavy underline</mark>: quoted, but not in the text." in line


def test_quotations_sent_as_fields_are_marked_in_both_texts(
    client: httpx.Client, engine: Engine
) -> None:
    fields = {"decision": "non-hateful", "quotes": ["quite friendly"], "text": "It greets people."}
    batch_id, [job_id] = make_batch(engine, [0.9], explanation=fields)
    quote_found(engine)
    table = client.get(f"/batches/{batch_id}").text  # the results table is written
    assert re.search('class="snippet said">.*>It greets people.<', table)
    line = client.get(f"/batches/{batch_id}?open=1").text
    for page in (line, client.get(f"/jobs/{job_id}").text):
        assert (
            re.findall(r'data-quote="(\d+)"[^>]*>(quite friendly)<', page)
            == [("0", "quite friendly")] * 2
        )
        assert "It greets people." in page
        assert "Quote: “" in page


@pytest.mark.usefixtures("_filled")
def test_numbers_say_how_many_lines_have_them_and_both_bounds_are_one_filter(
    client: httpx.Client,
) -> None:
    asked = {"qf_from": "0.25", "qf_to": "0.75", "chance_to": "0.5", "htc_from": "1"}
    page = client.get(PATH, params=asked).text
    assert page.count("(remove this filter)") == 3
    assert "<bdi>Quotes what matters from 0.25 and below 0.75</bdi>" in page
    assert "<bdi>against chance below 0.5</bdi>" in page
    assert "<bdi>States its conclusion from 1</bdi>" in page
    last = client.get(PATH, params={"score_from": "0.95", "score_to": "1.0"}).text
    assert "<bdi>score from 0.95 and up to 1.0</bdi>" in last  # the last bin has its end in it
    (chip,) = re.findall(r'class="chip" href="([^"]*)"><bdi>Quotes', page)
    assert "qf_" not in chip
    assert "chance_to=0.5" in chip
    with_part = re.search(r"<legend>Quotes what matters \((\d+)\)</legend>", page)
    assert with_part
    assert int(with_part[1]) == LINES


@pytest.mark.usefixtures("_filled")
def test_a_selection_is_one_html_file_without_texts(client: httpx.Client) -> None:
    file = client.get(f"{PATH}/results.html?line=3&line=7")
    assert file.headers["content-disposition"].endswith(f'"{BATCH}.html"')
    assert "line 3" in file.text
    assert "line 8" not in file.text
    assert "a text of no harm" not in file.text


@pytest.mark.usefixtures("_filled")
def test_the_page_asks_no_more_the_larger_the_batch_is(
    client: httpx.Client, engine: Engine
) -> None:
    with engine.begin() as connection:  # as many lines as no other test's batch of this name has
        connection.execute(delete(result_facts).where(result_facts.c.line > LINES - 7))
    first = statements(client, PATH)
    assert 0 < len(first) <= 15
    for query in ("verdict=not_tested", "sort=qf", "text=harm"):
        again = statements(client, f"{PATH}?{query}")
        assert len(again) <= len(first) - 5  # what is said of the whole batch is known by now


def statements(client: httpx.Client, path: str) -> list[str]:
    """Those about results that a page asks."""
    asked: list[str] = []

    def heard(*arguments: object) -> None:
        asked.append(str(arguments[2]))

    event.listen(Engine, "before_cursor_execute", heard)
    try:
        client.get(path).raise_for_status()
    finally:
        event.remove(Engine, "before_cursor_execute", heard)
    return [one for one in asked if "result_facts" in one]


@pytest.mark.usefixtures("_filled")
def test_what_is_known_of_a_batch_goes_with_its_lines(client: httpx.Client, engine: Engine) -> None:
    assert f"Of {LINES} explanations" in client.get(f"{PATH}/statistics").text
    with engine.begin() as connection:
        connection.execute(delete(result_facts).where(result_facts.c.line <= 50))
    assert f"Of {LINES - 50} explanations" in client.get(f"{PATH}/statistics").text
    assert f"of {LINES - 50} explanations" in client.get(PATH).text


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_a_design_shows_what_the_report_says(metric: str) -> None:
    report = a_report(metric)
    for block in design_of(metric, report):
        if isinstance(block, CountBars):
            counts = [count for _, count in block.bars]
            assert min(counts) >= 0
            assert sum(counts) > 0
            assert {name for name, _ in block.filters.values()} <= NAMES.keys()
            assert sum(share for *_, share in block.segments) == pytest.approx(1) or block.other
        elif isinstance(block, HistogramBars):
            assert block.bins[0].range[0] == block.bounds[0]
            assert block.bins[-1].range[1] == block.bounds[1]
            assert 600 / len(block.bins) >= 6  # pixels a bar
            assert block.part in ("", *metrics()[metric].parts)
            assert block.mark_place is None or 0 < block.mark_place < 1
            assert str(sum(block.counts)) in block.summary
        else:
            assert isinstance(block, Forest)
            for row in block.rows:
                place = block.place(row.interval["value"])
                assert place is not None
                assert 0 <= place <= 1
    assert design_of(metric, {}) == []
    assert design_of(metric, dict.fromkeys(report, "of another version")) == []


def test_a_text_that_needed_no_model_is_of_the_one_that_would_have_been_asked(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, ids = make_batch(engine, [0.9, 0.2, 0.5, 0.7])
    with engine.begin() as connection:
        for job_id in ids[:2]:
            mine = jobs.c.id == job_id
            result = connection.execute(jobs.select().where(mine)).one().result
            result["provenance"]["models"] = []
            connection.execute(jobs.update().where(mine).values(result=result))
    page = client.get(f"/batches/{batch_id}").text
    assert '<option value="embedded-hate">embedded-hate (4)</option>' in page
    statistics = client.get(f"/batches/{batch_id}/statistics").text
    assert '<option value="model">' not in statistics  # there is nothing to split
    assert "<dt>Model</dt><dd>embedded-hate" in statistics
    assert client.get("/").text.count("<figcaption>hatexscore") == 1
    asked = {"batch": batch_id, "of_model": "embedded-hate", "by": ["model"]}
    made = (
        client.post("/v1/reports", json={"metric": "hatexscore"} | asked).raise_for_status().json()
    )
    run_reports(engine)
    found = client.get(f"/v1/jobs/{made['id']}").json()["result"]
    assert found["scored"] == 4
    assert found["splits"][0]["without"] == 0


@pytest.mark.usefixtures("_filled")
def test_an_address_holds_what_was_filled_in_and_a_key_alone_is_told(client: httpx.Client) -> None:
    sent = client.get(f"{PATH}?verdict=&custom_id=number&score_from=&meta=&meta=team%3Dt1&col=team")
    assert sent.status_code == 303
    assert sent.headers["location"] == f"{PATH}?custom_id=number&meta=team%3Dt1&col=team"
    assert client.get(f"{PATH}?verdict=").headers["location"] == PATH
    assert client.get(f"{PATH}?nothing=").status_code == 303
    for value in ("team", "%3Dt1"):
        told = client.get(f"{PATH}?meta={value}")
        assert "write metadata as key=value" in told.text, value
        assert "200 of 200" in told.text
    twice = client.get(f"{PATH}?meta=team%3Dt1&meta=team%3Dt2&meta=market%3Dm3").text
    assert "team=t1: it occurs twice, so only the last one counts" in twice
    assert "metadata: team=t2" in twice
    assert "metadata: market=m3" in twice
    assert '<option value="team=t2" selected>t2 (50)</option>' in twice  # of the whole batch
    search = twice.partition('role="search"')[2].partition("</form>")[0]
    assert 'type="hidden" name="meta"' not in search  # the selects say it
    unknown = client.get(f"{PATH}?meta=team%3Dt9").text
    assert 'type="hidden" name="meta" value="team=t9"' in unknown
