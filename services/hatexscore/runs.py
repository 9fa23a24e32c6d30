"""Runs of tokens that two sequences share, in linear time.

Source: the suffix automaton of Blumer et al. (1985), Theoretical Computer Science 40; it reads each
run of the sequence that it was built from, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

Range = tuple[int, int]  # first, last + 1


class Runs:
    """All runs of consecutive tokens of one sequence."""

    def __init__(self, tokens: Iterable[str]) -> None:
        self._next: list[dict[str, int]] = [{}]
        self._link = [-1]
        self._length = [0]
        last = 0
        for token in tokens:
            last = self._append(token, last)

    def maximal(self, tokens: Sequence[str]) -> list[Range]:
        """The runs of `tokens` that occur here and that no longer such run holds, in order."""
        lengths = [*self._longest_ending_at(tokens), 0]
        return [
            (end - length, end)
            for end, (length, following) in enumerate(pairwise(lengths), start=1)
            if length and following <= length
        ]

    def _longest_ending_at(self, tokens: Sequence[str]) -> list[int]:
        """For each position, how many tokens up to it form a run that occurs here."""
        state, length = 0, 0
        lengths: list[int] = []
        for token in tokens:
            while state and token not in self._next[state]:
                state = self._link[state]
                length = self._length[state]
            if token in self._next[state]:
                state = self._next[state][token]
                length += 1
            lengths.append(length)
        return lengths

    def _append(self, token: str, last: int) -> int:
        """Extend the automaton by one token; returns the state of the whole sequence."""
        current = self._state({}, self._length[last] + 1)
        state = last
        while state >= 0 and token not in self._next[state]:
            self._next[state][token] = current
            state = self._link[state]
        self._link[current] = 0 if state < 0 else self._split(state, token)
        return current

    def _split(self, state: int, token: str) -> int:
        """The state that `state` reaches by `token`, made as short as the path to it."""
        target = self._next[state][token]
        if self._length[target] == self._length[state] + 1:
            return target
        clone = self._state(dict(self._next[target]), self._length[state] + 1)
        self._link[clone] = self._link[target]
        self._link[target] = clone
        while state >= 0 and self._next[state].get(token) == target:
            self._next[state][token] = clone
            state = self._link[state]
        return clone

    def _state(self, transitions: dict[str, int], length: int) -> int:
        self._next.append(transitions)
        self._link.append(-1)
        self._length.append(length)
        return len(self._next) - 1
