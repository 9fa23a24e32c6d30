"""The batches, or parts of batches, that a comparison compares (its sides), as written in the
page's address. A side is `batch_…` for a whole batch, `batch_…:model=NAME` for the results of one
model, or `batch_…:metadata.KEY=VALUE` for the lines with this metadata."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlencode

from pydantic import TypeAdapter, ValidationError
from sqlalchemy import Connection
from starlette.datastructures import QueryParams

from services.gateway.caller import Caller
from services.gateway.pages.batch_split import COLUMNS, metadata_split_keys
from services.gateway.pages.batches import file_names
from services.gateway.results import result_exports, result_pages
from services.gateway.results.result_pages import ResultFilter, ResultSummary
from services.gateway.results.result_pairs import find_mixed
from services.gateway.routes.batch_results import write_facts
from services.gateway.routes.batches import find_batch
from services.gateway.state import State
from services.registry import metrics
from shared.contracts.batches import SplitKey
from shared.contracts.errors import UnknownBatch
from shared.ledger.batches import Batch

MOST_NAME = 512  # characters of a model's name, or of a value
OWN = "metadata."
OFFER = "offer"  # asks for the form with the parts of the chosen batches
PARTS = {"baseline_part": "baseline", "new_part": "new"}  # fields of the form
SPLIT = TypeAdapter[str](SplitKey)
SHORT = 6
MOST_KEYS = 8  # of metadata, of which a form offers values
MOST_VALUES = 50  # a key of more tells no systems apart
MOST_OFFERED_NAME = 100  # characters


@dataclass(frozen=True)
class CompareSide:
    """One side of a comparison: a batch, or its lines in which `key` has the value `value`. `key`
    is `model` or `metadata.<key>`. `file` is the name of the uploaded file, if known. `is_alike`
    means that another side has the same name, so the id is shown too."""

    batch: Batch
    key: str = ""
    value: str = ""
    file: str = ""
    is_alike: bool = False

    @property
    def model(self) -> str | None:
        return self.value if self.key == "model" else None

    @property
    def metadata(self) -> dict[str, str]:
        return {self.key.removeprefix(OWN): self.value} if self.key.startswith(OWN) else {}

    @property
    def filter(self) -> ResultFilter:
        """The filter that selects the lines of this side."""
        equal = {} if self.model is None else {"model": self.model}
        pairs = [f"{key}={value}" for key, value in self.metadata.items()]
        return ResultFilter(
            tenant=self.batch.tenant, batch_id=self.batch.id, equal=equal, pairs=pairs
        )

    @property
    def report_part(self) -> dict[str, Any]:
        """The fields of a report request that select this side's lines."""
        return {"of_model": self.model, "of_metadata": self.metadata}

    @property
    def address(self) -> str:
        """This side of the comparison as written in the page's address."""
        return f"{self.batch.id}:{self.key}={self.value}" if self.key else self.batch.id

    @property
    def batch_name(self) -> str:
        """The display name of the batch."""
        metadata = self.batch.metadata
        return (
            metadata.get("name")
            or metadata.get("model")
            or self.file
            or f"batch …{self.batch.id[-SHORT:]}"
        )

    @property
    def name(self) -> str:
        """The display name of this side of the comparison."""
        if self.key and not self.value:
            return f"empty {self.key.removeprefix(OWN)}"
        named = self.value or self.batch_name
        return f"{named} (…{self.batch.id[-SHORT:]})" if self.is_alike else named

    def is_within(self, other: CompareSide) -> bool:
        """Return True if the other side contains all lines of this side. Only the batch, key and
        value are compared."""
        part = self.key, self.value
        return self.batch.id == other.batch.id and (
            not other.key or part == (other.key, other.value)
        )


@dataclass(frozen=True)
class OfferedPart:
    """A part of a batch that can be chosen in a form. `key` is `model` or `metadata.<key>`."""

    key: str
    value: str

    @property
    def part(self) -> str:
        """The part of the batch as the form submits it, `key=value`."""
        return f"{self.key}={self.value}"


@dataclass(frozen=True)
class CompareForm:
    """The submitted form of a comparison. `refused` maps an invalid side to the reason. `offered`
    maps a side to the parts of its batch that can be compared."""

    sides: Mapping[str, str]
    more: Sequence[str] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    offered: Mapping[str, Sequence[OfferedPart]] = field(default_factory=dict)

    def batch(self, name: str) -> str:
        return self.sides.get(name, "").partition(":")[0]

    def part(self, name: str) -> str:
        return self.sides.get(name, "").partition(":")[2]


@dataclass(frozen=True)
class CompareQuery:
    """The sides to compare. `rights` are the right sides, and the first is shown first. If `by` is
    not empty, the difference is also split by this key. `keys` maps the possible keys to display
    names."""

    left: CompareSide
    rights: Sequence[CompareSide]
    by: str
    keys: Mapping[str, str]

    @property
    def sides(self) -> list[CompareSide]:
        return [self.left, *self.rights]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The address parameters without the ones that select single pairs or comparisons."""
        sides = [("baseline", self.left.address), *(("new", side.address) for side in self.rights)]
        return sides + ([("by", self.by)] if self.by else [])

    @property
    def address(self) -> str:
        """The page's address with these parameters."""
        return f"/compare?{urlencode(self.pairs)}"


def sides_of_form(query: QueryParams) -> list[tuple[str, str]]:
    """Return the batches to compare as (parameter, batch) pairs. For the first two, a filter from a
    separate form field is appended."""
    rights = [side.lstrip() for side in query.getlist("new")]
    named = {"baseline": query.get("baseline", "").lstrip(), "new": rights[0] if rights else ""}
    for beside, name in PARTS.items():
        part = query.get(beside, "").lstrip()  # a value may end with a space
        if named[name] and part:
            named[name] += f":{part}"
    offer = [(OFFER, query[OFFER])] if query.get(OFFER) else []
    return [*named.items(), *(("new", side) for side in rights[1:] if side), *offer]


async def side_of(named: str, gateway: State, caller: Caller) -> CompareSide:
    """Return the batch, or part of a batch, with this name. Raises UnknownBatch."""
    batch_id, _, part = named.lstrip().replace("\0", "").partition(":")
    batch = await find_batch(batch_id.strip(), gateway, caller.tenant)
    if not part:
        return CompareSide(batch)
    listed = [CompareSide(batch, key, value[:MOST_NAME]) for key, value in _readings(part)]
    if listed[0].model is None and not listed[0].metadata:
        raise UnknownBatch(
            f"{batch_id} has no part {part[:MOST_NAME]!r}: write metadata.KEY=VALUE or model=NAME"
        )
    await write_facts(gateway, batch)
    match = await gateway.in_ledger(
        lambda connection: next(
            (side for side in listed if result_pages.count_of(connection, side.filter)), None
        )
    )
    if match is None:
        raise UnknownBatch(f"{batch_id} has no result with {part[:MOST_NAME]}")
    return match


def _readings(part: str) -> list[tuple[str, str]]:
    """Return the possible (key, value) pairs of a `key=value` text, likeliest first. The text is
    ambiguous if the key may contain an equals sign or a trailing space may be a typing error."""
    written = dict.fromkeys((part, part.rstrip()))
    if part.startswith("model="):
        return [("model", text.partition("=")[2]) for text in written]
    return [pair for text in written for pair in result_pages.readings_of(text)] or [(part, "")]


async def named_sides(
    sides: Sequence[CompareSide], gateway: State, caller: Caller
) -> list[CompareSide]:
    """Return the sides with the names of their files. Sides with equal names are marked as such."""
    known = [side.batch for side in sides if "scored_again" not in side.batch.metadata]  # no file
    called = await file_names(known, gateway, caller)
    named = [replace(side, file=called.get(side.batch.id, "")) for side in sides]
    batches: dict[str, set[str]] = {}
    for side in named:
        batches.setdefault(side.name, set()).add(side.batch.id)
    return [replace(side, is_alike=len(batches[side.name]) > 1) for side in named]


async def write_side_facts(sides: Sequence[CompareSide], gateway: State) -> None:
    """Add the results of each side's batch to the results table, if not yet done."""
    looked_at = {side.batch.id for side in sides if side.key}
    for batch in {side.batch.id: side.batch for side in sides}.values():
        if batch.id not in looked_at:
            await write_facts(gateway, batch)


async def parts_of_batch(batch_id: str, gateway: State, caller: Caller) -> list[OfferedPart]:
    """Return the parts of a batch that can be compared: its models if there are several, and its
    metadata values. Keys with few values come first, since they usually distinguish systems. Keys
    with a different value in each line are left out. The list is empty if there is no such batch.
    """
    try:
        batch = await find_batch(batch_id, gateway, caller.tenant)
    except UnknownBatch:
        return []
    await write_facts(gateway, batch)
    wanted = ResultFilter(tenant=caller.tenant, batch_id=batch.id)

    def read(connection: Connection) -> list[OfferedPart]:
        counted = result_pages.metadata_keys(connection, wanted)
        keys = metadata_split_keys(dict(sorted(counted.items(), key=lambda one: (one[1], one[0]))))
        parts: list[OfferedPart] = []
        for key in ["model", *list(keys)[:MOST_KEYS]]:
            counts = result_pages.split_counts(connection, wanted, key)
            named = {count.value: count.rows for count in counts if count.value}
            values = [value for value in named if len(value) <= MOST_OFFERED_NAME]
            if len(values) > 1 and any(named[value] > 1 for value in values):
                parts += [OfferedPart(key, value) for value in values[:MOST_VALUES]]
        return parts

    return await gateway.in_ledger(read)


def conflict(left: CompareSide, rights: Sequence[CompareSide]) -> str:
    """Return a sentence that states why the batches (or their parts) cannot be compared, or an
    empty string if they can."""
    for side in rights:
        if side.is_within(left) or left.is_within(side):
            both = f"{left.name} and {side.name}"
            if left.name == side.name:
                both = f"{left.name} on both sides"
            return f"{both}: both sides contain the same lines, so there is nothing to compare."
    for one in (left, *rights):
        if not one.batch.is_final:
            return f"{one.name} is {one.batch.status.replace('_', ' ')}. Compare it after it ends."
        if one.batch.metric not in metrics():
            return f"{one.name} has no scores."
        if one.batch.metric != left.batch.metric:
            return (
                f"{left.name} was scored by {left.batch.metric}, but {one.name} by "
                f"{one.batch.metric}. Score {one.name} again by {left.batch.metric}."
            )
    return ""


def slice_keys(known: ResultSummary) -> dict[str, str]:
    """Return the keys by which the difference between the sides can be split, with their display
    names."""
    keys = {name: told for name, told in metadata_split_keys(known.keys).items() if _is_split(name)}
    return keys | {name: told for name, told in COLUMNS.items() if name not in ("model", "variant")}


def _is_split(name: str) -> bool:
    """Return True if batch reports can be split by this property."""
    try:
        SPLIT.validate_python(name)
    except ValidationError:
        return False
    return True


ALIKE = ("variant", "null")  # what both sides must have been scored with


@dataclass(frozen=True)
class RepeatedSide:
    """One side of a comparison, a batch or part of a batch, that must be scored again. If
    `like` is given, that side's settings are used. Otherwise only the version changes."""

    side: CompareSide
    like: CompareSide | None = None

    @property
    def query(self) -> str:
        """The filter for the side's lines, as written in the address of the batch's page."""
        name = "meta" if self.side.metadata else self.side.key
        value = f"{self.side.key.removeprefix(OWN)}={self.side.value}"
        named = {name: value if self.side.metadata else self.side.value} if name else {}
        return urlencode(named)


async def sides_to_repeat(
    sides: Sequence[CompareSide], gateway: State, caller: Caller
) -> list[RepeatedSide]:
    """Return the sides that must be scored again before they can be compared. These are the sides
    that another version of the service scored. If there are none, return both sides of each pair
    with different settings, each with the settings of the other."""
    current = metrics()[sides[0].batch.metric].version
    left, *rights = sides

    def read(connection: Connection) -> list[RepeatedSide]:
        mixed = {
            side.batch.id: find_mixed(connection, caller.tenant, side.batch.id) for side in sides
        }
        old = [
            RepeatedSide(side)
            for side in sides
            if mixed[side.batch.id]["metric_version"] not in ([], [current])
        ]
        if old:
            return old
        as_left = settings_of(connection, left)
        others = [side for side in rights if settings_of(connection, side) != as_left]
        return [
            pair for side in others for pair in (RepeatedSide(side, left), RepeatedSide(left, side))
        ]

    return await gateway.in_ledger(read)


def settings_of(connection: Connection, side: CompareSide) -> dict[str, Any]:
    """Return the settings that both sides must share, read from the side's first line. The
    dictionary is empty if no line was kept."""
    rows = result_exports.requests_of(connection, side.filter, 0, 1)
    return split_settings(rows[0].request)[0] if rows else {}


def split_settings(request: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the settings of a request into those that both sides must share and all others."""
    alike = {name: request[name] for name in ALIKE if request.get(name) is not None}
    own = {name: value for name, value in request.items() if name not in ALIKE}
    if isinstance(options := request.get("options"), Mapping):
        inner, own["options"] = split_settings(options)
        alike |= {"options": inner} if inner else {}
    return alike, own
