"""Conversion between the address of the results table and its filters, order and columns. Invalid
parameters do not filter and are listed in `ignored`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args
from urllib.parse import urlencode

from services.gateway.pages.terms import terms
from services.gateway.results.result_pages import COUNTED, UNTESTED, ResultFilter, ResultOrder
from services.registry import (
    DECISION_WRONG,
    reported,
    surprising_rules,
    surprising_words,
    tag_words,
)
from shared.contracts.errors import BadInput
from shared.contracts.language_names import language_name
from shared.contracts.messages import VerdictWord
from shared.ledger.batch_lines import STATUSES
from shared.ledger.batches import Batch
from shared.ledger.judgements import OPINIONS
from shared.ledger.score_hours import edges_of

VERDICTS: tuple[str, ...] = get_args(VerdictWord)
LONGEST = 200  # characters of a value
MOST_PAIRS = 60
MOST_LINES = 1_000  # chosen one by one
LARGEST = 2**31
NAMES = {  # of a filter → how a chip says it
    "status": "state",
    "verdict": "verdict",
    "reason": "problem",
    "why": "not tested because",
    "without": "leaves out",
    "decision_sent": "decision sent",
    "decision_stated": "decision stated",
    "model": "model",
    "language": "language",
    "variant": "variant",
    "custom_id": "custom id contains",
    "text": "text contains",
    "meta": "metadata",
    "facet": "of the result",
    "judged": "judged",
    "tag": "tagged",
    "by": "judged by",
}
WHY = {  # a reason for no test in plain words; all others are words already
    "too-few-places": "text too short to test",
    "too-few-rivals": "text too short to test",
    "language-undecided": "language not recognised",
    "untrained-language": "the judge was not trained on the language",
    "no-rules": "explanations in the language cannot be read",
    "conclusion-unread": "unclear wording",
    "model-disagrees": "the judge disagrees with the decision",
    "label-unknown": "no decision sent",
    "not-about-post": "fits other posts too",
}
# Names of an address that say nothing of the rows.
ELSEWHERE = frozenset({"after", "batch", "charts", "texts"})
# Of all other names, and keys of metadata, the last counts.
REPEATED = frozenset({"col", "line", "facet", "without"})
ANY_OF = frozenset({"reason", "why"})  # of several a row has one
NO_FILTER = "this filter does not exist"
SAID = 60  # characters of an ignored value that are repeated
NO_FILTERS = frozenset({"sort", "desc", "col", "line", "split", "pairs"})
SPLIT = re.compile(
    r"metadata\..{1,64}|model|variant|language|verdict|decision_sent|decision_stated"
)
SORTS = (
    "surprise", "line", "custom_id", "verdict", "score", "chance", "model", "status",
    "decision_sent", "decision_stated", "why", "text", "judged",
)  # fmt: skip
Pair = tuple[str, str]


@dataclass(frozen=True)
class Chip:
    """An active filter, with the address that shows the table without it."""

    text: str
    address: str


@dataclass(frozen=True)
class ResultQuery:
    """The filters, order and columns of the results table. `pairs` holds the known parameters of
    the address, except `after`. `ignored` lists the other parameters with reasons."""

    path: str
    pairs: tuple[Pair, ...]
    filter: ResultFilter
    order: ResultOrder
    columns: tuple[str, ...]  # keys of metadata
    ignored: tuple[str, ...] = ()
    metric: str = ""

    @property
    def filters(self) -> tuple[Pair, ...]:
        """The parameters that filter rows."""
        return tuple(pair for pair in self.pairs if pair[0] not in NO_FILTERS)

    @property
    def is_whole(self) -> bool:
        """True if the table has every line of the batch."""
        return not self.filters and not self.filter.lines

    @property
    def any_failure(self) -> ResultQuery:
        """The same query without its filters by problem and by reason for an untested result."""
        pairs = tuple(pair for pair in self.pairs if pair[0] not in ("reason", "why"))
        return replace(self, pairs=pairs, filter=replace(self.filter, reasons=(), untested=()))

    @property
    def split(self) -> str:
        """The key by which the scores are split, or an empty string."""
        return dict(self.pairs).get("split", "")

    @property
    def pairwise(self) -> bool:
        """True if the page compares every pair of the values by which the report is split."""
        return "pairs" in dict(self.pairs)

    @property
    def query(self) -> str:
        """The address parameters that are stored when the table is saved as a view."""
        return urlencode([pair for pair in self.pairs if pair[0] != "line"])

    @property
    def filter_values(self) -> dict[str, str]:
        """The active filters, as a mapping from filter name to value."""
        return dict(self.filters)

    @property
    def chips(self) -> list[Chip]:
        """The active filters, each with a link that removes it. The two bounds of a number count as
        one filter."""
        alike: dict[Pair, list[Pair]] = {}
        for pair in self.filters:
            column = ranged(pair[0])
            alike.setdefault((column, "") if column else pair, []).append(pair)
        return [
            Chip(
                filters_label(some, self.metric, self.filter.top),
                self._url(pair for pair in self.pairs if pair not in some),
            )
            for some in alike.values()
        ]

    def next(self, key: Sequence[Any]) -> str:
        """Return the address of the next page. `key` identifies the last row of this page."""
        return self._url([*self.pairs, ("after", json.dumps(list(key)))])

    @property
    def statistics(self) -> str:
        """The address of the statistics page for the lines in this table."""
        query = urlencode(list(self.filters))
        return f"{self.path}/statistics{'?' if query else ''}{query}"

    def charts_from(self, number: int) -> str:
        """Return the address of the statistics page that shows the charts from `number` on."""
        query = urlencode([*self.pairs, ("charts", str(number))])
        return f"{self.path}/statistics?{query}#report"

    @property
    def first(self) -> str:
        """The address of the table's first page."""
        return self._url(self.pairs)

    def sorted_by(self, name: str) -> str:
        """Return the address that sorts the table by this column. If it already does, the order is
        reversed."""
        others = [pair for pair in self.pairs if pair[0] not in ("sort", "desc")]
        turned = self.order.by == name and not self.order.descending
        return self._url([*others, ("sort", name), *([("desc", "1")] if turned else [])])

    def only(self, *pairs: Pair) -> str:
        """Return the address of the batch's table with only these filters."""
        return self._url(pairs)

    def query_within(self, *pairs: Pair) -> str:
        """Return the address parameters of this table with these filters added."""
        replaced = {_subject(*pair) for pair in pairs}
        kept = [pair for pair in self.filters if _subject(*pair) not in replaced]
        return urlencode([*kept, *pairs])

    def within(self, *pairs: Pair) -> str:
        """Return the address of this table with these filters added."""
        return f"{self.path}?{self.query_within(*pairs)}#items"

    def sort_order(self, name: str) -> str:
        """Return the value of `aria-sort` for a column. It is empty if the table is sorted by
        another column."""
        if self.order.by != name:
            return ""
        return "descending" if self.order.descending else "ascending"

    def _url(self, pairs: Iterable[Pair]) -> str:
        query = urlencode(list(pairs))
        return f"{self.path}{'?' if query else ''}{query}#items"


def parse_query(batch: Batch, tenant: str, sent: Sequence[Pair]) -> ResultQuery:
    """Parse the address of a results table. `sent` holds its parameters in order."""
    contract = reported().get(batch.metric)
    rules = surprising_rules(batch.metric)
    parts = () if contract is None else tuple(contract.parts)
    pairs = [(name, value.replace("\0", "")) for name, value in sent[:MOST_PAIRS]]
    known, ignored = _sorted_out(pairs, parts, rules.names)
    values = {name: value for name, value in known if name != "meta"}
    equal = {name: value for name, value in values.items() if name in COUNTED}
    given = {
        "verdict": next((word for word in OPINIONS if word == values.get("judged")), ""),
        "note": tag_words(batch.metric).get(values.get("tag", ""), ""),
        "reviewer": values.get("by", ""),
    }
    bounded = {
        name.rpartition("_")[0] for name in values if name.rpartition("_")[2] in ("from", "to")
    }
    wanted = ResultFilter(
        tenant=tenant,
        batch_id=batch.id,
        parts=parts,
        top=edges_of(contract)[-1],
        equal=equal,
        reasons=[value for name, value in known if name == "reason"],
        untested=[value for name, value in known if name == "why"],
        facets=[value for name, value in known if name == "facet"],
        without=[f"{UNTESTED}{value}" for name, value in known if name == "without"],
        contains=values.get("custom_id", ""),
        text=values.get("text", ""),
        pairs=[value for name, value in known if name == "meta"],
        ranges={
            name: (as_number(values.get(f"{name}_from")), as_number(values.get(f"{name}_to")))
            for name in sorted(bounded)
        },
        judged=None if "judged" not in values else values["judged"] != "no",
        judgement={field: value for field, value in given.items() if value},
        lines=[int(value) for name, value in known if name == "line"][:MOST_LINES],
    )
    order = ResultOrder(
        values.get("sort", "surprise"), "desc" in values, rules.higher_is_better, _key(pairs)
    )
    columns = tuple(value for name, value in known if name == "col")
    return ResultQuery(f"/batches/{batch.id}", known, wanted, order, columns, ignored, batch.metric)


def filled_pairs(sent: Sequence[Pair]) -> list[Pair]:
    """Return the pairs without the empty fields of a form."""
    return [pair for pair in sent if pair[1]]


def query_to_take(batch: Batch, tenant: str, sent: Sequence[Pair]) -> ResultQuery:
    """Parse the address of a results table, for an export or a new batch. Raises BadInput if a
    parameter is invalid, since the wrong rows would then be used."""
    view = parse_query(batch, tenant, sent)
    if view.ignored:
        raise BadInput(f"these filters cannot be read: {'; '.join(view.ignored)}")
    return view


def _sorted_out(
    pairs: Sequence[Pair], parts: Sequence[str], reasons: Sequence[str]
) -> tuple[tuple[Pair, ...], tuple[str, ...]]:
    """Return the valid parameters, and an error for each other one. Empty values are ignored, since
    a form sends empty fields."""
    sent = [pair for pair in dict.fromkeys(pairs) if pair[1] and pair[0] not in ELSEWHERE]
    wrong = {pair: _fault(*pair, parts=parts, reasons=reasons) for pair in sent}
    last = {_subject(*pair): pair for pair in sent if not wrong[pair]}
    known, ignored = [], []
    for name, value in sent:
        why = wrong[name, value]
        if not why and name not in ANY_OF and last[_subject(name, value)] != (name, value):
            why = "it occurs twice, so only the last one counts"
        if why:
            ignored.append(ignored_pair(name, value, why))
        else:
            known.append((name, value))
    return tuple(known), tuple(ignored)


def _subject(name: str, value: str) -> Pair:
    """Return the key that identifies a query parameter. If several parameters have the same key,
    only one counts."""
    if name == "meta":
        return name, value.partition("=")[0]
    return name, value if name in REPEATED else ""


def ignored_pair(name: str, value: str, why: str) -> str:
    """Return the message about a URL parameter that is ignored because it is invalid."""
    shown = value if len(value) <= SAID else f"{value[:SAID]}…"
    return f"{name[:SAID]} = {shown}: {why}"


def _fault(name: str, value: str, *, parts: Sequence[str], reasons: Sequence[str]) -> str:
    """Return why this parameter cannot be used, or an empty string if it can."""
    if len(value) > LONGEST:
        return f"it is longer than {LONGEST} characters"
    listed = {
        "status": STATUSES, "verdict": VERDICTS, "judged": ("yes", "no", *OPINIONS),
        "reason": reasons, "tag": (*reasons, DECISION_WRONG),
    }  # fmt: skip
    if name in listed:
        return "" if value in listed[name] else f"it must be one of {', '.join(listed[name])}"
    column, _, end = name.rpartition("_")
    if end in ("from", "to") and column in ("score", "chance", *parts):
        return "" if as_number(value) is not None else "it is not a number"
    if name == "sort":
        known = value in (*SORTS, *parts) or value.startswith("metadata.")
        return "" if known else "this column does not exist"
    if name == "meta":
        return "" if "=" in value[1:] else "write metadata as key=value"
    if name == "facet":
        return "" if "=" in value[1:] else "write it as name=word"
    if name == "split":
        return "" if SPLIT.fullmatch(value) else "results cannot be split by this key"
    if name == "line":
        is_line = value.isascii() and value.isdigit() and len(value) < 9
        return "" if is_line else "it is not a line number"
    known = name in ("desc", "col", "pairs") or name in NAMES
    return "" if known else NO_FILTER


def as_number(value: str | None) -> float | None:
    """Return a text as a number, or None if the text is not a finite number."""
    written = value or ""
    if not written.isascii() or "_" in written:  # which Python reads
        return None
    try:
        number = float(written)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _key(pairs: Sequence[Pair]) -> list[str | float | int]:
    """Return the sort key after which the page begins. It is empty for the first page."""
    sent = next((value for name, value in pairs if name == "after"), "[]")
    try:
        key = json.loads(sent)
    except (ValueError, RecursionError):
        return []
    fits = isinstance(key, list) and all(_is_key(value) for value in key)
    return key if fits else []


def _is_key(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    if isinstance(value, int):
        return abs(value) < LARGEST
    if isinstance(value, str):  # escapes may write what the database refuses
        return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in value)
    return not math.isnan(value)


def ranged(name: str) -> str:
    """Return the name of the column that a filter such as `score_from` or `score_to` bounds. Return
    an empty string for other filters."""
    column, _, end = name.rpartition("_")
    return column if end in ("from", "to") and name not in NAMES else ""


def value_name(column: str, value: str) -> str:
    """Return the display name of a value in this column, for example of a language."""
    if column == "language":
        return language_name(value)
    if column in ("why", "without"):
        return WHY.get(value, value.replace("-", " "))
    return value.replace("_", " ") if column == "verdict" else value


def filter_label(name: str, value: str, metric: str = "") -> str:
    """Return the text that describes a filter on the page."""
    if name == "facet":
        return value.replace("=", ": ", 1)
    if name in ("reason", "tag"):
        return f"{NAMES[name]}: {(tag_words(metric) | surprising_words(metric)).get(value, value)}"
    if name in NAMES:
        return f"{NAMES[name]}: {value_name(name, value)}"
    end = "from" if name.endswith("_from") else "below"
    return f"{_number_name(name, metric)} {end} {value}"


def filters_label(some: Sequence[Pair], metric: str, top: float | None) -> str:
    """Return the text for one filter, or for both bounds of a number. `top` is the highest possible
    value. An upper bound of `top` is inclusive, any other is exclusive."""
    ends = {name.rpartition("_")[2]: value for name, value in some}
    high = ends.get("to")
    if not ranged(some[0][0]) or high is None:
        return filter_label(*some[0], metric)
    upper = f"up to {high}" if as_number(high) == top else f"below {high}"
    low = f" from {ends['from']}" if "from" in ends else ""
    return f"{_number_name(some[0][0], metric)}{low}{' and' if low else ''} {upper}"


def _number_name(name: str, metric: str) -> str:
    column = ranged(name)
    term = terms().of(metric).get(column) if metric else None
    return "against chance" if column == "chance" else column if term is None else term.name
