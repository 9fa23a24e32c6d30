"""What a group's name means by what stands around it: a sense, a person, a field, another text.

"Black", "turkey" and "orthodox" are ordinary words too; Jordan, Chad and Christian are names that
parents give. The same rules read the moderated text, so that both name the same groups.

An attack beside a group need not be the text's: "defends refugees against prejudice", "criticises
people who blame refugees", "a user reported it as hate against Muslims, but it is praise" name one
that the text answers, or that somebody else alone sees. Source: our own. Every window is bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

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
from services.hatexscore.words import Language, Span

FOLDER = Path(__file__).with_name("data")
THING = "a thing or an institution is named, not people"
ONE_OF_THEM = "one person, not the group"
WINDOW = 80  # characters looked at on either side of a mention
LONGEST_SUPPOSED = 600  # characters of a sentence about another text

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
        r"|pleasan|enthusias|enjoy|joy(?:ful|ous)?\b|nice(?:ly)?\b|generous|cherish|proud|speaks?\swell|(?:stick|stand)s?\sup\sfor"
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


# What a text answers, and what others say of it.
NEAR = 24  # characters behind "by" within which its group stands

_HATE = (
    r"(?:prejudices?|hat(?:e|red)(?:\sspeech)?|haters?|hostility|discriminat\w+|racis[mt]s?|sexis[mt]s?|bigot(?:s|ry)?|stereotyp\w+"
    r"|insults?|attacks?|attackers?|abuse|violence|threats?|contempt|intolerance|\w+phobi[ac]|antisemit\w+|misogyn\w+"
    r"|scapegoating|slurs?|bias(?:es)?|defamation|harassment|persecution|deportations?|exclusion|myths?"
    r"|generali[sz]ations?"
    r"|accusations?|slander|smears?|animosity|mockery|resentment|vilification|demoni[sz]ation|dehumani[sz]ation)"
)
_PERSONS = (
    r"(?:people|persons?|those|anyone|anybody|everyone|everybody|someone|somebody|whoever|users?|bigots|racists|haters"
    r"|commenters?|politicians?|voters?|neighbou?rs?|colleagues?|others|critics|readers|bullies)"
)
_DOES = (
    r"(?:blam|attack|insult|hat(?:e|es|ed|ing)\b|mock|abus|threaten|harass|discriminat|exclud|scapegoat|vilif|demoni[sz]"
    r"|stereotyp|spread|call|treat|judg|look|shout|bull(?:y|ie)|target|degrad|demean|dehumani|accus|generali|fear|resent"
    r"|ridicul|slander|smear|belittl|despis|den(?:y|ies)|want)\w*"
)
_DETERMINED = (
    r"(?P<{}>(?:(?!(?:but|and|or|it|which|with|for|by|through|using|in|as|of|who|that|because|to|at|on|from|against)\b)"
    r"[\w'-]{{1,20}}\s){{0,4}}?)"
)
# What the text answers: an attack, or those who attack.
_ATTACKERS = (
    rf"(?:(?:all|the|some|other|any)\s)?{_PERSONS}\s"
    rf"(?:(?:\w+ly|still|always|who|that)\s){{0,2}}{_DOES}"
)
_ATTACK = rf"(?:{_DETERMINED.format('whose')}(?P<noun>{_HATE})\b|{_ATTACKERS})"
_ANSWERING = (
    r"(?:criti(?:ci[sz]|qu)\w+|condemn\w*|reject\w*|answer(?:s|ed|ing)?|counter(?:s|ed|ing)?|oppos(?:es?|ed|ing)"
    r"|denounc\w+|rebut\w*|refut\w+|debunk\w*|resist\w*|deplor\w+|disapprov\w+\sof|object(?:s|ed|ing)?\sto"
    r"|contradict\w*|challeng(?:es?|ed|ing)|repl(?:y|ies|ied|ying)\sto|respond\w*\sto|(?:call|point)(?:s|ed|ing)?\sout"
    r"|push(?:es|ed|ing)?\sback\s(?:on|against)|(?:stands?|stood|speaks?|spoke|argu\w+|protest\w*|warns?|warned"
    r"|comes?|came|fights?|fought|campaign\w*)\s(?:up\s|out\s)?against|fights?|fought|tak\w+\sissue\swith"
    r"|protest(?:s|ed|ing)?|confront\w*|laments?|lamented|regrets?|complain\w*\s(?:about|of)"
    r"|(?:an?\s|the\s)(?:\w+\s)?(?:rebuttal|reply|response|answer|objection|opposition|criticism|critique|condemnation"
    r"|rejection|protest|counter|warning|stand)\s(?:of|to|against|at|about))"
)
# Those who attack are laughed at; of a group itself that would be an attack.
_MOCKING = (
    r"(?:mock\w*|ridicul\w+|satiri[sz]\w+|parod\w+|laugh\w*\sat|mak\w+\sfun\sof|sneer\w*\sat|blam(?:es?|ed|ing)"
    r"|sham(?:es?|ed|ing)|scold\w*|attack\w*|accus(?:es?|ed|ing)|insult\w*|tired\sof|angry\s(?:at|with))"
)
_DEFENDING = (
    r"(?:defend\w*|protect\w*|shield\w*|support(?:s|ed|ing)?|back(?:s|ed|ing)|guard(?:s|ed|ing)?|sid(?:es?|ed|ing)\swith"
    r"|(?:stand|stood|stick|stuck|speak|spoke)(?:s|ing)?\s(?:up|out|in)\sfor|in\sdefen[cs]e\sof|stands?\s(?:with|by)"
    r"|(?:speaks?|spoke)\sfor)"
)
_AGAINST = r"(?:against|from)"
_BORDER = (
    r"(?=[,;:\u2014]|\b(?:but|yet|however|while|whereas|although|though)\b"
    r"|\band\s(?:it\s)?\w+s\b|$)"
)
_ANSWERED = re.compile(
    rf"\b(?:{_ANSWERING}\s(?={_ATTACK})|{_MOCKING}\s(?={_ATTACKERS})).{{0,200}}?{_BORDER}",
    re.IGNORECASE,
)
# "Denies the claim about", "disputes what he said about": who rejects a claim rejects no group.
_DISPUTING = (
    rf"(?:{_ANSWERING}|den(?:y|ies|ied|ying)|disput\w+|dismiss\w*|disagree\w*\swith|question(?:s|ed|ing)?|disprov\w+"
    r"|doubt(?:s|ed|ing)?|disown\w*)"
)
_CLAIM = (
    r"(?:claims?|allegations?|assertions?|notions?|ideas?|lies?|rumou?rs?|statements?|remarks?|comments?|nonsense|falsehoods?|tropes?"
    r"|caricatures?|stor(?:y|ies)|theor(?:y|ies)|words|charges?|verdict|opinions?|views?|slurs?|myths?|smears?|stereotypes?"
    r"|accusations?|insults?|prejudices?|slander|generali[sz]ations?)"
)
_DISPUTED = re.compile(
    rf"\b{_DISPUTING}\s(?:{_DETERMINED.format('whose')}(?P<noun>{_CLAIM})"
    r"|what(?:ever)?\s(?:[\w'-]{1,20}\s){1,4}?(?:said|says?|wrote|writes?|written|claim(?:s|ed)?|posted|told|alleged|alleges?))"
    rf"\s(?:about|on|against|regarding|concerning|towards?)\b.{{0,200}}?{_BORDER}",
    re.IGNORECASE,
)
# The group stands between: "the nation against refugees" defends no refugees.
_DEFENDED = re.compile(
    rf"\b{_DEFENDING}\s(?P<whom>[\w\s'-]{{1,80}}?)\s{_AGAINST}\s(?={_DETERMINED.format('whose')}{_HATE}\b).{{0,200}}?{_BORDER}",
    re.IGNORECASE,
)
_ANTI = re.compile(r"\banti-?\s?$", re.IGNORECASE)
_PHOBIC = re.compile(r"\w+(?:phob|semiti|ogyn|racis|sexis)", re.IGNORECASE)
_BY_THEM = re.compile(
    r"\s(?P<by>by|from|among|of)\s(?:(?:the|these|those|some|all|many)\s)?", re.IGNORECASE
)
_OF_DOERS = re.compile(r"(?:violence|threats?|attacks?|insults?|abuse|slurs?)", re.IGNORECASE)
_THEM = re.compile(r"(?:them|him|her)\b", re.IGNORECASE)
_JUDGED = (
    r"(?:flag(?:s|ged)?|report(?:s|ed)?|mark(?:s|ed)?|remov(?:es?|ed)|tak(?:en|es?)\sdown|took\sdown|hid(?:den)?|delet(?:es?|ed)"
    r"|block(?:s|ed)?|call(?:s|ed)?|label(?:s|l?ed)?|classifi(?:es|ed)|read|misread|misunderst\w+|mist(?:ook|aken))"
)
_OTHER = (
    r"(?:someone|somebody|(?:an?|one|two|some|several|other|another|many|the)\s(?:other\s|angry\s|single\s)?"
    r"(?:users?|readers?|people|persons?|viewers?|commenters?|members?|followers?|reporters?|flaggers?|complainants?"
    r"|bots?|filters?|classifiers?|neighbou?rs?)|users|people|readers)"
)
_WRONGLY = (
    r"(?:by\s(?:mistake|accident)|in\serror"
    r"|(?:wrong|mistaken|incorrect|false|erroneous|unfair|unjust|accidental)ly)"
)
_REPORTED = re.compile(
    rf"\b(?:{_OTHER}\s(?:(?:has|have|had|\w+ly)\s)?{_JUDGED}|(?:was|were|is|been|got)\s(?P<wrongly>{_WRONGLY}\s)?{_JUDGED}"
    rf"|(?P<only>{_WRONGLY})\s{_JUDGED}|{_JUDGED}\s(?={_WRONGLY}))\b(?P<said>.{{0,160}}?)"
    r"(?P<end>[;\u2014,.]?\s?\b(?:but|yet|however|though|although)\b|,?\sand\s(?=(?:it|this|that|the|we|i|they)\b)|;|$)",
    re.IGNORECASE,
)
_BY_OTHERS = re.compile(rf"{_OTHER}\s", re.IGNORECASE)
_MISTAKEN = re.compile(rf"\b{_WRONGLY}\b", re.IGNORECASE)
_RIGHTLY = re.compile(
    r"\b(?:(?:right|correct|just|accurate)ly|with\s(?:good\s)?reason|(?:i|we)\s(?:agree|concur))\b",
    re.IGNORECASE,
)
_TURN = re.compile(r"\b(?:but|yet|however|though|although)\b", re.IGNORECASE)
_CJK: dict[Language, re.Pattern[str]] = {
    "zh": re.compile(
        "(?:谴责|反驳|批评|驳斥|反对|回击|抵制|质疑|批判)[^，。；]{0,30}(?:偏见|歧视|仇恨|攻击|侮辱|污蔑|言论|的人|敌意|刻板印象)"
        "|(?:维护|捍卫|保护|声援)[^，。；]{1,30}?(?:免受|不受|免遭|反对|对抗)[^，。；]{0,20}"
        "|(?:与|和)仇恨(?:正好|恰恰|完全)?相反"
    ),
    "ko": re.compile(
        r"[가-힣\s]{0,30}(?:편견|차별|혐오|공격|모욕|비하|적대감|사람들?|고정관념)(?:에|을|를|에\s?대해)?\s?"
        r"(?:맞[서선섰]|반대|반박|비판|규탄|거부|반발|대항)[가-힣]{0,6}"
        r"|[가-힣\s]{1,30}(?:편견|차별|혐오|공격|모욕)(?:으로)?(?:에서|부터|로부터)\s?(?:보호|옹호|지키|지켜)[가-힣]{0,4}"
        r"|혐오(?:와|의)\s?(?:는\s?)?(?:정반대|반대)"
    ),
}


@dataclass(frozen=True, slots=True)
class SentenceSaid:
    """text: blanks for what it quotes. start: in the explanation."""

    text: str
    start: int
    language: Language


def are_of_others(said: SentenceSaid, attacks: Sequence[Span], named: int) -> bool:
    """Does every attack stand where the text answers it, or where somebody else alone names it?

    attacks: spans of the explanation, in the sentence. named: where the group is, likewise.
    """
    if not attacks:
        return False
    stretches = list(_stretches(said.text[:LONGEST_SUPPOSED], said.language, named - said.start))
    return all(
        any(first <= start - said.start < last for first, last in stretches) for start, _ in attacks
    )


def _stretches(sentence: str, language: Language, named: int) -> Iterator[Span]:
    if language != "en":
        yield from (found.span() for found in _CJK[language].finditer(sentence))
        return
    for found in chain(_ANSWERED.finditer(sentence), _DISPUTED.finditer(sentence)):
        if not _is_theirs(sentence, found, named):
            yield found.span()
    for found in _DEFENDED.finditer(sentence):
        first, last = found.span("whom")
        if first <= named < last or _THEM.match(found["whom"]):
            yield found.span()
    for found in _REPORTED.finditer(sentence):
        if _is_other_view(found):
            yield found.start(), found.end("said")


def _is_theirs(sentence: str, found: re.Match[str], named: int) -> bool:
    """ "Warns against attacks by refugees": is it the group that is said to attack?"""
    if found["noun"] is None:
        return False
    first, last = found.span("whose")
    if first <= named < last:
        return _ANTI.search(sentence[:named]) is None and _PHOBIC.match(sentence, named) is None
    by = _BY_THEM.match(sentence, found.end("noun"))
    if by is None or not by.end() <= named < by.end() + NEAR:
        return False
    return by["by"] != "of" or _OF_DOERS.fullmatch(found["noun"]) is not None


def _is_other_view(found: re.Match[str]) -> bool:
    """Is it somebody's view that the explanation reports, and does not share?"""
    if _RIGHTLY.search(found.group()):
        return False
    mistaken = found["wrongly"] or found["only"] or _MISTAKEN.search(found["said"])
    turned = _TURN.search(found["end"])
    return bool(mistaken or turned or _BY_OTHERS.match(found.group()))
