"""Tests the accuracy of the shipped reader, a text classifier, on texts outside of its training
data.

touchstone reader gate [FILE ...]

Prints a table for each classification task, by language and style, over these files, or all of
`test/`. The column `rules` has the results of the former rules, at commit 668cda69. It comes from
`test/rules.json` and covers English, Chinese and Korean."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from services.hatexscore.vocabulary import built_in
from services.inference.local_models import LocalModels
from shared.models import ports
from shared.models.catalogue.catalogue import Catalogue
from shared.readers.model import DISCLOSED, LABELS, Reading, ask
from shared.readers.verdict import SURE, VerdictText, read_verdicts
from shared.statistics.wilson import Z_95, wilson
from shared.text.normalized import normalize
from training.reader.rows import FOLDER, ReaderRow, read_rows

TESTS = FOLDER / "test"
UNREAD = "unread"


@dataclass(frozen=True)
class Read:
    """A test row, with the labels found by the trained reader and by the former rules. `rules` is
    None if the rules did not support the text."""

    row: ReaderRow
    found: frozenset[str]
    rules: frozenset[str] | None

    @property
    def right(self) -> frozenset[str]:
        return frozenset(self.row.labels)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="touchstone reader gate", description=__doc__)
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE")
    files = parser.parse_args(arguments).files or sorted(TESTS.glob("*.jsonl"))
    ports.bind(LocalModels(Catalogue((), FOLDER)))
    read = list(read_tests(files))
    console = Console(width=110)
    for reading in LABELS:
        own = [one for one in read if one.row.reading == reading]
        if own:
            console.print(_table(reading, own))


def read_tests(files: Iterable[Path]) -> Iterator[Read]:
    """Yield every row of the test files with the labels that the service's reader returns for
    it."""
    before = json.loads((TESTS / "rules.json").read_text("utf-8"))
    rows = [row for file in files for row in read_rows(file)]
    by_reading: dict[Reading, list[ReaderRow]] = defaultdict(list)
    for row in rows:
        by_reading[row.reading].append(row)
    for reading, own in by_reading.items():
        found = _verdicts(own) if reading == "verdict" else _labels(reading, own)
        for row, labels in zip(own, found, strict=True):
            rules = before.get(row.asked)
            yield Read(row, labels, None if rules is None else frozenset(rules))


def _verdicts(rows: Iterable[ReaderRow]) -> list[frozenset[str]]:
    texts = [normalize(row.text).text for row in rows]
    words = built_in("default")
    read = read_verdicts([VerdictText(text, words.marks(text)) for text in texts])
    return [frozenset({one.label or ("none" if one.is_read else UNREAD)}) for one in read]


def _labels(reading: Reading, rows: list[ReaderRow]) -> list[frozenset[str]]:
    labels = LABELS[reading]
    found = []
    for row in ask(reading, [one.asked for one in rows]):
        if reading == "reasons":
            told = {name for name, p in zip(labels, row, strict=True) if p >= DISCLOSED}
            found.append(frozenset(told - {"none"}) or frozenset({"none"}))
        else:
            found.append(frozenset({labels[int(row.argmax())]}))
    return found


def _table(reading: Reading, read: list[Read]) -> Table:
    columns = COLUMNS.get(reading, _accuracy)
    note = f"; a verdict from probability {SURE}" if reading == "verdict" else ""
    table = Table("language", "style", "n", "reader", "rules", title=f"{reading}{note}")
    groups: dict[tuple[str, str], list[Read]] = defaultdict(list)
    for one in read:
        style = "turned" if one.row.style == "turned" else "plain and mixed"
        groups[one.row.language, style].append(one)
    for (language, style), own in sorted(groups.items()):
        ruled = [one for one in own if one.rules is not None]
        rules = columns(ruled, lambda one: one.rules or frozenset()) if ruled else "–"
        table.add_row(language, style, str(len(own)), columns(own, lambda one: one.found), rules)
    return table


Get = Callable[[Read], frozenset[str]]
SIDES = frozenset({"hateful", "non-hateful"})


def _verdict(read: list[Read], get: Get) -> str:
    """Return a report line: the share of correct verdicts, the number of inverted verdicts, and the
    number of verdicts for texts that state none."""
    stated = [one for one in read if one.right <= SIDES]
    right = sum(get(one) == one.right for one in stated)
    inverted = sum(get(one) <= SIDES and get(one) != one.right for one in stated)
    without = [one for one in read if not one.right <= SIDES]
    false = sum(get(one) <= SIDES for one in without)
    return f"{_share(right, len(stated))}, {inverted} inverted, {false} of {len(without)} false"


def _accuracy(read: list[Read], get: Get) -> str:
    return _share(sum(get(one) == one.right for one in read), len(read))


def _attacked(read: list[Read], get: Get) -> str:
    """Return the accuracy and the false positives for attacked groups. Groups labelled
    `defended` or `mentioned` do not count as attacked."""
    said = [({"attacked"} <= get(one), {"attacked"} <= one.right) for one in read]
    false = sum(found and not true for found, true in said)
    quiet = sum(not true for _, true in said)
    share = _share(sum(found == true for found, true in said), len(said))
    return f"{share}, {false} of {quiet} false"


def _disclosures(read: list[Read], get: Get) -> str:
    both = sum(len(get(one) & one.right - {"none"}) for one in read)
    said = sum(len(get(one) - {"none"}) for one in read)
    true = sum(len(one.right - {"none"}) for one in read)
    return f"precision {both / max(said, 1):.3f}, recall {both / max(true, 1):.3f}"


COLUMNS: dict[Reading, Callable[[list[Read], Get], str]] = {
    "verdict": _verdict,
    "group": _attacked,
    "reasons": _disclosures,
}


def _share(count: int, of: int) -> str:
    if not of:
        return "none"
    low, high = wilson(count / of, of, Z_95)
    return f"{count} of {of} ({count / of:.3f}, {low:.3f} to {high:.3f})"


if __name__ == "__main__":
    main()
