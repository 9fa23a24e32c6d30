"""The noun that a group's name stands before: people, or a thing that is not a group.

"Muslim athletes" are people and one mention; "the Korean parliament" is an institution. Person
nouns are a word list (`person_nouns.json`, compiled from general knowledge); what stands behind a
demonym or a faith and is no person is a thing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from services.hatexscore.group_terms import Passage, TermMatch, person_nouns, singular
from services.hatexscore.words import Span

MOST_NOUNS = 4  # words of a noun phrase behind the group's name
REACH = 60  # characters

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_GAP = re.compile(r"[\s-]*")
_FUNCTION = frozenset(
    [
        "a",
        "an",
        "the",
        "and",
        "or",
        "nor",
        "but",
        "as",
        "at",
        "by",
        "for",
        "from",
        "in",
        "into",
        "of",
        "off",
        "on",
        "onto",
        "out",
        "over",
        "per",
        "than",
        "that",
        "this",
        "these",
        "those",
        "to",
        "under",
        "until",
        "up",
        "upon",
        "via",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "with",
        "within",
        "without",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "being",
        "am",
        "has",
        "have",
        "had",
        "do",
        "does",
        "did",
        "will",
        "would",
        "can",
        "could",
        "may",
        "might",
        "shall",
        "should",
        "must",
        "not",
        "no",
        "never",
        "they",
        "them",
        "their",
        "it",
        "its",
        "he",
        "him",
        "his",
        "she",
        "her",
        "we",
        "us",
        "our",
        "you",
        "your",
        "i",
        "me",
        "my",
        "so",
        "if",
        "because",
        "since",
        "although",
        "though",
        "however",
        "yet",
        "also",
        "too",
        "only",
        "just",
        "even",
        "still",
        "again",
        "here",
        "there",
        "now",
        "then",
        "more",
        "most",
        "less",
        "least",
        "very",
        "alike",
        "alone",
        "all",
        "both",
        "each",
        "every",
        "any",
        "some",
        "such",
        "one",
        "two",
        "three",
        "first",
        "last",
        "like",
        "unlike",
        "about",
        "against",
        "between",
        "among",
        "through",
        "during",
        "before",
        "after",
        "above",
        "below",
        "around",
        "cannot",
        "s",
        "t",
    ]
)
_ATTACKING = frozenset(
    [
        "stereotype",
        "stereotypes",
        "slur",
        "slurs",
        "joke",
        "jokes",
        "hate",
        "hatred",
        "bashing",
        "trope",
        "tropes",
        "insult",
        "insults",
        "caricature",
        "caricatures",
        "cliche",
        "cliches",
        "prejudice",
        "rhetoric",
        "sentiment",
        "sentiments",
        "jibe",
        "jibes",
        "harassment",
        "discrimination",
    ]
)
_ADJECTIVE_ALONE = frozenset(
    [
        "gay",
        "lesbian",
        "queer",
        "bisexual",
        "trans",
        "transgender",
        "transsexual",
        "homosexual",
        "disabled",
        "autistic",
        "blind",
        "deaf",
        "indigenous",
        "aboriginal",
        "islamic",
    ]
)


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
        return _person_end_cjk(passage, match)
    if is_people_already(passage, match):
        return None
    for word, _, end in _phrase(passage.text, match.end):
        if is_person(word):
            return end
    return None


def is_people_already(passage: Passage, match: TermMatch) -> bool:
    """ "Muslims", "women", "gay men": a noun for persons itself."""
    last = passage.text[match.start : match.end].split()[-1].lower().replace("\u2019", "'")
    if last.endswith("'s"):
        return False
    plural = singular(last) != last and not last.endswith("ese")
    return plural or (is_person(last) and last not in _ADJECTIVE_ALONE)


def is_thing(passage: Passage, match: TermMatch) -> bool:
    """Does the name stand before a noun that is neither a person nor people?"""
    if match.entry.kind in ("category_term", "slur_alias"):
        return False
    if passage.language != "en":
        return _is_thing_cjk(passage, match)
    if is_people_already(passage, match) or person_end(passage, match) is not None:
        return False
    if not (_modifies(match) or _is_possessive(passage, match)):
        return False
    head = next(_phrase(passage.text, match.end), None)
    if head is None:
        return False
    word = head[0].lower()
    return not (
        word in person_nouns()["en_people"] or word in _ATTACKING or word.endswith("phobia")
    )


def _modifies(match: TermMatch) -> bool:
    """A demonym, a faith or an adjective, and not the name of a country or of a religion."""
    term = match.entry.term
    if " " in term or term.endswith(("ism", "ity", "phobia", "phobic", "ic", "gyny")):
        return term in _ADJECTIVE_ALONE or term in ("catholic", "hispanic", "coptic")
    people = match.entry.category.lower() not in ("disabilities", "disability", "migrants")
    return people or term in _ADJECTIVE_ALONE


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
            if following is None or following.group().lower() in _FUNCTION:
                return
            position, joined = following.end(), joined + 1
            continue
        if lower in _FUNCTION or lower.endswith(("ly", "n't")) or _is_verb(text, word):
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
    return following is None or following.group().lower() in _FUNCTION


_THING_ZH = re.compile(
    "堂|政府|公司|电影|餐馆|餐厅|饭店|大使馆|使馆|军队|海军|空军|军方|法院|议会|国会|学校|大学|博物馆|银行|航空|铁路|经济|政策|文学"
    "|建筑|料理|菜|产品|品牌|汽车|手机|队|球队|俱乐部|联赛|寺|教堂|教会|节目|电视|报纸|媒体|企业|工厂|机构|商店|超市|战争|宣传|食品"
)
_THING_KO = re.compile(
    r"(?:의\s|\s)?(?:정부|회사|기업|항공사|의회|국회|군대|해군|공군|군|영화|식당|음식|요리|대학|학교|법원|정책|경제|팀|리그|전쟁|박물관"
    r"|은행|철도|드라마|방송|언론|신문|제품|자동차|브랜드|교회|사원|성당|건물|건축|대사관|외교|총리|대통령실|공장|가게|마트|선전|당국)"
)
_PEOPLES_KO = ("인", "족", "계", "민", "자", "도", "소수자", "노", "나", "들", "교", "시")
_NO_NOUN_KO = frozenset(
    [
        "전체",
        "모두",
        "전부",
        "등",
        "때문",
        "대신",
        "자체",
        "및",
        "또는",
        "그리고",
        "뿐",
        "안",
        "못",
        "다",
    ]
)
LONGEST_NOUN = 8  # characters, of Chinese and Korean


def _person_end_cjk(passage: Passage, match: TermMatch) -> int | None:
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
    endings = _endings_ko()
    borders = (end for end in range(reach, start + 2, -1) if _at_border(passage, end))
    return next((end for end in borders if _ends_a_noun(text[start:end], endings)), None)


@lru_cache(maxsize=1)
def _endings_ko() -> tuple[str, ...]:
    return tuple(person_nouns()["ko"])


def _ends_a_noun(phrase: str, endings: tuple[str, ...]) -> bool:
    return phrase.isalpha() and phrase.endswith(endings)


def _at_border(passage: Passage, end: int) -> bool:
    place = bisect_left(passage.words, end, key=lambda word: word.end)
    return place < len(passage.words) and passage.words[place].end == end


def _is_thing_cjk(passage: Passage, match: TermMatch) -> bool:
    pattern = _THING_ZH if passage.language == "zh" else _THING_KO
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
    return noun.text not in _NO_NOUN_KO and _person_end_cjk(passage, match) is None


def people_span(passage: Passage, match: TermMatch) -> Span:
    """The mention with the person noun that it belongs to."""
    return match.start, max(match.end, person_end(passage, match) or 0)
