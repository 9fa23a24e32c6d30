"""Any batch report as tables: nothing is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.consistency.report import ConsistencyResult
from services.gateway.batch_csv import number_columns, numbers_of
from services.gateway.pages.batch_downloads import ExportColumns
from services.gateway.pages.batch_report import ELSEWHERE, MOST_COLUMNS, ReportTable, tables_of
from services.gateway.pages.templates import environment
from services.haf.report import HafBatchReport
from services.hlv.report import HlvBatchReport
from services.registry import metrics
from shared.contracts.messages import field_type
from shared.contracts.redaction import is_internal
from shared.contracts.reports import Interval

Json = dict[str, Any]
ESTIMATE = {"value": 0.5, "low": 0.25, "high": 0.75, "of": 9}
KEYS = st.text(st.characters(categories=["L"]), min_size=1, max_size=8)
SINGLE = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
INTERVALS = st.just(ESTIMATE)
TREES = st.recursive(
    SINGLE | INTERVALS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=30,
)


def leaves(value: Any) -> Iterator[Any]:
    """Every single value in this JSON; an interval is one."""
    if isinstance(value, dict) and set(value) != set(ESTIMATE):
        for inside in value.values():
            yield from leaves(inside)
    elif isinstance(value, list | tuple):
        for inside in value:
            yield from leaves(inside)
    else:
        yield value


def cells(tables: list[ReportTable]) -> Iterator[Any]:
    """Every value in these tables."""
    for table in tables:
        for row in table.rows:
            for cell in row:
                if isinstance(cell, Interval):
                    yield cell.model_dump(exclude_unset=True)
                else:
                    yield from cell if isinstance(cell, list) else [cell]


@pytest.mark.parametrize("metric", metrics())
def test_no_column_of_a_download_occurs_twice(metric: str) -> None:
    header = ExportColumns(number_columns(metrics()[metric]), ["user"]).header
    assert len(set(header)) == len(header)


@given(st.dictionaries(KEYS.filter(lambda key: key not in ELSEWHERE), TREES, max_size=5))
def test_nothing_is_lost(report: Json) -> None:
    tables = tables_of(report)
    said = [repr(cell) for cell in cells(tables)]
    for leaf in leaves(report):
        assert repr(leaf) in said
    for table in tables:
        assert {len(row) for row in table.rows} <= {len(table.columns)}


def common(metric: str) -> Json:
    return {
        "metric": metric, "scored": 2, "undefined": 0, "score": ESTIMATE, "seed": 0,
        "resamples": 100, "confidence": 0.95, "service_version": "1",
    }  # fmt: skip


def test_a_group_of_haf_is_a_row_and_its_stances_a_table() -> None:
    means = dict.fromkeys(("sos", "dis", "uii", "uei", "rs", "rn"), ESTIMATE)
    shares = dict.fromkeys(("internal", "external", "sufficiency", "necessity"), ESTIMATE)
    individual = dict.fromkeys(
        ("rs_decision", "rs_informativeness", "rn_decision", "rn_informativeness"), ESTIMATE
    )
    stance = {"stance": "toxic", "results": 2, "score": ESTIMATE, "means": means}
    group = {
        "model": "m_1", "dataset": "d", "results": 2, "score": ESTIMATE, "means": means,
        "individual": individual, "sufficient": shares, "irrelevant": shares,
        "refused": ESTIMATE, "by_stance": [stance], "stages": {},
    }  # fmt: skip
    report = HafBatchReport.model_validate(
        common("haf") | {"groups": [group, group], "variants": ["robust"]}
    )
    found = {table.caption: table for table in tables_of(report)}
    assert len(found["groups"].rows) == 2
    assert found["groups"].columns[1:5] == ["model", "dataset", "results", "score"]
    assert "means · sos" in found["groups"].columns
    assert "groups › 1 (m_1, d) › by stance" in found
    assert found["Over all results"].rows == [["variants", ["robust"], found_note(report)]]


def found_note(report: HafBatchReport) -> str:
    return str(type(report).model_fields["variants"].description)


def test_a_wide_table_is_cut_into_one_a_row() -> None:
    metrics_of = {f"m{number}": {"mean": ESTIMATE, "undefined": 0} for number in range(20)}
    table = {"method": "rank", "judged": "gain", "items": 3, "metrics": metrics_of}
    report = HlvBatchReport.model_validate(
        common("hlv") | {"score_of": "gain", "tables": [table], "gold_tied": ESTIMATE}
    )
    found = tables_of(report)
    assert all(len(table.columns) <= MOST_COLUMNS + 1 for table in found)
    (own,) = [table for table in found if table.caption == "tables › 1 (rank, gain) › metrics"]
    assert own.columns == ["", "mean", "undefined", "undefined as zero"]
    assert len(own.rows) == 20


@given(st.text(min_size=1))
def test_every_cell_is_escaped(text: str) -> None:
    macros = environment().get_template("batch_macros.html").module
    for value in (text, [text], [text] * 20):
        shown = str(macros.cell(value))  # type: ignore[attr-defined]
        assert shown.count("<bdi>") == (len(value) if isinstance(value, list) else 1)
        rest = shown
        for tag in ("bdi", "details", "summary"):
            rest = rest.replace(f"<{tag}>", "").replace(f"</{tag}>", "")
        assert "<" not in rest


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_every_number_of_a_metric_has_a_column(metric: str) -> None:
    columns = [".".join(path) for path in numbers_of(metrics()[metric].report)]
    assert len(set(columns)) == len(columns)
    expected = {
        "hatexscore": {"components.htc", "control.share_beaten"},
        "ice": {"control.win_rate"},
        "haf": {"components.sos", "control.unweighted.rn"},
        "ftc": {"components.w_normalized", "control.uniform.k"},
        "hlv": {"components.kendall_gain", "control.uniform.distribution.jsd"},
        "cot2el": {"components.kept", "control.faithfulness"},
        "sor": {"components.completeness", "control.win_rate"},
        "consistency": {"components.simulatability", "control.simulatability.win_rate"},
    }
    assert expected.get(metric, set()) <= set(columns)


def test_what_a_report_says_in_words_of_its_own_has_columns_and_what_it_quotes_has_none() -> None:
    columns = {".".join(path) for path in numbers_of(metrics()["hatexscore"].report)}
    assert {
        "conclusion.label", "conclusion.probability",
        "hallucinated_quotes.count", "other_quotations.count", "quotes_unsearched",
        "not_applicable.tgi", "model_agrees", "signed_drop",
        "control.placements", "control.exact", "control.p_value", "control.attainable_p",
    } <= columns  # fmt: skip
    assert columns.isdisjoint({"conclusion.text", "masked_text"})


def test_a_word_of_the_caller_s_in_a_column_goes_with_the_other_texts() -> None:
    hint = field_type(ConsistencyResult.model_fields["decision"])
    assert not is_internal("violates our rules", hint)
