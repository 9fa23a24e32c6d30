"""Sentences of our own with group mentions, by family: mild, and none of them from a data set.

They stand in `group_mentions.txt`: `# family`, then lines of a language and the sentence.
`{+Muslims}` is a mention that counts, `{-Muslims}` one that does not and may as well be missing.
A family with `_harmless` at its end explains a non-hateful decision. `open`: not read yet.
"""

from __future__ import annotations

from pathlib import Path

FILE = Path(__file__).with_name("group_mentions.txt")


def _families() -> dict[str, list[tuple[str, str]]]:
    families: dict[str, list[tuple[str, str]]] = {}
    family = ""
    for line in FILE.read_text(encoding="utf-8").splitlines():
        mark, _, rest = line.partition(" ")
        if mark == "#":
            family = rest
        else:
            families.setdefault(family, []).append((mark, rest.replace("\\n", "\n")))
    return families


FAMILIES = _families()
