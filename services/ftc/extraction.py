"""Builds counterfactuals by rules, sentence by sentence and pattern by pattern, until one passes
all checks.

A pattern is a relation that explanations express, matched at the beginning of a sentence. Its
number is that of Tables 15 to 17, after Camburu et al. (2019); `X` marks our own. Source: Sia et
al., AAAI 2023, arXiv:2205.12469, section 2.4, "Extract and Transform with Regex".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from services.ftc import counterfactuals
from services.ftc.counterfactuals import PREDICATES, EditedHypothesis, Slot
from services.ftc.phrases import (
    MOST_CHARACTERS,
    Phrase,
    Shape,
    coverage,
    negated,
    phrase,
    shape,
    stems,
)
from services.ftc.report import NliLabel
from shared.text.english import straighten_apostrophes

MOST_SENTENCES = 10
MOST_PARTS = 12  # between commas, of all sentences together: each may take three parses of 10 ms
RESTATED = 0.6  # share of stems that a sentence and the hypothesis must have in common
LENGTHS = 8.0  # the longer span has at most so many times the words of the shorter
_SENTENCE = re.compile(r"(?:[^.!?;\n]|[.](?=\S))+")
_PART = re.compile(r"[^,]+")
_LEAD = re.compile(
    r"\s*(?:(?:so|and|but|also|then|because|since|therefore|thus|as)\s+(?!long))?", re.I
)


@dataclass(frozen=True, slots=True)
class Extracted:
    """The spans A and B, as offsets into the explanation, the rule that found them, and the
    counterfactuals."""

    rule: str | None
    a: Phrase | None
    b: Phrase | None
    made: tuple[EditedHypothesis, ...]
    reason: str | None  # why nothing was made


def extract(label: NliLabel, hypothesis: str, explanation: str, *, printed: bool) -> Extracted:
    """Build counterfactuals from the relation that the explanation states. With `printed`, only the
    paper's patterns apply."""
    built = shape(hypothesis) if len(hypothesis) <= MOST_CHARACTERS else None
    if built is None:
        return Extracted(None, None, None, (), "the hypothesis is empty or too long")
    reason = "no pattern for this label matches the explanation"
    for rule, a, b in _candidates(label, explanation, printed=printed):
        edits = _transformed(label, built, a, b)
        if isinstance(edits, tuple):
            return Extracted(f"{label} {rule}", a, b, edits, None)
        reason = f"{label} {rule}: {edits}"
    return Extracted(None, None, None, (), reason)


def _candidates(
    label: NliLabel, explanation: str, *, printed: bool
) -> Iterator[tuple[str, Phrase | None, Phrase]]:
    """Yield (rule, A, B) for every pattern that matches a sentence, in order. A and B are the two
    matched phrases; A may be None."""
    text, positions = _normalize_space(straighten_apostrophes(explanation))
    for start, end in _sentences(text, parts=not printed):
        if start == end or positions[end - 1] - positions[start] >= MOST_CHARACTERS:
            continue
        for pattern in PATTERNS[label]:
            if printed and not pattern.printed:
                continue
            match = pattern.expression.match(text, start, end)
            if match is not None:
                yield from _spans(pattern, match, (explanation, positions))


def _normalize_space(text: str) -> tuple[str, list[int]]:
    """Collapse runs of white space, and return the original position of each remaining character.
    This keeps pattern matching fast."""
    blank = [character.isspace() and character != "\n" for character in text]
    positions = [i for i in range(len(text)) if not (i and blank[i] and blank[i - 1])]
    return "".join(text[i] for i in positions), positions


def _sentences(text: str, *, parts: bool) -> Iterator[tuple[int, int]]:
    """Yield the span of each sentence, followed by its parts between commas. Leading connectives
    are left out."""
    parts_left = MOST_PARTS if parts else 0
    for sentence in list(_SENTENCE.finditer(text))[:MOST_SENTENCES]:
        spans = [sentence.span()]
        if "," in sentence.group():
            in_sentence = islice(_PART.finditer(text, *sentence.span()), parts_left)
            spans += [part.span() for part in in_sentence]
            parts_left -= len(spans) - 1
        for start, end in spans:
            if end - start <= MOST_CHARACTERS:
                lead = _LEAD.match(text, start, end)
                yield (lead.end() if lead else start), end


def _spans(
    pattern: Pattern, match: re.Match[str], whole: tuple[str, list[int]]
) -> Iterator[tuple[str, Phrase | None, Phrase]]:
    """Yield (name of the pattern, phrase A, phrase B) for a match. Yield nothing if a phrase is
    invalid or the phrases differ very much in length. `whole` is the explanation with its
    characters' original positions."""
    explanation, positions = whole
    b = phrase(explanation, *_original_span(match.span("b"), positions))
    named = "a" in pattern.expression.groupindex and match.group("a") is not None
    a = phrase(explanation, *_original_span(match.span("a"), positions)) if named else None
    if b is None or (named and a is None):
        return
    if a is not None and not 1 / LENGTHS <= len(a.words) / len(b.words) <= LENGTHS:
        return
    yield pattern.name, a, b


def _original_span(span: tuple[int, int], places: list[int]) -> tuple[int, int]:
    """Map a non-empty span to positions in the original text. `places` has the original position of
    each character."""
    return places[span[0]], places[span[1] - 1] + 1


def _transformed(
    label: NliLabel, built: Shape, a: Phrase | None, b: Phrase
) -> tuple[EditedHypothesis, ...] | str:
    if label == "neutral":
        return counterfactuals.neutral_pair(built, a, b)
    if any(negated(side.words) for side in (a, b) if side is not None):
        return "a span of the explanation is negated"
    edit = _one(label, built, a, b)
    return (edit,) if isinstance(edit, EditedHypothesis) else edit


def _one(label: NliLabel, built: Shape, a: Phrase | None, b: Phrase) -> EditedHypothesis | str:
    if a is None:  # a whole sentence: it must speak of the same as the hypothesis
        held = stems(built.words)
        if b.type != "clause" or max(coverage(held, b.stems), coverage(b.stems, held)) < RESTATED:
            return "the explanation's sentence does not restate the hypothesis"
        return counterfactuals.fill_slot("substituted", Slot(built, "clause"), b)
    edit = counterfactuals.substitute(built, a, b)
    if isinstance(edit, EditedHypothesis) or label == "contradiction":
        return edit
    if a.type == "noun" and b.type in PREDICATES:
        return counterfactuals.restate(built, a, b)
    return edit


# ruff: noqa: E501 - a row of a table is one line


NOT = r"(?:\s?n['o]?t|\s+not)"
BE = r"(?:is|are|was|were|'re)"
BENT = rf"{BE}{NOT}"
CAN = r"(?:can|could|may|might)"
CANT = rf"(?:can\s?not|ca\s?n'?t|could{NOT}|may{NOT}|would{NOT}|is unable to|are unable to)"
CANT_BE = rf"{CANT}(?:\s+both|\s+simultaneously|\s+also)*"
SIM = r"(?:at the same (?:time|moment)|simultaneously|at once)"
DOESNT = rf"(?:does|do|did){NOT}"
MEAN = r"(?:necessarily\s+)?(?:mean|make|imply|indicate|suggest|entail|prove)s?(?:\s+that)?"
WHO = r"(?:he|she|they|it|you|one|someone|there|the \w+)"
KNOW = r"(?:know|tell|infer|assume|say|conclude|be (?:sure|certain))"
WE = r"(?:we|you|one|i|it)"
A, B = r"(?P<a>.+?)", r"(?P<b>.+)"
SHORT_B = r"(?P<b>.+?)"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern for a relation between two phrases. Group `b` always matches, and group `a` is
    optional."""

    name: str
    expression: re.Pattern[str]
    printed: bool  # in the paper's tables


def _pattern(name: str, expression: str) -> Pattern:
    return Pattern(name, re.compile(expression, re.IGNORECASE), "X" not in name)


_ENTAILMENT = {
    "P5": rf"if {A},?\s+then\s+{B}",
    "P3": rf"{A}\s+and\s+{SHORT_B}\s+{BE}\s+synonym(?:s|ous)\b",
    "P4": rf"{A}\s+and\s+{SHORT_B}\s+{BE}\s+(?:the|both the)\s+same\b",
    "X1": rf"{A}\s+(?:{BE}|can be called|{CAN} be)\s+(?:just |simply )?(?:the same (?:thing )?as|same as|"
    rf"equal to|equivalent to|similar to|considered|referred to as|defined as|known as|part of)\s+{B}",
    "P2": rf"{A}\s+(?:implies|imply|implying)\s+(?:that\s+)?{B}",
    "P1": rf"{A}\s+{BE}\s+(?:a (?:type|kind|form|way|synonym|paraphrase|rephrasing|sort)(?: of)?(?: saying)?"
    rf"|another (?:form|way|word)(?: of| for| to)?(?: saying| say)?|a (?:less|more) \w+ way of saying"
    rf"|the same as|synonymous with)\s+{B}",
    "X2": rf"{A}\s+(?:means?|meaning|indicates?|suggests?|refers? to|paraphrases|shows?|denotes|"
    rf"constitutes?|requires?|involves?)\s+(?:that\s+)?{B}",
    "X3": rf"{A},?\s+(?:because|since|as|when|while)\s+{B}",
    "X4": rf"(?:if|since|because|when|as)\s+{A}\s*,\s*{B}",
    "P6": rf"{A},?\s+(?:then|so|hence|therefore|thus|must be|has to be|have to be)\s+{B}",
    "P1b": rf"{A}\s+{BE}\s+(?P<b>(?:a|an)\s+.+)",
    "P7": rf"{A}\s+{BE}\s+{B}",
    "X5": r"(?P<b>.+)",
}

_CONTRADICTION = {
    "P2": rf"(?:.*?\s)?{CANT_BE}\s+(?:be\s+)?(?:either\s+)?{A}\s+(?:and|or|and also)\s+(?:be\s+)?"
    rf"{SHORT_B}\s*,?\s+{SIM}",
    "X1": rf"(?:.*?\s)?{CANT_BE}\s+(?:be\s+)?(?:both\s+)?{A}\s+{SIM}\s*,?\s+(?:as|that|while|and)\s+"
    rf"(?:{WHO}\s+{BE}\s+)?(?:be(?:ing)?\s+)?{B}",
    "P9": rf"(?:.*?\s)?{CANT_BE}\s+(?:be\s+)?{A}\s+(?:if|when|while|as|because|since)\s+"
    rf"{WHO}\s+{BE}\s+{B}",
    "P8": rf"(?:.*?\s)?{CANT_BE}\s+(?:be\s+)?{A}\s+if\s+(?:be\s+)?{B}",
    "X2": rf"(?:if|when|while|since|as)\s+(?:.+?\s+{BE}\s+)?{A}\s*,?\s+(?:then\s+)?{WHO}\s+"
    rf"(?:{CANT_BE}\s+(?:be\s+)?|{BENT}\s+){B}",
    "P10": rf"{A}\s+(?:and|vs|versus)\s+{SHORT_B}\s+{BE}\s+(?:two\s+)?(?:very\s+|completely\s+)?"
    r"(?:different|opposites?|not the same|contradictory|mutually exclusive)\b.*",
    "X3": rf"{A}\s+and\s+{SHORT_B}\s+{BENT}\s+(?:the same|similar|equal|synonym)\b.*",
    "P5": rf"(?:.*?\s)?(?:{BE}|{CAN}(?:\s+only)?(?:\s+be)?|there {BE})?\s*either\s+(?:be\s+)?{A}\s+or\s+"
    rf"(?:be\s+)?{B}",
    "P7": rf"{A}\s+{BE}\s+(?:very\s+|completely\s+)?(?:different|opposite)\s+(?:than|from|of|to)\s+{B}",
    "P4": rf"{A}\s+(?:{BENT}|{BE})\s+(?:the same (?:thing )?as|the opposite of|considered|equal to)\s+{B}",
    "P1": rf"{A}\s+{BENT}\s+(?P<b>(?:a|an)\s+.+)",
    "X4": rf"(?:.*?\s)?{CANT_BE}\s+(?:be\s+)?(?:both\s+)?{A}\s+(?:and|while|whilst|if|when|as|or)\s+"
    rf"(?:at the same time\s+)?(?:also\s+)?(?:be\s+|being\s+)?{B}",
    "P6": rf"{A}\s+{BENT}\s+{B}",
    "P11": rf"{A}\s+would{NOT}\s+be able to\s+{B}",
    "P3": rf"{A}\s+{CANT}\s+(?:be\s+)?{B}",
    "P13": rf"{CANT}\s+{A}\s+if\s+{B}",
    "X5": rf"(?:.*?\s{BE}\s+)?{A}\s*(?:,|,?\s+and|,?\s+but)\s+not\s+{B}",
    "X6": rf"(?:.*?\s{BE}\s+)?{A}\s*,?\s+(?:instead of|rather than|as opposed to|versus|vs)\s+{B}",
    "X7": rf"{A}\s+{DOESNT}\s+(?:{MEAN}|involve|equal)\s+{B}",
}

_NEUTRAL = {
    "P4": rf"(?:just\s+)?because\s+{A}\s*,?\s+(?:it\s+|that\s+|this\s+)?{DOESNT}\s+{MEAN}\s+{B}",
    "X1": rf"(?:just\s+)?because\s+{A}\s*,?\s+(?:we|you|one)\s+{CANT}\s+{KNOW}\s+(?:that\s+|if\s+)?{B}",
    "P19": rf"it\s+{CANT}\s+be\s+(?:assumed|inferred|known)\s+(?:that\s+)?{B}",
    "P12": rf"(?:.*?\s)?{WE}\s+(?:{CANT}|{DOESNT})\s+(?:just\s+|necessarily\s+)?{KNOW}\s+"
    rf"(?:if|whether|that)?\s*{B}",
    "P24": rf"(?:there\s+{BE}\s+)?no\s+(?:way to (?:know|tell)|indication|evidence|mention|proof|information)"
    rf"\s*(?:if|whether|that|of|about)?\s*{B}",
    "P22": rf"there\s+{BENT}\s+(?:any\s+|enough\s+)?(?:evidence|indication|proof|information|mention)\s+"
    rf"(?:to \w+\s+)?(?:if|whether|that|of)?\s*{B}",
    "P1": rf"not\s+(?:all|every|each|many)\s+(?:of\s+)?{A}\s+(?:{BE}|can be|must be|have to be|need to be)\s+"
    rf"(?:necessarily\s+)?{B}",
    "X2": rf"not\s+(?:all|every|each)\s+{B}",
    "P17": rf"not\s+everyone\s+(?:who\s+)?{A}\s+(?:will|{BE})\s+{B}",
    "P2": rf"there\s+{BE}\s+more\s+{A}\s+than\s+(?:just\s+)?{B}",
    "P14": rf"(?:this|that|it)\s+{DOESNT}\s+{MEAN}\s+{B}",
    "P8": rf"{A}\s*,?\s+(?:it\s+)?{DOESNT}\s+{MEAN}\s+{B}",
    "P15": rf"{A}\s+and\s+{SHORT_B}\s+{BE}\s+(?:two\s+)?different\b.*",
    "P10": rf"(?:.*?\s)?{CAN}\s+be\s+{A}\s*,?\s+(?:and\s+)?not\s+(?:just|only|necessarily)\s+{B}",
    "P9": rf"(?P<a>(?:.+?\s+)?{CAN}\s+.+?)\s+without\s+(?:being\s+|it being\s+|them being\s+)?{B}",
    "X3": rf"(?P<a>(?:.+?\s+)?{CAN}\s+.+?)\s+and\s+(?:still\s+)?not\s+(?:be\s+)?{B}",
    "X4": rf"(?P<a>.+?\s+{CAN}\s+.+?)\s+(?:other than|besides|aside from)\s+(?:just\s+)?{B}",
    "P23": rf"(?:.*?\s)?{DOESNT}\s+(?:necessarily\s+)?(?:have|need)\s+to\s+be\s+(?P<b>.+?)\s+(?:to|in order to)"
    r"\s+(?:be\s+)?(?P<a>.+)",
    "P6": rf"{A}\s+{DOESNT}\s+(?:necessarily\s+)?(?:have|need)\s+to\s+(?:be\s+)?{B}",
    "P5": rf"{A}\s+(?:{BENT}|{BE})\s+(?:necessarily|always|automatically)(?:\s+not)?\s+"
    rf"(?:assumed to be\s+|going to be\s+)?{B}",
    "X5": rf"{A}\s+{BENT}\s+(?:necessarily\s+|always\s+)?(?:assumed|required|implied|inferred|known|said|"
    rf"specified)\s+to\s+(?:be\s+|have\s+)?{B}",
    "P7": rf"{A}\s+{DOESNT}\s+(?:necessarily|always)\s+{B}",
    "P18": rf"{A}\s+(?:may or may not|{CAN}(?:\s+or\s+{CAN})?{NOT}|{CAN} or {CAN}\s?n'?t)\s+"
    rf"(?:necessarily\s+|even\s+)?(?:be\s+)?{B}",
    "X6": rf"{A}\s+{BENT}\s+{B}",
    "P20": rf"some\s+{A}\s+(?:{BENT}|{DOESNT}|{CANT})\s+{B}",
    "X7": rf"{A}\s+(?:{DOESNT})\s+(?:say|state|specify|mention|tell)\s+(?:if|whether|that|anything about)?\s*{B}",
}

PATTERNS: dict[NliLabel, tuple[Pattern, ...]] = {
    "entailment": tuple(_pattern(*row) for row in _ENTAILMENT.items()),
    "contradiction": tuple(_pattern(*row) for row in _CONTRADICTION.items()),
    "neutral": tuple(_pattern(*row) for row in _NEUTRAL.items()),
}
