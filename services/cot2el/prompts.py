"""What the language model reads in the three stages.

Source: Chen et al., EMNLP 2025, Tables 6 and 7. Both sides are asked for: asked for support alone,
a model mixes in what opposes (footnote 6).
"""

from __future__ import annotations

from services.cot2el.contract import Cot2elRequest
from shared.contracts import MAX_TEXT
from shared.errors import BadInput
from shared.models.calls import Prompt, Turn
from shared.questions import choose

PARSE = """\
The content of your reasoning process is below:
{reasoning}
Please extract and list all the original sentences from the aforementioned reasoning process that \
support and oppose each option separately."""

STRUCTURE = """\
Convert the given markdown into a structured JSON where each option has two keys: support and \
oppose. Each key should map to a list of statements from the markdown that either support or \
oppose that option.
EXAMPLE JSON OUTPUT:
{
  "Option A": {"support": ["SentenceA.1", "SentenceA.2"], "oppose": ["SentenceA.3"]},
  "Option B": {"support": ["SentenceB.1"], "oppose": []}
}"""


def think(request: Cot2elRequest) -> Prompt:
    """Stage 1, Table 6: choose an option; the reasoning before the answer is what we want."""
    return _prompt(_turn("user", choose(request.question, request.options)))


def parse(request: Cot2elRequest, reasoning: str, answer: str | None) -> Prompt:
    """Stage 2, Table 7: what supports and what opposes each option?

    Without an answer there is no assistant's turn, and the two questions are one turn: many chat
    templates want turns to alternate.
    """
    question = choose(request.question, request.options)
    ask = PARSE.replace("{reasoning}", reasoning)
    if answer is None:
        return _prompt(_turn("user", f"{question}\n\n{ask}"))
    return _prompt(_turn("user", question), _turn("assistant", answer), _turn("user", ask))


def structure(parsed: str) -> Prompt:
    """Stage 3, Table 7: the parse as JSON."""
    return _prompt(_turn("system", STRUCTURE), _turn("user", parsed))


def _turn(role: str, content: str) -> Turn:
    if len(content) > MAX_TEXT:
        raise BadInput(
            f"question and reasoning make a prompt of {len(content):,} characters; {MAX_TEXT:,} "
            "at most",
            pointer="/reasoning",
        )
    return Turn.model_validate({"role": role, "content": content})


def _prompt(*turns: Turn) -> Prompt:
    return Prompt(turns=turns)
