"""A lower bound of the work of an ICE request, before its text is tokenized. A text has at least as
many tokens as words, within the length that the model reads. After tokenizing,
`model_calls.check_cost` applies the exact limit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import comb
from typing import TYPE_CHECKING

from services.ice.report import IceSpan
from shared.contracts.calls import AttributionMethod
from shared.contracts.request_cost import Reduction, Size, Work, words_of

if TYPE_CHECKING:
    from services.ice.contract import IceRequest

WORD = re.compile(r"[^ \t\r\n]+")
LETTERS_A_CHARACTER = 20  # NFKC makes up to 18 of one

MOST_ROWS = 400_000  # variations of one text
MOST_TOKENS = 20_000_000  # that the model reads for one request
FLUENCY_TEXTS = 52
SPECIAL = 4  # tokens around and between two texts, at most
SECONDS_A_ROW = 5e-5  # to draw it, send it and take its answer
SECONDS_A_COMPARISON = 1e-7  # of one draw, of two explanations


def cost(request: IceRequest, reads: int) -> Sequence[Work]:
    """Estimate the work of a request: scoring variations of the text, computing attributions, and
    comparing explanations."""
    read = _text_tokens(request, reads)
    words = words_of(request.text) + words_of(request.text_pair or "")
    whole = max(1, min(words, read))
    lower = lowerings(request, whole, lambda other: cost(other, reads))
    rows = work_of_draws(request, _draws_by_size(request, whole, read), whole, lower)
    others = (*_attributions(request, whole), *_fluency(request, whole))
    return (*rows, *others, *_comparisons(request))


def server_cost(request: IceRequest, reads: int) -> Sequence[Work]:
    """Estimate all work for a model on a server, which gets one request per variation of the
    text."""
    read = _text_tokens(request, reads)
    words = words_of(request.text) + words_of(request.text_pair or "")
    whole = max(1, min(words, read))
    lower = lowerings(request, whole, lambda other: server_cost(other, reads))
    drawn = [size.draws for size in _draws_by_size(request, whole, read)]
    return (work_at_server(request, drawn, lower), *cost(request, reads))


def work_at_server(
    request: IceRequest, drawn: Sequence[int], lowerings: Iterable[Reduction]
) -> Work:
    """Estimate the requests to the model's server for the whole text, LIME's samples and all random
    token sets. `drawn` has the number of random sets for each set size. `lowerings` are ways to
    reduce the work."""
    samples = sum(
        method.samples for method in _attribution_methods(request) if method.name == "lime"
    )
    rows = 1 + samples + sum(drawn) * _rows_a_draw(request)
    return Work(
        (Size("rows (`draws` × `operators` × `aspects`, `samples`)", rows),),
        unit="requests to the model's server",
        seconds_each=SECONDS_A_ROW,
        lowerings=tuple(lowerings),
        at_server=True,
    )


def _rows_a_draw(request: IceRequest) -> int:
    options = request.options
    each = sum(options.infills if operator == "infill" else 1 for operator in options.operators)
    return each * len(options.aspects)


def _text_tokens(request: IceRequest, reads: int) -> int:
    """Return how many tokens of a long text the model reads at least. `reads` also counts the
    prompt."""
    around = request.options.template or request.options.prompt
    beside = 0 if around is None else len(around.model_dump_json().encode())
    return max(1, reads - SPECIAL - beside)


def _draws_by_size(request: IceRequest, whole: int, read: int) -> list[DrawCount]:
    """Return the number of random token sets for each size of rationale. Budgets that may give the
    same size are counted once."""
    placements = [_at_budget(k, whole) for k in _unique_budgets(request, whole)]
    marked = next(_fixed_rationales(request), None)
    if marked is not None and request.draws_tokens and not placements:  # else its size may be known
        inside, outside = _words_inside(request, marked, read)
        placements.append((inside, outside, comb(inside + outside, inside) - 1))
    return [
        DrawCount((alone, rest)[: len(request.options.aspects)], min(request.most_draws, others))
        for alone, rest, others in placements
        if others > 0
    ]


def _unique_budgets(request: IceRequest, whole: int) -> list[float]:
    """Return budgets whose rationales differ in size from each other in every text of at least
    `whole` tokens."""
    distinct: list[float] = []
    for k in sorted(request.options.budgets if _explanations_with_values(request) else ()):
        if not distinct or (k * whole >= 2 and (k - distinct[-1]) * whole >= 1 + 1e-6):
            distinct.append(k)
    return distinct


def _at_budget(k: float, whole: int) -> tuple[int, int, int]:
    """Return three counts for a rationale of share `k`: its tokens, the remaining tokens, and the
    other possible token sets of its size. `whole` is the number of tokens."""
    sizes = [max(1, int(k * whole + rounding)) for rounding in (0.0, 1e-9)]
    return sizes[0], whole - sizes[1], min(comb(whole, size) for size in sizes) - 1


@dataclass(frozen=True)
class DrawCount:
    """The number of random token sets to draw for one size of rationale. `kept` has the numbers of
    tokens that remain when tokens are deleted, for sufficiency and for necessity."""

    kept: tuple[int, ...]
    draws: int


def work_of_draws(
    request: IceRequest, drawn: Sequence[DrawCount], whole: int, lowerings: Iterable[Reduction]
) -> Iterator[Work]:
    """Yield the work for all random token sets with all operators (ways to remove tokens), in model
    inputs and in tokens. `drawn` has the number of sets for each size. `whole` is the number of
    tokens of an input that no operator shortens."""
    draws = sum(size.draws for size in drawn)
    if not draws:
        return
    most = max(size.draws for size in drawn)
    each, options = _rows_a_draw(request), request.options
    tokens = sum(
        size.draws * {"delete": kept, "infill": whole * options.infills}.get(operator, whole)
        for size in drawn
        for kept in size.kept
        for operator in options.operators
    )
    sizes = [Size("`draws`", most), Size("rows per draw (`operators`, `infills`, `aspects`)", each)]
    sizes.append(Size("sizes of the rationale", draws / most))
    lower = tuple(lowerings)
    yield Work(
        tuple(sizes), unit="rows", seconds_each=SECONDS_A_ROW, most=MOST_ROWS, lowerings=lower
    )
    a_row = Size("tokens per row", tokens / (draws * each))
    yield Work((*sizes, a_row), most=MOST_TOKENS, lowerings=lower)


def lowerings(
    request: IceRequest, whole: int, works: Callable[[IceRequest], Sequence[Work]]
) -> Iterator[Reduction]:
    """Yield ways to reduce the work of a request. Each lowers one number, such as `draws` or the
    number of operators. `works` returns the work of a changed request. The operators or budgets
    with the most work are kept, so that any other selection is within the limit, too."""
    options = request.options

    def changed(field: str, value: object) -> IceRequest:
        return request.model_copy(update={"options": options.model_copy(update={field: value})})

    def work_with(field: str) -> Callable[[object], Sequence[Work]]:
        return lambda value: works(changed(field, value))

    def fewer(name: str, field: str, ordered: Callable[[], Sequence[object]]) -> Reduction:
        of = len(options.budgets if field == "k" else getattr(options, field))
        return Reduction(
            name, f"/options/{field}", of, lambda count: work_with(field)(tuple(ordered()[:count]))
        )

    yield Reduction("`draws`", "/options/draws", request.most_draws, work_with("draws"))
    if "infill" in options.operators:
        yield Reduction("`infills`", "/options/infills", options.infills, work_with("infills"))
    yield fewer("the number of `aspects`", "aspects", lambda: options.aspects)
    rank = {"infill": 0, "delete": 2}  # the lowest makes the most work; the others have 1
    yield fewer(
        "the number of `operators`",
        "operators",
        lambda: sorted(options.operators, key=lambda operator: rank.get(operator, 1)),
    )
    if _explanations_with_values(request):
        budgets = partial(_sort_budgets, request, whole, work_with("k"))
        yield fewer("the number of budgets in `k`", "k", budgets)


def _sort_budgets(
    request: IceRequest, whole: int, works: Callable[[object], Sequence[Work]]
) -> list[float]:
    apart = _unique_budgets(request, whole)
    amounts = {k: sum(work.amount for work in works(k)) for k in request.options.budgets}
    return sorted(request.options.budgets, key=lambda k: (k in apart, amounts[k]), reverse=True)


def _attributions(request: IceRequest, whole: int) -> Iterator[Work]:
    """Yield the work of computed explanations: samples of LIME and steps of integrated gradients.
    `whole` is the number of tokens of the text."""
    passes = sum(map(count_rows, _attribution_methods(request)))
    if passes:
        sizes = (
            Size("passes (`samples`, `steps`) of `attribution`", passes, "/attribution"),
            Size("tokens of `text`", whole, "/text"),
        )
        yield Work(sizes, most=MOST_TOKENS)


def _fluency(request: IceRequest, whole: int) -> Iterator[Work]:
    """Yield the work of `fluency_model`, which reads the text, the rationale and random
    rationales."""
    if request.options.fluency_model is not None:
        texts = Size("texts that `fluency_model` reads", FLUENCY_TEXTS, "/options/fluency_model")
        yield Work((texts, Size("tokens of `text`", whole, "/text")), most=MOST_TOKENS)


def _attribution_methods(request: IceRequest) -> list[AttributionMethod]:
    return [AttributionMethod(name=m) if isinstance(m, str) else m for m in request.methods]


def count_rows(method: AttributionMethod) -> int:
    """Return the number of altered texts that the model must process to compute an explanation."""
    return {"lime": method.samples, "integrated_gradients": method.steps}.get(method.name, 1)


def _comparisons(request: IceRequest) -> Iterator[Work]:
    """Yield the work of comparing every two explanations with values."""
    values = len(_explanations_with_values(request))
    if values > 1:
        sizes = (
            Size("`draws`", request.most_draws, "/options/draws"),
            Size("`operators`", len(request.options.operators), "/options/operators"),
            Size("`k`", len(request.options.budgets), "/options/k"),
            Size("pairs of explanations", values * (values - 1) // 2, "/explanations"),
        )
        yield Work(sizes, "comparisons", seconds_each=SECONDS_A_COMPARISON, certain=False)


def _explanations_with_values(request: IceRequest) -> list[object]:
    named = [explanation for explanation in request.explanations if explanation.attributions]
    return [*request.methods, *([request.attributions] if request.attributions else []), *named]


def _fixed_rationales(request: IceRequest) -> Iterator[list[IceSpan]]:
    """Yield the rationales that consist of spans. The positions of quotations are not known yet."""
    for rationale in (
        request.rationale,
        *(explanation.rationale for explanation in request.explanations),
    ):
        spans = [span for span in rationale or () if isinstance(span, IceSpan)]
        if spans and len(spans) == len(rationale or ()):
            yield spans


def _words_inside(request: IceRequest, spans: Sequence[IceSpan], read: int) -> tuple[int, int]:
    """Return how many words overlap with the spans and how many do not. Only the part of the text
    that the model certainly reads is counted."""
    text = request.text[: _characters_read(request, read)]
    covered = bytearray(len(text))
    for span in spans:
        if span.of == "text":
            end = min(span.end, len(text))
            covered[span.start : end] = b"\x01" * max(0, end - span.start)
    inside = outside = 0
    for word in WORD.finditer(text):
        letters = [index for index in range(*word.span()) if text[index].isalnum()]
        tokens_under = any(covered[index] for index in letters)
        inside += tokens_under
        outside += bool(letters) and not any(covered[word.start() : word.end()])
    return inside, outside


def _characters_read(request: IceRequest, read: int) -> int:
    """Return a lower bound on the number of leading characters that the model reads with `read`
    tokens. A non-ASCII character may take several tokens."""
    pair = request.text_pair or ""
    certain = read if (request.text + pair).isascii() else read // LETTERS_A_CHARACTER
    if pair and len(request.text) + len(pair) > certain:
        return 0  # which of the two is cut is the tokenizer's affair
    return certain
