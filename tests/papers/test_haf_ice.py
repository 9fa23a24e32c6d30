"""HAF's and ICE's tables: the means are those of the metrics' own batch reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from services.haf.contract import CONTRACT as HAF
from services.haf.contract import HafRequest
from services.haf.metric import SERVICE as HAF_SERVICE
from services.haf.report import HafBatchReportRequest
from services.papers.columns import Observation
from services.papers.data_rows import DataRow
from services.papers.haf import HafPaper
from services.papers.ice import IcePaper
from services.papers.protocol import RunOptions
from services.papers.tables import PaperTable, table_of
from shared.contracts import Scored
from shared.estimates import BatchStatistics
from shared.models import ports
from shared.statistics.bootstrap import Resampling
from tests.haf.tiny_llama import STAGES
from tests.papers.scripted_service import Body, ran

HOW = Resampling(resamples=199)
MODELS = ("one", "other")


@pytest.fixture(autouse=True)
def _unbound() -> Iterator[None]:
    yield
    ports.bind(None)


def said(text: str) -> dict[str, Any]:
    """A response whose every character is a token."""
    tokens = [
        {"id": None, "start": n, "end": n + 1, "logprob": -0.1 - (n % 7) / 10}
        for n in range(len(text))
    ]
    return {"text": text, "tokens": tokens}


def haf_script(_: str, body: Body) -> Body:
    """What a tiny model answers in each stage; `other` refuses every third text."""
    model, body = body["model"], {name: body[name] for name in body if name != "model"}
    if model == "other" and "number 0" in body["text"]:
        return body | {"responses": {"justify": said("I cannot help with that.")}}
    variant = int(model == "other")
    responses = {
        "justify": said(STAGES["<justify>"][variant]),
        "internal": said(STAGES["<internal>"][0]),
        "external": said(STAGES["<external>"][variant]),
        "individual": [said(one) for one in STAGES["<single>"]],
    }
    return body | {"responses": responses}


def rows(count: int, **more: Any) -> list[DataRow]:
    return [
        DataRow(
            "d", {"text": f"Those lazy neighbours, number {n}, want a fight.", **more}, f"d {n}"
        )
        for n in range(count)
    ]


def tables(
    paper: HafPaper | IcePaper, found: list[Observation], options: RunOptions
) -> list[PaperTable]:
    return [table_of(plan, found, HOW, MODELS) for plan in paper.tables(options)]


def test_hafs_tables_are_those_of_its_batch_report(tmp_path: Path) -> None:
    paper = HafPaper()
    found, asked = ran(paper, MODELS, rows(3, language="en"), tmp_path, haf_script)
    assert [one.outcome for one in found if one.model == "other"].count("refused") == 1
    scored = [
        Scored(one.jobs[0], None, HafRequest.model_validate(haf_script("", body)), one.result)
        for one, (_, body) in zip(found, asked, strict=True)
    ]
    over = BatchStatistics(HAF, scored, HafBatchReportRequest(batch="batch_1", resamples=199))
    report = HAF_SERVICE.summarize(scored, over)
    made = tables(paper, found, RunOptions())
    assert [one.plan.name for one in made] == [f"Table {n}" for n in range(1, 6)]
    for place, group in enumerate(report.groups):
        lines = [{c.column: c.found for c in one.lines[place].cells} for one in made]
        assert made[0].lines[place].place == (group.dataset, group.model)
        first, second, third, fourth, fifth = lines
        for name, interval in group.means:
            assert (first[name].value, first[name].rows) == (interval.value, interval.of)
            assert fourth[name].rows == interval.of
        for name, interval in group.individual:
            assert third[name].value == interval.value
        for stage, interval in group.sufficient:
            assert stage not in second or second[stage].value == interval.value
        assert set(second) == {"internal", "external"}
        for stage, interval in group.irrelevant:
            assert fifth[stage].value == interval.value


def ice_script(_: str, body: Body) -> Body:
    """Both models are the small one that ships with the service."""
    return body | {"model": "embedded-hate"}


def test_ices_win_rates_by_data_set_and_language(tmp_path: Path) -> None:
    paper, options = IcePaper(), RunOptions(parameters={"ice": {"draws": 49}})
    texts = ["Those people are ruining our town", "A friendly dog barked at the gate today"]
    data = [
        DataRow(
            name, {"text": text, "language": code, "rationale": text.split()[:2]}, f"{name} {n}"
        )
        for name, code in (("first", "en"), ("second", "en-GB"))
        for n, text in enumerate(texts)
    ]
    found, asked = ran(paper, MODELS, data, tmp_path, ice_script, options)
    assert all(body["human"] == body["text"].split()[:2] for _, body in asked)
    by_data, by_language, effects, overlap = tables(paper, found, options)
    assert [line.place for line in by_data.lines][:2] == [("first", "one"), ("first", "other")]
    assert {line.place[0] for line in by_language.lines} == {"en", "en-GB"}
    for line in by_data.lines:
        own = [one.result for one in found if (one.dataset, one.model) == line.place]
        cells = {cell.column: cell for cell in line.cells}
        rates = [one.components.tests[0].win_rate for one in own]
        assert own[0].components.tests[0].explanation == "attention"
        assert cells["attention_win_rate"].found.value == pytest.approx(sum(rates) / len(rates))
        gap = cells["attention_minus_gradient"].found.value
        attention, gradient = (cells[f"{name}_win_rate"].found.value
                               for name in ("attention", "gradient"))  # fmt: skip
        assert gap == pytest.approx((attention or 0) - (gradient or 0))
        assert all(cell.p_adjusted is not None for cell in line.cells)
    assert all(one.p_adjusted == 1 for one in by_data.differences)  # one model by two names
    assert {cell.found.rows for line in overlap.lines for cell in line.cells} == {2}
    assert effects.lines[0].cells[0].column == "attention_effect"


def test_what_was_asked_is_json(tmp_path: Path) -> None:
    _, asked = ran(HafPaper(), ("one",), rows(1, language="en"), tmp_path, haf_script)
    assert json.loads(json.dumps(asked[0][1]))["metadata"] == {"dataset": "d", "model": "one"}
