"""The language of a short text, and whether the rules and the models that are asked know it.

By the request, by its script, by py3langid, or undecided. A score in a language that a model did
not learn, or that no rules read, looks like any other: such a score is null, with an `Obstacle`.

Source: py3langid 0.4.0 (Barbaresi's fork of Lui & Baldwin's langid.py, ACL 2012; BSD-3-Clause, 139
languages, a wheel of 4.6 MB, the whole process 133 MB), which of five libraries never took a
foreign text for English. Measured on the 1,850 posts of Multilingual HateCheck and 471 Korean
comments (`python -m bench.language`): none is called English; of all 2,321 .978 are identified, one
wrongly; of the 2,171 in their usual script .985, none wrongly (`RARE` was chosen on half of them);
of 150 in Hindi in Latin letters, which no library knows, 131 (`romanised_hindi`). Of 1,500 English
posts of HateCheck .967 are decided, all but one as English; of as many annotated tweets .952, all
but 7 of these as English. Half a millisecond a text. Close languages can be taken for each other in
a short text (Russian for Ukrainian).

An unrecognised language may be assumed to be a known one that is among the five likeliest
(`assume_language`). Of 289 unrecognised posts in English 274 are, of 49 in other languages 5.

Undecided is an answer: "und" (BCP 47), where the likeliest language has less than half of the
probability, or the text is short (fewer than three words or twelve letters), has no telling script
and is not `SURE`: of 6,800 short messages of a program in 20 languages and 3,500 pairs of words out
of posts, none is taken for another language then, nor with 0.9; Japanese without kana apart.

Case, blanks and repetition tell nothing: every word is read once, in lower case. Time is linear in
the length, and no more than 2,000 characters of different words are looked at. Any thread may ask:
the ranking is filtered by script, never py3langid's own set of languages, which all threads share.
Workers only: it loads numpy. It logs nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from shared.contracts.language_names import language_name, language_names
from shared.contracts.messages import LanguageFound, LanguageRequest, Languages, ReasonCode
from shared.text.romanised_hindi import OWN_WORDS, WORDS

UNDECIDED = "und"
NOT_RECOGNISED = "language-assumed: the {what}'s language is not recognised; it is taken to be "
ROMANISED_HINDI = "hi-Latn"
CONFIDENT = 0.5  # probability of the likeliest language, after folding
TELLING = 0.6  # share of the letters in one script
KANA_SHARE = 0.1  # of Han and Kana; Chinese posts borrow a single の
FEWEST_WORDS = 3
FEWEST_LETTERS = 12
HINDI_WORDS, HINDI_SHARE = 2, 0.3  # function words of Hindi at least, and their share
SURE = 0.95  # probability of a shorter text's language, of two words and six letters at least
HAN_LETTERS = 2  # an ideograph says as much as two letters; half of them make a word
MOST_READ = 2_000  # characters of different words
MOST_LIKELY = 5  # languages that an unrecognised one may be assumed to be
DIGITS = 4  # of a confidence: float32 on another processor differs behind them

# ISO 639-3: individual language (or variety) -> the code that models state; nb and nn belong to no.
# Filipino is Tagalog standardised; ISO keeps id, hr, sr and bs apart from ms and sh, and so do we.
MACROLANGUAGES = {
    individual: macro
    for macro, individuals in {
        "ar": "aeb acm acq ajp apc apd ary arz ars afb arb ayl acw shu",
        "az": "azb azj",
        "es": "spq",
        "et": "ekk vro",
        "fa": "pes prs",
        "ff": "fuv fuc fub ffm fuf",
        "gn": "gug gun",
        "ku": "kmr ckb sdh",
        "lv": "lvs ltg",
        "mg": "plt",
        "mn": "khk mvf",
        "ms": "zsm zlm mfa",
        "ne": "npi",
        "no": "nb nn nob nno",
        "or": "ory",
        "ps": "pbt pbu pst",
        "qu": "quz quy qul",
        "sq": "als aln",
        "sw": "swh swc",
        "tl": "fil",
        "uz": "uzn uzs",
        "yi": "ydd yih",
        "zh": "cmn yue wuu hak nan hsn gan cdo cjy mnp lzh",
    }.items()
    for individual in individuals.split()
}

# py3langid takes every language for as likely before it has read anything. Fewer than a million
# people have these as their first language, and in short texts they are taken for, and by, those of
# their neighbours: es for an and ext, it for lij, fr for oc, de for lb.
_FEW = "an br crh cy dz eo eu ext fo fy ga gcr gd grc hbo is la lb lij mt oc sa se vo wa"
FEW_SPEAKERS = frozenset(_FEW.split())
RARE = 0.1  # of what another language has

ONE_LANGUAGE = {
    "Armenian": "hy",
    "Cherokee": "chr",
    "Georgian": "ka",
    "Greek": "el",
    "Gujarati": "gu",
    "Gurmukhi": "pa",
    "Hangul": "ko",
    "Hebrew": "he",
    "Kannada": "kn",
    "Khmer": "km",
    "Lao": "lo",
    "Malayalam": "ml",
    "Myanmar": "my",
    "Odia": "or",
    "Sinhala": "si",
    "Tamil": "ta",
    "Telugu": "te",
    "Thaana": "dv",
    "Thai": "th",
}
# Of the languages that py3langid knows, those that the script is usual for.
CANDIDATES = {
    script: frozenset(codes.split(","))
    for script, codes in {
        "Arabic": "ar,fa,ur,ps,ku,ug,uz,az,sd",
        "Bengali": "bn,as",
        "Cyrillic": "ru,uk,be,bg,mk,sr,kk,ky,mn,tt,ba,ce,cv,os,tg,tk,uz,az,ab",
        "Devanagari": "hi,mr,ne,sa,bh",
        "Ethiopic": "am,ti",
        "Han": "zh,ja",
        "Tibetan": "bo,dz",
    }.items()
}
# The first word of a letter's Unicode name → its script; all other letters are taken for Latin.
_SCRIPTS = {name.upper(): name for name in (*ONE_LANGUAGE, *CANDIDATES)} | {
    "CANADIAN": "Canadian",
    "CJK": "Han",
    "HIRAGANA": "Kana",
    "IDEOGRAPHIC": "Han",
    "KATAKANA": "Kana",
    "KATAKANA-HIRAGANA": "Kana",
    "MONGOLIAN": "Mongolian",
    "ORIYA": "Odia",
    "TIFINAGH": "Tifinagh",
}
_ALSO_LATIN = frozenset(("az", "ku", "sr", "tk", "tt", "uz"))
_NOT_LATIN = frozenset(ONE_LANGUAGE.values()).union(*CANDIDATES.values()) - _ALSO_LATIN

_TAKEN_OUT = re.compile(
    r"(?:https?://|www\.)[!-~]*|@[A-Za-z0-9_]*"
    "|[\ud800-\udfff\u2600-\u27bf\u2b00-\u2bff\ufe0e\ufe0f\U0001f000-\U0001fbff]"
)
_BESIDE_WORDS = ".,!?;:'\"()-*#\u2026\u2019"
_QUOTATION = re.compile(
    '"[^"]*"|＂[^＂]*＂|“[^“”„]*”|„[^„“”]*[“”]|«[^«»]*»|「[^「」]*」|『[^『』]*』|《[^《》]*》'
)


def find_language(text: str, requested: str | None = None) -> LanguageFound:
    """The language of `text`; a requested one (a BCP 47 tag) is taken as it is."""
    if requested is not None:
        code = canonical(requested)
        return LanguageFound(code=code, confidence=float(code != UNDECIDED), by="request")
    words = _words(_QUOTATION.sub(" ", text)) or _words(text)  # all of it may be one quotation
    scripts = _scripts("".join(words))
    letters = sum(scripts.values())
    script, count = scripts.most_common(1)[0] if scripts else ("", 0)
    if scripts["Kana"] >= KANA_SHARE * (scripts["Han"] + scripts["Kana"]) > 0:
        script, count = "Kana", scripts["Han"] + scripts["Kana"]
    told = "ja" if script == "Kana" else ONE_LANGUAGE.get(script)
    if told is not None and count >= TELLING * letters:
        return LanguageFound(code=told, confidence=round(count / letters, DIGITS), by="script")
    told_letters = letters + scripts["Han"] * (HAN_LETTERS - 1)
    least = _least_confidence(len(words) + scripts["Han"] // 2, told_letters)
    script = script if count >= TELLING * letters else ""
    hindi = _share_of_hindi(words) if least and script == "Latin" else None
    if hindi is not None:
        confidence = round((1 + hindi) / 2, DIGITS)  # three of ten decide
        return LanguageFound(code=ROMANISED_HINDI, confidence=confidence, by="model")
    return _by_model(" ".join(words), script, least)


def assume_language(
    found: LanguageFound, beside: LanguageFound | None = None, learned: Collection[str] = ()
) -> LanguageFound:
    """Return what an unrecognised language is assumed to be; else `found`, as it is.

    The recognised language of the text beside it comes first, then the only language that the
    models learned. Either must be one of the likeliest.
    """
    if found.by != "undecided":
        return found
    codes = [] if beside is None or beside.code == UNDECIDED else [beside.code]
    known = {canonical(tag) for tag in learned} - {"*"}
    if len(known) == 1 and "*" not in learned:
        codes += known
    code = next((one for one in codes if _is_likely(one, found)), None)
    return found if code is None else LanguageFound(code=code, confidence=0.0, by="assumed")


def _is_likely(code: str, found: LanguageFound) -> bool:
    return found.by == "undecided" and (code in found.likely or not found.likely)


def assumption(found: LanguageFound, what: str = "text") -> Iterator[str]:
    """Yield the warning for an assumed language. what: the text, in the message."""
    if found.by == "assumed":
        yield f"{NOT_RECOGNISED.format(what=what)}{language_name(found.code)}; send `language`"


def language_code(text: str) -> str:
    """As `find_language` identifies it."""
    return find_language(text).code


def canonical(tag: str) -> str:
    """The code that is compared: the macrolanguage, in lower case, without region and variant.

    A script stays where it is Latin and the language is usually not written so: `hi-Latn`.
    """
    first, *rest = tag.lower().split("-")
    code = MACROLANGUAGES.get(first, first)
    return f"{code}-Latn" if "latn" in rest and code in _NOT_LATIN else code


def is_supported(found: LanguageFound, languages: Collection[str]) -> bool:
    """Is this one of the stated languages (BCP 47 tags)? `*` covers all, the undecided too."""
    if "*" in languages:
        return True
    return found.code != UNDECIDED and found.code in {canonical(each) for each in languages}


@dataclass(frozen=True, slots=True)
class Obstacle:
    code: ReasonCode
    detail: str


@dataclass(frozen=True, slots=True)
class LanguageCoverage:
    """Whether rules and models know the languages of a request. obstacles: why its score is null;
    warnings: why it may mean less than it seems to."""

    languages: Languages | None = None
    obstacles: tuple[Obstacle, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelLanguages:
    """What a model learned, as it states it (BCP 47 tags, `*`: all; empty: not stated)."""

    model: str
    learned: tuple[str, ...]

    def obstacle(self, found: LanguageFound, what: str = "text") -> Obstacle | None:
        """Why this model must not be asked about a text in this language. what: the text is.

        An unrecognised language is no obstacle where one of the likeliest was learned.
        """
        if not self.learned or is_supported(found, self.learned) or self._may_be_learned(found):
            return None
        known = language_names(self.learned)
        if found.code == UNDECIDED:
            detail = f"the {what}'s language is undecided; {self.model} learned {known}; send "
            return Obstacle("language-undecided", f"{detail}`language`")
        verb = "is taken to be" if found.by == "assumed" else "is"
        language = language_name(found.code)
        detail = f"the {what}'s language {verb} {language}; {self.model} learned {known}"
        return Obstacle("untrained-language", detail)

    def _may_be_learned(self, found: LanguageFound) -> bool:
        return any(_is_likely(canonical(tag), found) for tag in self.learned)

    def get_warnings(self, found: LanguageFound, what: str = "text") -> Iterator[str]:
        """Warnings for an answer about such a text."""
        obstacle = self.obstacle(found, what)
        if self.learned and "*" not in self.learned and self._may_be_learned(found):
            guess = f"one that {self.model} learned"
            yield f"{NOT_RECOGNISED.format(what=what)}{guess}; send `language`"
        if not self.learned:
            yield f"languages-not-stated: {self.model} does not say which languages it learned"
        elif obstacle is not None:
            yield obstacle.detail


def requested_language(request: LanguageRequest) -> str | None:
    return None if request.language == "auto" else request.language


def model_coverage(
    request: LanguageRequest,
    languages: Languages,
    asked: Sequence[ModelLanguages],
    unread: Sequence[Obstacle | None] = (),
) -> LanguageCoverage:
    """Whether the models that a request asks learned the language of its text.

    An unrecognised language is assumed (`assume_language`).
    unread: what the rules cannot read (`rules_obstacle`); no request accepts that.
    """
    every = {tag for model in asked for tag in model.learned}
    text = assume_language(languages.text, languages.explanation, every)
    languages = languages.model_copy(update={"text": text})
    doubts = dict.fromkeys(assumption(text))
    doubts |= dict.fromkeys(doubt for model in asked for doubt in model.get_warnings(text))
    learned = [] if request.accept_untrained_languages else [one.obstacle(text) for one in asked]
    obstacles = tuple(dict.fromkeys(filter(None, (*unread, *learned))))
    return LanguageCoverage(languages, obstacles, () if obstacles else tuple(doubts))


def rules_obstacle(
    text: str,
    found: LanguageFound,
    ruled: Collection[str],
    what: str = "a text",
    by: str = "there are rules for",
) -> Obstacle | None:
    """Why no rules read this text; None where they do, or where it holds no letter to read.

    ruled: the languages that there are rules for; an unrecognised one in Latin script is read as
    English. what: the text is, in the message; by: what reads the languages, before their names.
    """
    if found.code in ruled or not any(map(str.isalpha, text)):
        return None
    known = language_names(sorted(ruled))
    if found.code != UNDECIDED:
        detail = f"{what}'s language is {language_name(found.code)}; {by} {known}"
        return Obstacle("no-rules", detail)
    if "en" in ruled and found.by == "undecided" and in_latin_script(text):
        return None
    return Obstacle(
        "language-undecided",
        f"{what}'s language is undecided; {by} {known}; send `language`",
    )


def rules_coverage(
    text: str, explanation: str | None, sent: str | None, ruled: Collection[str]
) -> tuple[Languages, tuple[Obstacle, ...]]:
    """The languages of both, and why rules do not read them. explanation: None before it is
    written; sent: the requested language, None: identify it."""
    found = find_language(text, sent)
    beside = None if explanation is None else find_language(explanation, sent)
    languages = Languages(text=assume_language(found, beside), explanation=beside)
    unread = [rules_obstacle(text, languages.text, ruled)]
    if explanation is not None and beside is not None:
        unread.append(rules_obstacle(explanation, assume_language(beside, found), ruled))
    return languages, tuple(dict.fromkeys(filter(None, unread)))


def in_latin_script(text: str) -> bool:
    """Whether most letters are."""
    scripts = _scripts(text)
    return scripts["Latin"] >= TELLING * sum(scripts.values())


def _words(text: str) -> list[str]:
    """The different words that hold a letter, in lower case and order of appearance."""
    found: dict[str, None] = {}
    room = MOST_READ
    for word in _TAKEN_OUT.sub(" ", text.lower()).split():
        if word in found or not any(map(str.isalpha, word)):
            continue
        cut = unicodedata.normalize("NFKC", word[:room])
        found[cut] = None
        room -= len(word)
        if room <= 0:
            break
    return list(found)


def _scripts(text: str) -> Counter[str]:
    """How many letters of each script."""
    counted: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha():
            name = unicodedata.name(character, "").partition(" ")[0]
            counted[_SCRIPTS.get(name, "Latin")] += count
    return counted


@lru_cache(maxsize=1)
def _load_model() -> Any:
    """py3langid's model, read only: two seconds to load, once a process."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _least_confidence(words: int, letters: int) -> float | None:
    """What the language of a text of that length must have; None: it is too short for any."""
    if words >= FEWEST_WORDS and letters >= FEWEST_LETTERS:
        return CONFIDENT
    return SURE if 3 * words >= 2 * FEWEST_WORDS and 2 * letters >= FEWEST_LETTERS else None


def _share_of_hindi(words: Sequence[str]) -> float | None:
    """Share of function words among the words of a text in Latin letters; None: no Hindi."""
    bare = [word.strip(_BESIDE_WORDS) for word in words]
    found = [word for word in bare if word in WORDS]
    share = len(found) / len(bare)
    if len(found) < HINDI_WORDS or share < HINDI_SHARE or OWN_WORDS.isdisjoint(found):
        return None
    return share


def _by_model(text: str, script: str, least: float | None) -> LanguageFound:
    """The likeliest language that this script is written in, varieties counted together, if it is
    that likely at least. least: None: no probability is enough."""
    if not text:
        return LanguageFound(code=UNDECIDED, confidence=0.0, by="undecided")
    probabilities: Counter[str] = Counter()
    for label, probability in _load_model().rank(text):
        code = MACROLANGUAGES.get(label, label)
        probabilities[code] += probability * (RARE if code in FEW_SPEAKERS else 1)
    candidates = CANDIDATES.get(script)
    likely = [
        (code, probability)
        for code, probability in probabilities.most_common()
        if (code not in _NOT_LATIN if script == "Latin" else not candidates or code in candidates)
    ]
    code, probability = likely[0] if likely else (UNDECIDED, 0.0)
    confidence = round(min(1.0, probability / probabilities.total()), DIGITS)
    if least is None or confidence < least or code == "zxx":  # ISO 639: no linguistic content
        return LanguageFound(
            code=UNDECIDED,
            confidence=confidence if least == CONFIDENT else 0.0,  # a shorter text says too little
            by="undecided",
            likely=tuple(code for code, _ in likely[:MOST_LIKELY]),
        )
    return LanguageFound(code=code, confidence=confidence, by="model")
