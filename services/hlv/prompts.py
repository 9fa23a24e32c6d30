"""The judge's prompts, and parsers of its rankings and ratings.

A prompt has the question and the options. In one of two conditions it also has the explanations. It
never contains the humans' answers. The text around the explanations is not from the paper. The
parsers named `*_as_released` follow Evaluation/ of mainlp/CoT2EL, which scans single characters.
Source: Chen et al., EMNLP 2025, Tables 6, 9 and 10, Appendix D."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.hlv.contract import HlvRequest
from services.hlv.kernel import Floats, fractional_ranks
from shared.contracts.calls import Prompt, Turn
from shared.contracts.errors import BadInput
from shared.contracts.messages import MAX_TEXT
from shared.contracts.questions import (
    NliQuestion,
    Option,
    Scenario,
    choose,
    format_options,
    to_prompt,
)

RANK = {
    NliQuestion: "Please assess whether the following statement is true (entailment), undetermined "
    "(neutral), or false (contradiction) given the context below, rank all the following options "
    "from most appropriate to least appropriate.",
    Scenario: "Please read the following social scenario and the accompanying question, rank all "
    "the following options from best to worst based on relevance and appropriateness.",
    str: "Please read the following question, rank all the following options from best to worst "
    "based on relevance and appropriateness.",
}
ONLY_LETTERS = "Only output the letters representing the options, separated by spaces."
RATE = {
    NliQuestion: "Please rate the following answer based on its plausibility in representing the "
    "relationship between the context and the statement on the 5-Point Scale rating as below.",
    Scenario: "Please read the following social scenario and the accompanying question, rate the "
    "plausibility of the answer on the 5-Point Scale rating as below.",
    str: "Please read the following question, rate the plausibility of the answer on the 5-Point "
    "Scale rating as below.",
}
ONLY_AN_INTEGER = "Only output a single integer corresponding to your evaluation."
SCALE = """\
Plausibility Ratings:
1 = Impossible
2 = Technically Possible
3 = Plausible
4 = Likely
5 = Very Likely"""
CONSIDER = "Please take these rationales into account when making your decision."
LETTER = re.compile(r"(?<![A-Za-z])[A-Z](?![A-Za-z])")
# A list of letters that a colon introduces: nothing but separators before and between them.
COLON_LIST = re.compile(
    r":[\s*_`(\[>]*(?P<letters>[A-Z](?:[\s,;>()\[\].=*`|-]+[A-Z])*)(?![A-Za-z])"
)
SCALE_MENTION = re.compile(r"[1-5] *(?:-|–|to) *[1-5](?!\d)|5[ -]point", re.IGNORECASE)
INTEGER = re.compile(r"(?<![\d.])[1-5](?!\d|\.\d)")
STANCE = {"support": "Supporting", "oppose": "Opposing"}


@dataclass(frozen=True)
class OptionLetters:
    """The options as the judge sees them: the letters are fixed, and the texts are rotated."""

    options: tuple[Option, ...]
    keys: dict[str, str]  # letter → the key of the request's option

    @property
    def letters(self) -> tuple[str, ...]:
        return tuple(option.key for option in self.options)

    def letter(self, key: str) -> str:
        """Return the letter under which the option `key` is shown."""
        return next(letter for letter, option in self.keys.items() if option == key)


def rotate_options(options: Sequence[Option], by: int) -> OptionLetters:
    """Return the options with their texts rotated: letter i gets the text of option i + by."""
    rotated = [options[(index + by) % len(options)] for index in range(len(options))]
    pairs = list(zip(options, rotated, strict=True))
    return OptionLetters(
        tuple(Option(key=letter.key, text=option.text) for letter, option in pairs),
        {letter.key: option.key for letter, option in pairs},
    )


def rationale(request: HlvRequest, lettered: OptionLetters) -> str:
    """Return the text with the explanations for a prompt, or "" if the request has none."""
    lines = [request.rationale] if request.rationale else []
    for option in lettered.options:
        lines += [
            f"- {STANCE[explanation.stance]} {option.key}. {option.text}: {explanation.explanation}"
            for explanation in request.explanations
            if explanation.label == lettered.keys[option.key]
        ]
    return "\n".join(["Rationales:", *lines, CONSIDER]) if lines else ""


def rank_prompt(request: HlvRequest, lettered: OptionLetters, block: str) -> str:
    """Return the prompt that asks to order the options from best to worst (Table 9 of the HLV
    paper)."""
    question = request.question
    parts = (
        f"{RANK[type(question)]} {ONLY_LETTERS}",
        to_prompt(question),
        format_options(lettered.options),
    )
    return "\n".join(part for part in (*parts, block, "Answer:") if part)


def score_prompt(request: HlvRequest, option: Option, block: str) -> str:
    """Return the prompt that asks to rate one option from 1 to 5 (Table 10 of the HLV paper)."""
    question = request.question
    parts = (
        f"{RATE[type(question)]} {ONLY_AN_INTEGER}",
        to_prompt(question),
        f"Answer: {option.text}",
    )
    return "\n".join(part for part in (*parts, SCALE, block, "Rating:") if part)


def choice_prompt(request: HlvRequest, lettered: OptionLetters, block: str) -> str:
    """Return the prompt that asks to choose one option and begin with its letter (Table 6 of the
    HLV paper)."""
    return choose(request.question, lettered.options, block)


def as_prompt(text: str, *, chat: bool) -> Prompt:
    """Return the text as a user's turn, or as raw text. Raises BadInput if it is too long to
    send."""
    check_length(text)
    return Prompt(turns=(Turn(role="user", content=text),)) if chat else Prompt(text=text)


def check_length(text: str) -> None:
    """Raise BadInput if a prompt is too long to send."""
    if len(text) > MAX_TEXT:
        raise BadInput(
            f"the prompt with question, options and explanations has {len(text):,} characters; "
            f"shorten them, because at most {MAX_TEXT:,} are allowed",
            pointer="/explanations",
        )


def parse_ranking(raw: str, keys: Sequence[str]) -> list[str]:
    """Return the options in the order of their first mention, or [] if there is no ranking.

    A mention is a letter of `keys` that stands alone. If a colon introduces a list of letters
    ("the ranking is: C B A"), only text after the colon counts. The longest list counts, and
    among equally long ones the last. Several lists with one letter each do not count ("1: C, 2:
    A")."""
    lists = [
        (len(set(LETTER.findall(match["letters"])) & set(keys)), match.start("letters"))
        for match in COLON_LIST.finditer(raw)
    ]
    longest, begin = max(lists, default=(0, 0))
    listing = raw[begin:] if longest > 1 or (longest == 1 == len(lists)) else raw
    return list(dict.fromkeys(letter for letter in LETTER.findall(listing) if letter in keys))


def parse_ranking_as_released(raw: str, keys: Sequence[str]) -> list[str]:
    """Return every character that is a key, even within words, in the order of first occurrence."""
    return list(dict.fromkeys(letter for letter in raw.upper() if letter in keys))


def ranks_of(order: Sequence[str], keys: Sequence[str]) -> Floats:
    """Return n ranks of the keys, where 1 is best. Keys that are not mentioned tie for last."""
    positions = [order.index(key) if key in order else len(order) for key in keys]
    return fractional_ranks(np.array(positions, dtype=np.float64), higher_is_better=False)


def parse_rating(raw: str) -> int | None:
    """Return the first standalone integer from 1 to 5, or None. Names of the scale ("from 1 to 5",
    "5-point") do not count."""
    match = INTEGER.search(SCALE_MENTION.sub(" ", raw))
    return int(match[0]) if match else None


def parse_rating_as_released(raw: str) -> int:
    """Return the first character if it is a digit, else 1. "Rating: 4" gives 1, and "9 of 10" gives
    9."""
    start = raw.strip()[:1]
    return int(start) if start.isascii() and start.isdigit() else 1
