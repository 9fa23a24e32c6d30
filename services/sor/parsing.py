"""A statement of reasons, read: its items, the facts of its post, the ways of redress.

Plain text is normalised and read sentence by sentence; of the database's fields, what has a code or
a date is disclosed by that, and what people write is read as text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from services.sor.concepts import ReadSentence, read
from services.sor.disclosures import SUBSTANCE, ItemMatch, find_items
from services.sor.english_speech import english_reports
from services.sor.fields import ENDS, EXPLANATIONS, GROUNDS, RESTRICTIONS, SorFields
from services.sor.german import (
    find_german_items,
    german_reference_of,
    has_german_reason,
    own_german_words,
)
from services.sor.german_speech import german_reports
from services.sor.grounds import VAGUE, matches_policy, reference_of, words_of_policy
from services.sor.post_facts import PostFacts, PostWords, StatementWords, facts_of, match_quotes
from services.sor.report import ITEMS, SorItemName, SorRoute
from services.sor.sentences import Span, mask_spans, sentences
from shared.text.language import find_language, requested_language
from shared.text.normalized import NormalizedText, normalize

if TYPE_CHECKING:
    from services.sor.contract import SorRequest

OF_FACTS = ("statement", "decision_facts", *EXPLANATIONS)  # texts that tell of the post


@dataclass(frozen=True)
class ReadText:
    """The statement, or one field of it, as it was sent, and what was read in its normalised text.
    disclosed: where it is plain text."""

    field: str
    text: str
    normalized: NormalizedText
    sentences: Sequence[ReadSentence]
    facts: PostFacts
    words: StatementWords | None = None  # where it tells of the post
    disclosed: Sequence[ItemMatch] = ()


@dataclass(frozen=True)
class ReadStatement:
    """items: all but `facts`, [0, 1]; None: the form has no place for it. quotes_only: single words
    of the post are no facts, since nobody knows which words of this language say something."""

    texts: Sequence[ReadText]
    items: Mapping[SorItemName, float | None]
    routes: frozenset[SorRoute]
    ground_in_policy: bool | None
    quotes_only: bool = False

    @property
    def facts(self) -> PostFacts:
        return self._counted(merge_facts([one.facts for one in self.texts]))

    def match_post(self, post: PostWords) -> PostFacts:
        """The facts that it would name of another post."""
        found = [facts_of(one.words, post) for one in self.texts if one.words]
        return self._counted(merge_facts(found))

    def _counted(self, facts: PostFacts) -> PostFacts:
        return replace(facts, shared=()) if self.quotes_only else facts


def merge_facts(found: Sequence[PostFacts]) -> PostFacts:
    """Of several texts: a word of the post counts once."""
    shared = {word.stem: word for one in reversed(found) for word in reversed(one.shared)}
    return PostFacts(
        tuple(quote for one in found for quote in one.quotes),
        tuple(shared.values()),
        tuple(span for one in found for span in one.missing),
        max((one.words for one in found), default=0),
    )


def parse_statement(request: SorRequest, post: PostWords) -> ReadStatement:
    """In time linear in the lengths of statement, post and policy."""
    documents, german = request.documents(), is_german(request)
    texts = [
        _read_text(field, text, post, german=german, plain=request.fields is None)
        for field, text in documents.items()
    ]
    items = dict(_items(request.fields, texts, german=german))
    routes = frozenset(one.route for text in texts for one in text.disclosed if one.route)
    if request.fields is None:
        items["redress"] = len(routes) / 3
    known = _ground_in_policy(request.policy, texts)
    if known is False and items["ground"] == 1:
        items["ground"] = VAGUE
    return ReadStatement(texts, items, routes, known)


def is_german(request: SorRequest) -> bool:
    """Whether the rules of German read it; else those of English do, or a reader."""
    statement = "\n".join(request.documents().values())
    return find_language(statement, requested_language(request)).code.partition("-")[0] == "de"


def _read_text(field: str, text: str, post: PostWords, *, german: bool, plain: bool) -> ReadText:
    normalized = normalize(text)
    prose = normalized.text
    statement = StatementWords.of(prose)
    quotes = match_quotes(statement, post)
    quoted = list(dict.fromkeys(quote.statement for quote in quotes[0]))
    blank = mask_spans(prose, quoted)
    found = read(sentences(prose, quoted))
    written = statement.with_content(found) if field in OF_FACTS else None
    if written is not None and german:
        written = replace(written, own=own_german_words(found, blank))
    facts = facts_of(written, post, quotes) if written else PostFacts((), (), (), 0)
    disclosed = _disclosed(found, blank, quoted, post, german=german) if plain else ()
    facts = _drop_titles(facts, found)
    return ReadText(field, text, normalized, found, facts, written, disclosed)


def _disclosed(
    found: Sequence[ReadSentence],
    blank: str,
    quoted: Sequence[Span],
    post: PostWords,
    *,
    german: bool,
) -> list[ItemMatch]:
    """Why the ground applies may be in the words of the post; all else is not disclosed by what
    others are reported to say. blank: without quotations of the post."""
    find = find_german_items if german else find_items
    items = find(found, blank, post)
    reports = german_reports if german else english_reports
    reported = list(reports(blank, [one.sentence for one in found]))
    if not reported:
        return items
    own = mask_spans(blank, reported)
    others = find(read(sentences(own, quoted)), own, post)
    kept = [one for one in items if one.item == "explanation"]
    kept += [one for one in others if one.item != "explanation"]
    return sorted(kept, key=lambda one: one.span)


def _drop_titles(facts: PostFacts, found: Sequence[ReadSentence]) -> PostFacts:
    """A quotation in a sentence about rules is the name of a rule, unless it nearly quotes the
    post: then four words in a row stand there."""
    rules = [one.sentence.span for one in found if one.any_of("policy", "law")]
    missing = tuple(
        span
        for span in facts.missing
        if not _within(span, rules) or any(_within(run.statement, [span]) for run in facts.quotes)
    )
    return PostFacts(facts.quotes, facts.shared, missing, facts.words)


def _within(span: Span, others: Sequence[Span]) -> bool:
    return any(start <= span[0] and span[1] <= end + 1 for start, end in others)


def _items(
    fields: SorFields | None, texts: Sequence[ReadText], *, german: bool
) -> Iterator[tuple[SorItemName, float | None]]:
    """All but `facts`, and `redress` as 0 or as no item."""
    if fields is not None:
        yield from _of_fields(fields, german=german)
        return
    best: dict[SorItemName, float] = {}
    for one in (disclosed for text in texts for disclosed in text.disclosed):
        best[one.item] = max(one.value, best.get(one.item, 0.0))
    for name in ITEMS:
        if name != "facts":
            yield name, best.get(name, 0.0)


def _of_fields(fields: SorFields, *, german: bool) -> Iterator[tuple[SorItemName, float | None]]:
    yield "restriction", _any_of(fields, RESTRICTIONS)
    yield "territorial_scope", float(bool(fields.territorial_scope))
    yield "duration", _any_of(fields, ("application_date", *ENDS))
    yield "automated_detection", float(bool(fields.automated_detection))
    yield "automated_decision", float(bool(fields.automated_decision))
    named = [text for name in GROUNDS if (text := getattr(fields, name))]
    refers = german_reference_of if german else reference_of
    yield "ground", max(map(refers, named), default=0.0)
    why = [text for name in EXPLANATIONS if (text := getattr(fields, name))]
    yield "explanation", float(any(map(has_german_reason if german else _has_reason, why)))
    yield "redress", None


def _any_of(fields: SorFields, names: Sequence[str]) -> float:
    return float(any(getattr(fields, name) for name in names))


def _has_reason(text: str) -> bool:
    return any(one.content >= SUBSTANCE for one in sentences(text))


def _ground_in_policy(policy: str | None, texts: Sequence[ReadText]) -> bool | None:
    """Whether a number or a name by which the ground is cited stands in the policy."""
    if not policy:
        return None
    cited: list[ReadSentence] = []
    for text in texts:
        spans = {one.span for one in text.disclosed if one.item == "ground" and one.value == 1}
        every = text.field in GROUNDS
        cited += [
            one
            for one in text.sentences
            if every or any(_within(span, [one.sentence.span]) for span in spans)
        ]
    if not cited:
        return None
    known = words_of_policy(policy)
    return any(matches_policy(known, one) for one in cited)
