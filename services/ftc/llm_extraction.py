"""Counterfactuals by a language model in two steps: extract A and B, then rewrite the hypothesis.

Each label has twenty examples, written for this project (`data/prompts/`, versioned). Decoding is
greedy and stops at the end of the line. Source: Sia et al., AAAI 2023, arXiv:2205.12469, section
2.4 and Tables 13 and 14.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from services.ftc.contract import FtcRequest
from services.ftc.counterfactuals import FOUND, GRACE, MOST_GROWTH, same_words
from services.ftc.grammar import is_sentence
from services.ftc.phrases import MOST_CHARACTERS, coverage, parse, stems
from services.ftc.report import Kind, NliLabel
from shared.contracts.calls import Prompt, Sampling
from shared.models.ports import models

FOLDER = Path(__file__).parent / "data" / "prompts"
GREEDY = Sampling(temperature=0, top_p=1, max_tokens=96, stop=("\n\n",))

# Both groups hold the blanks around them.
_SPANS = re.compile(r"\s*+(?:A:)?(?P<a>[^\n]++)\n\s*+B:(?P<b>[^\n]++)")
_BOTH = re.compile(r"\s*+(?:A:)?\s*(?P<a>[^\n]+?);\s*+B:(?P<b>[^\n]++)")
MOST_ANSWER = 4 * MOST_CHARACTERS  # of a line: both hypotheses would be too long

LabelledRequest = tuple[FtcRequest, NliLabel]


@dataclass(frozen=True, slots=True)
class GeneratedCounterfactual:
    spans: tuple[str, ...]  # A and B, or nothing
    texts: tuple[tuple[Kind, str], ...]
    completions: tuple[str, ...]
    reason: str | None  # why there is no counterfactual


def write_counterfactuals(requests: Sequence[LabelledRequest]) -> list[GeneratedCounterfactual]:
    """Return a counterfactual for each request, in order. Each of the two steps makes one call per
    model."""
    first = _generate(
        requests, [extraction_prompt(r.explanation_text, label) for r, label in requests]
    )
    spans = [parse_spans(text) for text in first]
    located = [pair for pair, span in zip(requests, spans, strict=True) if span]
    prompts = [
        transformation_prompt(request.hypothesis, span, label)
        for (request, label), span in zip(requests, spans, strict=True)
        if span
    ]
    second = iter(_generate(located, prompts))
    return [
        _counterfactuals_of(pair, text, span, next(second) if span else None)
        for pair, text, span in zip(requests, first, spans, strict=True)
    ]


def _generate(requests: Sequence[LabelledRequest], prompts: Sequence[str]) -> list[str]:
    """Return the completions, in order. Requests may name different models."""
    completions: dict[int, str] = {}
    names = [request.writer or "" for request, _ in requests]
    for name in dict.fromkeys(names):
        indices = [i for i, other in enumerate(names) if other == name]
        distinct = list(dict.fromkeys(prompts[i] for i in indices))
        written = models().writer(name).generate([Prompt(text=text) for text in distinct], GREEDY)
        by_prompt = {
            text: completion.text for text, completion in zip(distinct, written, strict=True)
        }
        completions |= {i: by_prompt[prompts[i]] for i in indices}
    return [completions[i] for i in range(len(requests))]


@lru_cache(maxsize=3)
def examples(label: NliLabel) -> tuple[dict[str, str], ...]:
    content: dict[str, Any] = json.loads((FOLDER / f"{label}.json").read_text("utf-8"))
    return tuple(content["examples"])


def extraction_prompt(explanation: str, label: NliLabel) -> str:
    """Return the prompt that asks for the spans A and B of an explanation. It contains neither the
    hypothesis nor the premise."""
    blocks = [f"Explanation: {e['explanation']}\nA: {e['a']}\nB: {e['b']}" for e in examples(label)]
    return "\n\n".join([*blocks, f"Explanation: {_line(explanation)}\nA:"])


def transformation_prompt(hypothesis: str, spans: tuple[str, str], label: NliLabel) -> str:
    """Return the prompt that asks to rewrite the hypothesis. The prompt does not contain the
    explanation. A is the span that the hypothesis contains. For a neutral label, A is instead the
    part that is true."""
    blocks = [
        f"{_format_input(e['hypothesis'], (e['a'], e['b']), label)} {_format_output(e, label)}"
        for e in examples(label)
    ]
    return "\n\n".join([*blocks, _format_input(_line(hypothesis), spans, label)])


def _format_input(hypothesis: str, spans: tuple[str, str], label: NliLabel) -> str:
    a, b = spans if label == "neutral" else order_spans(hypothesis, *spans)
    return f"Hypothesis: {hypothesis}\nA: {a}\nB: {b}\nCounterfactual:"


def _format_output(example: dict[str, str], label: NliLabel) -> str:
    if label == "neutral":
        return f"A: {example['counterfactual_a']}; B: {example['counterfactual_b']}"
    return example["counterfactual"]


def order_spans(hypothesis: str, a: str, b: str) -> tuple[str, str]:
    """Return both spans, first the one that the hypothesis contains. A tie keeps the order."""
    whole = stems(parse(hypothesis[:MOST_CHARACTERS]))
    shares = [coverage(stems(parse(side[:MOST_CHARACTERS])), whole) for side in (a, b)]
    return (b, a) if shares[1] > shares[0] else (a, b)


def _line(text: str) -> str:
    return " ".join(text.split())


def parse_spans(completion: str) -> tuple[str, str] | None:
    """Return the spans of the lines "A:" and "B:" in the model's answer, or None if the answer
    cannot be parsed."""
    match = _SPANS.match(completion)
    if match is None:
        return None
    a, b = match.group("a").strip(), match.group("b").strip()
    return (a, b) if a and b else None


def _counterfactuals_of(
    labelled: LabelledRequest, first: str, spans: tuple[str, str] | None, second: str | None
) -> GeneratedCounterfactual:
    if spans is None or second is None:
        return GeneratedCounterfactual(
            (), (), (first,), "the language model's answer contains no spans"
        )
    request, label = labelled
    whole = stems(parse(request.hypothesis[:MOST_CHARACTERS]))
    share = max(coverage(stems(parse(side[:MOST_CHARACTERS])), whole) for side in spans)
    if share < FOUND:
        return GeneratedCounterfactual(
            spans,
            (),
            (first, second),
            "the hypothesis contains neither of the explanation's two spans",
        )
    texts, reason = _counterfactuals(request.hypothesis, label, second)
    return GeneratedCounterfactual(spans, texts, (first, second), reason)


def _counterfactuals(
    hypothesis: str, label: NliLabel, completion: str
) -> tuple[tuple[tuple[Kind, str], ...], str | None]:
    line = completion.strip().split("\n")[0].strip()
    texts: tuple[tuple[Kind, str], ...] = (("substituted", line),)
    if label == "neutral":
        match = _BOTH.match(line[:MOST_ANSWER])
        if match is None:
            return (), "the language model did not write both counterfactuals"
        texts = (("a", match.group("a").strip()), ("b", match.group("b").strip()))
    reasons = [reason for kind, text in texts if (reason := invalid_reason(kind, text, hypothesis))]
    return ((), reasons[0]) if reasons else (texts, None)


def invalid_reason(kind: Kind, text: str, hypothesis: str) -> str | None:
    """Return the reason why a counterfactual is not usable, or None if it is usable."""
    if not any(c.isalnum() for c in text):
        return "the language model returned an empty answer"
    if (
        len(text) > MOST_CHARACTERS
        or len(text.split()) > MOST_GROWTH * len(hypothesis.split()) + GRACE
    ):
        return "the new hypothesis is too long"
    if kind != "b" and same_words(text, hypothesis):
        return "the new hypothesis is the same as the original"
    return None if is_sentence(text) else "the new hypothesis does not parse as a sentence"
