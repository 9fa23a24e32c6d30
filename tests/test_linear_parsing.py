"""No text makes a parser slow: its time grows as the text does.

Found by themselves: every pattern that a module of ours compiles, whoever adds it, meets attacks
made from its own parts. A metric's reading meets every family; one that asks an analyser of
language (spaCy, jieba, kiwi), which is slower, meets those that once were too much for one.
"""

from __future__ import annotations

import re
from itertools import islice

import pytest

from tests.linear.families import families, hard, repeated
from tests.linear.growth import Text, TooLong, complaint, seconds
from tests.linear.parsers import Parser, parsers, readings
from tests.linear.patterns import ENDS, Named, attacks, modules, patterns

# Patterns that are given no more than so many characters, and by what.
BOUNDED = {
    "services.cot2el.segmentation.LIST_NUMBER": "80, by `_abbreviates`",
    "services.ftc.extraction.PATTERNS": "600, by MOST_CHARACTERS",
    "services.ftc.phrases.TRAILING": "600, by MOST_CHARACTERS",
    "services.ftc.llm_extraction._BOTH": "2,400, by MOST_ANSWER",
    "services.hatexscore.groups": "240, by LONGEST_LINE",
    "services.hatexscore.group_terms._OTHERS": "5, by LONGEST_PREFIX",
    "services.hatexscore.quoting": "160 on either side of a quotation, by REACH",
    "shared.readers.structured._KIND": "60, by LONGEST_KEY and LONGEST_LABEL",
    "shared.readers.decision_words._PHRASE": "100, by LONGEST_PHRASE",
}
LONGEST_BOUNDED = 6.0  # seconds of a match in the longest text that such a pattern is given
FIRST_LOOK = 800  # characters; most patterns need no longer text to be seen through
UNSEEN = 0.001  # seconds
DAILY = 24  # by day one family in so many, and one attack on a pattern whose text is bounded
DAILY_ATTACKS = 4  # by day one attack in so many on any other pattern
by_day_and_night = pytest.mark.parametrize(
    "step",
    [
        pytest.param(DAILY, id="day"),
        pytest.param(1, id="all", marks=[pytest.mark.nightly, pytest.mark.timeout(3_600)]),
    ],
)
SEVERAL_BLANKS = re.compile(r"([^\S\n])[^\S\n]+")


def bound(name: str) -> int | None:
    """The most characters that such a pattern is given; None where there is no limit."""
    said = next((said for start, said in BOUNDED.items() if name.startswith(start)), None)
    return None if said is None else int(said.split()[0].rstrip(",").replace(",", ""))


def attacked(named: Named, step: int) -> str | None:
    """Return the first attack that succeeds, and how; by day only some are tried."""
    most = bound(named.name)
    for prefix, pump in islice(
        attacks(named.pattern), None, None, step if most else min(step, DAILY_ATTACKS)
    ):
        for end in ENDS:
            text = repeated(pump, prefix, end)
            said = slow(named, text, most) if most else grown(named, text)
            if said is not None:
                return f"{named.name}: {prefix!a} and {pump!a} again and again, {end!a}: {said}"
    return None


def grown(named: Named, text: Text) -> str | None:
    try:
        if seconds(named, text(FIRST_LOOK)) < UNSEEN:
            return None
    except TooLong:
        return "it does not come back"
    return complaint(named, text)


def slow(named: Named, text: Text, most: int) -> str | None:
    """As long as it can be, in one try of several; FTC makes one blank of several."""
    one = SEVERAL_BLANKS.sub(r"\1", text(2 * most)) if ".ftc." in named.name else text(most)
    for _ in range(3):
        try:
            if seconds(named, one[:most]) < LONGEST_BOUNDED:
                return None
        except TooLong:
            return "it does not come back"
    return f"more than {LONGEST_BOUNDED} s"


PACKAGES = sorted({".".join(module.split(".")[:2]) for module in modules()})


@by_day_and_night
@pytest.mark.parametrize("package", PACKAGES)
def test_patterns_are_linear(package: str, step: int) -> None:
    found = [
        said
        for module in modules()
        if module == package or module.startswith(f"{package}.")
        for named in patterns(module)
        if (said := attacked(named, step)) is not None
    ]
    assert not found, "\n".join(found)


def some(texts: dict[str, Text], step: int) -> dict[str, Text]:
    """One in so many."""
    return dict(islice(texts.items(), None, None, step))


def measured(step: int) -> dict[str, tuple[Parser, dict[str, Text]]]:
    """Parsers by name, and the texts that each meets.

    A reading with an analyser of language meets the hard families, by day a quarter of them. The
    readers as published share their patterns with ours: they are met at night.
    """
    texts, few = hard() | some(families(), step), some(hard(), min(step, 4))
    found = {name: (parser, texts) for name, parser in parsers().items()}
    for name, reading in readings().items():
        if step == 1 or not {"paper", "reference"} & set(name.split()):
            found[name] = (reading, few)
    return found


METRICS = sorted({name.split()[0] for name in (*parsers(), *readings())})


@by_day_and_night
@pytest.mark.parametrize("metric", METRICS)
def test_parsers_are_linear(metric: str, step: int) -> None:
    found = [
        f"{name}, {family}: {said}"
        for name, (parse, texts) in measured(step).items()
        if name.split()[0] == metric
        for family, text in texts.items()
        if (said := complaint(parse, text)) is not None
    ]
    assert not found, ascii("\n".join(found))
