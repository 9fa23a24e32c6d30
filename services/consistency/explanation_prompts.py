"""The prompts around an explanation: after which it is scored, and by which a model reads it."""

from __future__ import annotations

from services.consistency.contract import (
    PLACEHOLDERS,
    ConsistencyPrompt,
    ConsistencyRequest,
    ConsistencyTurn,
)
from shared.contracts.calls import Example, Prompt, Template, Turn
from shared.contracts.prompt_table import parse_template

QUESTION = ConsistencyPrompt(
    turns=(
        ConsistencyTurn(
            role="user",
            content="Text: {text}\n\nYou labelled this text as: {label}\n\n"
            "Explain why. Quote the words of the text that decided it.",
        ),
    )
)
STAYS, CHANGES = "stays", "changes"


def prompt_of(request: ConsistencyRequest) -> ConsistencyPrompt:
    """The request's, else our own."""
    return request.explanation_prompt or QUESTION


def explanation_prompt(request: ConsistencyRequest, label: str, text: str) -> Prompt:
    """What the explanation follows, about this variation of the text."""
    asked, values = prompt_of(request), {"text": text, "label": label}
    turns = tuple(Turn(role=t.role, content=_filled(t.content, values)) for t in asked.turns)
    if asked.style == "chat":
        return Prompt(turns=turns)
    return Prompt(text="\n\n".join(turn.content for turn in turns) + "\n\n")


def _filled(template: str, values: dict[str, str]) -> str:
    """What is inserted is not expanded again."""
    return "".join(
        piece.text if piece.inserted is None else values[piece.inserted]
        for piece in parse_template(template, PLACEHOLDERS)
    )


def reading_example(request: ConsistencyRequest, label: str, edited: str) -> Example:
    """How a reader is asked what the explanation predicts of an edited text."""
    return Example(
        text=edited,
        template=Template(
            prefix=f"A model labelled a text as {label} and explained why.\n\n"
            f"The text: {request.text}\n\nThe explanation: {request.explanation}\n\n"
            "The same text, edited: ",
            suffix=f"\n\nJudging by the explanation alone, does the model label the edited text as "
            f"{label}, too?\nAnswer with Yes or No.\nAnswer:",
            verbalizers={STAYS: " Yes", CHANGES: " No"},
        ),
    )
