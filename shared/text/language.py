"""Detects the language of a short text, and checks whether rules and models support it.

The language comes from the request, the script, or py3langid, or is undecided. A score is null with
an `Obstacle` if no rules exist for the language, or if a model did not learn it.

Source: py3langid 0.4.0 (Barbaresi's fork of Lui & Baldwin's langid.py, ACL 2012; BSD-3-Clause, 139
languages), the only one of five libraries that never took a foreign text for English. Measured with
`python -m bench.language`:

- 2,321 posts (Multilingual HateCheck and Korean comments): none is called English. .978 are
  identified, one wrongly. Of the 2,171 in their usual script, .985 are, none wrongly.
- 150 posts in Hindi in Latin letters, which no library knows: 131 found
  (`romanised_hindi`).
- 1,500 English posts of HateCheck: .967 are decided, all but one as English. As many
  annotated tweets: .952, all but 7 as English.
- An unrecognised language may be assumed to be a known one among the five likeliest
  (`assume_language`). This holds for 274 of 289 such English posts, and for 5 of 49 others.
- Undecided ("und") if the likeliest language has less than half of the probability, or if
  the text is short, has no telling script and is not `SURE`. Then none of 6,800 short
  messages in 20 languages and 3,500 pairs of words is taken for another language, except
  Japanese without kana.

Close languages can be confused in short texts, such as Russian and Ukrainian. Case, white space and
repetition have no effect. Detection takes linear time, about half a millisecond per text, and reads
at most 2,000 characters of different words. It is thread-safe: the ranking is filtered by script,
and py3langid's own set of languages, which all threads share, never changes. For workers only,
because it loads numpy."""

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
KANA_SHARE = 0.1  # of Han and Kana letters; Chinese posts borrow a single の
FEWEST_WORDS = 3
FEWEST_LETTERS = 12
HINDI_WORDS, HINDI_SHARE = 2, 0.3  # least number and share of Hindi function words
SURE = 0.95  # probability of a shorter text's language, of two words and six letters at least
HAN_LETTERS = 2  # an ideograph counts as two letters and as half a word
MOST_READ = 2_000  # characters of different words
MOST_LIKELY = 5  # likeliest languages from which one may be assumed
DIGITS = 4  # decimals of a confidence; further ones differ between processors

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

# py3langid starts with equal probabilities for all languages. Fewer than a million people speak
# these as a first language, and in short texts they are confused with their neighbours: es with an
# and ext, it with lij, fr with oc, de with lb.
_FEW = "an br crh cy dz eo eu ext fo fy ga gcr gd grc hbo is la lb lij mt oc sa se vo wa"
FEW_SPEAKERS = frozenset(_FEW.split())
RARE = 0.1  # factor of their probability

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
# Languages of py3langid that are usually written in the script.
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
# First word of a letter's Unicode name → script; all other letters count as Latin.
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
    """Return the language of `text`, or the `requested` BCP 47 tag unchanged."""
    if requested is not None:
        code = canonical(requested)
        return LanguageFound(code=code, confidence=float(code != UNDECIDED), by="request")
    words = _words(_QUOTATION.sub(" ", text)) or _words(text)  # the text may be one quotation
    scripts = _scripts("".join(words))
    letters = sum(scripts.values())
    script, count = scripts.most_common(1)[0] if scripts else ("", 0)
    if scripts["Kana"] >= KANA_SHARE * (scripts["Han"] + scripts["Kana"]) > 0:
        script, count = "Kana", scripts["Han"] + scripts["Kana"]
    only = "ja" if script == "Kana" else ONE_LANGUAGE.get(script)
    if only is not None and count >= TELLING * letters:
        return LanguageFound(code=only, confidence=round(count / letters, DIGITS), by="script")
    counted_letters = letters + scripts["Han"] * (HAN_LETTERS - 1)
    least = _least_confidence(len(words) + scripts["Han"] // 2, counted_letters)
    script = script if count >= TELLING * letters else ""
    hindi = _share_of_hindi(words) if least and script == "Latin" else None
    if hindi is not None:
        confidence = round((1 + hindi) / 2, DIGITS)  # a share of 0.3 decides
        return LanguageFound(code=ROMANISED_HINDI, confidence=confidence, by="model")
    return _by_model(" ".join(words), script, least)


def assume_language(
    detected: LanguageFound, other: LanguageFound | None = None, learned: Collection[str] = ()
) -> LanguageFound:
    """Return the language to assume if `detected` is undecided, else `detected` itself. The
    language of the other text is tried first, then the only language that the models learned. Each
    is used only if it is among the most likely languages of `detected`."""
    if detected.by != "undecided":
        return detected
    codes = [] if other is None or other.code == UNDECIDED else [other.code]
    tags = {canonical(tag) for tag in learned} - {"*"}
    if len(tags) == 1 and "*" not in learned:
        codes += tags
    code = next((code for code in codes if _is_likely(code, detected)), None)
    return detected if code is None else LanguageFound(code=code, confidence=0.0, by="assumed")


def _is_likely(code: str, detected: LanguageFound) -> bool:
    return detected.by == "undecided" and (code in detected.likely or not detected.likely)


def assumption(detected: LanguageFound) -> Iterator[str]:
    """Yield the warning for an assumed language of the text."""
    if detected.by == "assumed":
        yield f"{NOT_RECOGNISED.format(what='text')}{language_name(detected.code)}; send `language`"


def language_code(text: str) -> str:
    """Return the code that `find_language` detects."""
    return find_language(text).code


def canonical(tag: str) -> str:
    """Return the language code for comparisons: the macrolanguage in lower case, without region and
    variant. A Latin script is kept if the language is usually written in another script: `hi-Latn`.
    """
    first, *rest = tag.lower().split("-")
    code = MACROLANGUAGES.get(first, first)
    return f"{code}-Latn" if "latn" in rest and code in _NOT_LATIN else code


def is_supported(detected: LanguageFound, languages: Collection[str]) -> bool:
    """Return True if the language is one of the BCP 47 tags. `*` covers all languages, including
    undecided ones."""
    if "*" in languages:
        return True
    return detected.code != UNDECIDED and detected.code in {canonical(tag) for tag in languages}


@dataclass(frozen=True, slots=True)
class Obstacle:
    code: ReasonCode
    detail: str


@dataclass(frozen=True, slots=True)
class LanguageCoverage:
    """The languages of a request. `obstacles` are reasons why the score is null, `warnings` are
    reasons to doubt the score."""

    languages: Languages | None = None
    obstacles: tuple[Obstacle, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelLanguages:
    """The languages that a model learned, as BCP 47 tags. `*` means all; empty means not stated."""

    model: str
    learned: tuple[str, ...]

    def obstacle(self, detected: LanguageFound, what: str = "text") -> Obstacle | None:
        """Return why this model must not judge a text in this language, or None. `what` is the name
        of the text in the message. An unrecognised language is no obstacle if the model learned one
        of the most likely languages."""
        if (
            not self.learned
            or is_supported(detected, self.learned)
            or self._may_be_learned(detected)
        ):
            return None
        names = language_names(self.learned)
        if detected.code == UNDECIDED:
            detail = (
                f"the {what}'s language was not recognised ({self.model} learned {names}); send "
            )
            return Obstacle("language-undecided", f"{detail}`language`")
        verb = "is taken to be" if detected.by == "assumed" else "is"
        language = language_name(detected.code)
        detail = f"the {what}'s language {verb} {language}; {self.model} learned {names}"
        return Obstacle("untrained-language", detail)

    def _may_be_learned(self, detected: LanguageFound) -> bool:
        return any(_is_likely(canonical(tag), detected) for tag in self.learned)

    def get_warnings(self, detected: LanguageFound, what: str = "text") -> Iterator[str]:
        """Yield warnings for a text in the detected language if the model was not trained on it, or
        does not state its languages."""
        obstacle = self.obstacle(detected, what)
        if self.learned and "*" not in self.learned and self._may_be_learned(detected):
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
    models: Sequence[ModelLanguages],
    unread: Sequence[Obstacle | None] = (),
) -> LanguageCoverage:
    """Check whether the models of a request were trained on the language of its text. An
    unrecognised language is assumed (`assume_language`). `unread` holds the reasons why the parsing
    rules cannot handle a text (`rules_obstacle`). No request option can override these reasons."""
    tags = {tag for model in models for tag in model.learned}
    text = assume_language(languages.text, languages.explanation, tags)
    languages = languages.model_copy(update={"text": text})
    warnings = dict.fromkeys(assumption(text))
    warnings |= dict.fromkeys(warning for model in models for warning in model.get_warnings(text))
    untrained = (model.obstacle(text) for model in models)
    learned = [] if request.accept_untrained_languages else untrained
    obstacles = tuple(dict.fromkeys(filter(None, (*unread, *learned))))
    return LanguageCoverage(languages, obstacles, () if obstacles else tuple(warnings))


def rules_obstacle(
    text: str,
    detected: LanguageFound,
    ruled: Collection[str],
    what: str = "a text",
    by: str = "there are rules for",
) -> Obstacle | None:
    """Return the reason why the rules cannot parse this text, or None if they can or if the text
    has no letter. `ruled` holds the languages of the rules. Text in an unrecognised language in
    Latin script is treated as English. `what` and `by` are phrases for the message."""
    if detected.code in ruled or not any(map(str.isalpha, text)):
        return None
    names = language_names(sorted(ruled))
    if detected.code != UNDECIDED:
        detail = f"{what}'s language is {language_name(detected.code)}; {by} {names}"
        return Obstacle("no-rules", detail)
    if "en" in ruled and detected.by == "undecided":
        scripts = _scripts(text)
        if scripts["Latin"] >= TELLING * sum(scripts.values()):
            return None
    return Obstacle(
        "language-undecided",
        f"{what}'s language was not recognised ({by} {names}); send `language`",
    )


def rules_coverage(
    text: str, explanation: str | None, requested: str | None, ruled: Collection[str]
) -> tuple[Languages, tuple[Obstacle, ...]]:
    """Return the languages of text and explanation, and the reasons why no rules cover them.
    `explanation` is None if it does not exist yet. If `requested` is None, the language is
    detected."""
    language = find_language(text, requested)
    other = None if explanation is None else find_language(explanation, requested)
    languages = Languages(text=assume_language(language, other), explanation=other)
    unread = [rules_obstacle(text, languages.text, ruled)]
    if explanation is not None and other is not None:
        unread.append(rules_obstacle(explanation, assume_language(other, language), ruled))
    return languages, tuple(dict.fromkeys(filter(None, unread)))


def _words(text: str) -> list[str]:
    words: dict[str, None] = {}
    room = MOST_READ
    for word in _TAKEN_OUT.sub(" ", text.lower()).split():
        if word in words or not any(map(str.isalpha, word)):
            continue
        words[unicodedata.normalize("NFKC", word[:room])] = None
        room -= len(word)
        if room <= 0:
            break
    return list(words)


def _scripts(text: str) -> Counter[str]:
    scripts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha():
            name = unicodedata.name(character, "").partition(" ")[0]
            scripts[_SCRIPTS.get(name, "Latin")] += count
    return scripts


@lru_cache(maxsize=1)
def _load_model() -> Any:
    """Load py3langid's model, which takes two seconds."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _least_confidence(words: int, letters: int) -> float | None:
    """Return the minimum confidence for accepting the detected language of a text of this length.
    Return None if the text is too short for detection."""
    if words >= FEWEST_WORDS and letters >= FEWEST_LETTERS:
        return CONFIDENT
    return SURE if 3 * words >= 2 * FEWEST_WORDS and 2 * letters >= FEWEST_LETTERS else None


def _share_of_hindi(words: Sequence[str]) -> float | None:
    """Return the share of words that are Hindi function words in Latin letters, or None if the text
    is not Hindi."""
    stripped = [word.strip(_BESIDE_WORDS) for word in words]
    hindi = [word for word in stripped if word in WORDS]
    share = len(hindi) / len(stripped)
    if len(hindi) < HINDI_WORDS or share < HINDI_SHARE or OWN_WORDS.isdisjoint(hindi):
        return None
    return share


def _by_model(text: str, script: str, least: float | None) -> LanguageFound:
    """Return the most likely language of those written in `script`. Varieties of a language are
    counted together. The language is undecided if the confidence is below `least`, or if
    `least` is None."""
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
            confidence=confidence
            if least == CONFIDENT
            else 0.0,  # a shorter text is too little evidence
            by="undecided",
            likely=tuple(code for code, _ in likely[:MOST_LIKELY]),
        )
    return LanguageFound(code=code, confidence=confidence, by="model")
