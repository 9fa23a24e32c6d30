"""Computes how much ICE could save by a trie of prefixes: `python -m bench.ice_prefixes` prints
Markdown.

Under `delete` a causal model reads rows that keep some tokens of one text, in order. Rows with a
common beginning could share one key-value cache, so that only the nodes of the rows' trie would be
computed. Counted on the draws of a request, for the kept tokens (sufficiency) and for the remaining
ones (necessity); no model runs. The template's words before the text are shared already, those
after it can never be. The last line is JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice

from bench.environment import environment
from shared.statistics.draws import placed
from shared.statistics.placements import Subsets
from shared.statistics.seeds import generator

LENGTHS, KEPT, DRAWS = (20, 40, 100, 200), (0.2, 0.5), (199, 999)
AFTER = 5  # tokens of a template behind the text: "Sentiment:" and its like

Places = tuple[int, ...]


def rows(units: int, size: int, draws: int) -> list[Places]:
    """Return the kept positions of each draw, then the remaining positions of each."""
    random = generator(0, "null", "tokens", units, size)
    drawn = placed(Subsets(units, size), random, first=draws)
    kept = list(islice(drawn, draws))
    everything = range(units)
    return kept + [tuple(sorted({*everything}.difference(one))) for one in kept]


def share_computed(of_rows: Iterable[Places], after: int = 0) -> float:
    """Return the number of trie nodes divided by the number of tokens, (0, 1]. Each distinct row
    has `after` more tokens."""
    distinct = set(of_rows)
    nodes = {row[:length] for row in distinct for length in range(1, len(row) + 1)}
    behind = after * len(distinct)
    return (len(nodes) + behind) / (sum(map(len, distinct)) + behind)


def main() -> None:
    print("| tokens | kept | draws | computed | with a template behind the text |")
    print("|---|---|---|---|---|")
    found = {}
    for units in LENGTHS:
        for share in KEPT:
            for draws in DRAWS:
                drawn = rows(units, round(share * units), draws)
                bare, behind = share_computed(drawn), share_computed(drawn, AFTER)
                found[f"{units}/{share}/{draws}"] = round(behind, 3)
                print(f"| {units} | {share:.0%} | {draws} | {bare:.2f} | {behind:.2f} |")
    print(json.dumps({"bench": "ice_prefixes", "figures": found, "environment": environment()}))


if __name__ == "__main__":
    main()
