"""Figures of answers that are read whole: outcome, decision and explanation.

`python -m tests.explanations.answer_batches answers_12 …` prints them; with `wrong` also each
answer that is read otherwise than its labels say. The whole way of `POST /v1/explanations` with the
answer sent: reasoning taken off, what the model goes on with, refusals, the prompt's reader. A line
of a batch is an answer with its labels; `explanation` is left out where it is the whole answer.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.explanations.contract import ExplanationsRequest
from services.explanations.service import SERVICE
from shared.contracts.elicitation import ExplanationsElicitation

PROMPTS: dict[str, dict[str, Any]] = {
    "paper": {"text": "A post.", "prompt": "hatexscore-table8"},
    "yes": {"text": "A post.", "prompt": {"user": "Is this post hateful?\n\n{text}"}},
    "ftc": {"premise": "A premise.", "hypothesis": "A hypothesis.", "prompt": "ftc-label"},
}


@dataclass(frozen=True)
class LabelledAnswer:
    """An answer, what it decides by its label, and what was read."""

    answer: str
    decision: str | None
    outcome: str
    explanation: str
    read: ExplanationsElicitation

    @property
    def decides_right(self) -> bool:
        return self.read.decision == self.decision

    @property
    def is_right(self) -> bool:
        return self.decides_right and self.read.explanation == self.explanation

    @property
    def is_inverted(self) -> bool:
        return self.decision is not None and self.read.decision not in (None, self.decision)


def read_batch(name: str) -> list[LabelledAnswer]:
    """name: such as `answers_12`."""
    held = Path(__file__).with_name(f"{name}.jsonl").read_text("utf-8")
    return [_read(json.loads(line)) for line in held.splitlines()]


def _read(row: dict[str, Any]) -> LabelledAnswer:
    sent = {"text": row["answer"], "finish": row.get("finish", "stop")}
    asked = PROMPTS[row.get("prompt", "paper")]
    request = ExplanationsRequest.model_validate({**asked, "answer": sent})
    return LabelledAnswer(
        row["answer"],
        row["decision"],
        row["outcome"],
        row.get("explanation", row["answer"].strip()),
        SERVICE.score(request).elicitation,
    )


def main(arguments: Sequence[str]) -> None:
    for name in arguments:
        if name == "wrong":
            continue
        found = read_batch(name)
        stated = [one for one in found if one.decision is not None]
        none = [one for one in found if one.decision is None]
        sys.stdout.write(
            f"{name}: decision and explanation right {sum(one.is_right for one in found)}"
            f"/{len(found)}; decisions right {sum(one.decides_right for one in stated)}"
            f"/{len(stated)}, inverted {sum(one.is_inverted for one in stated)}, given to none "
            f"{sum(not one.decides_right for one in none)}/{len(none)}; outcomes right "
            f"{sum(one.read.outcome == one.outcome for one in found)}\n"
        )
        for one in found if "wrong" in arguments else ():
            if not one.is_right or one.read.outcome != one.outcome:
                told = f"{one.outcome} {one.decision} read {one.read.outcome} {one.read.decision}"
                sys.stdout.write(f"{told}: {one.answer!r} explained {one.read.explanation!r}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
