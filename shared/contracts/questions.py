"""A question with options, and arguments for and against each option.

The metrics about human label variation share these messages and their prompt. Source: Chen et al.,
EMNLP 2025, Table 6 (the prompts) and Eq. 2 (the pairs). The module needs no library but Pydantic.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StringConstraints

from shared.contracts.messages import Message, RequiredText, Visible, Word

Stance = Literal["support", "oppose"]
STANCES: tuple[Stance, ...] = ("support", "oppose")

Key = Annotated[str, StringConstraints(pattern=r"^[A-Z]$"), Word]


class Option(Message):
    """One answer that can be chosen."""

    key: Key = Field(description="the letter that is shown before the option")
    text: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500), Visible
    ]


def _check_unique(options: tuple[Option, ...]) -> tuple[Option, ...]:
    if len({option.key for option in options}) < len(options):
        raise ValueError("two options have the same key; give each its own")
    if len({option.text.casefold() for option in options}) < len(options):
        raise ValueError("two options have the same text; change one of them")
    return options


Options = Annotated[
    tuple[Option, ...],
    Field(
        min_length=2, max_length=26, description="the options, in the order in which they are shown"
    ),
    AfterValidator(_check_unique),
]


class NliQuestion(Message):
    """Asks if a statement follows from a context (language inference)."""

    premise: RequiredText
    hypothesis: RequiredText


class Scenario(Message):
    """A question about a described situation."""

    scenario: RequiredText
    question: RequiredText


Question = NliQuestion | Scenario | RequiredText


class Explanation(Message):
    """An explanation with its label and stance."""

    explanation: RequiredText
    label: Key = Field(description="the key of the option that the explanation is about")
    stance: Stance = "support"


CHOOSE = {
    NliQuestion: "Please determine whether the following statement is true (entailment), "
    "undetermined (neutral), or false (contradiction) given the context below and select ONE of "
    "the listed options and start your answer with a single letter.",
    Scenario: "Please read the following social scenario and the accompanying question, choose the "
    "most appropriate answer from the options provided and start your answer with a single letter.",
    str: "Please read the following question, choose the most appropriate answer from the options "
    "provided and start your answer with a single letter.",
}


def in_words(question: Question) -> str:
    """Return the question as text, one field per line."""
    match question:
        case NliQuestion():
            return f"{question.premise}\n{question.hypothesis}"
        case Scenario():
            return f"{question.scenario}\n{question.question}"
    return question


def to_prompt(question: Question) -> str:
    """Format a question for a prompt, one field per line."""
    match question:
        case NliQuestion():
            return f"Context: {question.premise}\nStatement: {question.hypothesis}"
        case Scenario():
            return f"Scenario: {question.scenario}\nQuestion: {question.question}"
    return f"Question: {question}"


def format_options(options: Sequence[Option]) -> str:
    """Format options for a prompt, one per line."""
    return "\n".join(f"{option.key}. {option.text}" for option in options)


def choose(question: Question, options: Sequence[Option], rationale: str = "") -> str:
    """Return a prompt that asks for one option. `rationale` precedes the answer."""
    parts = (
        CHOOSE[type(question)],
        to_prompt(question),
        format_options(options),
        rationale,
        "Answer:",
    )
    return "\n".join(part for part in parts if part)
