"""Do the facts that a statement names carry the decision? A model's own, by the matched null.

The words of the post that the statement quotes or uses are taken away: P of the label falls where
the model's decision rests on them. So many words elsewhere, in runs of the same lengths, are taken
away too: facts that carry the decision move it more than those. Deletion as in DeYoung et al.
(2020), ERASER, ACL, section 4.2 (comprehensiveness); placements and p as everywhere
(`shared.statistics`). All requests about one model share its call.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
NAMES_NOTHING = "the statement names no words of the post that could be taken away"
NO_OTHER_PLACE = "the post has no other words for those that the statement names"


class FactsTested(NamedTuple):
    """What was found of one request. use: None where its model was not asked."""

    found: SorFaithfulness | None = None
    use: ModelUse | None = None
    reason: NullReason | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class MaskedPost:
    """A post and what is taken away: (1 + M) sets of its words, those of the facts first. others:
    how many sets there are besides."""

    post: PostWords
    taken: Sequence[Places]
    others: int

    @property
    def texts(self) -> list[str]:
        """The post, then without each of the sets."""
        return [self.post.text, *(without_words(self.post, places) for places in self.taken)]


def words_of_facts(post: PostWords, read: ReadStatement) -> Places:
    """Numbers of the post's words that the statement quotes or uses, ascending."""
    facts = read.facts
    spans = [*(one.post for one in facts.quotes), *(one.post for one in facts.shared)]
    return tuple(
        number
        for number, word in enumerate(post.words)
        if any(word.start < end and start < word.end for start, end in spans)
    )


def without_words(post: PostWords, places: Places) -> str:
    """The post's text without these words; what they leave is one blank."""
    gone, kept, end = set(places), [], 0
    for number, word in enumerate(post.words):
        if number in gone:
            kept.append(post.text[end : word.start])
            end = word.end
    return " ".join("".join([*kept, post.text[end:]]).split())


def masked_post(request: SorRequest, read: ReadStatement) -> MaskedPost | str:
    """Or why there is none."""
    post = PostWords.of(request.text)
    named = words_of_facts(post, read)
    if not named:
        return NAMES_NOTHING
    space = Runs(len(post.words), tuple(end - start for start, end in runs_of(named)))
    if space.count < 2:
        return NO_OTHER_PLACE
    random = generator(request.seed, "sor", "faithfulness", post.joined, list(named))
    drawn = list(islice(others(space, named, random, request.faithfulness_draws),
                        request.faithfulness_draws))  # fmt: skip
    return MaskedPost(post, [named, *drawn], space.count - 1)


def ask_models(requests: Sequence[SorRequest], read: Sequence[ReadStatement]) -> list[FactsTested]:
    """One each, in order; of requests without a model nothing."""
    found: dict[int, FactsTested] = {}
    by_model: dict[str, list[int]] = {}
    for place, request in enumerate(requests):
        if request.model is not None:
            by_model.setdefault(request.model, []).append(place)
    for name, places in by_model.items():
        judge = models().judge(name)
        wanted = {place: _wanted(judge, name, requests[place], read[place]) for place in places}
        asked = {place: one for place, one in wanted.items() if isinstance(one, MaskedPost)}
        texts = [Example(text=text) for one in asked.values() for text in one.texts]
        judged = iter(judge.judgements(texts) if texts else ())
        for place, one in wanted.items():
            if isinstance(one, MaskedPost):
                told = [next(judged) for _ in one.texts]
                found[place] = _tested(judge, requests[place], one, told)
            else:
                found[place] = FactsTested(reason=one)
    return [found.get(place, FactsTested()) for place in range(len(requests))]


def _wanted(
    judge: Judge, name: str, request: SorRequest, read: ReadStatement
) -> MaskedPost | NullReason:
    language = find_language(request.text, requested_language(request))
    untrained = ModelLanguages(name, judge.languages).obstacle(language, "post")
    if untrained is not None and not request.accept_untrained_languages:
        return _reason(untrained.code, untrained.detail)
    found = masked_post(request, read)
    return _reason("quote-not-found", found) if isinstance(found, str) else found


def _reason(code: ReasonCode, detail: str) -> NullReason:
    return NullReason(component=COMPONENT, code=code, detail=detail)


def _tested(
    judge: Judge, request: SorRequest, masked: MaskedPost, judged: Sequence[Judgement]
) -> FactsTested:
    unread = next((one.unread for one in judged if one.unread is not None), None)
    if unread is not None:
        return FactsTested(use=judge.use, reason=_reason(unread.code, unread.detail))
    first = judged[0]
    label = request.label or predict_label(
        first.labels, first.probabilities or (), judge.use.thresholds
    )
    if label not in first.labels:
        known = ", ".join(first.labels)
        raise BadInput(f"{judge.use.name} has no such label; it has {known}", pointer="/label")
    p = [(one.probabilities or ())[one.labels.index(label)] for one in judged]
    drops = p[0] - np.array(p[1:], np.float64)
    observed, null = float(drops[0]), drops[1:]
    return FactsTested(
        SorFaithfulness(
            label=label,
            p=p[0],
            p_without=p[1],
            drop=observed,
            words=len(masked.taken[0]),
            null=_null(observed, null, masked),
        ),
        judge.use,
        warnings=tuple(_warnings(judge, request)),
    )


def _warnings(judge: Judge, request: SorRequest) -> Iterator[str]:
    language = find_language(request.text, requested_language(request))
    yield from ModelLanguages(judge.use.name, judge.languages).get_warnings(language, "post")


def _null(observed: float, null: np.ndarray, masked: MaskedPost) -> SorMaskNull:
    return SorMaskNull(
        placements=masked.others if masked.others <= 10**15 else None,
        exact=null.size == masked.others,
        **ranks.null_fields(observed, null),
    )
