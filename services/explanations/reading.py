"""Finds the outcome of a model's answer: a decision, a refusal, or unreadable.

A decision in a fixed format is parsed exactly. Prose is read by a small text classifier (the
trained reader) with the function that the caller passes as `prose`. If an answer is cut off, only
the fixed format counts, since prose might still change direction. Source: the answers of guards:
§3.1."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise

from services.explanations.answer import Answer
from services.explanations.prompts import ElicitationPrompt
from shared.contracts.elicitation import ExplanationsObstacle, Outcome
from shared.contracts.explanation_fields import fields_in
from shared.readers.decision_words import HATEFUL, NO, NOT, YES, side_of
from shared.readers.model import LABELS, ask
from shared.readers.structured import DATA, read_structured
from shared.readers.verdict import LONGEST
from shared.reports.metric import StatedDecision
from shared.text.normalized import NormalizedText, normalize
from shared.text.sentences import sentences

# The lowest probability of a refusal. The reader is nearly as sure about answers that settle
# nothing: at .7 it takes half of them for refusals.
SURE_OF_REFUSAL = 0.98
REFUSAL = LABELS["refusal"].index("refusal")

Prose = Callable[[str], StatedDecision | None]
Words = Callable[[str], str | None]


@dataclass(frozen=True)
class AnswerOutcome:
    """The outcome of an answer: a decision, or the reason why there is none."""

    outcome: Outcome
    decision: StatedDecision | None = None
    obstacle: ExplanationsObstacle | None = None


def read_answer(
    answer: Answer, prompt: ElicitationPrompt, prose: Prose, target_label: str | None = None
) -> AnswerOutcome:
    """Find the decision or refusal in an answer. `prose` reads a decision that has no fixed format.
    `target_label` is the label that the request names. Raises Unavailable if the trained text
    classifier is not available."""
    text = answer.own_text
    if answer.cut:
        detail = "the model used all its tokens for reasoning; raise the token limit"
        return _without("unparsable", "answer-cut-by-reasoning", detail)
    if not text.strip():
        return _without("unparsable", "conclusion-unread", "the model returned an empty answer")
    decision = None
    if target_label is None:

        def read_prose(passage: str) -> StatedDecision | None:
            return None if _refuses(passage) else prose(passage)

        decision = read_decision(text, prompt, read_prose, breaks_off=answer.breaks_off)
    if decision is None and _refuses(text):
        return _without("refused", "refused", "the model refuses to decide or to explain")
    if target_label is not None:
        decision = StatedDecision(label=target_label, start=0, end=0, words=(0, 0))
    if decision is not None:
        return AnswerOutcome("answered", decision)
    cause = ", which was cut at the token limit; raise the limit" if answer.breaks_off else ""
    detail = f"no decision can be read from the answer{cause}"
    return _without("unparsable", "conclusion-unread", detail)


def read_decision(
    text: str, prompt: ElicitationPrompt, prose: Prose, *, breaks_off: bool = False
) -> StatedDecision | None:
    """Return the decision in an answer, or None. `prose` reads answers without a fixed format."""
    normalized = normalize(text)
    is_hate = decides_if_hateful(prompt)
    if is_hate and (guard := _GUARD.match(normalized.text)) is not None:
        return _of_guard(normalized, guard)
    if prompt.reader != "haf":
        words = _words(prompt)
        if (field_decision := _field_decision(text, words)) is not None:
            return field_decision
        stated = read_structured(normalized.text, words)
        if stated is not None and stated.label is not None:
            at_end = stated.words[1] >= len(normalized.text.rstrip())
            if not (breaks_off and at_end):  # "Hateful" may be about to become "Hateful or not"
                return _decision(normalized, stated.label, stated.span, stated.words)
        if stated is not None:
            return None
        if prompt.reader == "labels":
            return _first_label(normalized, words)
    if breaks_off or DATA.match(normalized.text):
        return None
    decision = prose(text)
    return _with_label(text, decision) if decision and is_hate else decision


_DECISION = re.compile(r"\"decision\"\s*:\s*\"(?P<label>[^\"]*)\"")


def _field_decision(text: str, words: Words) -> StatedDecision | None:
    """Return the decision of an answer that is a JSON object with the fields of an explanation."""
    fields = fields_in(text)
    label = words(fields.decision) if fields is not None and fields.decision else None
    matches = list(_DECISION.finditer(text)) if label is not None else []
    if label is None or not matches:
        return None
    start, end = matches[-1].span()
    return StatedDecision(label=label, start=start, end=end, words=matches[-1].span("label"))


def decides_if_hateful(prompt: ElicitationPrompt) -> bool:
    """True if the prompt's possible decisions are hateful and non-hateful."""
    return prompt.reader == "hatexscore"


def _words(prompt: ElicitationPrompt) -> Words:
    if prompt.reader == "labels":
        labels = {_folded(label): label for label in prompt.labels}
        return lambda phrase: labels.get(_folded(phrase))
    if not is_asked_if_hateful(f"{prompt.system or ''}\n{prompt.user}"):
        return side_of
    return lambda phrase: side_of(phrase) or _yes_or_no(phrase)


def _folded(label: str) -> str:
    return " ".join(label.casefold().replace("_", " ").split())


def _yes_or_no(phrase: str) -> str | None:
    if re.fullmatch(YES, phrase, re.IGNORECASE):
        return "hateful"
    return "non-hateful" if re.fullmatch(NO, phrase, re.IGNORECASE) else None


_QUESTION = re.compile(r"[^?？.。!！\n]{1,400}[?？]")  # the last sentence, to its mark
_ASKS_IF_HATEFUL = re.compile(
    rf"(?=.*{HATEFUL}|.*\bhatred\b)"
    r"(?:\W*(?:please\s+)?(?:\w+[\s,:]+){0,12}?(?:is|are|does|do|would)\b|.*(?:吗|까|나요|가요)[?？]|.*是否)",
    re.IGNORECASE | re.DOTALL,
)
_ASKS_OTHERWISE = re.compile(
    r"\b(?:what|which|who|whom|whose|why|how|where|when|not|non|no|or|free|without|lack\w*|harmless"
    r"|acceptable|safe|allowed)\b|n['\u2019]t\b|[不非没无]|还是|或|아니|아닌|않|없|비(?=혐오|증오)",
    re.IGNORECASE,
)


def is_asked_if_hateful(prompt: str) -> bool:
    """True if the prompt's only question asks whether a text is hateful, such as "Is this post
    hateful?"."""
    questions: list[str] = _QUESTION.findall(prompt)
    return (
        len(questions) == 1
        and _ASKS_IF_HATEFUL.match(questions[0]) is not None
        and _ASKS_OTHERWISE.search(questions[0]) is None
    )


# Llama Guard calls hate S10, Qwen3Guard and others spell categories out, NeMo's write JSON, and
# WildGuard says whether the request is harmful. The post is the user's turn.
_GUARD = re.compile(
    r"[\W_]*(?:(?:(?:content|prompt|user)\s)?(?:safety|moderation)[\W_]{1,6})?(?P<safety>(?:un)?safe)\b"
    r"(?P<response>[\W_]*(?:response|agent|assistant)\ssafety[\W_]{1,6}(?:un)?safe\b)?[\W_]*"
    r"(?:(?P<listed>[SO]\d{1,2}\b[^\n]*|none\b|(?:\w+\s)?categor(?:y|ies)\W[^\n]*(?:\n\s*[^\n\w]*\w[^\n]*){0,3})[\W_]*)?\Z"
    r"|[\W_]*harmful\s(?:request|prompt)[\W_]{1,6}(?P<harm>yes|no)\b",
    re.IGNORECASE,
)
_OF_HATE = re.compile(r"\bS10\b|\bhat(?:e|eful|red)\b", re.IGNORECASE)


def _of_guard(normalized: NormalizedText, guard: re.Match[str]) -> StatedDecision | None:
    """Read a guard model's answer. "Safe" is not hateful; "unsafe" is hateful if its categories
    include hate."""
    if guard["harm"]:
        if guard["harm"].lower() == "yes":
            return None
        return _decision(normalized, "non-hateful", guard.span(), guard.span("harm"))
    is_safe = guard["safety"].lower() == "safe"
    is_of_hate = _OF_HATE.search(guard["listed"] or "") is not None
    if is_safe == is_of_hate:
        return None
    label = "non-hateful" if is_safe else "hateful"
    return _decision(normalized, label, guard.span(), guard.span("safety"))


def _with_label(text: str, decision: StatedDecision) -> StatedDecision:
    """Return the decision with `words` set to the last label in its sentence. Without a label the
    decision is unchanged."""
    labels = [match.span() for match in _LABEL.finditer(text, decision.start, decision.end)]
    return replace(decision, words=labels[-1]) if labels else decision


_LABEL = re.compile(f"{NOT}?{HATEFUL}", re.IGNORECASE)


def _first_label(normalized: NormalizedText, words: Words) -> StatedDecision | None:
    """Return the decision if the first sentence has exactly one label and starts with it or
    consists of it."""
    if not (spans := sentences(normalized.text)):
        return None
    start, end = spans[0]
    borders = [match.span() for match in _BORDER.finditer(normalized.text, start, end)]
    labels: dict[str, tuple[int, int]] = {}
    for first, last in pairwise([(start, start), *borders, (end, end)]):
        span = first[1], last[0]
        stated = read_structured(normalized.text[slice(*span)].strip(), words)
        if stated is not None and stated.label is not None:
            labels.setdefault(stated.label, span)
    if len(labels) != 1:
        return None
    [(label, span)] = labels.items()
    return _decision(normalized, label, (start, end), span)


_BORDER = re.compile(r"[,;:]|\b(?:because|since)\b|\s-\s")


def _decision(
    normalized: NormalizedText, label: str, span: tuple[int, int], words: tuple[int, int]
) -> StatedDecision:
    """Return the decision with offsets into the original answer. Punctuation around `words` is left
    out."""
    start, end = words
    letters = [index for index in range(start, end) if normalized.text[index].isalnum()]
    if letters:
        start, end = letters[0], letters[-1] + 1
    first, last = normalized.original(*span)
    return StatedDecision(label=label, start=first, end=last, words=normalized.original(start, end))


def _refuses(text: str) -> bool:
    normalized = normalize(text).text
    if not any(map(str.isalnum, normalized)):
        return False
    return (
        float(ask("refusal", [f"refusal: {normalized[:LONGEST]}"])[0, REFUSAL]) >= SURE_OF_REFUSAL
    )


def explanation_in(answer: str, after: str | None) -> str:
    """Return the explanation in an answer: the JSON field `after`, or else the text that follows
    the words `after`. Without a match, return the whole answer."""
    if after is None:
        return answer.strip()
    if (field := _field(answer, after)) is not None:
        return field
    head = re.search(re.escape(after), answer, re.IGNORECASE)
    return answer[head.end() :].strip().lstrip("*_ \n") if head else answer.strip()


def _field(answer: str, after: str) -> str | None:
    """Return the text of the JSON field named `after`, or None if the field is missing or cut
    off."""
    name = re.escape(after.strip(" :"))
    key = re.search(rf"\"{name}\"\s{{0,9}}:\s{{0,9}}(?=\")", answer, re.IGNORECASE)
    if key is None:
        return None
    try:
        value, _ = json.JSONDecoder(strict=False).raw_decode(answer, key.end())
    except ValueError:
        return None
    return str(value).strip()


def _without(outcome: Outcome, code: str, detail: str) -> AnswerOutcome:
    obstacle = ExplanationsObstacle.model_validate(
        {"component": "decision", "code": code, "detail": detail}
    )
    return AnswerOutcome(outcome, None, obstacle)
