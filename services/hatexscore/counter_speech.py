"""Attacks that a sentence names and that are not the text's own: what it answers, what others say.

"Defends refugees against prejudice", "criticises people who blame refugees", "a user reported it as
hate against Muslims, but it is praise": an attack is named beside a group, and nobody says that the
text attacks it. Source: our own. English, Chinese and Korean. Every pattern meets one sentence, of
at most `LONGEST` characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.hatexscore.words import Language, Span

LONGEST = 600  # characters of a sentence that are looked at
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
    stretches = list(_stretches(said.text[:LONGEST], said.language, named - said.start))
    return all(
        any(first <= start - said.start < last for first, last in stretches) for start, _ in attacks
    )


def _stretches(sentence: str, language: Language, named: int) -> Iterator[Span]:
    if language != "en":
        yield from (found.span() for found in _CJK[language].finditer(sentence))
        return
    for found in _ANSWERED.finditer(sentence):
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
