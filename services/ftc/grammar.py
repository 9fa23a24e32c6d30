"""Grammar of edited sentences: verb forms, articles, agreement, and a check that a text is a
sentence. Inflections come from the lemminflect library. Every function returns None if the phrase
cannot take the form."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from sys import getsizeof

from services.ftc.phrases import (
    PLURAL_TAGS,
    SUBJECTS,
    Phrase,
    Shape,
    TaggedWord,
    Words,
    is_plural,
    is_pronoun,
    negated,
    parse,
    text_of,
)
from shared.process.cached import cache_results

DETERMINERS = {"DT", "PRP$", "WDT"}

_JOINTS = (
    (re.compile(r"(?<!\s)\s+(n'?t)\b"), r"\1"),
    (re.compile(r"(?<!\s)\s+('(?:s|re|ve|ll|d|m)\b)"), r"\1"),
    (re.compile(r"\s{2,}"), " "),
    (re.compile(r"\bca n't\b"), "can't"),
)
INFLECTED_BYTES = 2**22  # of forms that are kept
_NO_NOUN = {"IN", ".", ",", "VBZ", "VBP", "VBD", "CC", "TO"}
_ARTICLE = re.compile(r"\b(an?) (\w+)", re.IGNORECASE)
_AN = re.compile(r"[aeiou](?!ni(?:cy|f|que|v)|se|uro|ne\b)|hour|honest|8|11$", re.IGNORECASE)


@cache_results(INFLECTED_BYTES, lambda form, *_: getsizeof(form))
def inflected(lemma: str, tag: str) -> str | None:
    """Return the form of a lemma for a part-of-speech tag of the Penn Treebank."""
    from lemminflect import getInflection

    if lemma == "be" and tag in {"VBZ", "VBP"}:
        return "is" if tag == "VBZ" else "are"
    forms = getInflection(lemma, tag=tag)
    return str(forms[0]) if forms else None


def be(plural: bool) -> str:
    return "are" if plural else "is"


def verb_phrase(phrase: Phrase, tag: str) -> str | None:
    """Return a verb phrase with its main verb, and verbs coordinated with it, in the form
    `tag`, or None. Auxiliaries are left out."""
    words, head = phrase.words, phrase.head
    if negated(words) or words[head].lemma == "be":
        return None
    forms: list[str] = []
    for i, word in enumerate(words[head:], head):
        joined = i == head or (word.dep == "conj" and word.head == head and word.pos == "VERB")
        form = inflected(word.lemma, tag) if joined and word.tag != tag else word.text
        form = form.lower() if form and i == head else form
        if form is None:
            return None
        gap = " " if i > head and word.start > words[i - 1].end else ""
        forms.append(gap + form)
    return "".join(forms)


def complement(phrase: Phrase) -> str | None:
    """Return the phrase in the form that follows `be`."""
    head = phrase.words[phrase.head]
    if phrase.type == "verb":
        passive = head.tag == "VBN" and not any(w.lemma == "have" for w in phrase.words)
        return verb_phrase(phrase, "VBN" if passive else "VBG")
    if phrase.type == "clause" or negated(phrase.words):
        return None
    return lower_first(phrase.words)


def lower_first(words: Words) -> str:
    """Return the words as they appear within a sentence, without an initial capital."""
    text = text_of(words)
    return text if words[0].pos == "PROPN" or words[0].text == "I" else text[:1].lower() + text[1:]


def statement(shape: Shape, phrase: Phrase) -> str | None:
    """Return a sentence that applies the phrase to the hypothesis' subject, or None if no such
    sentence can be formed."""
    predicate = complement(phrase)
    if shape.who is None or predicate is None:
        return None
    if phrase.type == "noun" and shape.plural != is_plural(phrase.words, phrase.head):
        return None
    return f"{shape.who} {be(shape.plural)} {predicate}"


def existence(phrase: Phrase) -> str | None:
    """Return a sentence that states only that the phrase's noun exists: "There is a ..."."""
    if phrase.type != "noun" or phrase.words[phrase.head].pos == "PRON" or negated(phrase.words):
        return None
    plural = is_plural((phrase.words[phrase.head],), 0)  # of two joined nouns the first decides
    first = phrase.words[0]
    if plural and first.text.lower() in {"a", "an"}:
        return None
    rest = text_of(phrase.words[1:]) if first.tag in DETERMINERS else lower_first(phrase.words)
    article = "" if plural or phrase.words[phrase.head].tag == "NNP" else "a "
    if first.tag in DETERMINERS and first.text.lower() in {"some", "all", "a", "an"}:
        rest, article = lower_first(phrase.words), ""
    elif first.tag in {"CD", "PDT", "PRP"}:
        article = ""
    return f"There {be(plural)} {article}{rest}" if rest else None


def clause_sentence(shape: Shape, clause: Phrase) -> str | None:
    """Return a clause as a sentence, or None if the clause is negated or has no usable subject. A
    pronoun as subject is replaced by the hypothesis' subject."""
    words, head = clause.words, clause.head
    if negated(words):
        return None
    who = next((w for w in words if w.dep in SUBJECTS and w.head == head), None)
    if who is None or who.left > head or who.pos not in {"NOUN", "PROPN", "PRON", "NUM"}:
        return None
    subject = words[who.left : who.right + 1]
    named = not is_pronoun(subject)
    if not named and (shape.who is None or (shape.plural and subject[0].text.lower() == "it")):
        return None
    name = text_of(subject) if named else str(shape.who)
    plural = is_plural(words, words.index(who)) if named else shape.plural
    predicate = _predicate(words, head, plural)
    return f"{name} {predicate}" if predicate else None


def _predicate(words: Words, head: int, plural: bool) -> str | None:
    """Return the words from the clause's verb to its end, in the present tense and in the subject's
    number. Return None if the clause cannot be converted."""
    verb = words[head]
    helpers = [w for i, w in enumerate(words) if w.head == head and w.dep in {"aux", "auxpass"}]
    if verb.lemma == "be":
        rest = text_of(words[head + 1 :])
        return f"{be(plural)} {rest}" if rest else None
    if verb.tag == "VB" and not helpers:
        return None
    phrase = Phrase("", 0, 0, "verb", words, head)
    if any(w.lemma == "have" for w in helpers):
        return None
    if helpers or verb.tag in {"VBG", "VBN", "VB"}:
        passive = verb.tag == "VBN"
        predicate = verb_phrase(phrase, "VBN" if passive else "VBG")
        return f"{be(plural)} {predicate}" if predicate else None
    return verb_phrase(phrase, "VBD" if verb.tag == "VBD" else "VBP" if plural else "VBZ")


def noun_into(shape: Shape, window: tuple[int, int, int], phrase: Phrase) -> str | None:
    """Return a form of the noun phrase that can replace other nouns, with their determiner and
    number, or None. `window` holds three word positions of the replaced nouns: first, end, head."""
    first, _, head = window
    plural = is_plural((shape.words[head],), 0)  # what is joined to it stays
    words = phrase.words
    core = words[1:] if words[0].tag in DETERMINERS and len(words) > 1 else words
    joined = any(w.dep == "conj" and w.head == phrase.head for w in words)
    if (
        words[0].tag == "PDT"
        or negated(words)
        or not core
        or (joined and first != shape.words[head].left)
    ):
        return None
    if joined:
        return lower_first(words)
    bare = _in_number(core, words[phrase.head], plural=plural)
    if bare is None:
        return None
    if first > shape.words[head].left:  # what precedes the window in its noun phrase stays
        return bare
    if shape.words[first].tag in DETERMINERS:
        return f"{shape.words[first].text} {bare}"
    if core is words or plural or shape.words[first].tag == "CD":
        number = shape.words[first]
        return f"{number.text} {bare}" if number.tag == "CD" and core[0].tag != "CD" else bare
    return f"{words[0].text.lower()} {bare}"


def _in_number(core: tuple[TaggedWord, ...], head: TaggedWord, *, plural: bool) -> str | None:
    """Return the words with their head noun in the singular or plural."""
    has = head.tag in PLURAL_TAGS or head.lemma == "people"
    if has == plural or head.pos == "PROPN":
        return lower_first(core)
    form = inflected(head.lemma, "NNS" if plural else "NN")
    if form is None or core[0].tag == "CD":
        return None
    offset = core[0].start
    whole = lower_first(core)
    position = head.start - offset
    return whole[:position] + form + whole[position + len(head.text) :]


def finish(text: str, like: str) -> str:
    """Return the text with corrected spacing and articles, and with the initial letter and end
    punctuation of the sentence `like`."""
    for joint, written in _JOINTS:
        text = joint.sub(written, text)
    text = _ARTICLE.sub(_article, text.strip())
    end = like.rstrip()[-1:]
    if end in {".", "!", "?"}:
        gap = " " if like.rstrip()[-2:-1] == " " else ""
        text = text.rstrip(" .!?") + gap + end
    else:
        text = text.rstrip(" .")
    return text[:1].upper() + text[1:] if like[:1].isupper() else text[:1].lower() + text[1:]


def _article(match: re.Match[str]) -> str:
    article, word = match.groups()
    right = "an" if _AN.match(word) else "a"
    return f"{right.capitalize() if article[0].isupper() else right} {word}"


def is_sentence(text: str) -> bool:
    """Return True if the text parses as a sentence: it has a subject and a verb, or a noun with its
    attributes. Repeated words, two determiners in a row and an article before a plural are
    rejected."""
    words = parse(text)
    pairs = list(pairwise(words))
    if any(a.text.lower() == b.text.lower() and a.pos != "PUNCT" for a, b in pairs):
        return False
    if any(a.tag == "DT" and b.tag in DETERMINERS for a, b in pairs):
        return False
    if any(a.text.lower() in {"a", "an"} and b.tag in PLURAL_TAGS for a, b in pairs):
        return False
    if any(a.text.lower() in {"a", "an", "the"} and b.tag in _NO_NOUN for a, b in pairs):
        return False
    root = next((i for i, word in enumerate(words) if word.head == i), None)
    if root is None or sum(word.head == i for i, word in enumerate(words)) > 1:
        return False
    if words[root].pos in {"NOUN", "PROPN"}:
        return True
    return any(w.dep in SUBJECTS | {"attr"} and w.head == root for w in words)


def repeats(text: str, original: str) -> bool:
    """Return True if `text` repeats a content word more often than `original`."""
    before = Counter(word.stem for word in parse(original) if word.content)
    after = Counter(word.stem for word in parse(text) if word.content)
    return any(count > max(1, before[stem]) for stem, count in after.items())
