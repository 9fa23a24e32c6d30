"""What a group's name means by what stands around it: a sense, a person, a field, another text.

"Black", "turkey" and "orthodox" are ordinary words too; Jordan, Chad and Christian are names that
parents give. The same rules read the moderated text, so that both name the same groups.

Models, moderators and logs often answer in fields instead of sentences. What stands in a field for
the target is said to be attacked, and what stands in one for a group is who it is about; a field
for what is merely mentioned ties nobody, nor does one that opens with "none". Every window is
bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Literal

from services.hatexscore.group_cues import WHO_ARE, is_object, is_person
from services.hatexscore.group_terms import (
    Cues,
    Passage,
    TermMatch,
    find_terms,
    load_cues,
    read_passage,
)
from services.hatexscore.lexicon import Lexicon, TextGroups, canonical_group, singular
from services.hatexscore.words import Language

FOLDER = Path(__file__).with_name("data")
THING = "a thing or an institution is named, not people"
ONE_OF_THEM = "one person, not the group"
WINDOW = 80  # characters looked at on either side of a mention

FIRST_NAME = re.compile(
    r"(?:\w[\w,]*\s|\b(?:Mr|Mrs|Ms|Dr|Prof)\.?\s)[A-Z][a-z]+\.?\s$"
)  # "Jordan White"
_ILLNESSES = frozenset({"cancer", "depression"})
GIVEN_NAMES = frozenset({"jordan", "chad", "georgia", "christian"})
# "My friend Chad", "named Georgia"; "oh Jordan!", "hey Jordan,"
_INTRODUCED = re.compile(
    r"\b(?:named|called|mister|mr|mrs|ms|dr|uncle|aunt(?:ie)?|coach|(?:my|our|his|her|your|the|an?|some)\s(?:\w+\s)?"
    r"(?:friend|brother|sister|son|daughter|cousin|colleague|neighbou?r|roommate|classmate|boyfriend|girlfriend"
    r"|boss|guy|user|player))[.,]?\s$",
    re.IGNORECASE,
)
_GREETED = re.compile(
    r"\b(?:dear|hey|hi|hello|oh|ok(?:ay)?|yo|sorry|thanks|thank\syou|bye)[.,]?\s$", re.IGNORECASE
)
_OPENS = re.compile(r"(?:^|[.!?\n\"'\u201c\u2018(@])\s*$")
_ADDRESSED = re.compile(
    r",?\s(?:you(?:'re|\u2019re|r|rself)?|u|ur|please|stop|shut|stay|leave|go|get|just|why|don'?t|who\sdo\syou)\b",
    re.IGNORECASE,
)
_CLOSES = re.compile(r"\s*(?:[.!?,;\"'\u201d\u2019)]|$)")
_YOU = re.compile(
    r"\b(?:you(?:'re|r|rself|rs)?|please|thanks|stop|shut)\b[^.!?]*,\s*$", re.IGNORECASE
)
_SURNAME = re.compile(r"\s[A-Z][a-z]{2,}\b(?!\s(?:River|Valley))")


def names_of_persons(passage: Passage, matches: Iterable[TermMatch]) -> frozenset[str]:
    """The terms that are a person's given name somewhere in the passage, in lower case.

    "Jordan, you …", "leave us alone, you fool, Chad", "my friend Georgia", "Jordan Smith".
    """
    if passage.language != "en":
        return frozenset()
    return frozenset(
        match.entry.term
        for match in matches
        if match.entry.term in GIVEN_NAMES and _is_given_name(passage, match)
    )


def _is_given_name(passage: Passage, match: TermMatch) -> bool:
    surface = passage.text[match.start : match.end]
    if surface.lower() != match.entry.term:
        return False
    before, after = around(passage, match)
    called = _INTRODUCED.search(before) or (_GREETED.search(before) and _CLOSES.match(after))
    addressed = _OPENS.search(before) and _ADDRESSED.match(after)
    at_the_end = _YOU.search(before) and _CLOSES.match(after)
    named = surface[0].isupper() and match.entry.term != "christian" and _SURNAME.match(after)
    return bool(called or addressed or at_the_end or named)


def groups_of_text(
    text: str, language: Language, lexicon: Lexicon, explained_in: Language
) -> TextGroups:
    """Slurs name their group here, unlike in an explanation; categories name none.

    A colour or a word such as "poles" names a group where it names people.
    """
    passage, cues = read_passage(text, language, ()), load_cues(language)
    matches = find_terms(passage, lexicon)
    persons = names_of_persons(passage, matches)
    naming = [
        match
        for match in matches
        if match.entry.kind != "category_term"
        and match.entry.term not in persons
        and (
            match.entry.term not in cues.needs_person_noun
            or ordinary_word(passage, match, cues) is None
        )
    ]
    found = frozenset(canonical_group(match.entry.group) for match in naming)
    people = not all(is_object(passage, match) for match in naming)
    comparable = language == explained_in or lexicon.language is None
    return TextGroups(found, comparable, persons, people)


def around(passage: Passage, match: TermMatch) -> tuple[str, str]:
    """What stands before and after the mention in its sentence, at most WINDOW characters."""
    sentence = passage.sentences[passage.sentence_at(match.start)]
    before = passage.text[max(sentence.start, match.start - WINDOW) : match.start]
    after = passage.text[match.end : min(sentence.end, match.end + WINDOW)]
    return before, after


def ordinary_word(passage: Passage, match: TermMatch, cues: Cues) -> str | None:
    """Why this occurrence is an ordinary word and names no group; None if it does name one.

    "black", "blind", "orthodox", "turkey", "aids", 수단 (Sudan, or a means) name a group only with
    a person noun, as a plural, with the right capitals, or as "the blind".
    """
    term = match.entry.term
    surface = passage.text[match.start : match.end]
    before, after = around(passage, match)
    if cues.matches("thing_after", after):
        return THING
    if term in cues.needs_capital and not surface[0].isupper():
        return "an ordinary word without its capital"
    if term in cues.needs_plural and singular(surface.lower()) == surface.lower():
        return None if cues.matches("being_before", before) else ONE_OF_THEM
    if term in cues.needs_person_noun and not _names_people(passage, match, cues):
        return "an ordinary word: no person noun follows"
    return None


def _names_people(passage: Passage, match: TermMatch, cues: Cues) -> bool:
    """Plural, "the blind", "anti-black", "with cancer", "Black culture", or a person noun."""
    term = match.entry.term
    before, after = around(passage, match)
    if match.found_as == "demonym" and match.entry.kind != "demonym":
        return True  # 인도인
    surface = passage.text[match.start : match.end]
    if singular(surface.lower()) != surface.lower() and term not in _ILLNESSES:
        return True  # "females", "Poles", wherever it stands
    if term in cues.capital_is_enough and _is_capitalized(passage, match, before):
        return True
    as_noun = cues.matches("group_of_before", before) and cues.matches("group_of_after", after)
    return (
        (term in cues.group_of and as_noun)
        or cues.matches("anti_before", before)
        or cues.matches("living_with_before", before)
        or _are_people(before)
        or cues.matches("person_after", after)
    )


def _are_people(before: str) -> bool:
    """ "People who are disabled"."""
    found = WHO_ARE.search(before)
    return found is not None and (found[1].lower() == "those" or is_person(found[1]))


def _is_capitalized(passage: Passage, match: TermMatch, before: str) -> bool:
    """A capital that is not owed to the start of a sentence or of a label, nor to a name."""
    begun = before.rstrip(" \"'“‘(*_")
    if FIRST_NAME.search(before):
        return False
    return passage.text[match.start].isupper() and bool(begun) and begun[-1] not in ":.-•"


@lru_cache(maxsize=1)
def find_en_attacks() -> re.Pattern[str]:
    """Attack predicates that version 1 did not know: data, our own work."""
    listed = json.loads((FOLDER / "attacks.en.json").read_text(encoding="utf-8"))
    return re.compile(rf"\b(?:{'|'.join(listed)})\b", re.IGNORECASE)


# "Although it plays with a stereotype, the tone is fond": conceded.
CONCEDED = re.compile(
    r"\W*(?:(?:al)?though|while|even\s(?:though|if)|despite|granted|admittedly)\b[^,]{1,200},",
    re.IGNORECASE,
)
# "The text mentions Muslims."
TOPIC = re.compile(
    r"\b(?:text|post|comment|tweet|message|statement|sentence|remark|caption|it|this|author|user)\s(?:\w+ly\s)?(?:mention(?:s|ed)"
    r"|refer(?:s|red)?\sto|is\sabout|speaks?\s(?:of|about)|talks?\sabout|concerns|deals\swith|names|addresses"
    r"|is\son)\s(?:[\w-]+\s){0,3}$",
    re.IGNORECASE,
)
_IS_ONE = re.compile(r"\b(?:is|are|was|were)\s(?:(?:an?|the|\w+ly|very)\s){0,2}$", re.IGNORECASE)
_OF_NOBODY = re.compile(
    r"\s*(?:$|[.,;!?)]|\b(?:and|or|but|in|language|remark|comment|statement|wording|speech)\b)"
)


def is_supposed(sentence: str, language: Language) -> bool:
    """Does it speak of another text: "had it named Muslims, it would be hateful"?"""
    return COUNTERFACTUAL[language].match(sentence[:LONGEST_SUPPOSED]) is not None


def concession(sentence: str) -> int:
    """Where a concession that opens the sentence ends; 0 where none does."""
    found = CONCEDED.match(sentence[:LONGEST_SUPPOSED])
    return found.end() if found else 0


def is_predicated(text: str, start: int, end: int) -> bool:
    """ "… is an insult.", "… are demeaning": an attack of which no other object is named?"""
    before = text[max(0, start - WINDOW) : start]
    return _IS_ONE.search(before) is not None and _OF_NOBODY.match(text, end) is not None


HEDGES: dict[Language, re.Pattern[str]] = {
    "en": re.compile(r"\b(?:may|might|could|possibly|perhaps|potentially)\b", re.IGNORECASE),
    "zh": re.compile("可能|也许|或许"),
    "ko": re.compile(r"수도?\s?있|지도\s?모르|지도\s?모른|가능성"),
}

# Verbs that attack only by what they say of a group.
SOFT_ATTACK = re.compile(
    r"(?:describ|portray|depict|label|call|nam(?:e|ing)|present|treat|compar|liken|equat|paint|cast|generali"
    r"|suggest|direct|target|plays?\b|clich|trope|removal|remov|ban)\w*",
    re.IGNORECASE,
)
# "If it had named Muslims, it would be hateful": what would be attacked in another text.
COUNTERFACTUAL: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"(?=[^\n]{0,400}\b(?:if|had|were|should|suppose|imagine|swap)\b)[^\n]{0,400}\bwould(?:n['\u2019]t|\snot)?\s(?:have\s)?"
        r"(?:\w+ly\s)?(?:be(?:en)?|count|qualify|constitute|amount|become|call(?:ed)?|think|thought|judge[d]?|label(?:led)?|cross)"
        r"\b[^.;\n]{0,60}\b(?:hat(?:e|eful)|toxic|unsafe|harmful|offensive|violation|different(?:ly)?|discriminat\w+"
        r"|problematic|another\s(?:matter|story))\b",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        "(?:如果|假如|假使|要是|倘若|若是|若).{1,80}(?:就|会|才|便|则|可能).{0,20}(?:仇恨|有害|歧视|冒犯|违规)"
    ),
    "ko": re.compile(
        r"(?:다면|라면|더라면|었으면|았으면).{1,80}(?:혐오|차별|유해|위반).{0,10}(?:겠|것|였|었|을)"
    ),
}

# What a quotation does to a group when it is no attack.
PRAISES: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:prais|credits?\b|help(?:s|ed|ful)?\b|thank|welcom|celebrat|honou?r|defend|admir|compliment|congratulat|appreciat"
        r"|applaud|greet|respects?\b|respectful|supports?\b|support(?:ed|ing)|invit|sympath|friend|kind(?:ly|ness|"
        r"hearted)?\b|polite|affection|fond|warm(?:ly|th|-?hearted)?\b|loving|love[sd]?\b|cheer|grateful|gratitude|hospit"
        r"|tender|harmless|innocuous|innocent|benign|neutral|factual|good-natured|playful|humorous|tongue-in-cheek"
        r"|recommend|happy|happi|delight|lovely|favou?rabl|positiv|endear|flatter|cordial|gentle|well-meaning|wholesome"
        r"|enthusias|enjoy|joy(?:ful|ous)?\b|nice(?:ly)?\b|generous|cherish|proud|speaks?\swell|(?:stick|stand)s?\sup\sfor"
        r"|in\sa\sgood\sway|perfectly\sfine|everyday|ordinary|anecdote|unobjectionable|inoffensive)\w*",
        re.IGNORECASE,
    ),
    "zh": re.compile(
        "赞扬|称赞|赞美|赞赏|表扬|夸|感谢|谢谢|欢迎|庆祝|祝贺|尊重|支持|钦佩|友好|友善|善意|问候|邀请|亲切|温暖|喜爱|喜欢|褒义|正面|中性|客观|热情"
        "|无恶意|没有恶意|并无恶意|日常|普通"
    ),
    "ko": re.compile(
        "칭찬|감사|고맙|환영|축하|존중|지지|존경|응원|인사|초대|친절|우호|호의|다정|따뜻|애정|좋아|긍정|중립"
        "|일상|소식일 뿐|이야기일 뿐"
    ),
}


FieldKind = Literal["target", "group", "mentioned"]

LONGEST_SUPPOSED = 600  # characters of a sentence about another text
LONGEST_LINE = 240  # characters before a mention in its line
LONGEST_LIST = 8  # lines of a list under its key
LONGEST_TABLE = 60  # lines between a row and its header
LONGEST_ASKED = 120  # characters of a question, or of a step, that the next sentence answers
LONGEST_ANSWER = 60  # characters of a name alone that answers it

_KEY = r"[^\W\d_][^\n:=|\[\]<>{};,.!?→]{0,47}"
_MARKS = r"[\"'`*_\s\u201c\u201d]{0,6}"
_SEPARATOR = r"(?::=?|=>?|->|\u2192|\uff1a|\.{3,40}|\||\])"
# A key and its separator; the last of a line is that of what follows it.
_FIELD = re.compile(
    rf"(?:^[\s>#*\u2022\u2013\d.)-]{{0,12}}|[|;,.{{(\[\uff0c\uff1b\u3002]|\s[-*\u2022\u2013\u2014]|\d\))\s{{0,9}}{_MARKS}(?P<key>{_KEY}?){_MARKS}"
    rf"{_SEPARATOR}(?P<value>[^:=|\n;\u2192\uff1a\uff1b]*)$"
)
_QUESTION_KEY = re.compile(
    rf"(?:^|[|;.]\s?){_MARKS}(?:\d{{1,2}}[.)]\s?)?(?P<key>{_KEY})\?(?P<value>[^?\n]*)$"
)
# A value that goes on as a sentence of its own names no more members of the field.
_ENDED = re.compile(r"[.!?\u3002](?:\s|$)")
_NOBODY = re.compile(
    r"[\s\"'`*_\[({]*(?:none|nobody|no[ -]?one|no\b|not\b|n/?a\b|nil\b|null|false|unclear"
    r"|unknown|unspecified|empty|~|-+\s|\u65e0|\u6ca1\u6709|\u4e0d|\uc5c6|\ubbf8\uc0c1)",
    re.IGNORECASE,
)
_TARGET = re.compile(
    r"\btarget|\bvictim|\battacked|\baffected|\baimed|\bagainst|\binsulted|\bharmed|\bwhom?\b|\b(?:object|subject)s?\s"
    r"of\s(?:the\s|this\s)?(?:attack|insult|hat|abuse|hostil)"
    "|目标|针对|对象|受害|被攻击|대상|표적|피해",
    re.IGNORECASE,
)
_GROUP = re.compile(
    r"\bgroups?\b|\bcommunit|\bclass\b|\bidentit|\bpeople|\bpopulation|\bprotected|\bdemographic|\bminorit"
    "|群体|人群|身份|集体|집단|그룹|정체성",
    re.IGNORECASE,
)
_MENTIONED = re.compile(
    r"mention|\bnamed\b|referenc|referred|discuss|\btopic|\bauthor|\bspeaker|\bnot\b|\bnon|提到|提及|언급|작성자",
    re.IGNORECASE,
)
_OF_THE_TEXT = re.compile(
    r"phrase|\bspan|\bwords?\b|wording|quot|evidence|excerpt|\btext|\bterms?\b|expression|segment|snippet"
    "|原文|词|证据|표현|문구|근거",
    re.IGNORECASE,
)
# "대상은 외국인 노동자이다": the target, as a sentence.
_IS_TARGET_KO = re.compile(r"(?:대상|표적)(?:은|는|이|가)?\s(?:[가-힣]{1,8}\s)?$")
_UNDERSCORE = re.compile(r"[_/-]+")
_BULLET = re.compile(r"[ \t]{0,12}[-*\u2022\u2013]\s")
_OPENS_A_LIST = re.compile(
    rf"[\s\d.)#>*-]{{0,9}}{_MARKS}(?P<key>{_KEY}?){_MARKS}[:=\uff1a]{_MARKS}\[?\s*$"
)
_RULE_OF_TABLE = re.compile(r"[\s|:+-]+$")
_DELIMITERS = "|\t;,"
# "Step 1: find the target." "Who is it about?" before "Muslims."
_ASKS = re.compile(
    r"\b(?:target\w*|victims?|who|whom|(?:which|what)\s(?:group|people|community)|attacked|aimed|against)\b"
    "|目标|针对谁|对象|谁|대상|누구",
    re.IGNORECASE,
)
_ANSWER = re.compile(
    r"\W*(?:(?:against|at|it'?s|it\sis|they\sare|the|all|on|to|towards?|of|and|or|both|are|is|mainly|only|answer)\W+)*$",
    re.IGNORECASE,
)
_DENIED = (
    r"[\"'`*_\s)]{0,6}(?::=?|=>?|->|[|?\uff1a\uff1f\u2192])[\"'`*_\s|]{0,6}"
    r"(?:no\b|none\b|false\b|null\b|n/?a\b|nil\b|absent\b|not\b|nobody\b|0(?![.\d])|0[.]0+\b"
    r"|\u65e0|\u5426|\u6ca1\u6709|\uc5c6|\uc544\ub2c8|\u2717|\u274c|\u2014|-\s)"
)
# "attack: no", "hostile? none": an attack that its field denies.
_DENIED_FIELD = re.compile(
    rf"[\w-]{{0,24}}(?:\s(?:found|present|type|level|on\s\w+))?{_DENIED}", re.IGNORECASE
)
_DENIED_FIELD_KEY = re.compile(
    rf"\b(?:attack|hostil|insult|slur|harm|violat|abus|derog|dehumani|degrad|demean|threat|victim"
    rf"|target)[\w ]{{0,24}}{_DENIED}"
    rf"|(?:攻击|敌意|侮辱|伤害|目标|공격|모욕|비하|피해){_DENIED}",
    re.IGNORECASE,
)
_AFFIRMED_FIELD = re.compile(
    r"\b(?:attack|hostil|insult|slur|harm|abus|derog|dehumani|degrad|demean|threat)[\w ]{0,24}"
    r"[\"'`*_\s)]{0,6}(?::=?|=>?|->|[|?\u2192])[\"'`*_\s|]{0,6}(?:yes|true|present|[\u2713\u2714\u2705])",
    re.IGNORECASE,
)
# "Label: …", "target_group = …": the name of a field says nothing of anybody.
_FIELD_NAME = re.compile(
    r"(?:target|label)[\w-]{0,24}(?:\s[\w-]{1,16}){0,2}[\"'`*_)\s]{0,6}(?::|=|->|[|\uff1a\u2192\]]|\.{3})",
    re.IGNORECASE,
)
_FIELD_NAME_ZH = re.compile(r"(?:标签|针对)(?:对象|群体|目标)?[\"'`*\s]{0,4}[:=|\uff1a]")
_NON = re.compile(r"(?:\bnon|\bnot)[-\u2010-\u2015]$|\bnon\s$|\ube44\s?$", re.IGNORECASE)
# A label of the other side.
_MILD = re.compile(
    r"\bnon[-\s]?(?:hate|toxic|offensive|harmful|abusive|violat)|\b(?:harmless|inoffensive|benign|innocuous"
    r"|compliant|complies|safe|civil|(?:does|do|did)(?:\snot|n['\u2019]t)\s(?:violate|breach|break)"
    r"|not\sin\s(?:breach|violation)|no\s(?:violation|breach|action)|false\s(?:positive|alarm)"
    r"|(?:pass(?:es)?|within|respects?|follows?)\s(?:our|the|all|your)\s(?:\w+\s){0,2}(?:rules|polic|guidelines|standards)\w*"
    r"|nothing\sto\sact\son|(?:ok|okay|fine)\sto\sstay|stays?\sup|kept\sup|left\sup)\b|无害|安全|正常|非仇恨|무해|정상|비혐오",
    re.IGNORECASE,
)
# "Target? Women." "Who is attacked? Women.": a question that the mention answers.
_WHO_IS_IT = re.compile(
    r"\W*(?:\w+\W+)?(?:who|whom|(?:which|what)\s+(?:group|people))\b[^?]{0,60}\?\W*"
    r"|\W*(?:\w+\W+){0,3}(?:target\w*|attacked|victims?|affected|demeaned|insulted)(?:\W+\w+){0,3}\s*\?\W*",
    re.IGNORECASE,
)


def is_no_attack(text: str, start: int, end: int) -> bool:
    """Is this word of an attack none: part of "non-hateful", the name of a field, or of a field
    that denies it ("attack: no")?"""
    if _NON.search(text[max(0, start - 4) : start]):
        return True
    if _FIELD_NAME.match(text, start) or _FIELD_NAME_ZH.match(text, start):
        return True
    return _DENIED_FIELD.match(text, end) is not None


def denies_attack(sentence: str) -> bool:
    """Does it say so in a field, or by a label: "attack: none", "non-hateful", "harmless"?"""
    return _DENIED_FIELD_KEY.search(sentence) is not None or _MILD.search(sentence) is not None


def asks_for_target(sentence: str) -> bool:
    """Is it a question such as "Target?", which the next sentence answers?"""
    return len(sentence) <= LONGEST_ASKED and _WHO_IS_IT.fullmatch(sentence) is not None


def names_nobody(value: str) -> bool:
    """ "None", "n/a", "无": what a field holds that has no target."""
    return _NOBODY.match(value) is not None


def field_kind(key: str) -> FieldKind | None:
    """Of a field with this key; None where it names nobody, or holds words of the text."""
    plain = _UNDERSCORE.sub(" ", key)
    if _OF_THE_TEXT.search(plain):
        return None
    if _MENTIONED.search(plain):
        return "mentioned"
    if _TARGET.search(plain):
        return "target"
    return "group" if _GROUP.search(plain) else None


def field_of(text: str, start: int) -> FieldKind | None:
    """The kind of the field in whose value a mention begins; None where it is in none."""
    first = _line_start(text, start)
    if first is None:
        return None
    line = text[first:start]
    if _IS_TARGET_KO.search(line):
        return "target"
    for pattern in (_FIELD, _QUESTION_KEY):
        found = pattern.search(line)
        if found:
            value = found["value"]
            if names_nobody(value) or _ENDED.search(value.strip()):
                return None
            kind = field_kind(found["key"])
            if kind == "mentioned" and _is_attacked_too(
                found["key"], text[start : start + LONGEST_LINE]
            ):
                return "group"
            if kind is not None:
                return kind
    return _of_list(text, first, line) or _of_column(text, first, line)


def _is_attacked_too(key: str, behind: str) -> bool:
    """ "Group mentioned? Yes, Muslims. Attack? Yes": do the next fields affirm an attack?"""
    return _GROUP.search(key) is not None and _AFFIRMED_FIELD.search(behind) is not None


def _line_start(text: str, start: int) -> int | None:
    """None where the line begins further away than LONGEST_LINE."""
    border = text.rfind("\n", max(0, start - LONGEST_LINE), start)
    return border + 1 if border >= 0 or start < LONGEST_LINE else None


def _of_list(text: str, first: int, line: str) -> FieldKind | None:
    """ "targets:" above lines of "- Muslims"."""
    if not _BULLET.match(line) or _ENDED.search(line.strip()):
        return None
    for above in _lines_above(text, first, LONGEST_LIST):
        if _BULLET.match(above) and not above.rstrip().endswith((":", "\uff1a")):
            continue
        found = _OPENS_A_LIST.match(above)
        return field_kind(found["key"]) if found else None
    return None


def _of_column(text: str, first: int, line: str) -> FieldKind | None:
    """The header over the cell, in the first line of a table that the row belongs to."""
    above = _lines_above(text, first, LONGEST_TABLE)
    for mark in _DELIMITERS:
        rows = list(takewhile(lambda one, mark=mark: mark in one, above))  # type: ignore[misc]
        header = next((one for one in reversed(rows) if not _RULE_OF_TABLE.fullmatch(one)), "")
        names = header.split(mark)
        place = line.count(mark)
        if len(names) > 1 and place < len(names):
            kind = field_kind(names[place].strip())
            if kind is not None:
                return kind
    return None


def _lines_above(text: str, first: int, most: int) -> list[str]:
    """The lines before the one that begins at `first`, the nearest first, up to an empty one."""
    found: list[str] = []
    end = first - 1
    while end > 0 and len(found) < most:
        begin = _line_start(text, end)
        line = text[begin:end] if begin is not None else ""
        if begin is None or not line.strip():
            break
        found.append(line)
        end = begin - 1
    return found


def answers(asked: str, before: str, after: str) -> bool:
    """Is a mention the whole of a sentence that answers the one before: "Find the target. Jews."?

    asked: the sentence before; before, after: what stands beside the mention in its own.
    """
    return (
        len(asked) <= LONGEST_ASKED
        and len(before) + len(after) <= LONGEST_ANSWER
        and _ASKS.search(asked) is not None
        and _ANSWER.match(before) is not None
        and (not after.strip(" .,;!*_\u3002") or after.lstrip()[:1] in ".,;(")
    )
