"""Finishing an edited sentence: its joints, articles, capital and full stop; and is it one?"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from services.ftc.parsing import parse
from services.ftc.phrases import PLURAL_TAGS, SUBJECTS
from services.ftc.rendering import DETERMINERS

_JOINTS = (
    (re.compile(r"(?<!\s)\s+(n'?t)\b"), r"\1"),
    (re.compile(r"(?<!\s)\s+('(?:s|re|ve|ll|d|m)\b)"), r"\1"),
    (re.compile(r"\s{2,}"), " "),
    (re.compile(r"\bca n't\b"), "can't"),
)
_NO_NOUN = {"IN", ".", ",", "VBZ", "VBP", "VBD", "CC", "TO"}
_ARTICLE = re.compile(r"\b(an?) (\w+)", re.IGNORECASE)
_AN = re.compile(r"[aeiou](?!ni(?:cy|f|que|v)|se|uro|ne\b)|hour|honest|8|11$", re.IGNORECASE)


def finished(text: str, like: str) -> str:
    """A sentence with its joints, articles, capital and full stop as those of the original."""
    for joint, written in _JOINTS:
        text = joint.sub(written, text)
    text = _ARTICLE.sub(_article, text.strip())
    end = like.rstrip()[-1:]
    if end in {".", "!", "?"}:
        gap = " " if like.rstrip()[-2:-1] == " " else ""
        text = text.rstrip(" .!?") + gap + end
    else:
        text = text.rstrip(" .")
    return text[:1].upper() + text[1:] if like[:1].isupper() else text[:1].lower() + text[1:]


def _article(found: re.Match[str]) -> str:
    article, word = found.groups()
    right = "an" if _AN.match(word) else "a"
    return f"{right.capitalize() if article[0].isupper() else right} {word}"


def sound(text: str) -> bool:
    """Whether the sentence parses as one: a subject and a verb, or a noun with its attributes; no
    word twice in a row, no two determiners, no article before a plural."""
    words = parse(text)
    pairs = list(pairwise(words))
    if any(a.text.lower() == b.text.lower() and a.pos != "PUNCT" for a, b in pairs):
        return False
    if any(a.tag == "DT" and b.tag in DETERMINERS for a, b in pairs):
        return False
    if any(a.text.lower() in {"a", "an"} and b.tag in PLURAL_TAGS for a, b in pairs):
        return False
    if any(a.text.lower() in {"a", "an", "the"} and b.tag in _NO_NOUN for a, b in pairs):
        return False
    root = next((i for i, word in enumerate(words) if word.head == i), None)
    if root is None or sum(word.head == i for i, word in enumerate(words)) > 1:
        return False
    if words[root].pos in {"NOUN", "PROPN"}:
        return True
    return any(w.dep in SUBJECTS | {"attr"} and w.head == root for w in words)


def repeats(text: str, original: str) -> bool:
    """Whether it says a content word more often than the hypothesis did, and more than once."""
    before = Counter(word.stem for word in parse(original) if word.content)
    after = Counter(word.stem for word in parse(text) if word.content)
    return any(count > max(1, before[stem]) for stem, count in after.items())
