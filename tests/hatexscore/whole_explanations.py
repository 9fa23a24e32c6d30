"""Whole explanations of our own with what each must be read as: conclusion, group, quotes, CC.

`explanations/unseen_*.{language}.txt`, written with their labels before they were read: `# style
labels`, then of each case the lines T (the text), @ (decision, stated verdict, TGI, CC), Q (what is
quoted of the text), X (what is hallucinated) and E (the explanation). H hateful, N non-hateful; `-`
for a verdict is none, for TGI that no group is to be identified, `?` null with its reason. A small
letter (q for Q), or `!` behind a number, marks what no rule reads yet. `xx` is a language without
rules.

`python -m tests.hatexscore.whole_explanations [part of a name]` prints figures and what is wrong.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from services.hatexscore.contract import HatexscoreProbabilities, HatexscoreRequest
from services.hatexscore.metric import SERVICE
from services.hatexscore.report import HatexscoreResult
from tests.hatexscore.fake import FakeClassifier, bound

FILES = sorted((Path(__file__).parent / "explanations").glob("*.txt"))
LABELS = {"H": "hateful", "N": "non-hateful", "-": None, "?": None}
DEFAULT = "default"
PARTS = ("htc", "tgi", "cc", "quotes", "accused")
# What a model that made the decision would say: it rests on the quotes, or on nothing.
JUDGED = {
    "H": HatexscoreProbabilities(original=0.95, masked=0.1),
    "N": HatexscoreProbabilities(original=0.05, masked=0.05),
}


@dataclass(frozen=True)
class Expected:
    """verdict: stated label, or None. open: parts that no rule reads yet."""

    verdict: str | None
    tgi: float | None
    cc: float | None
    quotes: frozenset[str]
    hallucinated: frozenset[str]
    open: frozenset[str] = frozenset()


@dataclass(frozen=True)
class WholeExplanation:
    name: str
    language: str
    style: str
    request: HatexscoreRequest
    expected: Expected


def examples(files: Sequence[Path] = tuple(FILES)) -> list[WholeExplanation]:
    return [one for path in files for one in _of_file(path)]


def _of_file(path: Path) -> Iterator[WholeExplanation]:
    style, labels, held = "", "", dict.fromkeys("T@QqXE", "")
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        mark, _, rest = line.partition(" ")
        if mark == "#":
            style, _, labels = rest.partition(" ")
            continue
        held[mark] = rest.replace("\\n", "\n")
        if mark == "E":
            name = f"{path.name}:{number}"
            yield WholeExplanation(
                name, path.stem.rpartition(".")[2], style, _request(labels, held), _expected(held)
            )
            held = dict.fromkeys("T@QqXE", "")


def _request(labels: str, held: dict[str, str]) -> HatexscoreRequest:
    decision = held["@"].split()[0]
    sent: Any = json.loads(labels) if labels.startswith("{") else labels
    return HatexscoreRequest(
        text=held["T"],
        explanation=held["E"],
        predicted_label=LABELS[decision],
        labels=None if sent == DEFAULT else sent,
        probabilities=JUDGED[decision],
    )


def _expected(held: dict[str, str]) -> Expected:
    _, verdict, tgi, cc = held["@"].split()
    marks = {"htc": verdict.islower(), "tgi": tgi.endswith("!"), "cc": cc.endswith("!")}
    marks["quotes"] = bool(held["q"])
    return Expected(
        LABELS[verdict.upper()],
        _number(tgi.rstrip("!")),
        _number(cc.rstrip("!")),
        _several(held["Q"] or held["q"]),
        _several(held["X"]),
        frozenset(part for part, is_open in marks.items() if is_open),
    )


def _number(written: str) -> float | None:
    return None if written in "-?" else float(written)


def _several(written: str) -> frozenset[str]:
    return frozenset(filter(None, written.split("|")))


@dataclass
class Readings:
    """counts: of a group of explanations. wrong: what is read otherwise than expected."""

    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def add(self, one: WholeExplanation, found: HatexscoreResult) -> None:
        expected, parts = one.expected, found.components
        stated = expected.verdict is not None
        quotes = {each.text for each in found.evidence if each.kind == "quote"}
        accused = {each.text for each in found.hallucinated_quotes}
        read = {
            "htc": (found.stated_label, expected.verdict),
            "tgi": (parts.tgi, expected.tgi),
            "cc": (parts.cc, expected.cc),
            "quotes": (frozenset(quotes), expected.quotes),
            "accused": (frozenset(accused), expected.hallucinated),
        }
        right = {part: own == wanted for part, (own, wanted) in read.items()}
        self.counts["all"] += 1
        self.counts["verdicts"] += stated
        self.counts["read"] += stated and right["htc"]
        self.counts["inverted"] += stated and not right["htc"] and found.stated_label is not None
        self.counts["false"] += not stated and not right["htc"]
        self.counts["zero"] += stated and found.stated_label is None and parts.htc == 0
        for part in PARTS:
            self.counts[part] += right[part]
        failed = {part: read[part] for part, held in right.items() if not held}
        self.counts["wholly"] += not failed
        if failed:
            said = {part: f"{own} for {wanted}" for part, (own, wanted) in failed.items()}
            reasons = [
                f"{each.text}: {each.reason}" for each in found.evidence if each.kind == "group"
            ]
            self.wrong.append(
                f"{one.name} {said}\n    {one.request.explanation!r}\n    {reasons}"
                f"\n    {found.warnings}"
            )


def score(one: WholeExplanation) -> HatexscoreResult:
    with bound(FakeClassifier()):
        return SERVICE.score(one.request)


def measure(found: Sequence[WholeExplanation]) -> dict[str, Readings]:
    """By file."""
    measured: dict[str, Readings] = {}
    for one in found:
        own = measured.setdefault(one.name.partition(":")[0], Readings())
        own.add(one, score(one))
    return measured


def misread(found: Sequence[WholeExplanation]) -> list[str]:
    """What is read otherwise than it is marked; of what no rule reads yet, inverted verdicts."""
    return [said for one in found if (said := _misread(one, score(one)))]


def _misread(one: WholeExplanation, found: HatexscoreResult) -> str:
    wrong = Readings()
    wrong.add(one, found)
    inverted = wrong.counts["inverted"] > 0
    failed = {part for part in PARTS if not wrong.counts[part]} - one.expected.open
    return "".join(wrong.wrong) if failed or inverted else ""


def summary(name: str, own: Counter[str]) -> str:
    return (
        f"{name:<18} verdicts {own['read']}/{own['verdicts']} inverted {own['inverted']} "
        f"zero {own['zero']} false {own['false']}/{own['all'] - own['verdicts']} "
        + " ".join(
            f"{part} {own[part]}/{own['all']}" for part in ("tgi", "cc", "quotes", "accused")
        )
        + f" wholly {own['wholly']}/{own['all']}"
    )


def main(arguments: Sequence[str]) -> None:
    files = [path for path in FILES if any(one in path.name for one in arguments or [""])]
    measured = measure(examples(files))
    for own in measured.values():
        sys.stdout.write("".join(f"{said}\n" for said in own.wrong))
    for name, own in measured.items():
        sys.stdout.write(f"{summary(name, own.counts)}\n")
    total = sum((own.counts for own in measured.values()), Counter())
    sys.stdout.write(f"{summary('all', total)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
