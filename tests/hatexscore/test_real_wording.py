"""Quotations and groups in the wording of real explanations: figures by family, and their floors.

The figures are printed (`pytest -s`). The floors are the acceptance figures of version 2.0.
"""

from __future__ import annotations

import pytest

from tests.hatexscore.real_wording import (
    GOLDEN,
    golden,
    measure_groups,
    measure_quotes,
    own_groups,
    own_quotes,
    quote_summary,
    share,
    table,
)

needs_golden = pytest.mark.skipif(
    not (GOLDEN / "quotes_real.jsonl").exists(), reason="no golden sentences on this machine"
)


def test_our_own_quotations() -> None:
    figures = measure_quotes(own_quotes())
    print(f"\n{quote_summary(figures)}")  # noqa: T201
    wrong = [said for one in figures.families.values() for said in one.wrong]
    assert not wrong, "\n".join(wrong)


def test_our_own_group_mentions() -> None:
    mentions, _ = measure_groups(own_groups())
    print(f"\n{table(mentions)}")  # noqa: T201
    wrong = [said for family, one in mentions.items() if family != "open" for said in one.wrong]
    assert not wrong, "\n".join(wrong)


@needs_golden
def test_quotations_of_the_golden_file() -> None:
    figures = measure_quotes(golden("quotes_real"))
    print(f"\n{quote_summary(figures)}")  # noqa: T201
    assert figures.hallucinated.precision >= 0.95
    assert figures.hallucinated.recall >= 0.90
    assert figures.located.precision >= 0.97
    assert figures.located.recall >= 0.95


@needs_golden
def test_group_mentions_of_the_golden_file() -> None:
    mentions, targets = measure_groups(golden("group_mentions"))
    print(f"\n{table(mentions)}\n\nTGI\n{table(targets)}")  # noqa: T201
    negated = mentions["negation_scope"]
    assert negated.of - negated.right <= 0.05 * negated.of
    assert share(mentions.values()) >= 0.95
