"""Label vocabularies: words that name the classes of a decision, built in or a caller's own. Every
vocabulary has the classes hateful and non-hateful, and some have further ones. The built-in
vocabularies are `data/vocabularies/{name}.json`. Source: our own."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import get_args

from services.hatexscore.report import Label, Side, VocabularyName
from shared.process.cached import cache_results, cached_property

KINDS = ("first", "second", "one_way", "verbs", "actions")  # of a file: the first of a word holds
FOLDER = Path(__file__).parent / "data" / "vocabularies"
LONGEST_WORD = 60  # characters, after folding
KEPT_BYTES, WORD_BYTES = 2**22, 4_000  # of what is kept of callers; a word with its patterns
MOST_WORDS = 20  # a side, of a caller's own
SIDES: tuple[Side, ...] = get_args(Side)
MOST_CLASSES = 8
RESERVED = ("none", "unknown")  # no names of classes
TASKS: tuple[VocabularyName, ...] = ("toxicity", "safety", "policy", "three-way")
MOST_WRITTEN_OUT = 20  # words of a side that a refusal lists

# In a built-in word: up to three words more, or eight Chinese characters, as in "against * policy".
GAP = "*"

_HYPHENS = re.compile(r"[\s\-\u2010-\u2015_]+")
_GAP = r"[\s\-\u2010-\u2015_]{0,3}"
_BLANKS = re.compile(r"[\s\-\u2010-\u2015_]{1,3}")
_ENGLISH = re.compile(r"[a-z]{2,24}")
_NEGATED = re.compile(r"(?:(?:does|do|is)\s+)?(?:not|no|non|非|不是|비)[\s]*")
_NOUN = re.compile(r"(?:\s(?:speech|content|comment|post|text|language|message)|言论|内容)?")
_DENIES = re.compile(r"\b(?:none|no|neither)\b")  # in a gap: "breaks none of the rules"
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7a3]")


def fold(word: str) -> str:
    """Return the word in the form in which labels are compared: NFKC and lower case, with hyphens
    as spaces."""
    return _HYPHENS.sub(" ", unicodedata.normalize("NFKC", word).lower()).strip()


@dataclass(frozen=True, slots=True)
class LabelWord:
    """A word for a label, in its original spelling. A `one_way` word has no meaning when negated. A
    word with `capitals` counts only in capitals, one with `line_only` only in a line that states
    the label."""

    text: str
    side: Label
    one_way: bool = False
    capitals: bool = False
    line_only: bool = False


@dataclass(frozen=True, slots=True)
class WordInText:
    """A label word at text[start:end]. `denied` is True if a prefix negates it, as in
    "non-hateful"."""

    start: int
    end: int
    word: LabelWord
    denied: bool

    def label(self, denials: int) -> Label | None:
        """Return the class of the word after `denials` negations. An odd number of negations
        reverses the class. Return None for a negated word that has no meaning when negated."""
        if (denials + self.denied) % 2 == 0:
            return self.word.side
        return None if self.word.one_way else other_side(self.word.side)


@dataclass(frozen=True)
class Vocabulary:
    """The label words that apply to a request.

    `name` is None for a caller's vocabulary. `searched` has the normalised words to search for,
    longest first. `listed` maps normalised words to classes and includes negated forms.
    `of_decision` is True if the request names no vocabulary, so the vocabulary follows from its
    decision (`vocabulary_of_decision`)."""

    name: VocabularyName | None
    words: tuple[LabelWord, ...]
    searched: tuple[str, ...]
    known: Mapping[str, LabelWord]
    listed: Mapping[str, Label]
    of_decision: bool = False

    @cached_property
    def classes(self) -> tuple[Label, ...]:
        """Return all classes: hateful and non-hateful, then the further ones."""
        return tuple(dict.fromkeys((*SIDES, *(word.side for word in self.words))))

    @cached_property
    def further(self) -> tuple[Label, ...]:
        """Return the classes beyond hateful and non-hateful."""
        return self.classes[len(SIDES) :]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The regular expression that finds the words. It is compiled on first use."""
        cjk = [text for text in self.searched if _CJK.search(text)]
        latin = [text for text in self.searched if not _CJK.search(text)]
        return re.compile(
            rf"(?<!\w)(?P<non>(?:non|un){_GAP})?(?P<latin>{_alternatives(latin)})(?!\w)"
            rf"|(?P<cjk_non>(?<![并绝而无])非|(?<![가-힣])비{_GAP})?(?P<cjk>{_alternatives(cjk)})"
        )

    def find(self, plain: str, original: str, *, in_line: bool = False) -> Iterator[WordInText]:
        """Yield the label words in `plain`, which must be `lowered(original)`."""
        for match in self.pattern.finditer(plain):
            word = self._known(match["latin"] or match["cjk"])
            if word is None or (word.line_only and not in_line):
                continue
            if word.capitals and not original[match.start() : match.end()].isupper():
                continue
            denied = bool(match["non"] or match["cjk_non"])
            if GAP in word.text and _DENIES.search(match.group()):
                denied = not denied
            yield WordInText(match.start(), match.end(), word, denied)

    def _known(self, matched: str) -> LabelWord | None:
        """Return the vocabulary's label word for the matched text, ignoring spaces. A vocabulary
        word with a gap (`*`) matches if the text has its beginning and its end. Return None if case
        folding changed the text into another word."""
        folded = fold(matched)
        joined = folded.replace(" ", "")
        exact = self.known.get(folded) or self.known.get(joined)
        if exact is not None:
            return exact
        for text, word in self.known.items():
            first, gap, last = text.replace(" ", "").partition(GAP)
            if gap and joined.startswith(first) and joined.endswith(last):
                return word
        return None

    def label_of(self, word: str) -> Label | None:
        """Return the class of a word that may follow a negation, or None if the word is unknown."""
        folded = fold(word)
        if folded in self.known:
            return self.known[folded].side
        listed = self.listed.get(folded)
        negation = _NEGATED.match(folded)
        if listed or not negation or folded[negation.end() :] not in self.known:
            return listed
        denied = self.known[folded[negation.end() :]].side
        return other_side(denied) if not self.further or denied == "hateful" else None

    def label_of_phrase(self, phrase: str) -> Label | None:
        """Return the class of a short phrase such as `not hate speech`, or None if it is not a
        label."""
        plain, denials, start = lowered(phrase), 0, 0
        if (negation := _NEGATED.match(plain)) is not None:
            denials, start = 1, negation.end()
        for word in self.find(plain, phrase, in_line=True):
            if word.start in (0, start) and _NOUN.fullmatch(plain, word.end):
                return word.label(denials if word.start == start else 0)
        return self.listed.get(fold(phrase))

    def marks(self, text: str, positive: Label = "hateful") -> list[tuple[int, int, str]]:
        """Return the vocabulary's words in a normalised text as (start, end, mark). The mark is
        `+` for the class `positive`, else `-`. If `positive` is not "hateful", words for hate
        are left out."""
        unmarked = (None,) if positive == "hateful" else (None, "hateful")
        matches = [(word, word.label(0)) for word in self.find(lowered(text), text)]
        return [
            (word.start, word.end, "+" if label == positive else "-")
            for word, label in matches
            if label not in unmarked
        ]

    def labels_in(self, text: str) -> set[Label]:
        """Return the classes whose words occur in a normalised text, even if they are negated."""
        return {word.word.side for word in self.find(lowered(text), text)}

    def side(self, label: Label) -> tuple[str, ...]:
        """Return the words of one class in their original form."""
        return tuple(word.text for word in self.words if word.side == label)


def lowered(text: str) -> str:
    """Return the text in lower case with an unchanged number of characters."""
    if text.isascii():
        return text.lower()
    return "".join(
        character.lower() if len(character.lower()) == 1 else character for character in text
    )


def other_side(label: Label) -> Side:
    return "non-hateful" if label == "hateful" else "hateful"


@cache
def built_in(name: VocabularyName) -> Vocabulary:
    sides = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    words = [
        LabelWord(text, side, kind == "one_way")
        for side in sides
        for of_language in sides[side].values()
        for kind in KINDS
        for text in of_language.get(kind, ())
    ]
    return _vocabulary(name, words)


def custom_vocabulary(labels: Mapping[Label, Sequence[str]]) -> Vocabulary:
    """Return a caller's vocabulary. `invalid_label` must have accepted it."""
    return _cached_custom(
        tuple(_custom_word(text.strip(), label) for label in labels for text in labels[label])
    )


@cache_results(KEPT_BYTES, lambda _vocabulary, words: WORD_BYTES * len(words))
def _cached_custom(words: tuple[LabelWord, ...]) -> Vocabulary:
    return _vocabulary(None, words, _participles(words))


def _participles(words: tuple[LabelWord, ...]) -> list[LabelWord]:
    """Return derived forms, such as "should be removed" for the label "remove"."""
    return [
        LabelWord(re.sub("y$", "i", word.text.removesuffix("e")) + "ed", word.side)
        for word in words
        if _ENGLISH.fullmatch(word.text)
    ]


def _custom_word(text: str, side: Label) -> LabelWord:
    short = len(text) == 1 or text.isdigit()
    capitals = text.isupper() and len(text) > 1
    return LabelWord(text, side, capitals=capitals, line_only=short)


def invalid_label(labels: Mapping[Label, Sequence[str]]) -> tuple[Label, int, str] | None:
    """Return the class, position and reason of the first invalid word, or None if all words are
    valid."""
    sides: dict[str, Label] = {}
    for side, words in labels.items():
        for index, word in enumerate(words):
            folded = fold(word)
            if not 1 <= len(folded) <= LONGEST_WORD or not any(map(str.isalnum, folded)):
                return side, index, f"a word must have 1 to {LONGEST_WORD} characters"
            # Explanations are read in lower case without other folding.
            if GAP in folded or _BLANKS.split(lowered(word).strip()) != folded.split(" "):
                return side, index, f"{word!r} would not be found in this spelling"
            if sides.setdefault(folded, side) != side:
                return side, index, f"{word!r} is in two classes; keep it in one"
    return None


def vocabulary_of_decision(word: str) -> Vocabulary:
    """Return the built-in vocabulary that contains the decision's label. Words for hate are added
    to it, unless it is the default vocabulary."""
    name = vocabulary_of_word(word)
    return built_in(name) if name == "default" else _with_words_of_hate(name)


@cache
def _with_words_of_hate(name: VocabularyName) -> Vocabulary:
    """Return the vocabulary extended by words for hate, plain and negated. For example, the
    explanation of a decision "KEEP" may say "not hateful"."""
    hate = {fold(word.text): replace(word, one_way=False) for word in built_in("hate").words}
    vocabulary_words = [
        word
        for word in built_in(name).words
        if not word.one_way or word.side != "hateful" or fold(word.text) not in hate
    ]
    return replace(_vocabulary(name, [*vocabulary_words, *hate.values()]), of_decision=True)


def vocabulary_of_word(word: str) -> VocabularyName:
    """Return the only built-in vocabulary that has this word. Otherwise return `default`, which has
    the common words for hate: hateful, hate speech, no hate."""
    folded = fold(word)
    if built_in("hate").label_of(folded) is not None:
        return "default"
    if built_in("three-way").label_of(folded) not in (None, *SIDES):
        return "three-way"  # offensive: a class of its own, which is not folded into another
    tasks = [
        name
        for name in TASKS
        if any(fold(word.text) == folded and not word.one_way for word in built_in(name).words)
    ]
    return tasks[0] if len(tasks) == 1 else "default"


def _vocabulary(
    name: VocabularyName | None, words: Sequence[LabelWord], forms: Sequence[LabelWord] = ()
) -> Vocabulary:
    """Compile the vocabulary, with longer words first. `forms` has additional forms; words take
    precedence over them."""
    every_word = tuple(words)
    listed = {fold(word.text): word.side for word in reversed(words)}
    if set(listed.values()) - set(SIDES):  # to deny a class says nothing but that it is not hate
        words = [replace(word, one_way=word.one_way or word.side != "hateful") for word in words]
    every = {fold(word.text): word for word in (*forms, *reversed(words))}
    accepted = {text: word for text, word in every.items() if not _is_negation(text, word, every)}
    searched = tuple(sorted(accepted, key=lambda text: (-len(text), text)))
    joined = {text.replace(" ", ""): word for text, word in accepted.items()}  # "hatespeech"
    return Vocabulary(name, every_word, searched, joined | accepted, listed)


def _is_negation(text: str, word: LabelWord, every: Mapping[str, LabelWord]) -> bool:
    negation = _NEGATED.match(text)
    rest = every.get(text[negation.end() :]) if negation else None
    return rest is not None and rest.side != word.side


def _alternatives(texts: Sequence[str]) -> str:
    """Return a pattern for any of these texts. A space in a text matches a few hyphens or spaces.
    An empty list matches nothing."""
    return "|".join(map(_word_pattern, texts)) or r"(?!)"


def _word_pattern(text: str) -> str:
    escaped = _GAP.join(map(re.escape, text.split(" ")))
    within = r"[^\s，。；：、,;:]{0,14}?" if _CJK.search(text) else r"(?:\s[\w'\u2019-]{1,20}){0,3}"
    return escaped.replace(_GAP + re.escape(GAP), within)
