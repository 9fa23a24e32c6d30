"""HAF's and ICE's tables: the means are those of the metrics' own batch reports."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bench.papers.columns import Observation
from bench.papers.data_rows import DataRow
from bench.papers.haf import HafPaper
from bench.papers.ice import IcePaper
from bench.papers.protocol import Case, RunOptions, RunTemplate, cases
from bench.papers.tables import PaperTable, table_of
from services.haf.contract import CONTRACT as HAF
from services.haf.contract import HafRequest
from services.haf.metric import SERVICE as HAF_SERVICE
from services.haf.report import HafBatchReportRequest
from shared.contracts.messages import Scored
from shared.reports.estimates import BatchStatistics
from shared.statistics.bootstrap import Resampling
from tests.haf.tiny_llama import STAGES
from tests.papers.scripted_service import Body, ran

HOW = Resampling(resamples=199)
MODELS = ("one", "other")


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
    paper, options = IcePaper(), RunOptions(parameters={"ice": {"options": {"draws": 49}}})
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
    counted = [{cell.column: cell.found for cell in line.cells} for line in overlap.lines]
    assert {one["attention_iou"].rows for one in counted} == {2}
    assert {one["attention_r"].value for one in counted} == {None}  # of two rows
    assert effects.lines[0].cells[0].column == "attention_effect"


TEMPLATES = {
    "plain": RunTemplate({"suffix": " It is", "verbalizers": {"good": " good", "bad": " bad"}}),
    "asked": RunTemplate(
        {"prefix": "Good? ", "verbalizers": {"good": " yes", "bad": " no"}}, datasets=("second",)
    ),
}


def ice_test(explanation: str, k: float, rate: float) -> SimpleNamespace:
    return SimpleNamespace(explanation=explanation, aspect="sufficiency", k=k, win_rate=rate,
                           effect=None, verdict=None)  # fmt: skip


def of_ice(row: DataRow, setting: str, rates: dict[float, float], iou: float) -> Observation:
    """One whose gradient does half as well as its attention."""
    components = SimpleNamespace(
        tests=[
            ice_test(name, k, rate / share)
            for name, share in (("attention", 1), ("gradient", 2))
            for k, rate in rates.items()
        ],
        plausibility=[SimpleNamespace(explanation="attention", iou=iou)],
    )
    result = SimpleNamespace(
        components=components, probabilities={"good": 0.7, "bad": 0.3}, languages=None
    )
    return Observation("m", setting, row, "answered", (f"job {row.key}",), "good", result)


def ice_rows(name: str, count: int) -> list[DataRow]:
    return [
        DataRow(name, {"text": f"{name} {n}", "gold": "good" if n % 2 else "bad", "language": "de",
                       "rationale": ["a"]}, f"{name} {n}")
        for n in range(count)
    ]  # fmt: skip


def test_each_prompt_is_asked_of_its_data_sets_and_has_lines_of_its_own() -> None:
    paper, options = IcePaper(), RunOptions(templates=TEMPLATES)
    first, second = ice_rows("first", 4), ice_rows("second", 4)
    every = list(cases(("m",), paper.settings(options), [*first, *second]))
    asked = [one for case in every for one in paper.requests(case, lambda _: None, options)]
    assert [one.body["options"]["template"]["verbalizers"]["good"] for one in asked] == (
        [" good"] * 4 + [" good", " yes"] * 4
    )
    found = [
        of_ice(case.row, case.setting, {0.2: 0.9 if case.setting == "plain" else 0.4}, 0.5)
        for case in every
        if case.row.dataset == "second" or case.setting == "plain"
    ]
    made = {one.plan.name: one for one in tables(paper, found, options)}
    lines = {line.place: {c.column: c.found for c in line.cells}
             for line in made["Table 15"].lines}  # fmt: skip
    assert list(lines) == [("first", "m", "plain"), ("second", "m", "asked"),
                           ("second", "m", "plain")]  # fmt: skip
    of_asked = lines["second", "m", "asked"]
    assert [of_asked[name].value for name in ("accuracy", "confidence", "attention_win_rate")] == (
        pytest.approx([0.5, 0.7, 0.4])
    )
    [gap] = [one for one in made["Table 15"].differences if one.column == "attention_win_rate"]
    assert gap.found.value == pytest.approx(-0.5)
    usual = {line.place: line.cells[0].found for line in made["Table 5"].lines}
    assert [one.value for one in usual.values()] == pytest.approx([0.9, 0.9])
    assert [one.rows for one in usual.values()] == [4, 4]
    assert "Table 16" not in made


def test_a_gold_label_that_is_no_verbalizer_is_refused() -> None:
    row = DataRow("first", {"text": "a", "gold": "1"}, "1")
    options = RunOptions(templates=TEMPLATES)
    with pytest.raises(ValueError, match="--label good=1 or --label bad=1"):
        list(IcePaper().requests(Case("m", "plain", row), lambda _: None, options))


def test_win_rates_by_the_length_of_the_rationale() -> None:
    options = RunOptions(parameters={"ice": {"options": {"k": [0.1, 0.5]}}})
    found = [of_ice(row, "", {0.1: 0.2, 0.5: 0.8}, 0.5) for row in ice_rows("first", 4)]
    [table] = [one for one in tables(IcePaper(), found, options) if one.plan.name == "Table 16"]
    assert table.lines[0].place == ("first", "de", "m")
    assert {cell.column: cell.found.value for cell in table.lines[0].cells} == pytest.approx(
        {"attention_k_0.1": 0.2, "attention_k_0.5": 0.8, "gradient_k_0.1": 0.1,
         "gradient_k_0.5": 0.4}
    )  # fmt: skip
    assert all(cell.p_adjusted is not None for cell in table.lines[0].cells)


def test_overlap_with_people_and_win_rate_are_correlated() -> None:
    random = np.random.default_rng(5)
    pairs = random.random((12, 2))
    found = [
        of_ice(row, "", {0.2: float(rate)}, float(iou))
        for row, (rate, iou) in zip(ice_rows("first", 12), pairs, strict=True)
    ]
    others = [replace(one, model="n") for one in found]
    [table] = [one for one in tables(IcePaper(), [*found, *others], RunOptions())
               if one.plan.name == "Table 14"]  # fmt: skip
    cell = next(one for one in table.lines[0].cells if one.column == "attention_r")
    oracle = stats.pearsonr(pairs[:, 1], pairs[:, 0])
    assert (cell.found.value, cell.p) == pytest.approx((oracle.statistic, oracle.pvalue))
    assert cell.found.rows == 12
    [gap] = [one for one in table.differences if one.column == "attention_r"]
    assert gap.found.value == pytest.approx(0)
    assert gap.p == 1


def test_what_was_asked_is_json(tmp_path: Path) -> None:
    _, asked = ran(HafPaper(), ("one",), rows(1, language="en"), tmp_path, haf_script)
    assert json.loads(json.dumps(asked[0][1]))["metadata"] == {"dataset": "d", "model": "one"}
