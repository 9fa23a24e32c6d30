"""Results without a page of their own: everything is there, and nothing is markup."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ftc.metric import SERVICE as FTC_SERVICE
from services.ftc.report import FtcBatchReport
from services.gateway.pages.result_tables import MOST_ROWS, TEMPLATE, Section, TableFormatter, view
from services.hlv.metric import SERVICE as HLV_SERVICE
from services.hlv.report import HlvBatchReport
from services.inference.contract import InferenceRequest
from services.inference.service import SERVICE as INFERENCE_SERVICE
from services.similarity.contract import SimilarityRequest
from services.similarity.service import SERVICE as SIMILARITY_SERVICE
from shared.contracts.batches import BatchReport, BatchReportRequest, Plot
from shared.contracts.messages import Message
from shared.contracts.reports import Interval
from shared.models.ports import Models, bind
from shared.reports.estimates import BatchStatistics
from shared.reports.pages.page_text import significant
from tests.echo_metric import EchoRequest, echo
from tests.fakes import FakeModels
from tests.ftc.test_batch_report import ASKED as FTC_ASKED
from tests.ftc.test_batch_report import rows as ftc_rows
from tests.gateway.pages.parsed import HOSTILE, Parsed, is_only_blurred, parsed
from tests.hlv.test_batch_report import ASKED as HLV_ASKED
from tests.hlv.test_batch_report import distributions

infer = INFERENCE_SERVICE.score
compare = SIMILARITY_SERVICE.score


def ftc_report(rows: Any, request: Any) -> FtcBatchReport:
    """The report over these results."""
    over = BatchStatistics(FTC_SERVICE.contract, rows, request)
    return FTC_SERVICE.summarize(rows, over)


def hlv_report(rows: Any, request: Any) -> HlvBatchReport:
    """The report over these results."""
    over = BatchStatistics(HLV_SERVICE.contract, rows, request)
    return HLV_SERVICE.summarize(rows, over)


@pytest.fixture
def _models() -> Iterator[None]:
    bind(cast(Models, FakeModels()))
    yield
    bind(None)


def shown(request: Any, report: Message) -> Parsed:
    return parsed(TEMPLATE, view(request, report), report)


@pytest.mark.usefixtures("_models")
def test_similarities_stand_beside_their_pairs() -> None:
    pairs = [{"a": HOSTILE, "b": "one"}, {"a": "two", "b": "three"}]
    request = SimilarityRequest.model_validate({"model": "alike", "pairs": pairs})
    report = compare(request)
    page = shown(request, report)
    assert is_only_blurred(page, HOSTILE)
    assert "two · three" in page.sensitive
    assert all(significant(number) in page.bare for number in report.similarities)
    assert report.model.name in page.bare
    assert "two · three" not in shown(None, report).sensitive


@pytest.mark.usefixtures("_models")
@pytest.mark.parametrize(
    "ask",
    [
        {"operation": "judge", "examples": [{"text": HOSTILE}, {"text": "a", "text_pair": "b"}]},
        {"operation": "probabilities", "texts": [HOSTILE, "other", "third"]},
        {"operation": "tokens", "examples": [{"text": f"{HOSTILE} a b"}]},
        {"operation": "truncated", "texts": [HOSTILE]},
        {"operation": "describe"},
        {
            "operation": "attributions",
            "examples": [{"text": HOSTILE}],
            "targets": ["yes"],
            "method": {"name": "gradient"},
        },
        {"operation": "judge_rows", "asked": [{"example": {"text": "a"}, "rows": [{}, {}]}]},
    ],
    ids=lambda ask: str(ask["operation"]),
)
def test_every_operation_of_a_classifier_is_shown(ask: dict[str, Any]) -> None:
    request = InferenceRequest.model_validate({"model": "fake", "ask": ask})
    report = infer(request)
    page = shown(request, report)
    assert report.operation in page.bare
    if "examples" in ask or "texts" in ask:
        assert is_only_blurred(page, HOSTILE)
    if ask["operation"] in {"judge", "probabilities"}:
        assert isinstance(report.answer, list)
        heads = page.html.split("<thead>")[1].split("</thead>")[0]
        assert all(label in heads for label in report.labels)
        for row in np.array(report.answer).ravel():
            assert significant(float(row)) in page.bare


@pytest.mark.usefixtures("_models")
def test_what_a_model_wrote_is_blurred() -> None:
    ask = {"operation": "score", "prompts": [{"text": "Say:"}], "completions": [HOSTILE]}
    request = InferenceRequest.model_validate({"model": "lm", "ask": ask})
    page = shown(request, infer(request))
    assert is_only_blurred(page, HOSTILE)


@pytest.mark.parametrize("metric", ["ftc", "hlv"])
def test_a_batch_report_is_shown_whole(metric: str) -> None:
    report: BatchReport = (
        ftc_report(ftc_rows(), FTC_ASKED)
        if metric == "ftc"
        else hlv_report(distributions(12), HLV_ASKED)
    )
    page = shown(BatchReportRequest(batch="batch_1"), report)
    numbers = list(_numbers(report.model_dump(mode="json", exclude={"plots"})))
    assert len(numbers) > 50
    assert [number for number in numbers if significant(number) not in page.bare] == []
    assert "/batches/batch_1" in page.attributes
    assert all(plot.title in page.bare for plot in report.plots)
    assert "<svg" not in page.html
    assert page.sensitive == ""


def _numbers(value: Any) -> Iterator[float]:
    if isinstance(value, dict):
        for held in value.values():
            yield from _numbers(held)
    elif isinstance(value, list):
        for held in value:
            yield from _numbers(held)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def test_plots_are_listed_and_not_drawn() -> None:
    none = Interval(value=None, low=None, high=None, of=0)
    report = BatchReport(
        metric="echo",
        scored=3,
        undefined=3,
        left_out={"failed": 2},
        score=none,
        plots=(Plot(name="p", title="Scores by label", svg="<svg></svg>", png_base64=""),),
        seed=1,
        resamples=100,
        confidence=0.95,
        service_version="1",
    )
    page = shown(None, report)
    assert "Scores by label" in page.bare
    assert "<svg" not in page.html
    assert "There is no mean score: none of 3 results has a score." in page.bare
    assert "failed" in page.bare
    assert "no value" in page.bare


def test_a_metric_without_a_page_shows_its_own_fields() -> None:
    page = shown(None, echo(EchoRequest(text=HOSTILE)))
    assert is_only_blurred(page, HOSTILE)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e6, 1e6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=25,
)


@given(JSON, st.booleans())
def test_any_json_is_tabulated(value: Any, ours: bool) -> None:
    section = TableFormatter(ours=ours).section("answer", value)
    paths = [one.path for one in every(section)]
    assert len(paths) == len(set(paths))
    for one in every(section):
        if one.table is not None:
            assert {len(row) for row in one.table.rows} <= {len(one.table.columns)}


def every(section: Section) -> Iterator[Section]:
    yield section
    for inner in section.sections:
        yield from every(inner)


def test_long_lists_are_cut_and_say_so() -> None:
    table = TableFormatter().section("similarities", [0.5] * (MOST_ROWS + 7)).table
    assert table is not None
    assert (len(table.rows), table.left_out) == (MOST_ROWS, 7)
