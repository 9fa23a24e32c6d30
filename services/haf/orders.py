"""The reasons in other orders: JUSTIFY rewritten with them, and scored as if the model wrote that.

A reason's confidence depends on what stands before it, so that the order of the same reasons may
change DiS. The original order is scored in the same way, to compare like with like.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from services.haf import prompts
from services.haf.brought import of_completion
from services.haf.parsed import Parsed, Span, Statement
from services.haf.questions import PROMPTS, Order, Sample
from services.haf.transcript import Exchange, exchange, obstacle
from shared.errors import pointing_to
from shared.job_context import check, checking
from shared.models.ports import models
from shared.statistics.seeds import generator_1_0


def rewrite(samples: Sequence[Sample]) -> None:
    """Score the JUSTIFY response of every sample that asks for it in every order: one call a
    model."""
    groups: dict[str, list[tuple[Sample, Exchange, Order]]] = defaultdict(list)
    for sample in samples:
        for order in _orders(sample):
            if sample.justify is not None:
                groups[sample.request.model or ""].append((sample, sample.justify, order))
    for name, asked in groups.items():
        changed = [reordered(justify, order) for _, justify, order in checking(asked)]
        before = [prompts.justify(sample.request.text, 0) for sample, _, _ in asked]
        with pointing_to("/text", only=PROMPTS):
            scored = models().writer(name).score(before, [text for text, _ in changed])
        for (sample, _, order), (_, parsed), completion in zip(asked, changed, scored, strict=True):
            read = exchange(sample.request, "justify", of_completion(completion), parsed)
            sample.rewritten.append((order, read))


def reordered(justify: Exchange, order: Order) -> tuple[str, Parsed]:
    """The response with its reasons' texts in another order, and where they stand then.

    Numbers, bullets and everything between the reasons stay where they are. The statements keep
    the numbers of the original ones.
    """
    spans = _spans(justify)
    texts = [justify.reasons[place].statement.text for place in order]
    built, cursor = "", 0
    places: dict[int, Span] = {}
    for (start, end), text, place in zip(spans, texts, order, strict=True):
        built += justify.written.text[cursor:start]
        places[place] = (len(built), len(built) + len(text))
        built, cursor = built + text, end
    parsed = justify.parsed
    reasons = tuple(
        Statement(reason.statement.text, places[place])
        for place, reason in enumerate(justify.reasons)
    )
    moved = Parsed(None, parsed.stance, reasons, refusal=False)
    return built + justify.written.text[cursor:], moved


def _orders(sample: Sample) -> list[Order]:
    """The original order and others; nothing where none was asked for or there is no other."""
    justify, count = sample.justify, sample.request.permute_reasons
    if justify is None or not count or sample.number > 0 or obstacle(justify) is not None:
        return []
    if len(justify.reasons) < 2 or len(_spans(justify)) < len(justify.reasons):
        return []
    plain = tuple(range(len(justify.reasons)))
    generator = generator_1_0(sample.request.seed, justify.written.text)
    return [plain, *others(plain, count, generator)]


def others(plain: Order, count: int, generator: np.random.Generator) -> list[Order]:
    """Distinct other orders, uniformly drawn; all of them where `count` asks for more."""
    found: dict[Order, None] = {}
    while len(found) < min(count, math.factorial(len(plain)) - 1):
        check()
        order = tuple(int(place) for place in generator.permutation(len(plain)))
        if order != plain:
            found[order] = None
    return list(found)


def _spans(justify: Exchange) -> list[Span]:
    """Where the reasons stand, if they stand one after the other."""
    spans = [each.statement.span for each in justify.reasons if each.statement.span is not None]
    apart = all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
    return spans if apart else []
