"""Formats a result of the service `similarity` for the web page: one table row per pair of
texts."""

from __future__ import annotations

from services.similarity.contract import SimilarityRequest, SimilarityResult
from shared.reports.pages.page_text import ResponseTable, counted


def answer(request: SimilarityRequest | None, report: SimilarityResult) -> ResponseTable:
    """Return the table of similarities. Each row is named after the two texts of a pair."""
    pairs = () if request is None else request.pairs
    return ResponseTable(
        lead=f"Similarity of the texts of {counted(len(report.similarities), 'pair')}, by "
        f"{report.model.name}: 0 to 1.",
        field="similarities",
        subjects=tuple(f"{pair.a} · {pair.b}" for pair in pairs),
    )
