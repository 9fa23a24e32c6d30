"""`sor`: what a statement of reasons discloses, and whether it is of this post. The trained reader
is asked; a model that is named, whether its decision rests on the facts.

Source: Regulation (EU) 2022/2065, Article 17.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from services.sor import kernel
from services.sor.batch_report import Row, Statistics, batch_report
from services.sor.contract import CONTRACT, SorRequest
from services.sor.evidence import evidence_of
from services.sor.faithfulness import FactsTested, ask_models
from services.sor.parsing import (
    ReadStatement,
    is_read,
    language_obstacle,
    parse_statements,
    stems_of,
)
from services.sor.post_facts import PostWords
from services.sor.reader import (
    StatementReading,
    is_read_by_model,
    read_by_model,
    reader_languages,
)
from services.sor.report import (
    ITEMS,
    ROUTES,
    SorBatchReport,
    SorComponents,
    SorItem,
    SorItemName,
    SorNull,
    SorReaderUse,
    SorResult,
)
from services.sor.variants import VARIANTS, SorVariant
from services.sor.words import english_stem, german_stem, words
from shared.contracts.messages import Languages
from shared.models.catalogue.catalogue import READER
from shared.models.ports import models
from shared.queue.job_context import check_each
from shared.reports.metric import Collected, Metric
from shared.statistics import ranks
from shared.text.language import (
    LanguageCoverage,
    Obstacle,
    find_language,
    requested_language,
)

FEWEST_WORDS = 5  # of a statement that there is something to say of
NAMED = 0.5  # specificity from which the facts are named
NOTHING = SorComponents(
    completeness=None,
    specificity=None,
    measure=None,
    automated_means=None,
    grounds=None,
    redress=None,
    quotes=0,
    quotes_not_found=0,
    post_words=0,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SorCollected(Collected):
    """read: the statement beside its post. tested: what the named model says of the facts. null:
    (M,) weight of its facts beside other posts, of them null_words: (M,) content words."""

    read: ReadStatement
    reader: SorReaderUse | None
    tested: FactsTested
    null: tuple[int, ...]
    null_words: tuple[int, ...]


class Sor(Metric[SorRequest, SorCollected, SorResult, SorVariant]):
    """Does a statement of reasons say what Article 17 asks for, and of this post?"""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[SorRequest]) -> list[SorCollected]:
        posts = [PostWords.of(request.text, stems_of(request)) for request in requests]
        readings = read_by_model(requests, parse_statements(requests, posts))
        tested = ask_models(requests, [one.read for one in readings])
        rows = zip(requests, posts, readings, tested, strict=True)
        return [_collect_one(*row) for row in check_each(rows)]

    def coverage(self, request: SorRequest) -> LanguageCoverage:
        """The trained reader reads English and German statements, a language model others where
        one is named; the post may be in any language. A statement in an undecided language is read
        as English, unless it was sent so."""
        sent = requested_language(request)
        statement = "\n".join(request.documents().values())
        post, found = find_language(request.text, sent), find_language(statement, sent)
        by_model = is_read_by_model(request)
        if request.fields is None and not by_model and len(words(statement)) < FEWEST_WORDS:
            few = f"the statement has fewer than {FEWEST_WORDS} words"
            return LanguageCoverage(
                Languages(text=post, explanation=found), (Obstacle("no-words", few),)
            )
        languages = Languages(text=post, explanation=found)
        if not by_model:
            unread = language_obstacle(request)
            return LanguageCoverage(languages, (unread,) if unread else ())
        known = reader_languages(request)
        untrained = known.obstacle(found, "statement")
        if untrained is not None and not request.accept_untrained_languages:
            return LanguageCoverage(languages, (untrained,))
        return LanguageCoverage(languages, (), tuple(known.get_warnings(found, "statement")))

    def report(self, request: SorRequest, collected: SorCollected) -> SorResult:
        read = collected.read
        components = _components(self.variant(request), collected)
        items = _items(read, components)
        return SorResult(
            **self.envelope(request, collected, _warnings(request, collected)),
            score=kernel.harmonic(components.completeness, components.specificity),
            components=components,
            items=tuple(SorItem(name=name, value=items[name]) for name in ITEMS),
            missing=tuple(name for name in ITEMS if _is_missing(name, items[name])),
            routes=tuple(route for route in ROUTES if route in read.routes),
            ground_in_policy=read.ground_in_policy,
            evidence=tuple(evidence_of(request, read)),
            control=_control(request, collected),
            reader=collected.reader,
            faithfulness=collected.tested.found,
            reasons=() if collected.tested.reason is None else (collected.tested.reason,),
        )

    def undefined(self, request: SorRequest, collected: Collected) -> SorResult:
        return SorResult(
            **self.envelope(request, collected),
            score=None,
            components=NOTHING,
            items=(),
            missing=(),
            routes=(),
            ground_in_policy=None,
            evidence=(),
            control=None,
        )

    def summarize(self, rows: Sequence[Row], over: Statistics) -> SorBatchReport:
        return batch_report(rows, over)


def _collect_one(
    request: SorRequest, post: PostWords, reading: StatementReading, tested: FactsTested
) -> SorCollected:
    read = reading.read
    uses = [models().classifier(READER.name).use if is_read(request) else None]
    uses += [tested.use, reading.use]
    beside = [read.match_post(other) for other in _select_pool(request, post)]
    return SorCollected(
        models=tuple(dict.fromkeys(use for use in uses if use is not None)),
        warnings=reading.warnings,
        obstacles=() if reading.obstacle is None else (reading.obstacle,),
        read=read,
        reader=reading.reader,
        tested=tested,
        null=tuple(facts.weight for facts in beside),
        null_words=tuple(len(facts.shared) for facts in beside),
    )


def _select_pool(request: SorRequest, post: PostWords) -> Iterator[PostWords]:
    """Posts of the request, else our own of its statement's language; never the post itself."""
    stem_of = stems_of(request)
    own = load_posts("de" if stem_of is german_stem else "en")
    sent = (PostWords.of(text, stem_of) for text in request.other_posts)
    pool = sent if request.other_posts else own
    return (other for other in pool if other.joined != post.joined)


@lru_cache(maxsize=2)
def load_posts(language: str = "en") -> tuple[PostWords, ...]:
    """Fifty mild posts of our own writing, of many kinds."""
    file = Path(__file__).parent / "data" / f"other_posts.{language}.json"
    stem_of = german_stem if language == "de" else english_stem
    return tuple(PostWords.of(text, stem_of) for text in json.loads(file.read_text("utf-8")))


def _components(row: SorVariant, collected: SorCollected) -> SorComponents:
    read, facts = collected.read, collected.read.facts
    by_point = kernel.points(read.items)
    chance = kernel.mean(collected.null_words) or 0.0
    return SorComponents(
        completeness=kernel.mean(read.items.values()),
        specificity=kernel.specificity(
            facts.quotations, len(facts.shared), max(1, min(row.enough, facts.words)), chance
        ),
        **by_point,
        quotes=facts.quotations,
        quotes_not_found=len(facts.missing),
        post_words=len(facts.shared),
        faithfulness=collected.tested.found and collected.tested.found.null.win_rate,
    )


def _items(read: ReadStatement, components: SorComponents) -> dict[SorItemName, float | None]:
    return {**read.items, "facts": components.specificity}


def _is_missing(name: SorItemName, value: float | None) -> bool:
    return value is not None and (value < NAMED if name == "facts" else value == 0)


def _control(request: SorRequest, collected: SorCollected) -> SorNull | None:
    """All the other posts there are: the test is exact."""
    if not collected.null:
        return None
    observed, null = float(collected.read.facts.weight), np.array(collected.null, np.float64)
    return SorNull(
        placements=null.size,
        exact=True,
        pool="request" if request.other_posts else "own",
        **ranks.null_fields(observed, null),
    )


def _warnings(request: SorRequest, collected: SorCollected) -> Iterator[str]:
    read, tested = collected.read, collected.tested
    yield from tested.warnings
    if tested.reason is not None:
        yield f"faithfulness: {tested.reason.detail}"
    if not read.facts.words:
        yield "the post has no content words: it can be quoted only"
    if read.facts.missing:
        lost = len(read.facts.missing)
        stand = "quotation stands" if lost == 1 else "quotations stand"
        yield f"{lost} {stand} neither in the post nor in a rule"
    if read.ground_in_policy is False:
        yield "the clause that is named was not found in `policy`"
    if request.fields is not None:
        yield "redress is not scored: the database's schema has no field for it"
    if not collected.null:
        yield "no control: there is no other post"


SERVICE = Sor()
