"""Tests if the model's decision rests on the facts that a statement names.

The words of the post that the statement quotes or uses are deleted, and the drop in the label's
probability is measured. It is compared with the drops for random words of the post, in runs of the
same lengths. Requests to the same model are sent in one call. Deletion follows DeYoung et al.
(2020), ERASER, ACL, section 4.2 (comprehensiveness)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np

from services.sor.contract import SorRequest
from services.sor.parsing import ReadStatement
from services.sor.post_facts import PostWords
from services.sor.report import SorFaithfulness, SorMaskNull
from shared.contracts.calls import Example
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement
from shared.contracts.labels import predict_label
from shared.contracts.messages import ModelUse, NullReason, ReasonCode
from shared.models.ports import Judge, models
from shared.statistics import ranks
from shared.statistics.draws import others
from shared.statistics.placements import Places, Runs, runs_of
from shared.statistics.seeds import generator
from shared.text.language import ModelLanguages, find_language, requested_language

COMPONENT = "faithfulness"
NAMES_NOTHING = "the statement names no words of the post"
NO_OTHER_PLACE = "the post has no other words to compare with those that the statement names"


class FactsTested(NamedTuple):
    """The result of one request's faithfulness test, or the reason why there is none."""

    result: SorFaithfulness | None = None
    use: ModelUse | None = None  # None: the model was not called
    reason: NullReason | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class MaskedPost:
    """A post and the sets of words to delete from it."""

    post: PostWords
    taken: Sequence[Places]  # 1 + M sets of words, the facts' first
    others: int  # number of other sets, of which M were drawn

    @property
    def texts(self) -> list[str]:
        """The post, followed by the post without each set of words."""
        return [self.post.text, *(without_words(self.post, places) for places in self.taken)]


def words_of_facts(post: PostWords, read: ReadStatement) -> Places:
    """Return the indices of the post's words that the statement quotes or repeats as single
    words."""
    facts = read.facts
    spans = [*(quote.post for quote in facts.quotes), *(word.post for word in facts.shared)]
    return tuple(
        index
        for index, word in enumerate(post.words)
        if any(word.start < end and start < word.end for start, end in spans)
    )


def without_words(post: PostWords, places: Places) -> str:
    """Return the post's text without these words. The remaining words are separated by single
    spaces."""
    removed, parts, end = set(places), [], 0
    for index, word in enumerate(post.words):
        if index in removed:
            parts.append(post.text[end : word.start])
            end = word.end
    return " ".join("".join([*parts, post.text[end:]]).split())


def masked_post(request: SorRequest, read: ReadStatement) -> MaskedPost | str:
    """Return the sets of words to delete, or the reason why there are none."""
    post = PostWords.of(request.text)
    facts = words_of_facts(post, read)
    if not facts:
        return NAMES_NOTHING
    space = Runs(len(post.words), tuple(end - start for start, end in runs_of(facts)))
    if space.count < 2:
        return NO_OTHER_PLACE
    random = generator(request.seed, "sor", "faithfulness", post.joined, list(facts))
    draws = request.faithfulness_draws
    drawn = list(islice(others(space, facts, random, draws), draws))
    return MaskedPost(post, [facts, *drawn], space.count - 1)


def ask_models(requests: Sequence[SorRequest], read: Sequence[ReadStatement]) -> list[FactsTested]:
    """Test if the words that each statement takes from its post matter to the model. Return one
    result per request, in order. The result is empty for a request without a model."""
    results = [FactsTested() for _ in requests]
    by_model: dict[str, list[int]] = {}
    for index, request in enumerate(requests):
        if request.model is not None:
            by_model.setdefault(request.model, []).append(index)
    for name, indices in by_model.items():
        judge = models().judge(name)
        masked: dict[int, MaskedPost] = {}
        for index in indices:
            post = _masked_post(judge, name, requests[index], read[index])
            if isinstance(post, MaskedPost):
                masked[index] = post
            else:
                results[index] = FactsTested(reason=post)
        examples = [Example(text=text) for post in masked.values() for text in post.texts]
        judgements = iter(judge.judgements(examples) if examples else ())
        for index, post in masked.items():
            row = [next(judgements) for _ in post.texts]
            results[index] = _test(judge, requests[index], post, row)
    return results


def _masked_post(
    judge: Judge, name: str, request: SorRequest, read: ReadStatement
) -> MaskedPost | NullReason:
    language = find_language(request.text, requested_language(request))
    untrained = ModelLanguages(name, judge.languages).obstacle(language, "post")
    if untrained is not None and not request.accept_untrained_languages:
        return _reason(untrained.code, untrained.detail)
    masked = masked_post(request, read)
    return _reason("quote-not-found", masked) if isinstance(masked, str) else masked


def _reason(code: ReasonCode, detail: str) -> NullReason:
    return NullReason(component=COMPONENT, code=code, detail=detail)


def _test(
    judge: Judge, request: SorRequest, masked: MaskedPost, judgements: Sequence[Judgement]
) -> FactsTested:
    unread = next((row.unread for row in judgements if row.unread is not None), None)
    if unread is not None:
        return FactsTested(use=judge.use, reason=_reason(unread.code, unread.detail))
    first = judgements[0]
    label = request.decision or predict_label(
        first.labels, first.probabilities or (), judge.use.thresholds
    )
    if label not in first.labels:
        labels = ", ".join(first.labels)
        raise BadInput(
            f"`decision` must be one of the labels of {judge.use.name}: {labels}",
            pointer="/decision",
        )
    p = [(row.probabilities or ())[row.labels.index(label)] for row in judgements]
    drops = p[0] - np.array(p[1:], np.float64)
    observed, null = float(drops[0]), drops[1:]
    language = find_language(request.text, requested_language(request))
    languages = ModelLanguages(judge.use.name, judge.languages)
    return FactsTested(
        SorFaithfulness(
            decision=label,
            p=p[0],
            p_without=p[1],
            drop=observed,
            words=len(masked.taken[0]),
            null=SorMaskNull(
                placements=masked.others if masked.others <= 10**15 else None,
                exact=null.size == masked.others,
                **ranks.null_fields(observed, null),
            ),
        ),
        judge.use,
        warnings=tuple(languages.get_warnings(language, "post")),
    )
