"""Figures of what is read of models' answers to "is this hateful?": a label, or null.

`python -m tests.explanations.elicited_answers elicited_1 …` prints them by language, with `wrong`
also each answer that is read otherwise than its label says. The whole way of an elicited answer:
reasoning taken off, refusals, HateXScore's conclusion reader.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from services.explanations.answer_parts import answer_of
from services.explanations.parsing import hateful_or_not, parse_answer
from services.registry import service
from shared.contracts.calls import Completion
from shared.reports.metric import Metric, StatedDecision
from tests.hatexscore.golden_conclusions import OWN, Snippet, own


def answers(batch: str) -> list[Snippet]:
    """batch: such as `elicited_1`, without the language."""
    return own([file for file in OWN if file.name.startswith(f"{batch}.")])


def read_label(answer: Snippet) -> str | None:
    """The decision that an elicited answer is taken to state."""

    metric = service("hatexscore")
    assert isinstance(metric, Metric)

    def stated(text: str) -> StatedDecision | None:
        return metric.stated_decision("A post.", text, answer.language)

    completion = Completion(text=answer.explanation, tokens=(), finish="stop")
    decision = parse_answer(answer_of(completion), hateful_or_not(stated, asked=True)).decision
    return decision.label if decision else None


def main(arguments: Sequence[str]) -> None:
    found = [
        (one, read_label(one)) for name in arguments if name != "wrong" for one in answers(name)
    ]
    for language in ("en", "zh", "ko", "all"):
        rows = [row for row in found if language in (row[0].language, "all")]
        stated = [(one.expected, read) for one, read in rows if one.expected]
        none = [read for one, read in rows if not one.expected]
        right = sum(expected == read for expected, read in stated)
        inverted = sum(read not in (expected, None) for expected, read in stated)
        false = sum(read is not None for read in none)
        sys.stdout.write(
            f"{language:<4} right {right}/{len(stated)}  inverted {inverted}"
            f"  unread {len(stated) - right - inverted}  given to none {false}/{len(none)}\n"
        )
    for one, read in found if "wrong" in arguments else ():
        if read != one.expected:
            sys.stdout.write(f"{one.expected} read {read}: {one.explanation!r}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
