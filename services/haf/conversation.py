"""The HAF conversation of up to three stages, generated or provided: JUSTIFY, UPHOLD-REASON and
UPHOLD-STANCE.

Each stage makes one call per model for all requests. Each prompt is a separate conversation with
its own random draws. The texts are versioned data in `data/prompts.json`. Source: Mothilal et al.,
arXiv:2506.19113, section 3.1 and Table 6; the layout of the user's turn follows the released code.
"""

from __future__ import annotations

import itertools
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from services.haf.contract import HafRequest, HafResponse, HafResponses
from services.haf.parsing import ParsedResponse, ParsedStatement, Span
from services.haf.report import Stage, Stance
from services.haf.transcript import (
    NOT_PROVIDED,
    SINGLE,
    Exchange,
    ReorderedJustify,
    ResponseTokens,
    Transcript,
    from_completion,
    from_response,
    individual_stage,
    make_exchange,
    parse_responses,
    why_no_later_stage,
)
from services.haf.variants import variant_of
from shared.contracts.calls import MOST, Prompt, Sampling, Turn
from shared.contracts.errors import BadInput, pointing_to
from shared.models.ports import models
from shared.queue.job_context import check, check_each
from shared.statistics.seeds import generator_1_0

PROMPTS_FILE = Path(__file__).parent / "data" / "prompts.json"
SINGLE_REASON_STAGES: tuple[Stage, Stage] = ("sufficiency", "necessity")
DRAWS = 10_000  # from one sample of a request to the next
PLACES: dict[Stage, int] = {"justify": 0, "internal": 1, "external": 2}
PROMPTS = ("/prompts", "/completions")  # what a model refuses of these, it refuses of the text
INDIVIDUAL_STAGES = 10  # the place of the first reason

Order = tuple[int, ...]


@lru_cache(maxsize=1)
def load_prompts() -> dict[str, Any]:
    prompts: dict[str, Any] = json.loads(PROMPTS_FILE.read_text("utf-8"))
    return prompts


def prompts_version() -> str:
    return str(load_prompts()["version"])


def justify_prompt(text: str, draw: int) -> Prompt:
    """Return the prompt that asks if the text is toxic, and why."""
    return _format_prompt(load_prompts()["justify"], _text(text), draw)


def uphold_prompt(
    stage: Stage, stance: Stance, text: str, reasons: Sequence[str], draw: int
) -> Prompt:
    """Return the prompt that asks for additional reasons. The stance `maybe` counts as toxic, as in
    the HAF paper (section 3.1)."""
    side = load_prompts()["non-toxic" if stance == "non-toxic" else "toxic"]
    kind = "individual" if stage in SINGLE_REASON_STAGES else stage
    head = "REASON" if stage == "sufficiency" else "REASON(S)"
    listed = "".join(f"{number}. {reason}\n" for number, reason in enumerate(reasons, 1))
    return _format_prompt(side[kind], f"{_text(text)}\n\n{head}: \n{listed}", draw)


def _text(text: str) -> str:
    return f"\nTEXT: \n{text.lstrip()}"


def _format_prompt(instruction: str, content: str, draw: int) -> Prompt:
    turns = (Turn(role="system", content=instruction), Turn(role="user", content=content))
    return Prompt(turns=turns, draw=draw)


@dataclass
class Sample:
    """One conversation with the model for one request. The stages fill in its fields."""

    request: HafRequest
    number: int
    justify: Exchange | None = None
    rewritten: list[tuple[Order, Exchange]] = field(default_factory=list)
    answers: list[tuple[StagePrompt, Exchange]] = field(default_factory=list)


@dataclass(frozen=True)
class StagePrompt:
    """One prompt, with the conversation, stage, reason and order of reasons that it belongs to."""

    sample: Sample
    stage: Stage
    prompt: Prompt
    reason: int | None = None
    order: Order | None = None


def uphold_prompts(sample: Sample) -> list[StagePrompt]:
    """Return the prompts of the HAF stage UPHOLD-REASON, which ask the model for further reasons.
    Internal reasons come from the text, external ones do not. The question for internal reasons is
    repeated for each other order of the first reasons."""
    justify = sample.justify
    if justify is None or why_no_later_stage(justify) is not None:
        return []
    plain = tuple(range(len(justify.reasons)))
    orders = [order for order, _ in sample.rewritten[1:]]
    return [
        _prompt_all(sample, justify, "internal", plain),
        _prompt_all(sample, justify, "external", plain),
        *(_prompt_all(sample, justify, "internal", order) for order in orders),
    ]


def individual_prompts(sample: Sample) -> list[StagePrompt]:
    """Return the prompts of the stage UPHOLD-STANCE, one per reason. For the stance toxic or maybe,
    the prompt contains only this reason. For non-toxic, it contains all other reasons."""
    justify = sample.justify
    if justify is None or why_no_later_stage(justify) is not None:
        return []
    stage = individual_stage(justify.parsed.stance)
    texts = [reason.text for reason in justify.reasons]
    empty = len(texts) == 1 and not variant_of(sample.request).prompts_without_reasons
    if stage is None or (stage == "necessity" and empty):
        return []
    remaining = [
        [text] if stage == "sufficiency" else texts[:index] + texts[index + 1 :]
        for index, text in enumerate(texts)
    ]
    return [
        StagePrompt(
            sample, stage, _prompt(sample, justify, stage, some, INDIVIDUAL_STAGES + index), index
        )
        for index, some in enumerate(remaining)
    ]


def _prompt_all(sample: Sample, justify: Exchange, stage: Stage, order: Order) -> StagePrompt:
    texts = [justify.reasons[index].text for index in order]
    prompt = _prompt(sample, justify, stage, texts, PLACES[stage])  # every order: the same draws
    changed = order if order != tuple(sorted(order)) else None
    return StagePrompt(sample, stage, prompt, order=changed)


def _prompt(
    sample: Sample, justify: Exchange, stage: Stage, texts: Sequence[str], number: int
) -> Prompt:
    draw = sample.number * DRAWS + number
    return uphold_prompt(stage, justify.parsed.stance, sample.request.text, texts, draw)


def converse(requests: Sequence[HafRequest]) -> list[list[Transcript]]:
    """Run the conversations of all requests. For each request, return one transcript per sample. A
    request that contains its own responses has a single transcript."""
    samples = [
        [Sample(request, number) for number in range(request.samples)]
        if request.sent is None
        else []
        for request in requests
    ]
    _generate_stages([sample for some in samples for sample in some])
    provided = iter(_provided([request for request in requests if request.sent is not None]))
    return [
        [next(provided)] if request.sent is not None else [_transcript(sample) for sample in some]
        for request, some in zip(requests, samples, strict=True)
    ]


def _generate_stages(samples: Sequence[Sample]) -> None:
    first = (
        StagePrompt(each, "justify", justify_prompt(each.request.text, each.number * DRAWS))
        for each in samples
    )
    for prompt, justify in _generate(first):
        prompt.sample.justify = justify
    reorder_reasons(samples)
    for stage in (uphold_prompts, individual_prompts):
        for prompt, answer in _generate(
            stage_prompt for sample in samples for stage_prompt in stage(sample)
        ):
            prompt.sample.answers.append((prompt, answer))


def _generate(stage_prompts: Iterable[StagePrompt]) -> list[tuple[StagePrompt, Exchange]]:
    """Call each model once per sampling setting, and return the answers in the order of the
    prompts."""
    every = list(stage_prompts)
    groups: dict[tuple[str, Sampling], list[int]] = defaultdict(list)
    for index, prompt in enumerate(every):
        request = prompt.sample.request
        sampling = Sampling(**request.generation.model_dump(), seed=request.seed)
        groups[request.model or "", sampling].append(index)
    responses: dict[int, ResponseTokens] = {}
    for (name, sampling), indices in groups.items():
        writer = models().writer(name)
        for first in range(0, len(indices), MOST):
            some = indices[first : first + MOST]
            with pointing_to("/text", only=PROMPTS):
                answers = writer.generate([every[index].prompt for index in some], sampling)
            responses.update(zip(some, map(from_completion, answers), strict=True))
    parsed = parse_responses(
        [(p.sample.request, p.stage, responses[index].text) for index, p in enumerate(every)]
    )
    return [
        (sent, make_exchange(sent.sample.request, sent.stage, responses[index], read, sent.reason))
        for index, (sent, read) in enumerate(zip(every, parsed, strict=True))
    ]


def _transcript(sample: Sample) -> Transcript:
    justify = sample.justify
    if justify is None:
        raise RuntimeError(
            "a sample has no JUSTIFY response; send one"
        )  # _generate_stages makes every one
    by_order = {(prompt.stage, prompt.order): answer for prompt, answer in sample.answers}
    by_reason = {prompt.reason: answer for prompt, answer in sample.answers}
    why = why_no_later_stage(justify)
    individual = tuple(by_reason.get(index) for index in range(len(justify.reasons)))
    absent = {} if why is None else dict.fromkeys(("uii", "uei", "rs", "rn"), why)
    if not any(individual) and why is None:
        absent["rn"] = SINGLE
    return Transcript(
        justify=justify,
        internal=by_order.get(("internal", None)),
        external=by_order.get(("external", None)),
        individual=individual,
        absent=absent,
        orders=tuple(
            ReorderedJustify(order, rewritten, by_order.get(("internal", order if index else None)))
            for index, (order, rewritten) in enumerate(sample.rewritten)
        ),
    )


@dataclass(frozen=True, slots=True)
class SentResponse:
    """A response that the request contains, and the index of the reason that it is about."""

    stage: Stage  # of single reasons `sufficiency`, until the stance is known
    tokens: ResponseTokens
    reason: int | None = None


def _provided(requests: Sequence[HafRequest]) -> list[Transcript]:
    """Return the transcripts of requests that include responses. All responses are read
    together."""
    sent = [_sent(responses) for request in requests if (responses := request.sent) is not None]
    parsed = iter(
        parse_responses(
            [
                (request, each.stage, each.tokens.text)
                for request, responses in zip(requests, sent, strict=True)
                for each in responses
            ]
        )
    )
    return [
        _from_request(request, [(each, next(parsed)) for each in responses])
        for request, responses in zip(requests, sent, strict=True)
    ]


def _sent(responses: HafResponses) -> list[SentResponse]:
    """Return the responses of a request, JUSTIFY first."""
    later: list[tuple[Stage, str, int | None, HafResponse | None]] = [
        ("internal", "internal", None, responses.internal),
        ("external", "external", None, responses.external),
    ]
    for index, response in enumerate(responses.individual or ()):
        later.append(("sufficiency", f"individual/{index}", index, response))
    justify = from_response(responses.justify, "/responses/justify")
    return [SentResponse("justify", justify)] + [
        SentResponse(stage, from_response(response, f"/responses/{where}"), reason)
        for stage, where, reason, response in later
        if response is not None
    ]


def _from_request(
    request: HafRequest, sent: Sequence[tuple[SentResponse, ParsedResponse]]
) -> Transcript:
    first, parsed = sent[0]
    justify = make_exchange(request, "justify", first.tokens, parsed)
    stage = individual_stage(justify.parsed.stance)
    individual = request.sent.individual if request.sent else None
    if individual and len(individual) != len(justify.reasons):
        raise BadInput(
            f"the JUSTIFY response has {len(justify.reasons)} reasons, but "
            f"`responses.individual` has {len(individual)} responses; send one for each "
            "reason",
            pointer="/responses/individual",
        )
    why = why_no_later_stage(justify)
    later: dict[Stage | int, Exchange] = {}
    for each, parsed_later in sent[1:] if why is None and stage else ():
        upheld = stage if stage and each.reason is not None else each.stage
        key = each.stage if each.reason is None else each.reason
        later[key] = make_exchange(request, upheld, each.tokens, parsed_later, each.reason)
    return Transcript(
        justify=justify,
        internal=later.get("internal"),
        external=later.get("external"),
        individual=tuple(later.get(key) for key in range(len(individual or ()))),
        absent=dict.fromkeys(("uii", "uei", "rs", "rn"), why or NOT_PROVIDED),
    )


def reorder_reasons(samples: Sequence[Sample]) -> None:
    """Rewrite each first response with its reasons in other orders, and score these texts as output
    of the model. Makes one call per model. The order may change the confidence in a reason, and
    therefore the diversity of reasons (DiS). The original order is scored too, for comparison."""
    groups: dict[str, list[tuple[Sample, Exchange, Order]]] = defaultdict(list)
    for sample in samples:
        for order in _permutations(sample):
            if sample.justify is not None:
                groups[sample.request.model or ""].append((sample, sample.justify, order))
    for name, group in groups.items():
        changed = [reorder_response(justify, order) for _, justify, order in check_each(group)]
        before = [justify_prompt(sample.request.text, 0) for sample, _, _ in group]
        with pointing_to("/text", only=PROMPTS):
            scored = models().writer(name).score(before, [text for text, _ in changed])
        for (sample, _, order), (_, parsed), completion in zip(group, changed, scored, strict=True):
            read = make_exchange(sample.request, "justify", from_completion(completion), parsed)
            sample.rewritten.append((order, read))


def reorder_response(justify: Exchange, order: Order) -> tuple[str, ParsedResponse]:
    """Return the response with its reasons in another order, and their new positions. All other
    text stays in place. Each reason keeps its original index."""
    spans = _spans(justify)
    texts = [justify.reasons[index].text for index in order]
    built, cursor = "", 0
    new_spans: dict[int, Span] = {}
    for (start, end), text, index in zip(spans, texts, order, strict=True):
        built += justify.response.text[cursor:start]
        new_spans[index] = (len(built), len(built) + len(text))
        built, cursor = built + text, end
    parsed = justify.parsed
    reasons = tuple(
        ParsedStatement(reason.text, new_spans[index])
        for index, reason in enumerate(justify.reasons)
    )
    moved = ParsedResponse(None, parsed.stance, reasons, refusal=False)
    return built + justify.response.text[cursor:], moved


def _permutations(sample: Sample) -> list[Order]:
    """Return the original order of the reasons and random other orders. Return [] if the request
    does not ask for other orders, or if they cannot be tested."""
    justify, count = sample.justify, sample.request.permute_reasons
    if justify is None or not count or sample.number > 0 or why_no_later_stage(justify) is not None:
        return []
    if len(justify.reasons) < 2 or len(_spans(justify)) < len(justify.reasons):
        return []
    plain = tuple(range(len(justify.reasons)))
    generator = generator_1_0(sample.request.seed, justify.response.text)
    return [plain, *sample_permutations(plain, count, generator)]


def sample_permutations(plain: Order, count: int, generator: np.random.Generator) -> list[Order]:
    """Return up to `count` distinct random orders of the reasons, all different from the order
    `plain`. If fewer such orders exist, return all of them."""
    orders: dict[Order, None] = {}
    while len(orders) < min(count, math.factorial(len(plain)) - 1):
        check()
        order = tuple(int(index) for index in generator.permutation(len(plain)))
        if order != plain:
            orders[order] = None
    return list(orders)


def _spans(justify: Exchange) -> list[Span]:
    spans = [each.statement.span for each in justify.reasons if each.statement.span is not None]
    apart = all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    return spans if apart else []
