"""A statement of reasons, read: its items, the facts of its post, the ways of redress.

The trained reader reads sentences of the normalised text. Of the database's fields, what has a code
or a date is disclosed by that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from services.sor.contract import SorRequest
from services.sor.disclosures import ItemMatch, ReadSentence, matches, read_sentences
from services.sor.fields import ENDS, EXPLANATIONS, GROUNDS, RESTRICTIONS, SorFields
from services.sor.post_facts import PostFacts, PostWords, StatementWords, facts_of, match_quotes
from services.sor.report import ITEMS, ROUTES, SorItemName, SorRoute
from services.sor.words import StemOf, english_stem, german_stem, mask_spans, words
from shared.queue.job_context import check_each
from shared.text.language import Obstacle, find_language, requested_language, rules_obstacle
from shared.text.normalized import NormalizedText, normalize
from shared.text.sentences import Span

READ = ("en", "de")  # languages of statements that the trained reader learned
SUBSTANCE = 3  # words that say something, in an explanation at least
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


def parse_statements(
    requests: Sequence[SorRequest], posts: Sequence[PostWords]
) -> list[ReadStatement]:
    """Read statements beside their posts, with one call of the trained reader for all.

    It is asked about English and German. Raises Unavailable where it is away.
    """
    documents = [
        [(field, text, normalize(text)) for field, text in request.documents().items()]
        for request in requests
    ]
    rows = list(zip(requests, posts, documents, map(is_read, requests), strict=True))
    answers = iter(
        read_sentences([text.text for *_, own, known in rows if known for *_, text in own])
    )
    return [
        _statement(request, post, own, [next(answers) if known else [] for _ in own])
        for request, post, own, known in check_each(rows)
    ]


def language_obstacle(request: SorRequest) -> Obstacle | None:
    """Why the trained reader does not read the statement."""
    statement = "\n".join(request.documents().values())
    sent = requested_language(request)
    found = find_language(statement, sent)
    return rules_obstacle(statement, found, READ, "the statement", "the trained reader learned")


def is_read(request: SorRequest) -> bool:
    return language_obstacle(request) is None


def stems_of(request: SorRequest) -> StemOf:
    """By the language of the statement: a post in another one can be quoted only."""
    statement = "\n".join(request.documents().values())
    code = find_language(statement, requested_language(request)).code
    return german_stem if code.partition("-")[0] == "de" else english_stem


def _statement(
    request: SorRequest,
    post: PostWords,
    documents: Sequence[tuple[str, str, NormalizedText]],
    read: Sequence[Sequence[ReadSentence]],
) -> ReadStatement:
    stem_of = stems_of(request)
    texts = [
        _read_text(*document, post, sentences, stem_of, plain=request.fields is None)
        for document, sentences in zip(documents, read, strict=True)
    ]
    routes = frozenset(one.route for text in texts for one in text.disclosed if one.route)
    items: dict[SorItemName, float | None]
    if request.fields is not None:
        items = dict(_items_of_fields(request.fields, texts, stem_of))
    else:
        said = {one.item for text in texts for one in text.disclosed}
        items = {name: float(name in said) for name in ITEMS if name != "facts"}
        items["redress"] = len(routes) / len(ROUTES)
    known = _ground_in_policy(request.policy, texts, stem_of)
    if known is False:
        items["ground"] = 0.0
    return ReadStatement(texts, items, routes, known)


def _read_text(
    field: str,
    text: str,
    normalized: NormalizedText,
    post: PostWords,
    read: Sequence[ReadSentence],
    stem_of: StemOf,
    *,
    plain: bool,
) -> ReadText:
    prose = normalized.text
    statement = StatementWords.of(prose)
    quotes = match_quotes(statement, post)
    facts, written = PostFacts((), (), (), 0), None
    if field in OF_FACTS:
        blank = mask_spans(prose, list(dict.fromkeys(quote.statement for quote in quotes[0])))
        rules = [one.span for one in read if one.is_rule]
        written = statement.with_content(mask_spans(blank, rules), stem_of)
        grounds = [one.span for one in read if "ground" in one.labels]
        facts = _drop_titles(facts_of(written, post, quotes), prose, grounds)
    disclosed = [
        match for one in read if plain for name in one.labels for match in matches(name, one.span)
    ]
    disclosed.sort(key=lambda one: (one.span, ITEMS.index(one.item), one.route or ""))
    return ReadText(field, text, normalized, read, facts, written, disclosed)


def _drop_titles(facts: PostFacts, prose: str, grounds: Sequence[Span]) -> PostFacts:
    """A quotation beside a ground is the name of a rule, unless it has an ellipsis or nearly quotes
    the post: then four words in a row stand there."""
    missing = tuple(
        span
        for span in facts.missing
        if not _within(span, grounds)
        or "..." in prose[slice(*span)]
        or any(_within(run.statement, [span]) for run in facts.quotes)
    )
    return replace(facts, missing=missing)


def _within(span: Span, others: Sequence[Span]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in others)


def _items_of_fields(
    fields: SorFields, texts: Sequence[ReadText], stem_of: StemOf
) -> Iterator[tuple[SorItemName, float | None]]:
    """All but `facts`. A ground has a number, or is read as one: "our rules" is none."""
    yield "restriction", _any_of(fields, RESTRICTIONS)
    yield "territorial_scope", float(bool(fields.territorial_scope))
    yield "duration", _any_of(fields, ("application_date", *ENDS))
    yield "automated_detection", float(bool(fields.automated_detection))
    yield "automated_decision", float(bool(fields.automated_decision))
    grounds = [text for text in texts if text.field in GROUNDS]
    yield "ground", float(any(map(_names_ground, grounds)))
    why = [text for text in texts if text.field in EXPLANATIONS]
    said = [{*map(stem_of, words(text.normalized.text))} - {None} for text in why]
    yield "explanation", float(any(len(stems) >= SUBSTANCE for stems in said))
    yield "redress", None


def _any_of(fields: SorFields, names: Sequence[str]) -> float:
    return float(any(getattr(fields, name) for name in names))


def _names_ground(text: ReadText) -> bool:
    has_number = any(map(str.isdigit, text.normalized.text))
    return has_number or any("ground" in one.labels for one in text.sentences)


def _ground_in_policy(
    policy: str | None, texts: Sequence[ReadText], stem_of: StemOf
) -> bool | None:
    """Return whether the policy has a number by which the ground is cited or, where no number is,
    every second word of it. None without a policy or a ground."""
    if not policy:
        return None
    cited = [
        text.normalized.text[slice(*one.span)]
        for text in texts
        for one in text.sentences
        if text.field in GROUNDS or (text.field == "statement" and "ground" in one.labels)
    ]
    if not cited:
        return None
    known = _numbers_and_stems(policy, stem_of)
    return any(_stands_in(known, *_numbers_and_stems(ground, stem_of)) for ground in cited)


def _numbers_and_stems(text: str, stem_of: StemOf) -> tuple[set[str], set[str]]:
    found = words(text)
    numbers = {word.folded for word in found if word.folded[0].isdigit()}
    stems = {stem_of(word) for word in found if not word.folded[0].isdigit()}
    return numbers, {stem for stem in stems if stem is not None}


def _stands_in(policy: tuple[set[str], set[str]], numbers: set[str], stems: set[str]) -> bool:
    if numbers:
        return bool(numbers & policy[0])
    return bool(stems) and 2 * len(stems & policy[1]) >= len(stems)
