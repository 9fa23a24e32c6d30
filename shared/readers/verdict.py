"""Reads the verdict of an explanation with the trained reader, a text classifier. The reader reads
the whole text, and then each sentence. The sentence that states the verdict is the evidence and
confirms the first result. Source: our own; training/reader/README.md has the figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared.models.ports import Floats
from shared.readers.decision_words import Side
from shared.readers.model import LABELS, QUOTE, ask
from shared.text.sentences import Span, sentences

Edit = tuple[int, int, str]

SIDES: tuple[Side, Side] = ("hateful", "non-hateful")
NONE = LABELS["verdict"].index("none")
SURE = 0.9  # the least probability of a verdict, and of there being none
SECOND = 0.5  # the probability from which a sentence states a verdict
LONGEST = 1_500  # characters that are read at once: fewer tokens than the encoder has places for
WINDOW = 600  # characters of the pieces of a longer text: a verdict is lost in a long one
MOST_SENTENCES = 60  # that are read, from the end


@dataclass(frozen=True, slots=True)
class VerdictText:
    """An explanation whose verdict the trained reader classifies. `text` is normalised. `marks`
    inserts `+` after label words for the hateful class, and `-` after other label words.
    `quoted` holds spans that quote the post; these are hidden from the reader."""

    text: str
    marks: Sequence[Edit] = ()
    quoted: Sequence[Span] = ()

    def part(self, start: int, end: int) -> str:
        """Return a span of the explanation in the form that the trained reader needs."""
        edits = [(a, b, QUOTE) for a, b in self.quoted if start <= a and b <= end]
        edits += [
            (b, b, f"[{sign}]")
            for a, b, sign in self.marks
            if start <= a and b <= end and not any(q <= a and b <= r for q, r in self.quoted)
        ]
        pieces, position = ["verdict: "], start
        for a, b, put in sorted(edits):
            pieces += [self.text[position:a], put]
            position = b
        return "".join([*pieces, self.text[position:end]])


@dataclass(frozen=True, slots=True)
class VerdictRead:
    """The verdict of an explanation. `label` is None if no verdict is stated or read. `is_read` is
    False if the reader is unsure. `span` is the sentence with the verdict in the given text.
    `probability`, [0, 1], belongs to the label, or to the absence of a verdict."""

    label: Side | None
    is_read: bool
    probability: float
    span: Span | None = None


def read_verdicts(texts: Sequence[VerdictText]) -> list[VerdictRead]:
    """Read whole explanations, and then the sentences of those that state a verdict. If a long text
    cannot be read as a whole, it is read in windows. Raises Unavailable if the reader is
    unreachable."""
    whole = _read_windows(texts, LONGEST)
    long = [
        index
        for index, (text, read) in enumerate(zip(texts, whole, strict=True))
        if not read.is_read and WINDOW < len(text.text) <= LONGEST
    ]
    in_windows = _read_windows([texts[index] for index in long], WINDOW)
    for index, read in zip(long, in_windows, strict=True):
        whole[index] = read if read.label else whole[index]
    parts = [
        sentences(text.text)[-MOST_SENTENCES:] if read.label else []
        for text, read in zip(texts, whole, strict=True)
    ]
    questions = [
        text.part(*span) for text, spans in zip(texts, parts, strict=True) for span in spans
    ]
    rows = iter(ask("verdict", questions))
    return [
        _with_evidence(read, spans, [next(rows) for _ in spans])
        for read, spans in zip(whole, parts, strict=True)
    ]


def _read_windows(texts: Sequence[VerdictText], longest: int) -> list[VerdictRead]:
    windows = [_windows(text.text, longest) for text in texts]
    questions = [
        text.part(*span) for text, spans in zip(texts, windows, strict=True) for span in spans
    ]
    rows = iter(ask("verdict", questions))
    return [_of_windows([next(rows) for _ in spans]) for spans in windows]


def _windows(text: str, longest: int) -> list[Span]:
    """Split the text into windows of whole sentences; a short text is one window."""
    if len(text) <= longest:
        return [(0, len(text))]
    windows: list[Span] = []
    for start, end in sentences(text):
        if windows and end - windows[-1][0] <= WINDOW:
            windows[-1] = windows[-1][0], end
        else:
            windows.append((start, min(end, start + LONGEST)))
    return windows


def _of_windows(rows: Sequence[Floats]) -> VerdictRead:
    """Return the common verdict of all windows of a text. It has no label if two windows clearly
    state opposite verdicts."""
    read = [_of_row(row) for row in rows]
    stated = [window for window in read if window.label]
    if len({window.label for window in stated}) > 1:
        return VerdictRead(None, False, min(window.probability for window in stated))
    if stated:
        return max(stated, key=lambda one: one.probability)
    return min(read, key=lambda one: (one.is_read, one.probability))


def _of_row(row: Floats) -> VerdictRead:
    best = int(row.argmax())
    probability = float(row[best])
    if probability < SURE:
        return VerdictRead(None, False, probability)
    return VerdictRead(None if best == NONE else SIDES[best], True, probability)


def _with_evidence(read: VerdictRead, spans: Sequence[Span], rows: Sequence[Floats]) -> VerdictRead:
    """Add the sentence that states the verdict most clearly. Return a result with `is_read` False
    if one sentence states the opposite verdict and none states this one."""
    if read.label is None:
        return read
    column = SIDES.index(read.label)
    span, row = max(zip(spans, rows, strict=True), key=lambda pair: float(pair[1][column]))
    opposite = max(float(row[1 - column]) for row in rows)
    if float(row[column]) < SECOND <= opposite:
        return VerdictRead(None, False, read.probability)
    return VerdictRead(read.label, True, read.probability, span)
