"""A batch's page and its report: counts that lead to their lines, charts with tables and words."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import httpx
import pytest
from sqlalchemy import Engine, update

from services.gateway.pages.batch_report import charts_at_once, design_of
from services.gateway.pages.templates import environment
from services.registry import metrics
from shared.ledger.tables import batch_lines, jobs
from shared.reports.pages.report_design import Block, CountBars, Forest, HistogramBars
from tests.gateway.judged import make_batch, make_batch_of, run_reports
from tests.gateway.pages.test_pages import created
from tests.gateway.results import a_report

INVENTED = {"start": 0, "end": 4, "text": "made"}
FURTHER = "{% import 'batch_charts.html' as charts %}{{ charts.further(shown) }}"
OF_CHARTS = "{% import 'batch_charts.html' as charts %}{{ charts.block(block) }}"


def render_block(block: Block) -> str:
    """As the HTML file of a report has it."""
    return environment().from_string(OF_CHARTS).render(block=block)


def changed(engine: Engine, job_id: str, **fields: Any) -> None:
    """This job's result has these fields."""
    mine = jobs.c.id == job_id
    with engine.begin() as connection:
        result = connection.execute(jobs.select().where(mine)).one().result
        connection.execute(jobs.update().where(mine).values(result=result | fields))


def test_a_quote_that_is_not_in_the_text_leads_to_its_lines(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id, ids = make_batch(engine, [0.9, 0.2, 0.5, 0.7])
    changed(engine, ids[1], hallucinated_quotes=[INVENTED])
    parts = {"htc": 1.0, "qf": 0.5, "tgi": None, "cc": 1.0}
    changed(engine, ids[2], components=parts, not_applicable={"tgi": "the text names no group"})
    path = f"/batches/{batch_id}"
    assert "The report is being created" in created(client, f"{path}/statistics").text
    run_reports(engine)
    page = client.get(f"{path}/statistics").text
    link = f"{path}?facet=quotes%3Dsome+missing#items"
    assert f'<a href="{link}"><bdi>some quotes not in the text</bdi></a>' in page
    assert "1 of 4 lines" in client.get(link.removesuffix("#items")).text
    named = client.get(f"{path}?language=en").text
    assert "<bdi>language: English (en)</bdi>" in named
    assert '<option value="en" selected>English (en) (4)</option>' in named
    assert "Quotations: " in page  # spoken
    assert f'<a href="{path}?language=en#items"><bdi>English (en)</bdi></a>' in page
    assert page.count('scope="col" class="number">Does not apply') == 1
    row = page.partition("Names who is targeted")[2].partition("</tr>")[0]
    told = dict(re.findall(r'data-h="([^"]+)">([^<]*)<', row))
    assert (told["n"], told["Undefined"], told["Does not apply"]) == ("3", "0 %", "25 %")
    file = client.get(f"{path}/report.html").text
    assert "some quotes not in the text" in file
    assert "<strong>by language › English (en)</strong>" in file
    assert "some+missing#items" not in file


ROUGHLY = {
    "kind": "quote", "start": 0, "end": 4, "text": "some", "value": 0.9,
    "offsets_into": "text", "match": "fuzzy", "quoted_as": "same",
}  # fmt: skip
NAMED = {
    "kind": "group", "start": 0, "end": 5, "text": "Women", "value": 1.0, "group": "Women",
    "offsets_into": "explanation", "category": "Sex", "found_as": "term", "counts": True,
    "reason": "it is attacked",
}  # fmt: skip
OWN_RESULTS: dict[str, list[dict[str, Any]]] = {
    "hatexscore": [
        {"groups": ["Women", "a=b & c"], "stated_decision": "hateful", "decision_match": True}
        | {"evidence": [NAMED, NAMED | {"group": "Girls"}, ROUGHLY | {"match": "exact"}]},
        {"groups": ["Women"], "stated_decision": "non-hateful", "decision_match": False}
        | {"hallucinated_quotes": [INVENTED], "evidence": [ROUGHLY]},
        {"groups": [], "stated_decision": "hateful", "decision_match": None, "evidence": [ROUGHLY]},
        {"groups": [], "stated_decision": None, "decision_match": None, "evidence": []},
    ],
    "haf": [{"stance": "toxic"}, {"stance": "toxic"}, {"stance": "unclear"}, {"stance": None}],
    "ftc": [
        {"score": None, "abstained": "no_spans"},
        {"score": None, "abstained": "no_words"},
        {"abstained": None},
    ],
}
LED = re.compile(
    r'<th scope="row"><a href="([^"]*[?]facet=[^"]*)#items"><bdi>[^<]*</bdi></a></th>'
    r'.*?<td class="number">(\d+)</td>'
)


@pytest.mark.parametrize(("metric", "bars"), [("hatexscore", 11), ("haf", 2), ("ftc", 2)])
def test_counts_of_words_lead_to_exactly_their_lines(
    client: httpx.Client, engine: Engine, metric: str, bars: int
) -> None:
    own = OWN_RESULTS[metric]
    path = f"/batches/{make_batch_of(engine, metric, [0.2, 0.4, 0.6, 0.8][: len(own)])}"
    with engine.connect() as connection:
        mine = jobs.c.batch_id == path.rpartition("/")[2]
        found = connection.execute(jobs.select().where(mine).order_by(jobs.c.id)).all()
    for job, result in zip(found, own, strict=True):
        changed(engine, job.id, **result)
    created(client, f"{path}/statistics")
    run_reports(engine, metric)
    led = LED.findall(client.get(f"{path}/statistics").text)
    assert len(led) == bars
    for address, count in led:
        page = client.get(unescape(address)).text
        assert f"{count} of {len(own)} lines:" in page
        assert 'type="hidden" name="facet"' in page
    wrong = client.get(path, params={"facet": "nonsense"}).text
    assert "facet = nonsense: write it as name=word" in wrong
    lines = client.get(path, params={"facet": ["group=Women", "group=a=b & c"]}).text
    assert f"{int(metric == 'hatexscore')} of {len(own)} lines:" in lines


def test_stances_of_each_of_several_groups_lead_to_their_lines(
    client: httpx.Client, engine: Engine
) -> None:
    batch_id = make_batch_of(engine, "haf", [0.2, 0.4, 0.6])
    with engine.begin() as connection:
        mine = jobs.c.batch_id == batch_id
        found = connection.execute(jobs.select().where(mine).order_by(jobs.c.id)).all()
        for job, writer in zip(found, ("a", "b & c", "b & c"), strict=True):
            own = update(batch_lines).where(batch_lines.c.job_id == job.id)
            connection.execute(own.values(caller={"metadata": {"model": writer}}))
    path = f"/batches/{batch_id}"
    for job in found:
        changed(engine, job.id, stance="toxic")
    created(client, f"{path}/statistics")
    run_reports(engine, "haf")
    led = LED.findall(client.get(f"{path}/statistics").text)
    assert [count for _, count in led] == ["1", "2"]
    for address, count in led:
        assert f"{count} of 3 lines:" in client.get(unescape(address)).text


def test_lines_without_an_explanation_are_found(client: httpx.Client, engine: Engine) -> None:
    batch_id, ids = make_batch(engine, [0.0, 0.2])
    changed(engine, ids[0], problems=["no-explanation"])
    page = client.get(f"/batches/{batch_id}?reason=no-explanation").text
    assert "1 of 2 lines:" in page
    assert "no explanation" in page


def test_what_failed_is_counted_and_leads_to_its_lines() -> None:
    report = a_report() | {"left_out": {"failed": 3, "text_not_kept": 2}}
    block = design_of("hatexscore", report)[-1]
    assert isinstance(block, CountBars)
    assert list(block.bars) == [("failed", 3), ("text_not_kept", 2)]
    assert block.filters == {"failed": ("status", "failed")}


@pytest.mark.parametrize("metric", ["ice", "hlv"])
def test_a_histogram_has_its_line_its_table_and_is_spoken(metric: str) -> None:
    drawn = [one for one in design_of(metric, a_report(metric)) if isinstance(one, HistogramBars)]
    assert drawn
    for block in drawn:
        page = render_block(block)
        assert page.count('<rect class="bin"') == sum(count > 0 for count in block.counts)
        table = page.partition("Show as table")[2]
        assert table.count('<th scope="row">') == len(block.counts)
        assert f'aria-label="{block.title}: {block.summary}"' in page
        assert ('class="expected"' in page) == (block.expected is not None)
        assert ('class="chance"' in page) == (block.mark is not None)


def test_the_uniform_line_is_as_high_as_all_bars_together_would_be() -> None:
    block = HistogramBars("p", (4, 0, 2, 2), (0.0, 1.0), "p-values", expected=2.0)
    page = render_block(block)
    [level] = re.findall(r'class="expected" x1="0" y1="([\d.]+)"', page)
    heights = [float(one) for one in re.findall(r'class="bin".*? height="([\d.]+)"', page)]
    assert 125 - float(level) == pytest.approx(sum(heights) / len(block.counts))


def test_of_many_configurations_all_are_reached_a_few_at_once() -> None:
    report = a_report("ice")
    [first, *_] = report["configurations"]
    shares = [number / 20 for number in range(1, 11)]
    report["configurations"] = [
        first | {"configuration": first["configuration"] | {"k": share}} for share in shares
    ]
    whole = design_of("ice", report)
    seen: list[Block] = []
    for start in (0, 4, 8):
        page = charts_at_once(whole, start, lambda number: f"?charts={number}")
        own = [one for one in page.blocks if not isinstance(one, Forest)]
        numbers = {one.number for one in own} - {None}
        assert page.shown == (start + 1, min(start + 4, 10))
        assert numbers == set(range(start, page.shown[1]))
        seen += [one for one in own if one.number is not None]
        led = [address for _, _, address in page.others]
        assert led == [f"?charts={other}" for other in (0, 4, 8) if other != start]
    numbered = [one for one in whole if not isinstance(one, Forest) and one.number is not None]
    assert len(seen) == len(numbered) >= 20
    assert charts_at_once(whole, 99, str).shown == (1, 4)
    assert charts_at_once(design_of("ice", a_report("ice")), 0, str).others == ()
    told = environment().from_string(FURTHER).render(shown=charts_at_once(whole, 4, str))
    assert "configurations 5 to 8 of 10" in told
    assert re.findall('<a href="(\\d)">([^<]*)</a>', told) == [("0", "1 to 4"), ("8", "9 to 10")]


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_every_chart_of_a_report_can_be_drawn(metric: str) -> None:
    for block in design_of(metric, a_report(metric)):
        assert ("<p" if getattr(block, "alone", "") else "<figure") in render_block(block)
