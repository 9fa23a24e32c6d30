"""The progress of long calls, shown by tqdm if it is installed, or passed to the caller's
function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progressing = bool | Callable[[int, int | None], object]  # (done, total); total None: unknown yet


class Progress:
    """Reports progress. This base class displays nothing."""

    def reach(self, done: int, total: int | None = None) -> None:
        """Report the number of finished items."""


class _Called(Progress):
    def __init__(self, callback: Callable[[int, int | None], object], total: int | None) -> None:
        self._callback = callback
        self._total = total

    def reach(self, done: int, total: int | None = None) -> None:
        self._total = total or self._total
        self._callback(done, self._total)


class _Bar(Progress):
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def reach(self, done: int, total: int | None = None) -> None:
        if total:
            self._bar.total = total
        self._bar.update(done - self._bar.n)


@contextmanager
def progress_of(option: Progressing, total: int | None) -> Iterator[Progress]:
    """Yield an object that reports progress while the block runs. `total` is the number of items,
    if known."""
    if callable(option):
        yield _Called(option, total)
        return
    bars = _bars() if option else None
    if bars is None:
        yield Progress()
        return
    with bars(total=total, unit="", leave=False) as bar:
        yield _Bar(bar)


def _bars() -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm
