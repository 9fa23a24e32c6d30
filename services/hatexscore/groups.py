"""Finds which mentions of protected groups name the target of hate (target-group identification,
TGI).

TGI is 1 if and only if the explanation names a group of the list. For hateful samples the group
must be tied to hateful context. Word lists find the mentions, and the trained reader, a small text
classifier, finds attacks on groups. Source: Hu & Lee, EACL 2026 (arXiv:2601.13547), section 3.3 and
Eq. 4. Unlike the paper, this module does not accept quotations and slurs as groups. It accepts
plurals, demonyms, and groups that the printed lists miss."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from services.hatexscore.group_terms import TermMatch, find_terms
from services.hatexscore.lexicon import (
    UNKNOWN_GROUPS,
    Lexicon,
    NameLanguage,
    TextGroups,
    canonical_group,
)
from services.hatexscore.report import QUOTED, HatexscoreGroupEvidence
from shared.readers.model import LABELS, ask, ask_group
from shared.text.sentences import Span, sentences

MOST_ASKED = 30  # mentions of one explanation that are read
LONGEST_CONTEXT = 600  # characters on either side of a mention that are read
ATTACKED = 0.5  # the least probability of an attack

SLUR = "the mention is a slur, which does not count as naming a group"
GROUND = "the explanation names a ground of discrimination, but no group"
IN_FIELD = "the group is in a field for target groups"
NO_TARGET = "the group is not in a field for target groups"
EQUATION_4 = "the group is named; for a non-hateful decision Eq. 4 does not require an attack"
UNREAD = f"the reader reads only the first {MOST_ASKED} mentions, and this mention comes later"
READ = {
    "attacked": "according to the trained reader the group is attacked",
    "defended": "according to the trained reader the group is defended",
    "mentioned": "according to the trained reader the group is mentioned but not attacked",
}
GROUP = LABELS["group"]


@dataclass(frozen=True, slots=True)
class GroupText:
    """An explanation in which mentions of groups must be found. `quoted` holds the spans of its
    quotations. `moderated` holds the groups named in the moderated text. `targets` holds the spans
    of a field for targets; mentions outside it do not count. It is None if there is no such field.
    """

    text: str
    language: NameLanguage
    lexicon: Lexicon
    quoted: Sequence[Span]
    moderated: TextGroups = UNKNOWN_GROUPS
    targets: Sequence[Span] | None = None


def groups_of_text(
    text: str, language: NameLanguage, lexicon: Lexicon, explained_in: NameLanguage
) -> TextGroups:
    """Return the groups that the moderated text names. Slurs count as names, but words for a whole
    category do not."""
    matches = find_terms(text, language, lexicon)
    entries = (match.entry for match in matches if match.entry.kind != "category_term")
    comparable = language == explained_in or lexicon.language is None
    return TextGroups(frozenset(canonical_group(entry.group) for entry in entries), comparable)


def read_mentions(
    texts: Sequence[GroupText], hateful: Sequence[bool]
) -> list[list[HatexscoreGroupEvidence]]:
    """Return each mention of a protected group in order, with the reason why it counts or not. The
    trained text classifier is called once. Raises Unavailable if it is unavailable. `hateful` is
    True if the explained decision is hateful or unknown. A mention outside a target field then
    counts only if it is classified as attacked."""
    matched = [
        [
            (match, _settled(text, match))
            for match in find_terms(text.text, text.language, text.lexicon)
            if text.targets is None or any(a <= match.start < b for a, b in text.targets)
        ]
        for text in texts
    ]
    questions: list[str] = []
    for text, matches in zip(texts, matched, strict=True):
        borders = sentences(text.text) if matches else []
        unsettled = [match for match, reason in matches if reason is None]
        questions += [ask_mention(text.text, match, borders) for match in unsettled[:MOST_ASKED]]
    rows = iter(ask("group", questions))
    read = []
    for text, matches, is_hateful in zip(texts, matched, hateful, strict=True):
        mentions, left = [], MOST_ASKED
        for match, reason in matches:
            attack = 0.0
            if reason is None and left:
                left -= 1
                row = next(rows)
                attack = float(row[GROUP.index("attacked")])
                reason = READ[GROUP[int(row.argmax())]]
            mentions.append(_mention(text, match, reason or UNREAD, attack, is_hateful))
        read.append(mentions)
    return read


def _settled(one: GroupText, match: TermMatch) -> str | None:
    """Return the reason why this mention of a group needs no trained reader, or None if the reader
    must classify the mention. `one` holds the explanation."""
    if one.targets is not None:
        return IN_FIELD
    in_field = names_target(one.text, match.start)
    if in_field is not None:
        return IN_FIELD if in_field else NO_TARGET
    if match.entry.kind == "slur_alias":
        return SLUR
    return QUOTED if any(a < match.end and match.start < b for a, b in one.quoted) else None


def _mention(
    one: GroupText, match: TermMatch, reason: str, attack: float, hateful: bool
) -> HatexscoreGroupEvidence:
    entry = match.entry
    in_field, is_attacked = reason == IN_FIELD, attack >= ATTACKED
    mention = HatexscoreGroupEvidence(
        group=entry.group,
        category=entry.category,
        start=match.start,
        end=match.end,
        text=one.text[match.start : match.end],
        found_as=match.found_as,
        counts=in_field or is_attacked,
        reason=READ["attacked"] if is_attacked else reason,
        attacked=is_attacked or (in_field and hateful),
        in_text=one.moderated.names(entry.group),
        by="reader" if reason in READ.values() else "rules",
    )
    if hateful or in_field or reason in (SLUR, QUOTED, NO_TARGET):
        return mention
    if entry.kind == "category_term":
        return mention.model_copy(update={"counts": False, "reason": GROUND})
    return mention.model_copy(update={"counts": True, "reason": EQUATION_4})


def ask_mention(text: str, match: TermMatch, borders: Sequence[Span]) -> str:
    """Return the sentence of a mention with one sentence on either side, as input for the text
    classifier."""
    index = max(at for at, (start, _) in enumerate(borders) if start <= match.start)
    first, last = borders[max(0, index - 1)][0], borders[min(len(borders) - 1, index + 1)][1]
    first = max(first, match.start - LONGEST_CONTEXT)
    last = min(max(last, match.end), match.end + LONGEST_CONTEXT)
    return ask_group(text[first:last], match.start - first, match.end - first)


LONGEST_LINE = 240  # characters before a mention in its line
MOST_IN_KEY = 5  # words
_KEY = r"[^\W\d_][^\n:=|\[\]<>{};,.!?→]{0,47}"
_MARKS = r"[\"'`*_\s“”]{0,6}"
_FIELD = re.compile(  # a key and its separator; the last of a line is that of what follows it
    rf"(?:^[\s>#*•–\d.)-]{{0,12}}|[|;,.{{(\[，；。]|\s[-*•–—]|\d\))\s{{0,9}}{_MARKS}(?P<key>{_KEY}?)"
    rf"{_MARKS}(?::=?|=>?|->|→|：|\.{{3,40}}|\||\]|\?(?:\s*A:)?)(?P<value>[^:=|\n;→：；?]*)$"
)
_NOBODY = re.compile(
    r"[\s\"'`*_\[({]*(?:none|nobody|no[ -]?one|no\b|not\b|n/?a\b|nil\b|null|false|unclear"
    r"|unknown|unspecified|empty|~|-+\s|无|没有|不|없|미상|keine?\b|niemand|aucun|ning|nessun|nenhum)",
    re.IGNORECASE,
)
_TARGET = re.compile(
    r"\btarget|\bvictim|\battacked|\baffected|\baimed|\bagainst|\binsulted|\bharmed|\bwhom?\b"
    r"|\b(?:object|subject)s?\sof\s(?:the\s|this\s)?(?:attack|insult|hat|abuse|hostil)"
    r"|\bgroups?\b|\bcommunit|\bclass\b|\bidentit|\bpeople|\bpopulation|\bprotected|\bdemographic"
    r"|\bminorit|\bziel|\bopfer|\bgruppe|\bcible|\bgroupe|\bobjetivo|\bgrupo|\bbersaglio|\bgruppo"
    r"|\balvo|\bv[íi]ctima|\bvittim|目标|针对|对象|受害|被攻击|群体|人群|身份|대상|표적|피해|집단|그룹",
    re.IGNORECASE,
)
_OTHER_KEY = re.compile(  # what is merely mentioned, who speaks, and words of the text
    r"mention|\bnamed\b|referenc|referred|discuss|\btopic|\bauthor|\bspeaker|\bnot\b|\bnon|phrase"
    r"|\bspan|\bwords?\b|wording|quot|evidence|excerpt|\btext|\bterms?\b|expression|segment"
    r"|snippet|提到|提及|原文|词|证据|언급|작성자|표현|문구|근거",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?。](?:\s|$)")  # the value goes on as a sentence


def names_target(text: str, start: int) -> bool | None:
    """Return True if the mention at `start` is the value of a field for the target, such as
    "target:". Return False if that field states that there is no target, and None if there is no
    such field."""
    field = _FIELD.search(text[max(text.rfind("\n", 0, start) + 1, start - LONGEST_LINE) : start])
    if field is None or not _is_target(field["key"]):
        return None
    if _NOBODY.match(field["value"]):
        return False
    return None if _ENDED.search(field["value"].strip()) else True


def _is_target(key: str) -> bool:
    plain = re.sub(r"[_/-]+", " ", key)
    if len(plain.split()) > MOST_IN_KEY:
        return False
    return _TARGET.search(plain) is not None and _OTHER_KEY.search(plain) is None
