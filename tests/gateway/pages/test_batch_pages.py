"""Batches over real HTTP: the list, one batch's page, what may be taken away from it."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine, func, select

from services.gateway.batch_csv import csv_field
from shared.ledger import leases
from shared.ledger.tables import jobs, result_facts
from shared.process.settings import Settings
from tests.batches import MINUTE, Json, Scene, line
from tests.gateway.conftest import Opens
from tests.gateway.pages.test_pages import created, entered, token
from tests.gateway.test_batch_reports import end_report

HOSTILE = '=HYPERLINK("//evil.example")<script>alert(1)</script>\u202e\U0001f600'
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg"><title>x</title>'
    '<rect width="9" height="9" fill="white"/></svg>'
)
INTERVAL = {"value": 0.53125, "low": 0.40625, "high": 0.65625, "of": 4}
REPORT: Json = {
    "metric": "hatexscore",
    "scored": 4,
    "undefined": 1,
    "left_out": {"failed": 1},
    "score": INTERVAL,
    "warnings": ["a warning of the report"],
    "plots": [{"name": "means", "title": "Means <b>", "svg": SVG, "png_base64": "cA=="}],
    "seed": 0,
    "resamples": 2_000,
    "confidence": 0.95,
    "service_version": "1.2.3",
    "components": {part: INTERVAL for part in ("htc", "qf", "tgi", "cc")},
    "share_beaten": INTERVAL | {"low": None, "high": None},
    "labels": {"compared": 3, "conflicting": 1, "no_conclusion": 0, "conflicts": [HOSTILE]},
    "groups": {"group_a": 2},
    "languages": {"en": 4},
}


class Judged(Scene):
    """Results are what the text says."""

    def work(self, most: int = 1_000_000) -> int:
        """End the queued jobs: a text is its result as JSON."""
        with self.engine.begin() as connection:
            query = select(jobs.c.id).where(jobs.c.status == "queued", jobs.c.batch_id.is_not(None))
            for (job_id,) in connection.execute(query.order_by(jobs.c.id).limit(most)).all():
                claim = leases.claim(connection, job_id, lease=MINUTE, max_attempts=3)
                assert claim is not None
                result = json.loads(claim.request["text"])
                if "error" in result:
                    assert leases.fail(connection, claim, result["error"])
                else:
                    assert leases.succeed(connection, claim, result)
        return 0


@pytest.fixture
def scene(client: httpx.Client, engine: Engine, chosen: Settings) -> Judged:
    return Judged(client, engine, chosen)


def judged(custom_id: str, **result: Any) -> Json:
    """A line with this result."""
    return line(custom_id, json.dumps(result))


ERROR = {"type": "x/invalid-request", "title": "t", "status": 422, "detail": "@too bad, <i>"}
BIN = re.compile('<rect class="bin".*?</rect>')
PARTS = re.compile('<svg class="part".*?</tr>', re.DOTALL)
LINES = [
    judged("fine", score=0.9, decision_match=True, components={"htc": 1.0}, warnings=["w"]),
    judged("low", score=0.1, decision_match=False),
    judged(
        HOSTILE,
        score=0.75,
        verdict="problem_found",
        reason="It concludes non-hateful.",
        problems=["opposite-decision"],
        control={"mean_drop": -0.25},
    ),
    judged(
        "null\x01",
        score=None,
        masked_text="a secret text",
        verdict="not_tested",
        reason="Nothing is quoted.",
        untested=[{"reason": "no-words", "action": "Send words."}],
    ),
    judged("broken", error=ERROR),
]


AS_HTML, AS_CSV = {"Accept": "text/html"}, {"Accept": "text/csv"}


@pytest.fixture
def batch(scene: Judged) -> Json:
    """A batch that has ended, with its report."""
    made = scene.finish(scene.make(LINES, metadata={"who": "<me>"}))
    scene.client.post(f"/v1/batches/{made['id']}/report")
    end_report(scene, result=REPORT)
    return made


def rows(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


def shown(answer: httpx.Response) -> list[int]:
    """The numbers of the lines on this page, in order."""
    assert answer.status_code == 200, answer.text
    _, _, items = answer.text.partition('id="items"')
    lines = re.findall(r'aria-label="Choose line (\d+)"', items)
    return [int(found) for found in lines]


def outcomes(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    return re.findall('data-h="Outcome">([^<]*)<', answer.text)


class TestList:
    """`/batches`."""

    def test_newest_first_and_older_ones_follow(self, scene: Judged) -> None:
        ids = [scene.make([line("a", "a")])["id"] for _ in range(52)]
        first = scene.client.get("/batches")
        older = re.search(r'href="(/batches\?after=[^"]+)"', first.text)
        assert older is not None
        pages = first.text + scene.client.get(older[1]).text
        assert re.findall(r'href="/batches/(batch_[0-9a-f]{32})"', pages) == ids[::-1]
        assert scene.client.get("/batches", params={"after": "x"}).status_code == 422

    def test_each_has_its_outcome(self, scene: Judged) -> None:
        made = scene.finish(scene.make(LINES))
        scene.make([line("a", "a")])
        page = scene.client.get("/batches")
        assert outcomes(page) == ["0 done", "4 done, 1 failed"]  # the results table is not written
        scene.client.get(f"/batches/{made['id']}")
        assert outcomes(scene.client.get("/batches"))[1] == (
            "1 has a problem, 3 could not be tested, 1 failed"
        )

    def test_none_is_said(self, client: httpx.Client) -> None:
        assert "No batch yet" in client.get("/batches").text


class TestOpen:
    """While it runs."""

    def test_it_shows_how_far_it_is_and_can_be_cancelled(self, scene: Judged) -> None:
        made = scene.read(scene.make(LINES))
        page = scene.client.get(f"/batches/{made['id']}")
        assert f'data-live="/batches/{made["id"]}/live"' in page.text
        assert '<progress value="0" max="5"' in page.text
        form = {"csrf": token(page)}
        assert scene.client.post(f"/batches/{made['id']}/cancel").status_code == 403
        cancelled = scene.client.post(f"/batches/{made['id']}/cancel", data=form)
        assert cancelled.status_code == 303
        assert scene.batch(made)["status"] == "cancelling"

    def test_it_shows_what_is_scored_so_far_and_why_it_waits(self, scene: Judged) -> None:
        made = scene.read(scene.make(LINES))
        waiting = scene.client.get(f"/batches/{made['id']}").text
        assert "Results so far" not in waiting
        assert "This batch is waiting " in waiting
        scene.feeder(batch_window=2).round()
        scene.work()
        scene.feeder(batch_window=2).round()
        page = scene.client.get(f"/batches/{made['id']}").text
        assert "None of 2 explanations could be checked." in page.partition("Results so far")[2]
        assert re.search(r'href="/jobs/job_[0-9a-f]+"><bdi>fine</bdi>', page)

    def test_nothing_can_be_taken_away_yet(self, scene: Judged) -> None:
        made = scene.read(scene.make(LINES))
        for path, accept in (("results.csv", AS_CSV), ("report.html", AS_HTML)):
            answer = scene.client.get(f"/v1/batches/{made['id']}/report", headers=accept)
            assert answer.status_code == 409, answer.text
            assert answer.headers["content-type"] == "application/problem+json"
            assert scene.client.get(f"/batches/{made['id']}/{path}").status_code == 409

    def test_its_events_end_when_it_has(self, scene: Judged, batch: Json) -> None:
        with scene.client.stream("GET", f"/batches/{batch['id']}/live") as stream:
            told = stream.read().decode()
        assert "event: batch.completed" in told
        assert "event: end" in told


class TestEnded:
    """The page of a batch with results."""

    def test_the_report_is_made_by_a_button(self, scene: Judged) -> None:
        made = scene.finish(scene.make(LINES))
        url = f"/batches/{made['id']}/statistics"
        assert "report has not been created yet" in scene.client.get(url).text
        page = created(scene.client, url)
        assert "report is being created" in page.text
        job_id = end_report(scene, result=REPORT)
        assert f'data-live="/jobs/{job_id}/live"' in page.text
        after = scene.client.get(url)
        assert "data-live" not in after.text
        assert "0.531" in after.text

    def test_nothing_of_the_report_is_lost(self, scene: Judged, batch: Json) -> None:
        text = scene.client.get(f"/batches/{batch['id']}/statistics").text
        said = ["0.531", "[0.406, 0.656]", "n = 4", "group_a", "a warning of the report", "1.2.3"]
        said += [
            "htc",
            "qf",
            "tgi",
            "cc",
            "share beaten",
            "state a different decision",
            "left out",
            "2000",
        ]
        assert [one for one in said if one not in text] == []
        assert 'alt="Means &lt;b&gt;"' in text

    def test_what_came_from_outside_is_escaped(self, scene: Judged, batch: Json) -> None:
        page = scene.client.get(f"/batches/{batch['id']}")
        statistics = scene.client.get(f"/batches/{batch['id']}/statistics")
        for one in (page, statistics):
            assert "<script>alert" not in one.text
            assert " style=" not in one.text
        assert "&lt;script&gt;alert(1)" in statistics.text
        assert "&lt;me&gt;" in page.text

    def test_a_failed_report_is_said(self, scene: Judged) -> None:
        made = scene.finish(scene.make(LINES))
        path = f"/batches/{made['id']}"
        created(scene.client, f"{path}/statistics")
        end_report(scene, error=ERROR)
        statistics = scene.client.get(f"{path}/statistics")
        assert "There is no report: @too bad, &lt;i&gt;" in statistics.text
        assert shown(scene.client.get(path)) == [3, 5, 4, 2, 1]

    def test_a_picture_has_its_own_address_and_policy(self, scene: Judged, batch: Json) -> None:
        url = f"/batches/{batch['id']}/plots/means.svg"
        assert f'src="{url}"' in scene.client.get(f"/batches/{batch['id']}/statistics").text
        picture = scene.client.get(url)
        assert (picture.headers["content-type"], picture.text) == ("image/svg+xml", SVG)
        policy = "default-src 'none'; style-src 'unsafe-inline'"
        assert picture.headers["content-security-policy"] == policy
        assert scene.client.get(url.replace("means", "x")).status_code == 404

    def test_a_picture_that_no_report_has_is_not_waited_for(self, scene: Judged) -> None:
        made = scene.finish(scene.make(LINES))  # its report is still to be made
        picture = scene.client.get(f"/batches/{made['id']}/plots/nothing.svg")
        assert picture.status_code == 404
        assert "no plot &#39;nothing&#39;" in picture.text

    def test_a_picture_has_a_source_for_the_dark(self, scene: Judged, batch: Json) -> None:
        url = f"/batches/{batch['id']}/plots/means.svg?theme=dark"
        source = '<source media="(prefers-color-scheme: dark)" srcset="'
        assert f'{source}{url}">' in scene.client.get(f"/batches/{batch['id']}/statistics").text
        assert f"{source}data:image/svg+xml;base64," in (
            scene.client.get(f"/batches/{batch['id']}/report.html").text
        )
        assert 'fill="#17171c"' in scene.client.get(url).text
        assert scene.client.get(url.replace("dark", "grey")).status_code == 422

    def test_a_report_of_another_version_is_shown_as_it_is(self, scene: Judged) -> None:
        made = scene.finish(scene.make(LINES))
        url = f"/batches/{made['id']}/statistics"
        created(scene.client, url)
        end_report(scene, result={"score": {"mean": 0.625}, "old_table": [{"name": "<x>", "n": 7}]})
        text = scene.client.get(url).text
        assert "old_table" in text
        assert "&lt;x&gt;" in text


STEPS = {"person": "send to a person", "decide without it": "decide without it"}  # by route
FILTERS: list[tuple[dict[str, Any], list[int]]] = [
    ({"status": "failed"}, [5]),
    ({"status": "nonsense"}, [3, 5, 4, 2, 1]),
    ({"reason": "opposite-decision"}, [3]),
    ({"reason": "no-score"}, [4]),
    ({"reason": ["opposite-decision", "failed", "no-score"]}, [3, 5, 4]),
    ({"reason": ["opposite-decision", "failed"], "status": "failed"}, [5]),
    ({"facet": "route=person"}, [3]),
    ({"facet": "route=decide without it"}, [4, 2, 1]),
    ({"reason": "failed"}, [5]),
    ({"custom_id": "LO"}, [2]),
    ({"custom_id": "%"}, []),
    ({"custom_id": "<script>"}, [3]),
    ({"status": "succeeded", "custom_id": "fine"}, [1]),
    ({"verdict": "not_tested"}, [4, 2, 1]),
    ({"without": "no-words"}, [3, 5, 2, 1]),
    ({"score_from": "0.5"}, [3, 1]),
    ({"score_from": "0.1", "score_to": "0.75"}, [2]),
    ({"score_from": "nan", "score_to": "1e999"}, [3, 5, 4, 2, 1]),
    ({"sort": "score"}, [2, 3, 1, 4, 5]),
    ({"sort": "score", "desc": "1"}, [1, 3, 2, 4, 5]),
    ({"sort": "line", "desc": "1"}, [5, 4, 3, 2, 1]),
    ({"sort": "request", "after": "[1]"}, [3, 5, 4, 2, 1]),
    ({"sort": "score", "after": '["x", 1]'}, [2, 3, 1, 4, 5]),
    ({"sort": "score", "after": "[1e400, 99999999999999999999]"}, [2, 3, 1, 4, 5]),
    ({"after": "[[[["}, [3, 5, 4, 2, 1]),
    ({"meta": "no-pair"}, [3, 5, 4, 2, 1]),
    ({"meta": "market=nl"}, []),
    ({"htc_from": "1"}, [1]),
]


class TestItems:
    """The most surprising and the worst first."""

    def test_their_order(self, scene: Judged, batch: Json) -> None:
        page = scene.client.get(f"/batches/{batch['id']}")
        assert shown(page) == [3, 5, 4, 2, 1]  # a conflict, failed, no score; then the worst
        assert page.text.count('class="reason"') == 3
        why = page.text.partition('<td class="why"><div>')[2].partition("</div>")[0]
        assert why.startswith('<span class="reason">Says the opposite')
        assert why.endswith(".</span> It concludes non-hateful.")

    def test_a_chip_says_its_reason_in_words(self, scene: Judged, batch: Json) -> None:
        page = scene.client.get(f"/batches/{batch['id']}", params={"reason": "opposite-decision"})
        assert "<bdi>problem: says the opposite" in page.text

    def test_why_it_could_not_be_tested_is_a_filter(self, scene: Judged, batch: Json) -> None:
        page = scene.client.get(f"/batches/{batch['id']}").text
        said = page.partition("?why=")[2].partition("#")[0]
        found = scene.client.get(f"/batches/{batch['id']}", params={"why": said})
        assert shown(found) == [4]
        assert f'?why={said}#items" aria-current="true"' in found.text

    def test_filters(self, scene: Judged, batch: Json) -> None:
        for filters, numbers in FILTERS:
            page = scene.client.get(f"/batches/{batch['id']}", params=filters)
            assert shown(page) == numbers, filters
            if numbers:
                assert f"{len(numbers)} of 5 lines" in page.text
                file = scene.client.get(f"/batches/{batch['id']}/results.csv", params=filters)
                if "cannot be read" in page.text:
                    assert file.status_code == 422, filters
                    continue
                assert sorted(int(row["line"]) for row in rows(file)) == sorted(numbers)
                if route := str(filters.get("facet", "")).partition("route=")[2]:
                    assert {row["route"] for row in rows(file)} == {route}
                    assert (
                        f"{len(numbers)}: {STEPS[route]}</a>"
                        in page.text.partition("<h3>What to do")[2]
                    )

    def test_a_chosen_line_is_exported_with_all_that_is_said_of_it(
        self, scene: Judged, batch: Json
    ) -> None:
        url = f"/batches/{batch['id']}/results"
        (row,) = rows(scene.client.get(f"{url}.csv", params={"line": "3", "custom_id": "script"}))
        assert row["custom_id"] == f"'{HOSTILE}"
        assert (row["score"], row["reasons"], row["verdict"]) == (
            "0.75",
            "opposite-decision",
            "problem_found",
        )
        taken = scene.client.get(f"{url}.jsonl", params=[("line", "1"), ("line", "5")])
        one, five = map(json.loads, taken.text.splitlines())
        assert (one["score"], one["result"]["components"], one["error"]) == (0.9, {"htc": 1}, None)
        assert (five["result"], five["error"]["detail"]) == (None, "@too bad, <i>")
        assert scene.client.get(f"{url}.xml").status_code == 422

    def test_fifty_on_a_page(self, scene: Judged) -> None:
        scores = [judged(f"id {number}", score=number / 64) for number in range(60, 0, -1)]
        made = scene.finish(scene.make(scores))
        first = scene.client.get(f"/batches/{made['id']}", params={"custom_id": "id"})
        after = re.search(r'href="([^"]+)" rel="next"', first.text)
        assert after is not None
        second = scene.client.get(after[1].replace("&amp;", "&"))
        assert shown(first) + shown(second) == list(range(60, 0, -1))
        assert "First lines" in second.text
        assert 'rel="next"' not in second.text

    def test_a_result_is_decoded_once(self, scene: Judged, batch: Json) -> None:
        def seen() -> list[Any]:
            with scene.engine.connect() as connection:
                return list(connection.execute(select(result_facts.c.line, func.text("xmin"))))

        assert seen() == []
        scene.client.get(f"/batches/{batch['id']}")
        first = seen()
        scene.client.get(f"/batches/{batch['id']}")
        assert (len(first), seen()) == (5, first)


class TestTakenAway:
    """CSV, JSON Lines and HTML, by page and by API."""

    def test_the_csv_has_a_row_a_line(self, scene: Judged, batch: Json) -> None:
        api = scene.client.get(f"/v1/batches/{batch['id']}/report", headers=AS_CSV)
        assert api.headers["content-type"] == "text/csv; charset=utf-8"
        found = rows(api)
        assert [int(row["line"]) for row in found] == [1, 2, 3, 4, 5]
        assert [row["score"] for row in found] == ["0.9", "0.1", "0.75", "", ""]
        assert found[0]["components.htc"] == "1.0"
        assert (found[0]["warnings"], found[1]["warnings"]) == ("1", "0")
        assert (bool(found[0]["warned"]), found[1]["warned"]) == (True, "")
        assert found[2]["control.mean_drop"] == "-0.25"
        assert found[2]["custom_id"] == f"'{HOSTILE}"
        assert (found[4]["status"], found[4]["error"]) == ("failed", "'@too bad, <i>")
        assert re.fullmatch(r"job_[0-9a-f]{32}", found[4]["job_id"])

    def test_both_tables_have_one_layout(self, scene: Judged, batch: Json) -> None:
        url = f"/batches/{batch['id']}/results"
        chosen = scene.client.get(f"{url}.csv")
        every = scene.client.get(f"/v1/batches/{batch['id']}/report", headers=AS_CSV)
        whole, table = rows(every), rows(chosen)
        names = [{"reason": "verdict_reason"}.get(name, name) for name in whole[0]]
        assert list(table[0])[: len(names)] == names
        whole = [dict(zip(names, row.values(), strict=True)) for row in whole]
        assert {"chance", "decision_sent", "reasons"} <= set(table[0]) - set(whole[0])
        told = {"verdict", "verdict_reason"}  # results of before have none; the table tells of all
        for one, other in zip(whole, table, strict=True):
            assert all(other[name] == one[name] for name in set(one) - told)
            assert all(one[name] in ("", other[name]) for name in told)
        lines = map(json.loads, scene.client.get(f"{url}.jsonl").text.splitlines())
        for one, other in zip(lines, table, strict=True):
            assert one["job_id"] == other["job_id"]
            assert one["verdict_reason"] == other["verdict_reason"]

    def test_json_lines_are_the_files(self, scene: Judged, batch: Json) -> None:
        for kind, file_id in (
            ("output", batch["output_file_id"]),
            ("errors", batch["error_file_id"]),
        ):
            taken = scene.client.get(f"/batches/{batch['id']}/{kind}.jsonl")
            assert taken.content == scene.client.get(f"/v1/files/{file_id}/content").content
        assert scene.client.get(f"/batches/{batch['id']}/input.jsonl").status_code in (404, 422)

    def test_the_html_needs_nothing_else(self, scene: Judged, batch: Json) -> None:
        api = scene.client.get(f"/v1/batches/{batch['id']}/report", headers=AS_HTML)
        page = scene.client.get(f"/batches/{batch['id']}/report.html")
        assert (api.status_code, api.content) == (200, page.content)
        text = api.text
        assert text.startswith("<!doctype html>")
        for outside in ("<script", "http://", "https://", "<link", "url(", "<a "):
            assert outside not in text, outside
        assert 'src="data:image/svg+xml;base64,' in text
        assert text.count("<button") == text.count("popovertarget=")
        assert set(re.findall('popovertarget="([^"]+)"', text)) <= set(
            re.findall('popover class="popover" id="([^"]+)"', text)
        )
        assert "&lt;script&gt;alert(1)" in text
        assert "too bad" not in text
        assert "a secret text" not in text

    def test_the_html_draws_what_the_page_draws(self, scene: Judged, batch: Json) -> None:
        page = scene.client.get(f"/batches/{batch['id']}/statistics").text
        file = scene.client.get(f"/batches/{batch['id']}/report.html").text
        for drawn in (BIN, PARTS):
            assert drawn.findall(page)
            assert drawn.findall(file) == drawn.findall(page)
        assert "leads to its lines" not in file

    def test_the_html_of_a_report_that_is_being_made(self, scene: Judged) -> None:
        made = scene.finish(scene.make(LINES))
        answer = scene.client.post(f"/v1/batches/{made['id']}/report")
        assert answer.status_code == 202
        assert answer.headers["location"].startswith("/v1/jobs/job_")
        path = f"/v1/batches/{made['id']}/report"
        assert scene.client.get(path, headers=AS_HTML).status_code == 409

    def test_they_are_described(self, client: httpx.Client) -> None:
        paths = client.get("/openapi.json").json()["paths"]
        report = paths["/v1/batches/{batch_id}/report"]["get"]
        assert {"text/csv", "text/html"} <= set(report["responses"]["200"]["content"])
        assert {"403", "404", "409"} <= set(report["responses"])


# what spreadsheets drop or do not show: the Unicode property, written down apart from our code
UNSEEN = "".join(map(chr, (0, 9, 10, 13, 32, 0xA0, 0xAD, 0x34F, 0x61C, 0x115F, 0x1680, 0x180E))) + (
    "\u2000\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202a\u202e\u2060\u2064\u2066\u2800\u3000\u3164"
    "\ufe0f\ufeff\uffa0\ufff9\U000e0001\U000e0020\U000e0100"
)
SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫"


@given(st.text(min_size=1))
def test_a_cell_is_the_text_or_the_text_after_an_apostrophe(text: str) -> None:
    assert csv_field(text) in (text, f"'{text}")
    assert not csv_field(text).startswith(tuple(SIGNS))


@given(st.text(UNSEEN), st.sampled_from(SIGNS), st.text())
def test_no_text_becomes_a_formula(unseen: str, sign: str, rest: str) -> None:
    assert csv_field(f"{unseen}{sign}{rest}") == f"'{unseen}{sign}{rest}"


@given(st.text("abcäß漢字한글0123456789'\"(#", min_size=1), st.text())
def test_a_text_that_begins_with_a_letter_stays_as_it_is(beginning: str, rest: str) -> None:
    assert csv_field(beginning + rest) == beginning + rest


class TestWithoutResults:
    """Empty, invalid, cancelled."""

    def test_an_empty_file(self, scene: Judged) -> None:
        made = scene.finish(scene.make([]))
        page = scene.client.get(f"/batches/{made['id']}")
        assert "the file contains no lines" in page.text
        assert rows(scene.client.get(f"/v1/batches/{made['id']}/report", headers=AS_CSV)) == []
        assert scene.client.post(f"/v1/batches/{made['id']}/report").status_code == 409

    def test_faults_have_their_lines(self, scene: Judged) -> None:
        made = scene.finish(scene.make([LINES[0], line("<b>", "b", options={"tau": 7}), "{"]))
        assert made["status"] == "failed"
        text = scene.client.get(f"/batches/{made['id']}").text
        assert '<th scope="row">2</th>' in text
        assert "#/body/options/tau" in text
        assert '<th scope="row">3</th>' in text

    def test_a_cancelled_batch_shows_what_it_has(self, scene: Judged) -> None:
        made = scene.read(scene.make(LINES))
        scene.feeder(batch_window=2).round()
        scene.work(2)
        scene.client.post(f"/v1/batches/{made['id']}/cancel")
        ended = scene.finish(made)
        assert ended["status"] == "cancelled"
        found = rows(scene.client.get(f"/batches/{made['id']}/results.csv"))
        assert len(found) == len(LINES)
        without = [row for row in found if row["status"] == "cancelled"]
        assert without
        assert {row["error"] for row in without} == {
            "the batch was cancelled before this line had a result"
        }
        page = scene.client.get(f"/batches/{made['id']}", params={"status": "cancelled"})
        assert shown(page) == [int(row["line"]) for row in without]


class TestTenants:
    """Whose batch it is."""

    def test_another_tenant_sees_404(self, opens: Opens, engine: Engine, chosen: Settings) -> None:
        scene = Judged(opens("a", "batch"), engine, chosen)
        made = scene.finish(scene.make(LINES))
        inside, outside = entered(opens, "a", "batch"), entered(opens, "b", "batch")
        other = opens("b", "batch")
        assert inside.get(f"/batches/{made['id']}").status_code == 200
        for path in (
            "",
            "/statistics",
            "/live",
            "/report.html",
            "/output.jsonl",
            "/results.csv",
        ):
            assert outside.get(f"/batches/{made['id']}{path}").status_code == 404, path
        for accept in (AS_CSV, AS_HTML, {}):
            path = f"/v1/batches/{made['id']}/report"
            assert other.get(path, headers=accept).status_code == 404
            assert opens("a", "score").get(path, headers=accept).status_code == 403
        form = {"csrf": token(outside.get("/batches"))}
        assert outside.post(f"/batches/{made['id']}/cancel", data=form).status_code == 404
        assert made["id"] not in outside.get("/batches").text
        assert entered(opens, "a", "score").get("/batches").status_code == 403
