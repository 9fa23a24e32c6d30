"""The three stages, asked or brought: JUSTIFY, then UPHOLD-REASON, then UPHOLD-STANCE.

Each stage is one call a model for all prompts of all samples of all requests; each prompt is a
conversation of its own. Source: Mothilal et al., arXiv:2506.19113, section 3.1.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from services.haf import orders
from services.haf.brought import of_completion, of_response
from services.haf.contract import HafRequest
from services.haf.questions import PROMPTS, Asked, Sample, individual, opening, upholding
from services.haf.report import Stage
from services.haf.responses import Response, Responses
from services.haf.spoken import Written
from services.haf.transcript import (
    NOT_BROUGHT,
    SINGLE,
    Exchange,
    Reordered,
    Transcript,
    individual_stage,
    obstacle,
    read,
)
from shared.errors import BadInput, pointing_to
from shared.models.calls import MOST, Sampling
from shared.models.ports import models


def transcripts(requests: Sequence[HafRequest]) -> list[list[Transcript]]:
    """For each request the transcripts of its samples; of brought responses there is one."""
    samples = [
        [Sample(request, number) for number in range(request.samples)]
        if request.responses is None
        else []
        for request in requests
    ]
    _converse([sample for some in samples for sample in some])
    return [
        [_brought(request, request.responses)]
        if request.responses is not None
        else [_assembled(sample) for sample in some]
        for request, some in zip(requests, samples, strict=True)
    ]


def _converse(samples: Sequence[Sample]) -> None:
    """Let every sample grow, stage by stage."""
    for asked, justify in _answered(map(opening, samples)):
        asked.sample.justify = justify
    orders.rewrite(samples)
    for stage in (upholding, individual):
        for asked, answer in _answered(one for sample in samples for one in stage(sample)):
            asked.sample.answers.append((asked, answer))


def _answered(asked: Iterable[Asked]) -> list[tuple[Asked, Exchange]]:
    """One call a model and sampling, all its prompts together; in the order of the questions."""
    every = list(asked)
    groups: dict[tuple[str, Sampling], list[int]] = defaultdict(list)
    for place, one in enumerate(every):
        request = one.sample.request
        sampling = Sampling(**request.generation.model_dump(), seed=request.seed)
        groups[request.model or "", sampling].append(place)
    found: dict[int, Written] = {}
    for (name, sampling), places in groups.items():
        writer = models().writer(name)
        for first in range(0, len(places), MOST):
            some = places[first : first + MOST]
            with pointing_to("/text", only=PROMPTS):
                answers = writer.generate([every[place].prompt for place in some], sampling)
            found.update(zip(some, map(of_completion, answers), strict=True))
    return [
        (one, read(one.sample.request, one.stage, found[place], one.reason))
        for place, one in enumerate(every)
    ]


def _assembled(sample: Sample) -> Transcript:
    """The parts of one generation, put together."""
    justify = sample.justify
    if justify is None:
        raise RuntimeError("a sample was not asked")  # _converse asks every one
    by_order = {(asked.stage, asked.order): answer for asked, answer in sample.answers}
    by_reason = {asked.reason: answer for asked, answer in sample.answers}
    why = obstacle(justify)
    single = (by_reason.get(place) for place in range(len(justify.reasons)))
    individual_answers = tuple(single)
    absent = {} if why is None else dict.fromkeys(("uii", "uei", "rs", "rn"), why)
    if not any(individual_answers) and why is None:
        absent["rn"] = SINGLE
    return Transcript(
        justify=justify,
        internal=by_order.get(("internal", None)),
        external=by_order.get(("external", None)),
        individual=individual_answers,
        absent=absent,
        orders=tuple(
            Reordered(order, rewritten, by_order.get(("internal", order if place else None)))
            for place, (order, rewritten) in enumerate(sample.rewritten)
        ),
    )


def _brought(request: HafRequest, responses: Responses) -> Transcript:
    """The stages that the caller has."""
    justify = _read(request, "justify", responses.justify, "justify")
    stage = individual_stage(justify.parsed.stance)
    sent = responses.individual or ()
    if sent and len(sent) != len(justify.reasons):
        raise BadInput(
            f"{len(justify.reasons)} reasons were found in the JUSTIFY response, but there are "
            f"{len(sent)} responses about single reasons",
            pointer="/responses/individual",
        )
    why = obstacle(justify)
    given: dict[Stage, Response | None] = {
        "internal": responses.internal,
        "external": responses.external,
    }
    upheld = {
        name: _read(request, name, response, name) if response and why is None else None
        for name, response in given.items()
    }
    return Transcript(
        justify=justify,
        internal=upheld["internal"],
        external=upheld["external"],
        individual=tuple(
            _read(request, stage, response, f"individual/{place}", place)
            if response and stage and why is None
            else None
            for place, response in enumerate(sent)
        ),
        absent=dict.fromkeys(("uii", "uei", "rs", "rn"), why or NOT_BROUGHT),
    )


def _read(
    request: HafRequest, stage: Stage, response: Response, where: str, reason: int | None = None
) -> Exchange:
    return read(request, stage, of_response(response, f"/responses/{where}"), reason)
