"""Parses a statement of reasons: its items, the parts of the post that it mentions (facts), and the
means of redress. The trained reader, a text classifier, classifies sentences of the normalised
text. For a statement in the fields of the DSA Transparency Database, a code or a date suffices to
disclose an item."""

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

READ = ("en", "de")  # languages of the trained reader
SUBSTANCE = 3  # content words of an explanation at least
OF_FACTS = ("statement", "decision_facts", *EXPLANATIONS)  # texts about the post


@dataclass(frozen=True)
class ReadText:
    """The statement or one of its fields, with the items found in its normalised text."""

    field: str
    text: str
    normalized: NormalizedText
    sentences: Sequence[ReadSentence]
    facts: PostFacts
    words: StatementWords | None = None  # if the text is about the post
    disclosed: Sequence[ItemMatch] = ()  # in plain text


@dataclass(frozen=True)
class ReadStatement:
    """A parsed statement of reasons, with a value in [0, 1] for each item that a statement must
    contain."""

    texts: Sequence[ReadText]
    items: Mapping[SorItemName, float | None]  # all but `facts`, [0, 1]; None: no such field
    routes: frozenset[SorRoute]
    ground_in_policy: bool | None
    quotes_only: bool = False  # words of the post are no facts: content words are unknown

    @property
    def facts(self) -> PostFacts:
        return self._restrict(merge_facts([text.facts for text in self.texts]))

    def match_post(self, post: PostWords) -> PostFacts:
        """Return the facts that the statement would share with another post, as a measure of
        chance."""
        facts = [facts_of(text.words, post) for text in self.texts if text.words]
        return self._restrict(merge_facts(facts))

    def _restrict(self, facts: PostFacts) -> PostFacts:
        return replace(facts, shared=()) if self.quotes_only else facts


def merge_facts(facts: Sequence[PostFacts]) -> PostFacts:
    """Merge the facts (quotations and words shared with a post) that several texts contain. Each
    word of the post counts once."""
    shared = {word.stem: word for row in reversed(facts) for word in reversed(row.shared)}
    return PostFacts(
        tuple(quote for row in facts for quote in row.quotes),
        tuple(shared.values()),
        tuple(span for row in facts for span in row.missing),
        max((row.words for row in facts), default=0),
    )


def parse_statements(
    requests: Sequence[SorRequest], posts: Sequence[PostWords]
) -> list[ReadStatement]:
    """Read statements with their posts, in one call of the trained text classifier. It supports
    English and German. Raises Unavailable if it is not available."""
    documents = [
        [(field, text, normalize(text)) for field, text in request.documents().items()]
        for request in requests
    ]
    rows = list(zip(requests, posts, documents, map(is_read, requests), strict=True))
    readable = [text.text for *_, texts, read in rows if read for *_, text in texts]
    sentences = iter(read_sentences(readable))
    return [
        _statement(request, post, texts, [next(sentences) if read else [] for _ in texts])
        for request, post, texts, read in check_each(rows)
    ]


def language_obstacle(request: SorRequest) -> Obstacle | None:
    """Return the reason why the trained text classifier cannot read the statement, or None."""
    statement = "\n".join(request.documents().values())
    language = find_language(statement, requested_language(request))
    return rules_obstacle(statement, language, READ, "the statement", "the trained reader learned")


def is_read(request: SorRequest) -> bool:
    return language_obstacle(request) is None


def stems_of(request: SorRequest) -> StemOf:
    """Return a function that finds the stem of a word in the statement's language. A post in
    another language can match only by quotations."""
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
    disclosed = [match for text in texts for match in text.disclosed]
    routes = frozenset(match.route for match in disclosed if match.route)
    items: dict[SorItemName, float | None]
    if request.fields is not None:
        items = dict(_items_of_fields(request.fields, texts, stem_of))
    else:
        stated = {match.item for match in disclosed}
        items = {name: float(name in stated) for name in ITEMS if name != "facts"}
        items["redress"] = len(routes) / len(ROUTES)
    in_policy = _ground_in_policy(request.policy, texts, stem_of)
    if in_policy is False:
        items["ground"] = 0.0
    return ReadStatement(texts, items, routes, in_policy)


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
    facts, content = PostFacts((), (), (), 0), None
    if field in OF_FACTS:
        masked = mask_spans(prose, list(dict.fromkeys(quote.statement for quote in quotes[0])))
        rules = [sentence.span for sentence in read if sentence.is_rule]
        content = statement.with_content(mask_spans(masked, rules), stem_of)
        grounds = [sentence.span for sentence in read if "ground" in sentence.labels]
        facts = _drop_titles(facts_of(content, post, quotes), prose, grounds)
    disclosed = [
        match
        for sentence in read
        if plain
        for name in sentence.labels
        for match in matches(name, sentence.span)
    ]
    disclosed.sort(key=lambda match: (match.span, ITEMS.index(match.item), match.route or ""))
    return ReadText(field, text, normalized, read, facts, content, disclosed)


def _drop_titles(facts: PostFacts, prose: str, grounds: Sequence[Span]) -> PostFacts:
    """Ignore missing quotations inside a legal or contractual ground, since they are names of
    rules. Quotations with an ellipsis are kept, and so are those that share four words in a row
    with the post."""
    missing = tuple(
        span
        for span in facts.missing
        if not _within(span, grounds)
        or "..." in prose[slice(*span)]
        or any(_within(run.statement, [span]) for run in facts.quotes)
    )
    return replace(facts, missing=missing)


def _within(span: Span, outer: Sequence[Span]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in outer)


def _items_of_fields(
    fields: SorFields, texts: Sequence[ReadText], stem_of: StemOf
) -> Iterator[tuple[SorItemName, float | None]]:
    """Yield (item, 1 or 0) for all items except `facts`; `redress` is None. A `ground` requires a
    digit, or a sentence that the text classifier labels as ground."""
    yield "restriction", _any_of(fields, RESTRICTIONS)
    yield "territorial_scope", float(bool(fields.territorial_scope))
    yield "duration", _any_of(fields, ("application_date", *ENDS))
    yield "automated_detection", float(bool(fields.automated_detection))
    yield "automated_decision", float(bool(fields.automated_decision))
    grounds = [text for text in texts if text.field in GROUNDS]
    has_ground = any(
        any(map(str.isdigit, text.normalized.text))
        or any("ground" in sentence.labels for sentence in text.sentences)
        for text in grounds
    )
    yield "ground", float(has_ground)
    explanations = [text for text in texts if text.field in EXPLANATIONS]
    stems = [{*map(stem_of, words(text.normalized.text))} - {None} for text in explanations]
    yield "explanation", float(any(len(row) >= SUBSTANCE for row in stems))
    yield "redress", None


def _any_of(fields: SorFields, names: Sequence[str]) -> float:
    return float(any(getattr(fields, name) for name in names))


def _ground_in_policy(
    policy: str | None, texts: Sequence[ReadText], stem_of: StemOf
) -> bool | None:
    """Return True if the policy contains a ground that the statement cites. This requires a number
    of the ground or, if the ground has no numbers, half of its words. Return None without a policy
    or a ground."""
    if not policy:
        return None
    grounds = [
        text.normalized.text[slice(*sentence.span)]
        for text in texts
        for sentence in text.sentences
        if text.field in GROUNDS or (text.field == "statement" and "ground" in sentence.labels)
    ]
    if not grounds:
        return None
    policy_numbers, policy_stems = _numbers_and_stems(policy, stem_of)
    for ground in grounds:
        numbers, stems = _numbers_and_stems(ground, stem_of)
        if numbers and numbers & policy_numbers:
            return True
        if not numbers and stems and 2 * len(stems & policy_stems) >= len(stems):
            return True
    return False


def _numbers_and_stems(text: str, stem_of: StemOf) -> tuple[set[str], set[str]]:
    text_words = words(text)
    numbers = {word.folded for word in text_words if word.folded[0].isdigit()}
    stems = {stem_of(word) for word in text_words if not word.folded[0].isdigit()}
    return numbers, {stem for stem in stems if stem is not None}
