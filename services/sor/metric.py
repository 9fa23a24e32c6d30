"""The metric `sor`: finds the items that a statement of reasons discloses, and tests if it is about
this post. Source: Regulation (EU) 2022/2065, Article 17."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
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

FEWEST_WORDS = 5  # of a statement that can be scored
NAMED = 0.5  # specificity at which the facts count as named
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
    read: ReadStatement
    reader: SorReaderUse | None
    tested: FactsTested  # of the request's model
    null: tuple[int, ...]  # (M,) weight of the facts for other posts
    null_words: tuple[int, ...]  # (M,) their content words


class Sor(Metric[SorRequest, SorCollected, SorResult, SorVariant]):
    """Measures whether a statement of reasons has the content that Article 17 requires, and whether
    the statement is about the given post."""

    contract = CONTRACT
    variants = VARIANTS

    def collect(self, requests: Sequence[SorRequest]) -> list[SorCollected]:
        posts = [PostWords.of(request.text, stems_of(request)) for request in requests]
        readings = read_by_model(requests, parse_statements(requests, posts))
        tested = ask_models(requests, [reading.read for reading in readings])
        rows = zip(requests, posts, readings, tested, strict=True)
        return [_collect(*row) for row in check_each(rows)]

    def coverage(self, request: SorRequest) -> LanguageCoverage:
        """Check if the statement's language is supported. The post may be in any language. The
        trained text classifier supports English and German, a `reader_model` other languages. A
        statement in an undetected language is read as English."""
        requested = requested_language(request)
        statement = "\n".join(request.documents().values())
        language = find_language(statement, requested)
        languages = Languages(text=find_language(request.text, requested), explanation=language)
        by_model = is_read_by_model(request)
        if request.fields is None and not by_model and len(words(statement)) < FEWEST_WORDS:
            detail = f"the statement has fewer than {FEWEST_WORDS} words"
            return LanguageCoverage(languages, (Obstacle("no-words", detail),))
        if not by_model:
            unread = language_obstacle(request)
            return LanguageCoverage(languages, (unread,) if unread else ())
        reader = reader_languages(request)
        untrained = reader.obstacle(language, "statement")
        if untrained is not None and not request.accept_untrained_languages:
            return LanguageCoverage(languages, (untrained,))
        return LanguageCoverage(languages, (), tuple(reader.get_warnings(language, "statement")))

    def report(self, request: SorRequest, collected: SorCollected) -> SorResult:
        read, tested = collected.read, collected.tested
        components = _components(self.variant(request), collected)
        items = {**read.items, "facts": components.specificity}
        return SorResult(
            **self.envelope(request, collected, _warnings(request, collected)),
            score=kernel.harmonic(components.completeness, components.specificity),
            components=components,
            items=tuple(SorItem(name=name, value=items[name]) for name in ITEMS),
            missing=tuple(
                name
                for name in ITEMS
                if (value := items[name]) is not None
                and (value < NAMED if name == "facts" else value == 0)
            ),
            routes=tuple(route for route in ROUTES if route in read.routes),
            ground_in_policy=read.ground_in_policy,
            evidence=tuple(evidence_of(request, read)),
            control=_control(request, collected),
            reader=collected.reader,
            faithfulness=tested.result,
            reasons=() if tested.reason is None else (tested.reason,),
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


def _collect(
    request: SorRequest, post: PostWords, reading: StatementReading, tested: FactsTested
) -> SorCollected:
    read, stem_of = reading.read, stems_of(request)
    uses = [models().classifier(READER.name).use if is_read(request) else None]
    uses += [tested.use, reading.use]
    pool: Iterable[PostWords] = load_posts("de" if stem_of is german_stem else "en")
    if request.other_posts:
        pool = (PostWords.of(text, stem_of) for text in request.other_posts)
    others = [read.match_post(other) for other in pool if other.joined != post.joined]
    return SorCollected(
        models=tuple(dict.fromkeys(use for use in uses if use is not None)),
        warnings=reading.warnings,
        obstacles=() if reading.obstacle is None else (reading.obstacle,),
        read=read,
        reader=reading.reader,
        tested=tested,
        null=tuple(facts.weight for facts in others),
        null_words=tuple(len(facts.shared) for facts in others),
    )


@lru_cache(maxsize=2)
def load_posts(language: str = "en") -> tuple[PostWords, ...]:
    """Return the built-in posts: fifty harmless posts of many kinds."""
    file = Path(__file__).parent / "data" / f"other_posts.{language}.json"
    stem_of = german_stem if language == "de" else english_stem
    return tuple(PostWords.of(text, stem_of) for text in json.loads(file.read_text("utf-8")))


def _components(variant: SorVariant, collected: SorCollected) -> SorComponents:
    read, facts, tested = collected.read, collected.read.facts, collected.tested.result
    chance = kernel.mean(collected.null_words) or 0.0
    return SorComponents(
        completeness=kernel.mean(read.items.values()),
        specificity=kernel.specificity(
            facts.quotations, len(facts.shared), max(1, min(variant.enough, facts.words)), chance
        ),
        **kernel.points(read.items),
        quotes=facts.quotations,
        quotes_not_found=len(facts.missing),
        post_words=len(facts.shared),
        faithfulness=tested and tested.null.win_rate,
    )


def _control(request: SorRequest, collected: SorCollected) -> SorNull | None:
    """Compare how much the statement shares with this post and with all other posts. Return None
    without other posts. The test is exact, because it uses all of them."""
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
        yield "the post has no content words, so only quotations of the post count"
    if read.facts.missing:
        count = len(read.facts.missing)
        verb = "quotation is" if count == 1 else "quotations are"
        yield f"{count} {verb} neither in the post nor in a rule"
    if read.ground_in_policy is False:
        yield "the clause that the statement names is not in `policy`"
    if request.fields is not None:
        yield "redress is not scored, because the database's schema has no field for it"
    if not collected.null:
        yield "no control: there are no other posts"


SERVICE = Sor()
