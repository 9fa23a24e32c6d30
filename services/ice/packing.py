"""What is missing, in calls of bounded size; and what one request may cost at most.

The unit is a token that the model reads: it bounds the time of a call (which has a deadline where
the model is another process), the size of its message, and the rows that are held at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from services.ice import drawing
from services.ice.cost import MOST_ROWS, MOST_TOKENS
from services.ice.inquiry import Inquiry, Key
from services.ice.reading import Reading
from shared.errors import TooCostly
from shared.job_context import checking
from shared.models.calls import AttributionMethod, Row

TOKENS_A_CALL = 100_000  # under a minute of one CPU core for a small encoder

Missing = tuple[Inquiry, Key, list[Row]]


def calls(inquiries: Sequence[Inquiry]) -> Iterator[list[Missing]]:
    """One call after the other; rows are made when the turn of their call comes."""
    call: list[Missing] = []
    size = 0
    for inquiry in inquiries:
        for key in checking(inquiry.missing()):
            rows = inquiry.rows_of(key)
            weight = _tokens_read(inquiry, rows)
            if call and size + weight > TOKENS_A_CALL:
                yield call
                call, size = [], 0
            call.append((inquiry, key, rows))
            size += weight
    if call:
        yield call


def _tokens_read(inquiry: Inquiry, rows: Sequence[Row]) -> int:
    whole = len(inquiry.reading.tokens.ids)
    return sum(whole if row.kept is None else len(row.kept) for row in rows)


def check_cost(inquiry: Inquiry) -> None:
    """Raises TooCostly where all draws would make the model read more than it may."""
    draws = {size: _draws(inquiry, size) for size in {len(t.rationale) for t in inquiry.trials}}
    tokens = sum(count * _tokens_a_draw(inquiry, size) for size, count in draws.items())
    rows = sum(draws.values()) * _rows_a_draw(inquiry)
    for asked, unit, most in ((tokens, "tokens", MOST_TOKENS), (rows, "rows", MOST_ROWS)):
        if asked > most:
            raise TooCostly(
                f"the draws could make the model read {asked:,} {unit}, more than {most:,}: "
                f"lower `draws` to at most {inquiry.reading.request.draws * most // asked:,}, or "
                "ask for fewer `infills`, `operators` or budgets `k`",
                pointers=("/draws", "/operators", "/k"),
            )


def check_methods(reading: Reading, methods: Sequence[AttributionMethod]) -> None:
    """Raises TooCostly where the computed explanations alone would."""
    passes = sum(
        {"lime": one.samples, "integrated_gradients": one.steps}.get(one.name, 1) for one in methods
    )
    most = passes * len(reading.tokens.ids)
    if most > MOST_TOKENS:
        raise TooCostly(
            f"the attributions make the model read {most:,} tokens, more than "
            f"{MOST_TOKENS:,}: ask for fewer `samples`, `steps` or methods",
            pointer="/attribution",
        )


def _draws(inquiry: Inquiry, size: int) -> int:
    others = drawing.others(len(inquiry.reading.eligible), size)
    return min(inquiry.reading.request.draws, others)  # what repeats is not asked again


def _rows_a_draw(inquiry: Inquiry) -> int:
    request = inquiry.reading.request
    return sum(request.infills if one == "infill" else 1 for one in request.operators)


def _tokens_a_draw(inquiry: Inquiry, size: int) -> int:
    """Of one subset under all operators."""
    request, whole = inquiry.reading.request, len(inquiry.reading.tokens.ids)
    kept = whole - len(inquiry.reading.eligible) + size
    tokens = {"delete": kept, "infill": whole * request.infills}
    return sum(tokens.get(operator, whole) for operator in request.operators)
