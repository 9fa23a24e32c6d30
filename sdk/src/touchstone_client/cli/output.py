"""Output of commands: data to stdout and messages to stderr. Colours are used only on a terminal.
Control characters in texts from outside are not printed."""

from __future__ import annotations

import json
import os
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel

from touchstone_client.errors import BatchFailed, TouchstoneError

UNBOUNDED = 100_000  # columns, of a pipe
COLOURS = {
    "holds_up": 32, "passed": 32, "succeeded": 32, "completed": 32, "ready": 32, "ok": 32,
    "not_tested": 33, "inconclusive": 33, "running": 36, "in_progress": 36, "problem_found": 31,
    "failed": 31, "fault": 31, "expired": 31, "away": 31, "absent": 31,
}  # fmt: skip
DONE, REFUSED, WORSE, SOME_FAILED, WRONG, INTERRUPTED = 0, 1, 2, 3, 64, 130
REFUSED_INPUT = (400, 401, 403, 404, 405, 413, 414, 415, 422, 431)  # at every attempt


class WrongUse(Exception):
    """The command line or a setting is wrong. The message is meant for the user."""


def exit_code(error: TouchstoneError) -> int:
    """Return WRONG if the command, its input or a setting must be changed, or else REFUSED."""
    if isinstance(error, BatchFailed):
        return WRONG
    status = getattr(error, "status", None) or getattr(error, "problem", {}).get("status")
    return WRONG if status in REFUSED_INPUT else REFUSED


def worst_code(codes: Iterable[int]) -> int:
    """Return the most serious of several exit codes."""
    return max(codes, key=(DONE, SOME_FAILED, REFUSED, WRONG).index, default=DONE)


class Output:
    """The output of one command. If `is_json`, stdout gets only one JSON document."""

    def __init__(self, is_json: bool) -> None:
        self.is_json = is_json
        self._is_coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")

    def say(self, text: str) -> None:
        """Print a message for the user to stderr."""
        sys.stderr.write(f"{clean(text)}\n")
        sys.stderr.flush()

    def line(self, text: str) -> None:
        """Print data or a sentence. With `--json` nothing is printed."""
        if not self.is_json:
            self.write(f"{text}\n")

    def document(self, value: Any) -> None:
        """Print the value as a JSON document. Without `--json` nothing is printed."""
        if self.is_json:
            self.write(json.dumps(plain(value), ensure_ascii=False, indent=2) + "\n")

    def write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def raw(self, piece: bytes) -> None:
        sys.stdout.buffer.write(piece)

    def coloured(self, word: str) -> str:
        code = COLOURS.get(word) if self._is_coloured else None
        return word if code is None else f"\x1b[{code}m{word}\x1b[0m"

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print aligned columns within the width of the terminal. If necessary, the widest column
        except the first is cut. An empty `head` is not printed."""
        if self.is_json:
            return
        width = shutil.get_terminal_size((UNBOUNDED, 24)).columns
        for number, cells in enumerate(aligned(head, rows, width)):
            if number == 0 and not any(head):
                continue
            padded = [
                (cell if number == 0 else self.coloured(cell)) + " " * (space if not last else 0)
                for cell, space, last in cells
            ]
            self.write("  ".join(padded).rstrip() + "\n")

    @contextmanager
    def progress(self, total: int | None) -> Iterator[Callable[[int, int | None], None]]:
        """Yield a function that updates a progress bar on a terminal."""
        bar = _rich_progress() if sys.stderr.isatty() else None
        if bar is None:
            yield lambda _done, _total: None
            return
        with bar:
            task = bar.add_task("scored", total=total)
            yield lambda done, of: bar.update(task, completed=done, total=of)


def _rich_progress() -> Any:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        return None
    return Progress(console=Console(stderr=True), transient=True)


def aligned(
    head: Sequence[str], rows: Sequence[Sequence[Any]], width: int
) -> list[list[tuple[str, int, bool]]]:
    """Return (cell, padding, True if last in its row) for each cell of the heading and the rows."""
    cells = [[clean(shown(value)) for value in row] for row in (head, *rows)]
    wide = [max(display_width(row[column]) for row in cells) for column in range(len(head))]
    while sum(wide) + 2 * (len(wide) - 1) > width and max(wide[1:], default=0) > 8:
        wide[wide.index(max(wide[1:]), 1)] -= 1
    cut = [[shortened(cell, most) for cell, most in zip(row, wide, strict=True)] for row in cells]
    last = len(head) - 1
    return [
        [(cell, wide[n] - display_width(cell), n == last) for n, cell in enumerate(row)]
        for row in cut
    ]


def shown(value: Any) -> str:
    """Return a number with three decimals, and a dash for None."""
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def clean(text: str) -> str:
    """Return the text with control characters replaced, except line breaks."""
    return "".join(
        character if character == "\n" or unicodedata.category(character)[0] != "C" else "\ufffd"
        for character in text
    )


def display_width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def shortened(text: str, most: int) -> str:
    """Cut the text to `most` columns."""
    text = text.replace("\n", " ")
    if display_width(text) <= most:
        return text
    while display_width(text) > most - 1:
        text = text[:-1]
    return text + "…"


def has_ended(batch: Any, output: Output) -> bool:
    """Return True if the batch has ended. Otherwise print its state and return False."""
    if not batch.is_final:
        output.say(
            f"{batch.id} has not ended: its status is {batch.status}. Wait for it with "
            f"`touchstone watch {batch.id}`"
        )
    return bool(batch.is_final)


def require_agreement(question: str, otherwise: str, is_agreed: bool) -> None:
    """Ask `question` on the terminal, unless `is_agreed` is True. Raises WrongUse with the message
    `otherwise` if there is no terminal or the answer is not yes."""
    if is_agreed:
        return
    if sys.stdin.isatty():
        sys.stderr.write(f"{question} [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() in ("y", "yes"):
            return
    raise WrongUse(otherwise)


def plain(value: Any) -> Any:
    """Return the value with messages converted to plain JSON values."""
    from touchstone_client._sync.handles import Batch  # which `--help` need not load

    if isinstance(value, Batch):
        value = value.data
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return value
