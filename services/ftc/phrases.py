"""Parsed phrases and hypotheses: words with tags, heads and stems, and the types of spans.

A span only replaces spans of the same type, since naive substitution gives nonsense: Sia et al.,
AAAI 2023, arXiv:2205.12469, footnote 10. spaCy parses one sentence at a time (shared.text.english),
so that a parse does not depend on the batch.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import snowballstemmer

from services.ftc.report import PhraseType
from shared.process.cached import cache_results
from shared.text.english import load_pipeline, straighten_apostrophes

UNUSED = ("ner", "senter")
MOST_CHARACTERS = 600  # of a sentence; the parser is made for less
WORD_BYTES = 600  # a word of a parse, with its texts
KEPT_BYTES = 2**25  # of each of the three: sentences, phrases, shapes

CONTENT = frozenset({"NOUN", "PROPN", "VERB", "ADJ", "ADV", "NUM"})

MOST_WORDS = 15  # of a span
VERBAL = {"VERB", "AUX"}
SUBJECTS = {"nsubj", "nsubjpass", "expl", "csubj"}
ATTRIBUTES = {"attr", "acomp"}
PLURAL_TAGS = {"NNS", "NNPS"}
LEADING = re.compile(
    r"^(?:(?:that|so|then|also|and|but|or|both|either|just|simply|only|necessarily|because|since|"
    r"the fact that|if|when|to be|being|be|to|they are|they're|he is|she is|it is|there is|"
    r"there are|"
    r"(?:the )?(?:word|term|phrase)(?= \w)"
    r")\s+)+",
    re.IGNORECASE,
)
TRAILING = re.compile(
    r"(?:[\s,]+(?:at the same (?:time|moment)|simultaneously|at once|too|as well|either|also|"
    r"though|necessarily|and|or|same|both|so|then))+$",
    re.IGNORECASE,
)
ANYBODY = {"one", "someone", "somebody", "everyone", "everybody", "others"}
META = {
    "sentence", "statement", "premise", "hypothesis", "description", "phrase", "word", "term",
    "same",
    "rephrasing", "paraphrase", "synonym", "way", "type", "kind", "form", "action", "activity",
    "indication", "evidence", "information", "reason", "fact", "other", "case", "possible", "true",
    "mean", "imply", "mention", "rephrase", "synonymous", "plural", "singular",
}  # fmt: skip
FINITE = {"VBZ", "VBP", "VBD", "MD"}
BEFORE_A_SENTENCE = " \n\"'`"
QUOTES = " \t\"'`,.:;-"

_lock = Lock()


@dataclass(frozen=True, slots=True)
class TaggedWord:
    """A word with its tags. `head` is the position of its syntactic head. `left` and `right` are
    the first and last position of its subtree."""

    text: str
    start: int
    end: int
    tag: str  # Penn Treebank
    pos: str  # Universal Dependencies
    dep: str
    head: int
    left: int  # its subtree's first token
    right: int  # its subtree's last
    lemma: str
    stem: str

    @property
    def content(self) -> bool:
        """Return True if the word is a content word."""
        return self.pos in CONTENT


Words = tuple[TaggedWord, ...]


@lru_cache(maxsize=1)
def _pipeline() -> Any:
    return load_pipeline(UNUSED)


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    return snowballstemmer.stemmer("english")


def _word_bytes(words: Words, *_: object) -> int:
    return WORD_BYTES * len(words)


def _bytes_of(parsed: Phrase | Shape | None, *_: object) -> int:
    return 0 if parsed is None else _word_bytes(parsed.words)


@cache_results(KEPT_BYTES, _word_bytes)
def parse(sentence: str) -> Words:
    """Return the words of a sentence, parsed by spaCy. A lock admits one thread at a time, because
    spaCy's memory zone is not thread-safe."""
    with _lock:
        pipeline = _pipeline()
        with pipeline.memory_zone():
            document = pipeline(straighten_apostrophes(sentence))
            return tuple(_word(token, sentence) for token in document)


def _word(token: Any, sentence: str) -> TaggedWord:
    start, end = int(token.idx), int(token.idx) + len(token.text)
    lower = str(token.text).lower()
    return TaggedWord(
        text=sentence[start:end],
        start=start,
        end=end,
        tag=str(token.tag_),
        pos=str(token.pos_),
        dep=str(token.dep_),
        head=int(token.head.i),
        left=int(token.left_edge.i),
        right=int(token.right_edge.i),
        lemma=str(token.lemma_ or lower).lower(),
        stem=str(_stemmer().stemWord(str(token.lemma_ or lower).lower())),
    )


@dataclass(frozen=True, slots=True)
class Phrase:
    """A parsed span; `start` and `end` are offsets into its source text."""

    text: str
    start: int
    end: int
    type: PhraseType
    words: Words
    head: int  # position of its head among `words`

    @property
    def stems(self) -> frozenset[str]:
        """Return the stems of the content words, or of all words if the phrase has only function
        words."""
        return stems(self.words)


def stems(words: Words) -> frozenset[str]:
    """Return the stems of the content words, or of all words if there are no content words."""
    content = frozenset(word.stem for word in words if word.content)
    return content or frozenset(word.stem for word in words if word.pos != "PUNCT")


def trim(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span (start, end) without quotation marks at its ends. Words that only connect it
    to the rest of the sentence are removed, too."""
    while True:
        before = (start, end)
        while start < end and text[start] in QUOTES:
            start += 1
        while end > start and text[end - 1] in QUOTES:
            end -= 1
        edge = LEADING.match(text[start:end])
        start += edge.end() if edge else 0
        edge = TRAILING.search(text[start:end])
        end = start + edge.start() if edge else end
        if before == (start, end):
            return start, end


@cache_results(KEPT_BYTES, _bytes_of)
def phrase(text: str, start: int = 0, end: int | None = None) -> Phrase | None:
    """Return the phrase at this span, or None if it is empty, too long or of unknown type."""
    start, end = trim(text, start, len(text) if end is None else end)
    span = text[start:end]
    begins = _before(text, start) in ".!?;"  # or nothing stands before it
    words = parse(_lower(span) if begins else span) if span else ()
    if not words or sum(word.pos != "PUNCT" for word in words) > MOST_WORDS:
        return None
    head = next(i for i, word in enumerate(words) if word.head == i)
    kind = (
        None
        if _is_uninformative(words, head) or _of_two_clauses(words, head)
        else _type(words, head)
    )
    return Phrase(span, start, end, kind, words, head) if kind else None


def _before(text: str, start: int) -> str:
    """Return the character before a span. Spaces and quotation marks are skipped; the result is ""
    at the beginning."""
    while start > 0 and text[start - 1] in BEFORE_A_SENTENCE:
        start -= 1
    return text[max(0, start - 1) : start]


def _lower(span: str) -> str:
    """Lower the first letter if it is a capital only because a sentence begins there."""
    return span if span[:2] == "I " or span[1:2].isupper() else span[:1].lower() + span[1:]


def _is_uninformative(words: Words, head: int) -> bool:
    """Return True if the phrase is a tautology or describes the sentences themselves."""
    around = [word for word in words if word.head == head and word.dep in SUBJECTS | ATTRIBUTES]
    if any(word.lemma in META for word in (words[head], *around)):
        return True
    return words[head].lemma == "be" and len({word.stem for word in around}) < len(around)


def _of_two_clauses(words: Words, head: int) -> bool:
    """Return True if the phrase has a verb of another clause, which shows that the pattern matched
    too much."""
    helpers = {i for i, w in enumerate(words) if w.dep in {"aux", "auxpass"}}
    relative = {i for i, w in enumerate(words) if w.dep in {"relcl", "advcl", "ccomp"}}
    same_clause = {head} | relative | {i for i in helpers if words[i].head in relative | {head}}
    return any(w.tag in FINITE for i, w in enumerate(words) if i not in same_clause)


def _type(words: Words, head: int) -> PhraseType | None:
    root = words[head]
    has_subject = any(w.dep in SUBJECTS and w.head == head for w in words)
    if root.pos in VERBAL and has_subject:
        return None if any(word.text == "," for word in words) else "clause"
    if root.pos in VERBAL:
        return "verb"
    if root.pos in {"NOUN", "PROPN", "NUM"} or (
        root.pos == "PRON" and (root.tag == "NN" or (root.tag == "PRP" and len(words) == 1))
    ):
        return "noun"
    if root.pos in {"ADP", "SCONJ"} and len(words) > 1:
        return "preposition"
    if root.pos in {"ADJ", "ADV", "ADP"}:
        return "adjective"
    return None


def is_pronoun(words: Words) -> bool:
    return len(words) == 1 and (words[0].pos == "PRON" or words[0].text.lower() in ANYBODY)


def negated(words: Words) -> bool:
    return any(word.dep == "neg" or word.lemma in {"not", "n't", "no"} for word in words)


@dataclass(frozen=True, slots=True)
class Shape:
    """A parsed hypothesis, with the word positions of its subject."""

    text: str
    words: Words
    head: int
    subject: tuple[int, int] | None  # word positions, end exclusive
    plural: bool

    @property
    def who(self) -> str | None:
        if self.subject is None:
            return None
        first, last = self.subject
        return self.text[self.words[first].start : self.words[last - 1].end]


@cache_results(KEPT_BYTES, _bytes_of)
def shape(text: str) -> Shape | None:
    """Return the structure of a sentence, or None for an empty sentence."""
    words = parse(text)
    if not words:
        return None
    head = next(i for i, word in enumerate(words) if word.head == i)
    who = _subject(words, head)
    if who is None:
        return Shape(text, words, head, None, False)
    first, end, noun = who
    plural = is_plural(words if end > noun + 1 else (words[noun],), noun if end > noun + 1 else 0)
    return Shape(text, words, head, (first, end), plural)


def _subject(words: Words, head: int) -> tuple[int, int, int] | None:
    """Return the word positions of the subject's first word, end and head."""
    if words[head].pos in {"NOUN", "PROPN"}:  # "Two men playing chess."
        return words[head].left, head + 1, head
    for i, word in enumerate(words):
        if word.head != head or word.dep not in SUBJECTS | {"attr"}:
            continue
        if word.dep == "expl":
            continue
        if word.dep == "attr" and not any(w.dep == "expl" and w.head == head for w in words):
            continue
        end = i + 1 if word.dep == "attr" else word.right + 1  # "there are people playing chess"
        return word.left, end, i
    return None


def is_plural(words: Words, head: int) -> bool:
    """Return True if a noun phrase with this head takes a plural verb."""
    if any(word.dep == "conj" and word.head == head for word in words):
        return True
    word = words[head]
    return word.tag in PLURAL_TAGS or word.text.lower() in {"they", "we", "people", "both", "many"}


def coverage(part: frozenset[str], whole: frozenset[str]) -> float:
    """Return the share of `part` that is in `whole`, in [0, 1], or 0 if `part` is empty."""
    return len(part & whole) / len(part) if part else 0.0


def text_of(words: tuple[TaggedWord, ...]) -> str:
    """Return the words as they were written, with spaces."""
    pieces: list[str] = []
    for before, word in zip((None, *words), words, strict=False):
        if before is not None and word.start > before.end:
            pieces.append(" ")
        pieces.append(word.text)
    return "".join(pieces)
