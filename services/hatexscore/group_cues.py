"""What a group's name means where it stands: people, a thing, a ground, a bystander, a possibility.

"Muslim athletes" are people and one mention; "the Korean parliament" is an institution. Person
nouns are a word list (`person_nouns.json`, compiled from general knowledge); what stands behind a
demonym or a faith and is no person is a thing.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from services.hatexscore.group_terms import Passage, TermMatch, person_nouns
from services.hatexscore.lexicon import singular
from services.hatexscore.words import Language, Span

FOLDER = Path(__file__).with_name("data")
MOST_NOUNS = 4  # words of a noun phrase behind the group's name
REACH = 60  # characters

_OWNED = re.compile(r"['\u2019]s?$")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_GAP = re.compile(r"[\s-]*")


@lru_cache(maxsize=1)
def _word_lists() -> dict[str, frozenset[str]]:
    """Words that end a noun phrase, that attack, that name people alone, or that are no nouns."""
    content = json.loads((FOLDER / "noun_phrases.json").read_text(encoding="utf-8"))
    return {name: frozenset(listed.split()) for name, listed in content.items()}


def is_person(word: str) -> bool:
    """Does the English noun name persons, in singular or plural?"""
    nouns, lower = person_nouns()["en"], word.lower()
    last = lower.rpartition("-")[2]
    return any(one in nouns for form in {lower, last} for one in (form, singular(form)))


def person_end(passage: Passage, match: TermMatch) -> int | None:
    """Where the person noun that the group's name belongs to ends; None where there is none."""
    if match.entry.kind == "category_term":
        return None
    if passage.language != "en":
        return _end_zh_ko(passage, match)
    if is_people_already(passage, match):
        return None
    for word, _, end in _phrase(passage.text, match.end):
        owner = _OWNED.sub("", word)
        if is_person(owner):
            its = owner != word or _is_possessive(passage, match)
            return None if _is_office(match, owner, its) else end
        if owner != word:
            return None  # "an Indian restaurant's driver"
    return None


def _is_office(match: TermMatch, noun: str, possessive: bool) -> bool:
    """ "Russia's president", "the Turkish president's party": an officer, who is no people."""
    named = match.entry.kind == "term" and not _modifies(match)
    return noun.lower() in _word_lists()["offices"] and (named or possessive)


def is_people_already(passage: Passage, match: TermMatch) -> bool:
    """ "Muslims", "women", "gay men": a noun for persons itself."""
    last = passage.text[match.start : match.end].split()[-1].lower().replace("\u2019", "'")
    if last.endswith("'s"):
        return False
    plural = singular(last) != last and not last.endswith("ese")
    return plural or (is_person(last) and last not in _word_lists()["adjectives_alone"])


def is_object(passage: Passage, match: TermMatch) -> bool:
    """Does the name stand before a noun that is neither a person nor people?"""
    if match.entry.kind in ("category_term", "slur_alias"):
        return False
    if passage.language != "en":
        return _is_object_zh_ko(passage, match)
    if is_people_already(passage, match) or person_end(passage, match) is not None:
        return False
    if not (_modifies(match) or _is_possessive(passage, match)):
        return False
    head = next(_phrase(passage.text, match.end), None)
    if head is None:
        return False
    word = head[0].lower()
    return not (
        word in person_nouns()["en_people"]
        or word in _word_lists()["attacking_nouns"]
        or word.endswith("phobia")
    )


def _modifies(match: TermMatch) -> bool:
    """A demonym, a faith or an adjective, and not the name of a country or of a religion."""
    term = match.entry.term
    if (" " in term and match.entry.kind != "demonym") or term.endswith(
        ("ism", "ity", "phobia", "phobic", "ic", "gyny")
    ):
        return term in _word_lists()["adjectives_alone"] or term in (
            "catholic",
            "hispanic",
            "coptic",
        )
    people = match.entry.category.lower() not in ("disabilities", "disability", "migrants")
    return people or term in _word_lists()["adjectives_alone"]


def _is_possessive(passage: Passage, match: TermMatch) -> bool:
    return passage.text[match.end : match.end + 2] in ("'s", "\u2019s")


def _phrase(text: str, position: int) -> Iterator[tuple[str, int, int]]:
    """The words of the noun phrase behind a name, up to a function word, a verb form or a mark."""
    reach = position + REACH
    if text[position : position + 2] in ("'s", "\u2019s"):
        position += 2
    joined = 0
    while joined < MOST_NOUNS:
        gap = _GAP.match(text, position, reach)
        word = _WORD.match(text, gap.end() if gap else position, reach)
        if word is None or "\n" in text[position : word.start()]:
            return
        lower = word.group().lower()
        if joined == 0 and lower in ("and", "or"):  # "Indian and Turkish workers"
            following = _WORD.match(text, _after_blank(text, word.end()), reach)
            if following is None or following.group().lower() in _word_lists()["function_words"]:
                return
            position, joined = following.end(), joined + 1
            continue
        if (
            lower in _word_lists()["function_words"]
            or lower.endswith(("ly", "n't"))
            or _is_verb(text, word)
        ):
            return
        yield word.group(), word.start(), word.end()
        position, joined = word.end(), joined + 1


def _after_blank(text: str, position: int) -> int:
    gap = _GAP.match(text, position)
    return gap.end() if gap else position


def _is_verb(text: str, word: re.Match[str]) -> bool:
    """ "Chinese living here", "Mexican called lazy"; but "Islamic banking rules"."""
    lower = word.group().lower()
    if not lower.endswith(("ing", "ed")) or is_person(lower):
        return False
    following = _WORD.match(text, _after_blank(text, word.end()))
    return following is None or following.group().lower() in _word_lists()["function_words"]


_THING_ZH = re.compile(
    "堂|政府|公司|电影|餐馆|餐厅|饭店|大使馆|使馆|军队|海军|空军|军方|法院|议会|国会|学校|大学|博物馆|银行|航空|铁路|经济|政策|文学"
    "|建筑|料理|菜|产品|品牌|汽车|手机|队|球队|俱乐部|联赛|寺|教堂|教会|节目|电视|报纸|媒体|企业|工厂|机构|商店|超市|战争|宣传|食品"
)
_THING_KO = re.compile(
    r"(?:의\s|\s)?(?:정부|회사|기업|항공사|의회|국회|군대|해군|공군|군|영화|식당|음식|요리|대학|학교|법원|정책|경제|팀|리그|전쟁|박물관"
    r"|은행|철도|드라마|방송|언론|신문|제품|자동차|브랜드|교회|사원|성당|건물|건축|대사관|외교|총리|대통령실|공장|가게|마트|선전|당국)"
)
_PEOPLES_KO = ("인", "족", "계", "민", "자", "도", "소수자", "노", "나", "들", "교", "시")
LONGEST_NOUN = 8  # characters, of Chinese and Korean


def _end_zh_ko(passage: Passage, match: TermMatch) -> int | None:
    """The longest person noun right behind the name; in Korean one short word may modify it."""
    nouns, text = person_nouns()[passage.language], passage.text
    start = match.end
    if passage.language == "ko" and text[start : start + 1] == " ":
        start += 1
    reach = min(len(text), start + LONGEST_NOUN)
    for end in range(reach, start, -1):
        if text[start:end] in nouns:
            return end
    if passage.language != "ko" or text[start:reach].isspace():
        return None
    endings = _suffix_ko()
    borders = (end for end in range(reach, start + 2, -1) if _at_border(passage, end))
    return next((end for end in borders if _ends_a_noun(text[start:end], endings)), None)


@lru_cache(maxsize=1)
def _suffix_ko() -> tuple[str, ...]:
    return tuple(person_nouns()["ko"])


def _ends_a_noun(phrase: str, endings: tuple[str, ...]) -> bool:
    return phrase.isalpha() and phrase.endswith(endings)


def _at_border(passage: Passage, end: int) -> bool:
    place = bisect_left(passage.words, end, key=lambda word: word.end)
    return place < len(passage.words) and passage.words[place].end == end


def _is_object_zh_ko(passage: Passage, match: TermMatch) -> bool:
    pattern = _THING_ZH if passage.language == "zh" else _THING_KO
    if passage.text[match.end - 1 : match.end + 1] == "\uc778\uc758":  # 인의: of these people
        return False
    if pattern.match(passage.text, match.end) is not None:
        return True
    return passage.language == "ko" and _is_country_before_a_noun(passage, match)


def _is_country_before_a_noun(passage: Passage, match: TermMatch) -> bool:
    """ "독일 기차": a country's name before a noun that is no person."""
    country = "국가" in match.entry.category and not match.entry.term.endswith(_PEOPLES_KO)
    if not country or passage.text[match.end : match.end + 1] != " ":
        return False
    place = bisect_left(passage.words, match.end + 1, key=lambda word: word.start)
    noun = passage.words[place] if place < len(passage.words) else None
    if noun is None or noun.start != match.end + 1 or noun.is_stop or noun.lemma.endswith("다"):
        return False
    return noun.text not in _word_lists()["no_nouns_ko"] and _end_zh_ko(passage, match) is None


def people_span(passage: Passage, match: TermMatch) -> Span:
    """The mention with the person noun that it belongs to."""
    return match.start, max(match.end, person_end(passage, match) or 0)


NOTHING = re.compile(r"(?!)")


# "People living with a disability": a category that the people are named by.
LIVING_WITH = re.compile(
    r"\b(?:people|persons?|those|individuals?|children|adults|men|women|workers|someone|anyone|citizens)\s"
    r"(?:who\s(?:are\s)?)?(?:living\s|live\s|born\s)?(?:with|have|has|having)\s(?:(?:an?|any|some|their)\s)?"
    r"(?:[\w-]+\s)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class GroundRules:
    """no_noun: a category word that is an adjective or an -ism and names nobody.

    before, after: what makes a category the ground of an attack: "because of their race".
    """

    no_noun: re.Pattern[str]
    before: re.Pattern[str]
    after: re.Pattern[str]


_OWNER = r"(?:their|his|her|its|one's|someone's|people's|a\sperson's)"
_BECAUSE = (
    r"(?:based\s(?:up)?on|because\sof|due\sto|on\s(?:the\s)?(?:basis|grounds?)\sof|on\saccount\sof"
    r"|by\s(?:reason|virtue)\sof|owing\sto|rooted\sin|in\sview\sof)"
)
_ATTACKS = r"(?:attack|insult|mock|ridicul|demean|target|denigrat|degrad|deri)\w*(?:\son)?"
_LISTED = (
    r"(?:(?:an?|the|real|perceived|assumed|presumed|supposed|alleged|own)\s){0,2}"
    r"(?:(?:[\w-]+\s)?[\w-]+(?:,\s|\s(?:or|and)\s|,\s(?:or|and)\s)){0,5}(?:(?:their|his|her|own)\s){0,2}$"
)

GROUNDS: dict[Language, GroundRules] = {
    "en": GroundRules(
        re.compile(
            r"(?:racial|racially|racis[tm]|religious|religiously|ethnic|ethnically|sexis[tm]"
            r"|casteis[tm]|ageis[tm]|ableis[tm])\b"
        ),
        re.compile(
            rf"\b(?:{_BECAUSE}\s(?:{_OWNER}\s)?|(?:for|over|{_ATTACKS})\s{_OWNER}\s){_LISTED}",
            re.IGNORECASE,
        ),
        NOTHING,
    ),
    "zh": GroundRules(
        re.compile("主义|歧视"),
        re.compile(
            "(?:基于|因为|因|由于|出于|根据|凭|以)(?:其|他们的|她们的|对方的|别人的|他人的|某人的)?"
            "(?:[^，。；！？的]{1,6}[、和或与及])?$"
        ),
        re.compile(
            "(?:(?:[、和或与及])[^，。；]{1,6})?(?:的|等)?(?:原因|缘故|理由|为由|身份而|而被)"
        ),
    ),
    "ko": GroundRules(
        re.compile("차별|주의|적$"),
        NOTHING,
        re.compile(
            r"(?:[이과와나,]\s?[가-힣]{1,6}){0,3}[을를에의이가과와으로]{0,2}\s?"
            r"(?:이유|근거|기반|때문|따라|따른|탓|빌미)"
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class BystanderRules:
    """own, some, by: what stands before the name, at its end; judge, acquaintance: its noun.

    judges: what such a person does, right behind; complains: what any person does who is none.
    """

    own: re.Pattern[str]
    acquaintance: re.Pattern[str]
    some: re.Pattern[str]
    by: re.Pattern[str]
    judge: re.Pattern[str]
    judges: re.Pattern[str]
    complains: re.Pattern[str] = NOTHING


_FRIEND = (
    r"(?:colleague|friend|neighbou?r|teacher|doctor|boss|wife|husband|partner|sister|brother|cousin"
    r"|uncle|aunt|mother|father|classmate|roommate|co-?worker|dentist|moderator|reviewer|reader"
    r"|editor|annotator|grandmother|grandfather|student|intern|translator|lawyer|team|staff)"
)
_JUDGE = (
    r"(?:moderator|reviewer|court|judge|annotator|rater|editor|reader|colleague|commenter|expert"
    r"|lawyer|teacher|translator|friend|neighbou?r|user|jury|juror|tribunal|linguist|scholar"
    r"|journalist|reporter|newspaper|analyst|assessor|evaluator|labell?er|student|volunteer|viewer"
    r"|listener|witness|speaker)"
)
_COMPLAINS = (
    r"(?:complain|report|flag|agree|object|confirm|condemn|criticis|criticiz|reject|disagree|protest|notic"
    r"|apologi|intervene|respond|answer|reply|replied|shar|repost|like[ds])"
)
_DETERMINER = r"(?:an?|one|two|three|four|five|several|some|another|the|both|many|most|few|\d+)"
_JUDGING = (
    r"(?:agree|report|flag|find|found|judge|call|say|said|think|thought|consider|confirm|note"
    r"|complain|condemn|read|see|saw|regard|rule|point|argue|critici[sz]e|reject|review|remove|mark"
    r"|label|rate|classif|explain|describe|translate|wrote|write|told|ask|warn|object)"
)

BYSTANDERS: dict[Language, BystanderRules] = {
    "en": BystanderRules(
        own=re.compile(r"\b(?:my|our|your)\s(?:\w+\s)?$", re.IGNORECASE),
        acquaintance=re.compile(rf"^[\s-]*(?:\w+\s)?{_FRIEND}s?\b", re.IGNORECASE),
        some=re.compile(rf"(?:^|\s){_DETERMINER}\s(?:\w+\s)?$", re.IGNORECASE),
        by=re.compile(
            r"\b(?:by|according\sto|asked|consulted|informed|told|thanks?\sto)\s(?:\w+\s){0,2}$",
            re.IGNORECASE,
        ),
        judge=re.compile(rf"^[\s-]*(?:\w+\s)?{_JUDGE}s?\b", re.IGNORECASE),
        complains=re.compile(
            rf"\s?(?:who\s)?(?:(?:has|have|had|also|later|then|rightly)\s){{0,2}}{_COMPLAINS}\w*",
            re.IGNORECASE,
        ),
        judges=re.compile(
            rf"\s?(?:(?:has|have|had|also|rightly|later|then|would)\s){{0,2}}{_JUDGING}\w*",
            re.IGNORECASE,
        ),
    ),
    "zh": BystanderRules(
        own=re.compile("(?:我|我的|我们的|我们|本站的|一位|两位|一名|两名|几位)$"),
        acquaintance=re.compile(
            "^(?:同事|朋友|邻居|老师|医生|同学|室友|审核员|版主|管理员|读者|编辑|评审)"
        ),
        some=re.compile("(?:一位|两位|一名|两名|几位|几名|某位)$"),
        by=re.compile("(?:由|被|据|根据)(?:一位|两位|一名|两名|几位|几名)?$"),
        judge=re.compile(
            "^(?:审核员|版主|管理员|读者|编辑|评审|法官|法院|同事|朋友|邻居|专家|译者)"
        ),
        judges=re.compile(
            "[^，。]{0,4}(?:认为|举报|同意|判定|指出|表示|说|觉得|看来|报告|标记|裁定)"
        ),
    ),
    "ko": BystanderRules(
        own=re.compile(r"(?:^|\s)(?:내|제|나의|저의|우리|저희)\s*$"),
        acquaintance=re.compile(
            r"^\s*(?:동료|친구|이웃|선생님|의사|상사|관리자|독자|편집자|검토자|룸메이트)"
        ),
        some=re.compile(r"(?:한|두|세|어느|몇몇)\s?(?:명의\s?)?$|^$"),
        by=NOTHING,
        judge=re.compile(
            r"^\s*(?:관리자|검토자|독자|편집자|판사|법원|동료|친구|이웃|전문가|번역가|운영자)"
        ),
        judges=re.compile(
            r"[가-힣]{0,2}\s?(?:[가-힣]{1,12}\s){0,3}"
            "(?:신고|동의|말했|말한|판단|지적|생각|보고|판결|인정)"
        ),
    ),
}


@dataclass(frozen=True, slots=True)
class SpeakerRules:
    """Who speaks, not who is attacked. as_one, is_one: before the name; himself: behind it."""

    as_one: re.Pattern[str]
    is_one: re.Pattern[str]
    himself: re.Pattern[str]


SPEAKERS: dict[Language, SpeakerRules] = {
    "en": SpeakerRules(
        as_one=re.compile(
            r"\b(?:speaking|writing|talking|posting|joking|arguing|identif\w+|describ\w+\s(?:him|her|them)sel(?:f|ves))"
            r"\sas\s(?:an?\s)?(?:\w+\s)?$",
            re.IGNORECASE,
        ),
        is_one=re.compile(
            r"(?:^|[,(]\s?|\b(?:though|although|while|being|is|was|are)\s)(?:also\s|both\s)?(?:an?\s)?(?:\w+\s)?$",
            re.IGNORECASE,
        ),
        himself=re.compile(r"\s(?:\w+\s)?(?:(?:him|her|it)self|themsel(?:f|ves))\b", re.IGNORECASE),
    ),
    "zh": SpeakerRules(
        as_one=re.compile(
            "(?:作者|发帖人|发言者|说话者|发布者|博主|楼主|用户|写作者)?(?:自己|本人|自身)(?:也|就|同样|其实)?是(?:一[名个位])?$"
        ),
        is_one=re.compile("(?:身为|作为)(?:一[名个位])?$"),
        himself=re.compile("(?:的)?(?:作者|发帖人|发言者|说话者|博主|楼主)"),
    ),
    "ko": SpeakerRules(
        as_one=NOTHING,
        is_one=re.compile(
            r"(?:글쓴이|작성자|화자|저자|게시자|본인|자신|스스로)(?:\s?(?:자신|본인|스스로))?(?:도|은|는|이|가|역시)?\s(?:같은\s)?$"
        ),
        himself=re.compile(r"(?:이며|이고|이지만|으로서|로서|인데|이면서|이다|입니다|이라고\s밝)"),
    ),
}

# "a single Turkish waiter": one of them, who is not all of them.
ONE_PERSON: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:one|a\ssingle|an?\sindividual|a\scertain|a\sparticular|this\sone|only\sone|just\sone)\s(?:\w+\s)?$",
        re.IGNORECASE,
    ),
    "zh": re.compile("(?:一|某|这|那|单)[名位个]$"),
    "ko": re.compile(r"(?:^|\s)(?:한|어떤|그|특정)\s(?:명의\s)?$"),
}
# "people who are disabled": who they are, behind the noun.
WHO_ARE = re.compile(
    r"\b(\w+)\s(?:who|that)\s(?:are|is|were|was|happen\sto\sbe)\s(?:\w+ly\s)?$", re.IGNORECASE
)
NO_GROUP_MEANT = re.compile(
    r"\b(?:no|not|never|nor|without)\s(?:\w+\s){0,3}(?:group|people|community|nation|population|minority)\b",
    re.IGNORECASE,
)
# "in Turkey": where it is, and not who.
PLACE = re.compile(
    r"\b(?:in|to|near|inside|outside|across|through|at|via|around)\s$", re.IGNORECASE
)
# "raise children", 养孩子: whom one has or brings up.
BROUGHT_UP: dict[Language, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(?:rais(?:e|es|ed|ing)|adopt(?:s|ed|ing)?|bring(?:s|ing)?\sup|hav(?:e|ing)|bear(?:ing)?|rear(?:s|ing)?)"
        r"\s(?:(?:any|their|own|more|no)\s){0,2}$",
        re.IGNORECASE,
    ),
    "zh": re.compile("(?:抚养|养育|领养|收养|教育|养|带|生)(?:自己的|他们的)?$"),
    "ko": NOTHING,
}

# "not X but Y", before Y
CONTRASTED = re.compile(
    r"\b(?:but|rather)\s(?:(?:rather|also|only|the|all|at|on|to|for|of|against|instead|towards?)\s){0,3}$",
    re.IGNORECASE,
)
# "leaves X out of it"
LEAVES = re.compile(r"\b(?:leav(?:e|es|ing)|left|keep|keeps|kept|keeping)\s(?:\w+\s){0,2}$")
LEFT_OUT = re.compile(
    r"^(?:\s\w+){0,3}?\s(?:out\s(?:of\s(?:it|this|that|the\s(?:story|picture|matter|joke|text|list|whole"
    r"|account|discussion|debate|question|post|comment|sentence|remark))\b|entirely|altogether)|alone"
    r"|in\speace|out\W*$)"
)

# "…, yet he openly calls" + "them".
AND_YET = re.compile(
    r"\W*(?:but|yet|though|although|however|still|and)\W+(?:(?:it|he|she|they|the\s\w+|still|instead"
    r"|nonetheless|nevertheless|also|does|do|\w+ly)\s+){0,4}",
    re.IGNORECASE,
)
THEM = re.compile(r"\sthem\b", re.IGNORECASE)
# "Her" before a noun is whose that is.
HIM_OR_HER = re.compile(
    r"\s(?:him|her(?=\s*(?:[^\w\s]|$)|\s+(?:an?|the|as|with|in|for|to|and|or|because|by|at|on|too|again"
    r"|names|out|instead|later)\b))\b",
    re.IGNORECASE,
)
SEVERAL = re.compile(r".*(?:s|people|women|men|children|folk)\W*", re.IGNORECASE | re.DOTALL)
