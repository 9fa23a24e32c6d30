"""Names in quotation marks: of labels, fields and idioms, which quote nothing of the text."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from pathlib import Path

from services.hatexscore.words import Language

FOLDER = Path(__file__).with_name("data")
LONGEST_NAME = 60  # characters of a label or an idiom

_PUNCTUATION = re.compile(r"[^\w\s#/]+")
_ARTICLE = re.compile(r"(?:an?|the)\s")
_DENIAL: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"(?:(?:an?|the|as|is|it|be|clearly|very|highly|explicitly|not|non|no|un)\s)*+"
    ),
    "zh": re.compile("(?:这?不是|并非|不|非|无|是|不属于|属于)"),
    "ko": re.compile(r"(?!)"),
}
_DENIED_AFTER_KO = re.compile(r"\s?(?:이|가)?\s?(?:아님|아니다|아닙니다|없음|입니다|이다|임)$")
_CONNECTIVE: dict[Language, re.Pattern[str]] = {
    "en": re.compile(r"\s(?:or|and|but|vs)\s|\s?/\s?"),
    "zh": re.compile("[或和与/]"),
    "ko": re.compile(r"\s(?:또는|혹은|및)\s|\s?/\s?"),
}
_LABELLED = re.compile(r"\s(?:content|speech|text|language|post|comment|category|label|class)$")


def plain_name(quoted: str) -> str:
    """Lower case, one blank for any punctuation and hyphen, no article before it."""
    if len(quoted) > LONGEST_NAME:
        return ""
    name = " ".join(_PUNCTUATION.sub(" ", quoted.lower().replace("_", " ")).split())
    return _ARTICLE.sub("", name, count=1) if _ARTICLE.match(name) else name


def is_label(quoted: str, language: Language) -> bool:
    """Only names of labels or fields: "not hate speech", "normal or offensive", "severity"?"""
    name = plain_name(quoted)
    if not name:
        return False
    return all(
        _is_name(part, spoken)
        for spoken in (_script_of(name, language),)
        for part in _CONNECTIVE[spoken].split(name)
    )


def _script_of(name: str, language: Language) -> Language:
    """A Korean explanation may quote an English label."""
    return "en" if name.isascii() else "zh" if language == "en" else language


def _is_name(part: str, language: Language) -> bool:
    names = label_names(language)
    bare = part[found.end() :] if (found := _DENIAL[language].match(part)) else part
    if language == "ko":
        bare = _DENIED_AFTER_KO.sub("", bare)
    return any(one in names for one in (part, bare, _LABELLED.sub("", bare)))


@lru_cache(maxsize=3)
def label_names(language: Language) -> frozenset[str]:
    """Words of labels and names of fields, as `plain_name` writes them."""
    content = json.loads((FOLDER / "quoted_labels.json").read_text(encoding="utf-8"))[language]
    return frozenset(plain_name(name) for names in content.values() for name in names)


@lru_cache(maxsize=3)
def idioms(language: Language) -> frozenset[str]:
    """Set phrases that explanations put in quotation marks, as `plain_name` writes them."""
    content = json.loads((FOLDER / f"idioms.{language}.json").read_text(encoding="utf-8"))
    return frozenset(map(plain_name, content))
