"""What a report over many CoT2EL results holds. Part of the contract: pydantic only."""

from __future__ import annotations

from pydantic import Field

from shared.contracts import BatchReport, Interval, Message


class Validated(Message):
    """S_instance over items (the paper's Table 3 and Table 8)."""

    items: int = Field(ge=0, description="with human pairs, and a parse that came through")
    precision: Interval
    recall: Interval
    f1: Interval
    columns: dict[str, Interval] = Field(description="Table 8, over items where it is measured")


class Cot2elBatchReport(BatchReport):
    """How faithful parses are, and how close to annotators."""

    statuses: dict[str, int] = Field(description="of the results: ok, no_reasoning, parse_failed")
    faithfulness: Interval = Field(description="over items; `pooled` is over explanations")
    faithfulness_pooled: Interval
    faithfulness_by_chance: Interval = Field(description="of explanations with shuffled words")
    mean_similarity: Interval
    kept_per_item: Interval = Field(description="explanations after alignment and de-duplication")
    filtered: Validated | None = Field(description="EL filtered against annotators")
    parsed: Validated | None = Field(description="EL before alignment against annotators")
    refinement: Interval | None = Field(
        description="F1 of EL filtered minus F1 of EL, item by item"
    )
