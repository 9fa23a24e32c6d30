"""Finds differences between two nearly equal texts that change the meaning. Such differences are an
additional or missing negation, another number or quantity, or another word: "love" for "hate",
"Romani" for "Romans". Spelling, endings and function words do not count."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Literal

from rapidfuzz.distance import OSA, Levenshtein

Language = Literal["en", "zh", "ko", "ja"]

NEGATIONS: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:not|no|never|none|nobody|nothing|neither|nor|nowhere|cannot|without|hardly|barely"
        r"|scarcely)\b|n['\u2019]t\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(r"(?:不(?![仅但过管论只])|没|無|无(?!论)|未|非(?!常)|别(?!的|人)|勿)"),
    "ko": re.compile(r"않|못|없|아니|(?<![가-힣])안(?=\s)"),
    "ja": re.compile(r"ない|なく|なかっ|なけれ|ません|(?:せ|ら|か|わ|ま)ず(?=[、。\s]|に)"),
}
_ANY_NEGATION = re.compile(
    "|".join(f"(?:{pattern.pattern})" for pattern in NEGATIONS.values())
    + r"|\b(?:nicht|kein\w{0,2}|nie|niemand|nichts|pas|jamais|nunca|nadie|n[a\u00e3]o|non"
    r"|dont|isnt|arent|wont|cant|didnt|doesnt)\b",
    re.IGNORECASE,
)
_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_CJK}]|[^\W_{_CJK}]+(?:['\u2019*.,][^\W_{_CJK}]+)*")
_CONTRACTED = re.compile(
    r"\b(do|does|did|is|are|was|were|wo|ca|would|could|should|have|has|had|need)n['\u2019]?t\b"
)
_FUNCTION = re.compile(
    "an?|the|in|on|at|of|to|for|by|from|into|as|and|or|that|this|these|those|which|who|is|are|was"
    "|were|be|been|being|am|has|have|had|do|does|did|just|so|very|really|it's|its"
)
_DECISIVE = re.compile(  # words that decide a sentence's meaning
    "all|some|any|every|each|few|many|most|only|half|if|unless|would|could|should|nearly|almost"
    "|one|two|three|four|five|six|seven|eight|nine|ten|hundred|thousand|million|less|more"
    "|illegal|former|(?:every|some|any)(?:body|one)"
)
_REVERSING = ("un", "in", "im", "non", "dis", "anti", "ir", "il")


def negations(text: str, language: Language) -> int:
    return len(NEGATIONS[language].findall(text))


def negates(text: str) -> bool:
    return _ANY_NEGATION.search(text) is not None


def changes_meaning(copy: str, original: str, names: Collection[str] = ()) -> bool:
    """Return True if `copy`, which is nearly equal to `original`, has another meaning. `names` are
    words in lower case that are never misspellings, such as names of groups."""
    if len(_ANY_NEGATION.findall(copy)) != len(_ANY_NEGATION.findall(original)):
        return True
    return any(_decides(*pair, names) for pair in _changes(_words(copy), _words(original)))


def _words(text: str) -> list[str]:
    expanded = _CONTRACTED.sub(r"\1 not", text.casefold().replace("cannot", "can not"))
    return [word.replace("\u2019", "'") for word in _WORD.findall(expanded)]


def _changes(copy: Sequence[str], original: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield pairs of words that differ, with "" for an added or missing word."""
    for change in Levenshtein.opcodes(copy, original):
        if change.tag == "equal":
            continue
        ours = copy[change.src_start : change.src_end]
        theirs = original[change.dest_start : change.dest_end]
        if "".join(ours) == "".join(theirs):
            continue
        for index in range(max(len(ours), len(theirs))):
            yield (
                ours[index] if index < len(ours) else "",
                theirs[index] if index < len(theirs) else "",
            )


def _decides(copy: str, original: str, names: Collection[str]) -> bool:
    decisive = sum(_DECISIVE.fullmatch(word) is not None for word in (copy, original))
    if not copy or not original:
        return bool(decisive) or (copy or original).isdigit() or negates(copy or original)
    if copy.isdigit() or original.isdigit() or decisive == 2:
        return True
    functions = sum(_FUNCTION.fullmatch(word) is not None for word in (copy, original))
    if functions == 2 or (functions == 1 and OSA.distance(copy, original) == 1):
        return False
    shorter, longer = sorted((copy, original), key=len)
    if any(longer == prefix + shorter for prefix in _REVERSING):
        return True
    if copy in names:
        return shorter != longer.removesuffix("s").removesuffix("'")
    letters = len(shorter)
    if letters == 1 and copy[0] >= "\u3005":  # Chinese and Japanese
        return True
    allowed = 2 if letters >= 7 else 1 if letters >= 4 else 0
    if copy[0] >= "\uac00":  # Korean: a character is a syllable
        allowed = 1
    if OSA.distance(copy, original) <= allowed:
        return False
    stem = max(3, letters - 3)
    return bool(decisive) or copy[:stem] != original[:stem] or len(longer) - stem > 4
