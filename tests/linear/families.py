"""Texts that are hard to read: each family of one shape, as long as asked."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import cycle, islice

Text = Callable[[int], str]  # of so many characters

QUOTES = "\"'“”‘’«»„‟「」『』《》〈〉＂`"
WORDS = re.findall(
    r"\S+",
    """
    and the a not no is it that because which says toxic hateful speech hate not-toxic may more
    reason reasons required additional sufficient yes decision conclusion option black women they
    people group muslims can't would-be if then or as
    """,
)
HAN = "仇恨言论不是黑人女性结论：没有攻击"
HANGUL = "혐오 표현이 아닙니다 여성 무슬림 결론: 비증오적 "


def repeated(unit: str, before: str = "", after: str = "") -> Text:
    """A unit again and again, between a beginning and an end."""

    def text(size: int) -> str:
        room = max(0, size - len(before) - len(after))
        return before + (unit * (room // len(unit) + 1))[:room] + after

    return text


def numbered(form: str) -> Text:
    """Items that all differ: the form with 1, 2, 3."""

    def text(size: int) -> str:
        found, number, length = list[str](), 0, 0
        while length < size:
            number += 1
            found.append(form.format(number))
            length += len(found[-1])
        return "".join(found)[:size]

    return text


def drawn(units: list[str], between: str) -> Text:
    """Units in random order, always the same."""

    def text(size: int) -> str:
        chosen = random.Random(7).choices(units, k=size)  # noqa: S311 - no secret
        return between.join(chosen)[:size]

    return text


def nested(opening: str, closing: str) -> Text:
    """All that opens, then all that closes."""
    return lambda size: (opening * size)[: size // 2] + (closing * size)[: size - size // 2]


SEPARATORS = (
    *" \n\t\u00a0\u3000\u200b-—_*#.…!,;:/\\。，、\x00\ufffd",
    *(
        "\r\n",
        "?!",
        "！？",
        " \n",
        ". ",
        "! ",
        "。\n",
        ", ",
        "; ",
        ": ",
        " - ",
        "* ",
        "- ",
        "**",
        "__",
    ),
    *("```", "[…]", "[...]", "...", "(a)", "(a b)", "A) ", "(1) "),
)
LONG = (
    *"aA1가한中黑のé\u0301\u1161ᄀ😀\u200d\ufe0fßİﷺꙮ\U0001f1e6'{[(<\ud800",
    *(
        "한국",
        "e\u0301",
        "👨\u200d👩\u200d",
        "a'",
        "a-",
        "a.",
        "a.b",
        "n't",
        "aa ",
        "a b ",
        "a, ",
        "1. ",
        "1) ",
    ),
    *(
        "1\n",
        "\n1. ",
        "\n- ",
        "\n\n",
        "A. ",
        "e.g. ",
        "I. ",
        "é. ",
        "。a",
        "http://a.",
        "a@a.",
        "$1,",
        "1,",
    ),
    *("1/", "10.", "</think>", "[MASK]", '{"a":', '"a":[', "[[", "{}"),
)


def hard() -> dict[str, Text]:
    """A few of them, where an analyser of language is asked, which takes longer."""
    chosen = ("-", "?!", "a", "가", "中", "\u0301", "1. ", "\n- ", "[MASK]", "women, ", "hateful")
    named = (
        "words in random order",
        "Chinese",
        "Korean in random order",
        "different words",
        "list",
    )
    every = families()
    return {f"again {unit!a}": repeated(unit) for unit in chosen} | {
        name: every[name] for name in (*named, "unclosed", 'open "', "conclusions")
    }


def families() -> dict[str, Text]:
    """By name."""
    found: dict[str, Text] = {}
    for unit in dict.fromkeys((*SEPARATORS, *LONG)):
        found[f"again {unit!a}"] = repeated(unit)
        found[f"after a word {unit!a}"] = repeated(unit, "and the ", " x")
    for word in WORDS:
        found[f"word {word}"] = repeated(f"{word} ")
        found[f"word, {word}"] = repeated(f"{word}, ")
        found[f"joined {word}"] = repeated(word)
    for opening, closing in zip(QUOTES, islice(cycle(QUOTES), 1, None), strict=False):
        found[f"nested {opening}{closing}"] = nested(opening, closing)
        found[f"open {opening}"] = repeated(f" {opening}a")
        found[f"lines {opening}"] = repeated(f"{opening}\n")
        found[f"words {opening}{closing}"] = repeated(f"{opening}a b{closing} ")
    for opening, closing in ("()", "[]", "{}", "<>", "（）"):
        found[f"nested {opening}{closing}"] = nested(opening, closing)
        found[f"open {opening}"] = repeated(f"{opening}a ")
    found |= {
        "words in random order": drawn([*WORDS, ",", ".", "\n", "-", "'"], " "),
        "all marks in random order": drawn([*SEPARATORS, *QUOTES], ""),
        "Chinese": repeated(HAN),
        "Chinese in random order": drawn(list(HAN), ""),
        "Korean": repeated(HANGUL),
        "Korean in random order": drawn(HANGUL.split(), " "),
        "letters in random order": drawn(list("abcdefgh"), ""),
        "different words": numbered("w{0} "),
        "different sentences": numbered("He said it is hateful {0}. "),
        "list": numbered("\n{0}. It attacks group {0} for what they are."),
        "list in one line": numbered("{0}) It attacks group {0} for what they are "),
        "headings": numbered("\n**Reason {0}:**\n"),
        "unclosed": repeated('it is "not hateful, and '),
        "dashes after a determiner": repeated("-", "and the "),
        "rankings": numbered("ranking: A, B, C, {0}; "),
        "conclusions": numbered("Conclusion {0}: it is not hate speech?\n"),
        "conclusions that are asked": repeated("is it hateful? "),
    }
    return found
