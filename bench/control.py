"""Decisions of HateXScore's control on real posts: their error rates and costs.

`python -m bench.control [--data hatexplain.jsonl] [--every N]` quotes people's marks in hateful
posts (at most two passages of up to five words), if the judge calls the post hateful, too.

`short`: posts with 4 to 18 other placements. `yes`: p calibrated on other posts is at most .05 for
the marked passage; `size`: for all placements of its lengths, on average. `omnibus`: how often the
batch's test of three such posts is significant, for marked and for random passages. `disagreeing`:
the same for posts that the judge calls non-hateful. `table`: every N-th post,
with the marked and with a random passage. `turns`: every N-th post; how often the judge decides
otherwise without a passage and P falls by `TURNING`: the marked words, and passages of 1 to 8
unmarked words. With `--jobs N` it also scores N whole requests one by one and prints the processor
time of each. No post is printed.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from bench.environment import environment
from bench.explanations import DATA, RATIONALES, marked_runs, rationales
from services.hatexscore.contract import CONTRACT, HATEFUL, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.model_calls import RandomPlacements, ask_classifiers
from services.hatexscore.quotes import count_units, mask_spans
from services.hatexscore.report import HatexscoreResult, Label
from services.hatexscore.variants import VARIANTS
from services.hatexscore.verdict import LEVEL, TURNING, decision_turns, tested_p
from services.hatexscore.words import Span
from services.worker import local
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.checkpoint import placement_standings
from shared.models.ports import Floats, bind
from shared.statistics.comparison import normal_p, omnibus_z
from shared.statistics.other_texts import (
    FEWEST_OTHERS,
    MOST_OTHERS,
    STRATA,
    OtherText,
    calibrated_p,
    removal_standings,
)
from shared.statistics.seeds import generator
from training.standings import DIGITS

Bools = NDArray[np.bool_]
MOST_PASSAGES, MOST_WORDS = 2, 5
UNMARKED_WORDS = (1, 2, 4, 6, 8)
PLACEMENTS = ((1, 3), (4, 7), (8, 11), (12, 14), (15, 18), (19, 198), (199, 10**9))
AT_ONCE = 200
TRIPLES = 2_000


@dataclass(frozen=True)
class Quote:
    """Spans of a post that an explanation quotes."""

    text: str
    spans: tuple[Span, ...]
    others: int  # placements besides this one


def marked(folder: Path, name: str) -> Iterator[Quote]:
    """Yield the marks of people in hateful posts."""
    for line in (folder / name).read_text("utf-8").splitlines():
        row: dict[str, Any] = json.loads(line)
        runs = marked_runs(row)
        short = len(runs) <= MOST_PASSAGES and all(len(run.split()) <= MOST_WORDS for run in runs)
        if row["label"] == "hatespeech" and runs and short:
            starts = [row["text"].index(run) for run in runs]
            spans = tuple((at, at + len(run)) for at, run in zip(starts, runs, strict=True))
            placements = RandomPlacements.of(row["text"], spans)
            if placements.why_none is None:
                yield Quote(row["text"], spans, placements.others)


def at_random(quotes: Sequence[Quote]) -> Iterator[Quote]:
    """Yield a random placement of each quote's lengths in the same post."""
    for number, quote in enumerate(quotes):
        placements = RandomPlacements.of(quote.text, quote.spans)
        rank = int(generator(7, "control", number).integers(placements.space.count))
        yield replace(quote, spans=tuple(placements.spans(placements.space.at(rank))))


def reported(
    quotes: Sequence[tuple[str, Sequence[Span]]], label: Label, draws: int | None = None
) -> list[HatexscoreResult]:
    """Return the metric's results for explanations that quote these spans of these texts.

    Explanations in prose cannot be used: a function word alone is not a quotation, so that random
    spans would not be random.
    """
    common: dict[str, Any] = {
        "decision": label,
        "language": "en",
        "options": {"control_draws": draws},
    }
    requests = [
        HatexscoreRequest(text=text, explanation="", seed=number, **common)
        for number, (text, _) in enumerate(quotes)
    ]
    plain = HatexscoreRequest(text="It rains.", explanation='"rains": hateful.', **common)
    read = VARIANTS["robust"].read([plain])[0]
    parsed = [
        replace(
            read,
            label=label,
            quoting=replace(read.quoting, spans=tuple(spans), masked=mask_spans(text, spans)),
        )
        for text, spans in quotes
    ]
    collected = ask_classifiers(requests, parsed)
    return [SERVICE.report(*pair) for pair in zip(requests, collected, strict=True)]


def outcomes(quotes: Sequence[Quote]) -> list[tuple[Quote, int, bool]]:
    """Return (quote, rows of the control, whether p is at most .05) of the posts that the judge
    calls hateful."""
    found = []
    for start in range(0, len(quotes), AT_ONCE):
        some = quotes[start : start + AT_ONCE]
        reports = reported([(one.text, one.spans) for one in some], HATEFUL)
        for quote, report in zip(some, reports, strict=True):
            if report.control is not None and report.model_agrees:
                tested = tested_p(report.control)
                is_yes = tested is not None and tested[0] <= LEVEL
                found.append((quote, report.control.draws, is_yes))
    return found


def short_posts(quotes: Sequence[Quote], *, agreeing: bool) -> list[dict[str, Any]]:
    """Return a row for each stratum of `p_calibrated`, and one for all of them. `agreeing` selects
    the posts that the judge calls hateful, or the others."""
    few = [quote for quote in quotes if FEWEST_OTHERS <= quote.others <= MOST_OTHERS]
    reports = reported([(one.text, one.spans) for one in few], HATEFUL)
    found: list[tuple[int, Bools]] = []
    rates = []
    for quote, report in zip(few, reports, strict=True):
        if report.model_agrees != agreeing or report.control is None:
            continue
        if report.control.calibration is not None:
            found.append((quote.others, _all_placements(quote, report)))
            drops = np.array([report.signed_drop, *report.control.signed_drops])
            rates.append((rankdata(drops) - 1) / quote.others)
    rows = []
    for least, most in (*STRATA, (FEWEST_OTHERS, MOST_OTHERS)):
        own = [p_low for others, p_low in found if least <= others <= most]
        sizes = [float(np.mean(p_low)) for p_low in own]
        row = {
            "placements": [least, most],
            "posts": len(own),
            "yes": round(float(np.mean([p_low[0] for p_low in own])), 3),
            "size": round(float(np.mean(sizes)), 3),
            "size_error": round(float(np.std(sizes) / np.sqrt(len(sizes))), 3),
        }
        rows.append(row)
    rows[-1]["omnibus"] = _omnibus(rates)
    return rows


def _omnibus(rates: Sequence[Floats]) -> dict[str, float]:
    """Return the share of `TRIPLES` of posts whose omnibus test has p at most .05, for the marked
    passage and for a random one. `rates` has the win rate of each placement of a post, the marked
    one first."""
    random = generator(7, "omnibus")
    significant = np.zeros(2)
    for _ in range(TRIPLES):
        own = [rates[post] for post in random.choice(len(rates), 3, replace=False)]
        draws = [post.size - 1 for post in own]
        for kind, chosen in enumerate(([post[0] for post in own], list(map(random.choice, own)))):
            z = omnibus_z(np.array(chosen), draws) or 0.0
            significant[kind] += z > 0 and normal_p(z) <= LEVEL
    marked_share, random_share = (significant / TRIPLES).tolist()
    return {"marked": marked_share, "random": random_share}


def _all_placements(quote: Quote, report: HatexscoreResult) -> Bools:
    """Return whether p is at most .05, for the quoted placement and all others. The post's own
    passages of this length are no reference."""
    original, control = report.probability_original, report.control
    assert original is not None
    assert control is not None
    drops = np.array([report.signed_drop, *control.signed_drops])
    own = removal_standings(original - drops)
    words = max(RandomPlacements.of(quote.text, quote.spans).lengths)
    sha256 = report.provenance.models[0].sha256 or ""
    measured = placement_standings(sha256, report.language)
    reference = [
        OtherText(one.words, np.array(one.standings))
        for one in measured
        if one.standings != tuple(np.round(np.sort(own), DIGITS).tolist())
    ]
    found = [calibrated_p(float(one), quote.others, words, reference) for one in own]
    return np.array([one is not None and one.p_value <= LEVEL for one in found])


def table(real: Sequence[Quote], random: Sequence[Quote]) -> list[dict[str, Any]]:
    """Return a row for each number of other placements, and one for all of them."""
    both = {"marked": outcomes(real), "random": outcomes(random)}
    rows = []
    for least, most in (*PLACEMENTS, (1, 10**9)):
        row: dict[str, Any] = {"placements": [least, most]}
        for name, found in both.items():
            own = [one for one in found if least <= one[0].others <= most]
            row[name] = {
                "posts": len(own),
                "yes": round(float(np.mean([one[2] for one in own])), 3) if own else None,
                "rows": round(float(np.mean([one[1] for one in own])), 1) if own else None,
            }
        rows.append(row)
    return rows


def turns(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how often the judge's decision turns without the marked words, and without unmarked
    passages, by number of words."""
    posts = [row for row in rows if row["label"] == "hatespeech" and marked_runs(row)]
    found: dict[str, list[bool]] = {}
    for number, row in enumerate(posts):
        passages = list(_passages(row, number))
        reports = reported([(row["text"], spans) for _, spans in passages], HATEFUL, draws=0)
        if not reports[0].model_agrees:
            continue
        for (name, _), report in zip(passages, reports, strict=True):
            found.setdefault(name, []).append(
                (report.signed_drop or 0.0) >= TURNING and decision_turns(report)
            )
    return {
        name: {"passages": len(each), "turns": round(float(np.mean(each)), 3)}
        for name, each in found.items()
    }


def _passages(row: dict[str, Any], number: int) -> Iterator[tuple[str, tuple[Span, ...]]]:
    """Yield the marked passage, and at most three unmarked passages of each length."""
    text = row["text"]
    runs = [text.index(run) for run in marked_runs(row)]
    marks = tuple((at, at + len(run)) for at, run in zip(runs, marked_runs(row), strict=True))
    yield "marked", marks
    units = count_units(text)
    for words in UNMARKED_WORDS:
        windows = [
            (units[first][0], units[first + words - 1][1])
            for first in range(len(units) - words + 1)
        ]
        free = [
            (start, end)
            for start, end in windows
            if all(end <= low or high <= start for low, high in marks)
        ]
        drawn = generator(7, "turns", number, words).permutation(len(free))[:3]
        for place in drawn:
            yield f"unmarked, {words} words", (free[int(place)],)


def milliseconds(jobs: int) -> float:
    """Return the mean processor time of a whole request, scored alone."""
    requests = [one.request().model_dump() | {"options": {}} for one in rationales()]
    scored = [HatexscoreRequest.model_validate(body) for body in requests[: jobs + 1]]
    CONTRACT.judged(SERVICE.score(scored[0]))  # loads the models
    started = time.process_time()
    for request in scored[1:]:
        SERVICE.score(request)
    return 1_000 * (time.process_time() - started) / max(1, len(scored) - 1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.control", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA / RATIONALES)
    parser.add_argument("--every", type=int, default=1, help="take each so-manieth post")
    parser.add_argument("--jobs", type=int, default=0)
    options = parser.parse_args()
    bind(local(load_catalogue(Path("models.toml"))))
    real = list(marked(options.data.parent, options.data.name))
    some = real[:: options.every]
    lines = options.data.read_text("utf-8").splitlines()[:: options.every]
    rows = [json.loads(line) for line in lines]
    figures: dict[str, Any] = {
        "short": short_posts(real, agreeing=True),
        "disagreeing": short_posts(real, agreeing=False),
        "table": table(some, list(at_random(some))),
        "turns": turns(rows),
    }
    if options.jobs:
        figures["milliseconds_per_job"] = round(milliseconds(options.jobs), 1)
    import torch

    figures["environment"] = environment(torch=torch.__version__, dtype="float32")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
