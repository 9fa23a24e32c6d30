"""The conclusion that an explanation states: hateful, non-hateful, or none (HTC, section 3.1).

Source: Hu & Lee, arXiv:2601.13547, section 3.1, Eq. 2.
Deviates: the released code takes any "hate speech", "yes" or "no" anywhere for a conclusion and
ignores negation; here a sentence must say it of the text, negation turns it, a hedge or a question
voids it, quoted material does not speak, and the last sentence that concludes is the conclusion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from services.hatexscore import conclusion_en, conclusion_ko, conclusion_zh
from services.hatexscore.languages import Language, Span, sentences
from services.hatexscore.quotation_marks import quoted_spans
from services.hatexscore.report import Label

_LABEL = re.compile(
    r"[\W_]*(?:(?:not|non|un|no|a|is|非|不是|비)[\s\-]*)*"
    r"(?:hateful|hate(?:[\s-]*speech)?|label|conclusion|prediction|verdict|classification"
    r"|仇恨(?:言论|性)?|결론|(?:혐오|증오)(?:적(?:인)?|\s*표현)?)[\W_]*",
    re.IGNORECASE,
)
_LONGEST_LABEL = 60  # characters
_MARKUP = str.maketrans(dict.fromkeys("*_#`>{}[]\u200b", " "))


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the explanation, explanation[start:end], and the label that it states."""

    start: int
    end: int
    label: Label


def conclusion(explanation: str, language: Language) -> Statement | None:
    """The last sentence that states a label, or None. Higher in the text is reasoning."""
    return _last_statement(_without_quotations(explanation), sentences(explanation, language))


def statement_anywhere(explanation: str, language: Language) -> Statement | None:
    """As printed (Eq. 2): a conclusion statement wherever it stands, quotations included."""
    return _last_statement(_plain(explanation), sentences(explanation, language))


def names_label(quoted: str) -> bool:
    """Is the quoted material only the name of a label, as in: it is labelled "hateful"?"""
    return len(quoted) <= _LONGEST_LABEL and _LABEL.fullmatch(quoted) is not None


def _last_statement(plain: str, spans: Iterable[Span]) -> Statement | None:
    for start, end in reversed(list(spans)):
        label = _label(plain[start:end])
        if label is not None:
            return Statement(start, end, label)
    return None


def _label(sentence: str) -> Label | None:
    """The label that a sentence states; the three languages use different scripts."""
    for reader in (conclusion_en, conclusion_zh, conclusion_ko):
        hateful = reader.stated(sentence)
        if hateful is not None:
            return "hateful" if hateful else "non-hateful"
    return None


def _without_quotations(explanation: str) -> str:
    """Quotations blanked out, offsets kept; a quoted label name stays."""
    characters = list(_plain(explanation))
    for start, end in quoted_spans(explanation):
        if names_label(explanation[start + 1 : end - 1]):
            characters[start] = characters[end - 1] = " "
        else:
            characters[start:end] = '"' * (end - start)
    return "".join(characters)


def _plain(explanation: str) -> str:
    """Lower case without mark-up, character for character."""
    lowered = (c.lower() if len(c.lower()) == 1 else c for c in explanation)
    return "".join(lowered).translate(_MARKUP)
