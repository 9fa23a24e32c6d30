"""Computes the results of the other metrics on data with a known truth: HateXScore, FTC, CoT2EL,
HAF, HLV.

Every judge is arithmetic or the planted model, and every item consists of mild words. Fields that a
metric does not report are null.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bench.planted_texts import PLANTS, USE, PlantedText, Random
from services.cot2el.contract import Cot2elRequest
from services.cot2el.metric import SERVICE as COT2EL
from services.ftc.contract import FtcRequest
from services.ftc.metric import SERVICE as FTC
from services.ftc.report import FtcBatchReportRequest
from services.haf.contract import HafRequest
from services.haf.metric import SERVICE as HAF
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.metric import SERVICE as HATEXSCORE
from services.hlv.contract import HlvRequest
from services.hlv.metric import SERVICE as HLV
from shared.contracts.calls import Example, Pair
from shared.contracts.judgement import Judgement
from shared.contracts.messages import ModelKind, ModelUse, Scored
from shared.models import ports
from shared.models.catalogue.catalogue import Catalogue
from shared.models.label_readout import of_head
from shared.models.ports import Floats
from shared.reports.estimates import BatchStatistics
from shared.statistics import intervals
from shared.statistics.comparison import paired
from shared.statistics.seeds import generator

if TYPE_CHECKING:
    from bench.planted_model import Trained
    from services.inference.local_models import LocalModels


LEVEL = 0.05
Json = dict[str, Any]


def share(hits: Sequence[float | None], keys: Sequence[str]) -> list[float] | None:
    return _shown(intervals.share(hits, keys))


def mean(
    name: str, values: Sequence[float | None], keys: Sequence[str], least: float = 0.0
) -> list[float] | None:
    return _shown(intervals.mean(name, values, keys, (least, 1.0)))


def _shown(found: intervals.IntervalEstimate) -> list[float] | None:
    if found.value is None:
        return None
    return [round(one, 3) for one in (found.value, found.low, found.high) if one is not None]


def hatexscore(model: Trained, texts: int) -> dict[str, Json]:
    """Return the rows of HateXScore. A text is hateful if it has the planted word. The quotation is
    this word or another word of the text."""
    from bench.planted_model import judged_by

    random = generator(0, "planted", "hatexscore")
    rows: dict[str, list[tuple[PlantedText, HatexscoreRequest]]] = {}
    for _ in range(texts):
        text = PLANTS["token"].write(random, 1)
        [cause] = text.cause
        quotes = {"true": cause, "random": _once(text, random), "negated": cause}
        for row, place in quotes.items():
            label = "non-hateful" if row == "negated" else "hateful"
            request = HatexscoreRequest(
                text=text.text,
                explanation=f'It says "w{text.words[place]}". Conclusion: {label}.',
                decision=label,
                language="en",
            )
            rows.setdefault(row, []).append((text, request))
    with judged_by(model.score):
        return {row: _quoted(pairs) for row, pairs in rows.items()}


def _once(text: PlantedText, random: Random) -> int:
    """Return a random word that occurs once in the text, so that its quotation has one position. It
    may be the cause."""
    single = [place for place, word in enumerate(text.words) if text.words.count(word) == 1]
    return int(random.choice(single))


def _quoted(pairs: Sequence[tuple[PlantedText, HatexscoreRequest]]) -> Json:
    keys = [text.text for text, _ in pairs]
    reports = HATEXSCORE.score_batch([request for _, request in pairs])
    controls = [report.control for report in reports]
    reach = [one is not None and (one.attainable_p or 1) <= LEVEL for one in controls]
    p = [one.p_value if one is not None and can else None
         for one, can in zip(controls, reach, strict=True)]  # fmt: skip
    signs = [1 if r.decision == "hateful" else -1 for r in reports]
    opposes = [
        None if report.signed_drop is None else float(sign * report.signed_drop < 0)
        for sign, report in zip(signs, reports, strict=True)
    ]
    return {
        "n": len(reports),
        "p <= .05": share([None if one is None else float(one <= LEVEL) for one in p], keys),
        "opposes": share(opposes, keys),
        "qf_excess": mean("qf_excess", [c.qf_excess if c else None for c in controls], keys, -1),
    }


NOUNS = (
    "dog", "cat", "horse", "bird", "boat", "house", "tree", "river", "bridge", "garden",
    "table", "chair", "lamp", "book", "window", "door", "car", "train", "flower", "stone",
)  # fmt: skip
KINDS = ("thing", "object", "item", "sight")
POOL = (
    *NOUNS,
    "spoon", "fork", "plate", "cup", "bottle", "basket", "ladder", "hammer", "fence", "wall",
    "hill", "lake", "island", "forest", "field", "road", "wheel", "kite", "drum", "violin",
    "piano", "guitar", "coat", "glove", "scarf", "candle", "clock", "mirror", "carpet", "pillow",
)  # fmt: skip
NOISE = 0.02


@cache
def _reader() -> LocalModels:
    from services.inference.local_models import LocalModels

    return LocalModels(Catalogue((), Path()))


@dataclass(frozen=True)
class ToyJudge:
    """A judge of text pairs that also implements `Models` and similarity. A pair is a contradiction
    if one text is negated and the other is not, and an entailment if the first text has every
    content word of the second.

    `sure` is P of its label. If `always`, it calls every pair an entailment. `noise` is a change of
    P by the letters of a pair, to prevent ties.
    """

    always: bool = False
    sure: float = 0.96
    noise: float = 0.0
    labels: tuple[str, ...] = ("entailment", "neutral", "contradiction")
    languages: tuple[str, ...] = ("*",)
    use: ModelUse = USE

    def kind(self, name: str) -> ModelKind:
        return "similarity" if "similarity" in name else "classifier"

    def judge(self, name: str) -> ToyJudge:
        return self

    def classifier(self, name: str) -> ports.Classifier:
        """Return the trained reader, which reads prose as in the service."""
        return _reader().classifier(name)

    def similarity(self, name: str) -> ToyJudge:
        return self

    def labels_of(self, example: Example) -> tuple[str, ...]:
        return self.labels

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        rows = np.zeros((len(examples), len(self.labels)))
        for place, one in enumerate(examples):
            label = 0 if self.always else _toy_label(one.text, one.text_pair or "")
            sure = self.sure - self.noise * _letters(one)
            rows[place] = (1 - sure) / 2
            rows[place, label] = sure
        return of_head(rows, None, self.labels)

    def similarities(self, pairs: Sequence[Pair]) -> Floats:
        sets = [(_content(pair.a), _content(pair.b)) for pair in pairs]
        return np.array([len(a & b) / len(a | b) if a | b else 1.0 for a, b in sets])


NEGATIONS = {"no", "not", "never", "nobody"}


def _letters(example: Example) -> float:
    """Return a number in [0, 1) that depends only on the letters."""
    digest = hashlib.blake2b(repr((example.text, example.text_pair)).encode(), digest_size=6)
    return float(int.from_bytes(digest.digest(), "big") / 256**6)


def _toy_label(premise: str, hypothesis: str) -> int:
    said, asked = _content(premise), _content(hypothesis)
    if len(said & NEGATIONS) % 2 != len(asked & NEGATIONS) % 2:
        return 2
    return 0 if asked <= said else 1


def _content(text: str) -> set[str]:
    words = {word.strip(".,:1234567890").lower() for word in text.split()}
    return words - {"", "a", "an", "the", "is", "are", "there", "and", "in", "it", "of", "to"}


@contextmanager
def toy(judge: ToyJudge) -> Iterator[None]:
    ports.bind(cast(ports.Models, judge))
    try:
        yield
    finally:
        ports.bind(None)


def ftc(items: int) -> dict[str, Json]:
    """Return the rows of FTC. Hypotheses follow from a noun of the premise, or do not, in turn.
    They are explained by that noun, by one of another item, or by a random one."""
    random = generator(0, "planted", "ftc")
    rows: dict[str, list[FtcRequest]] = {"true": [], "swapped": [], "random": []}
    for place in range(items):
        nouns = random.permutation(NOUNS).tolist()
        said = {"true": nouns[0], "swapped": nouns[3], "random": random.choice(POOL)}
        kind, follows = str(random.choice(KINDS)), place % 2 == 0
        for row, noun in said.items():
            rows[row].append(_inferred(nouns, str(noun), kind, follows=follows))
    with toy(ToyJudge(noise=NOISE)):
        found = {row: _explained(requests) for row, requests in rows.items()}
    with toy(ToyJudge(always=True)):
        return found | {"true, a judge that always says entailment": _explained(rows["true"])}


def _inferred(nouns: Sequence[str], noun: str, kind: str, *, follows: bool) -> FtcRequest:
    """Return a pair and its explanation. The first three of `nouns` are in the premise."""
    relation = "is" if follows else "is not necessarily"
    return FtcRequest(
        premise=f"A {nouns[0]}, a {nouns[1]} and a {nouns[2]} are in the park.",
        hypothesis=f"There is a {kind} in the park.",
        explanation=f"A {noun} {relation} a {kind}.",
        decision="entailment" if follows else "neutral",
        language="en",
        substitutes=POOL,
    )


def _explained(requests: Sequence[FtcRequest]) -> Json:
    reports = FTC.score_batch(requests)
    keys = [request.premise for request in requests]
    nulls = [next((c.null for c in report.counterfactuals), None) for report in reports]
    scored = [Scored(f"job{place}", None, *pair)
              for place, pair in enumerate(zip(requests, reports, strict=True))]  # fmt: skip
    asked = FtcBatchReportRequest(jobs=("all",))
    summary = FTC.summarize(scored, BatchStatistics(FTC.contract, scored, asked)).model_dump()
    skill: Json = next((one for one in summary.get("skill", ()) if one["label"] == "macro"), {})
    p = [one.p_value if one and (one.attainable_p or 1) <= LEVEL else None for one in nulls]
    return {
        "n": len(reports),
        "w_normalized": mean("w", [r.components.w_normalized for r in reports], keys),
        "null win rate": mean("rate", [n.win_rate if n else None for n in nulls], keys),
        "p <= .05": share([None if one is None else float(one <= LEVEL) for one in p], keys),
        "with p": sum(one is not None for one in p),
        "skill": skill.get("skill"),
        "skill p": skill.get("p_value"),
    }


ACTS = (
    ("The {} stands near the {}", "The {} does not stand near the {}"),
    ("Someone carries my {} towards a {}", "Nobody carries my {} towards a {}"),
    ("Our {} is bigger than any {}", "Our {} is not bigger than any {}"),
    ("People often paint this {} behind that {}", "People never paint this {} behind that {}"),
    ("Yesterday rain fell upon her {} and his {}", "Yesterday no rain fell upon her {} and his {}"),
    ("Children love every {} with its {}", "Children do not love every {} with its {}"),
    ("Without doubt one {} costs more money than two {}s",
     "Without doubt one {} does not cost more money than two {}s"),
    ("Old maps show where each {} met its {}", "Old maps do not show where each {} met its {}"),
)  # fmt: skip


def cot2el(items: int) -> dict[str, Json]:
    """Return the rows of CoT2EL, for units of a reasoning that are unchanged, reworded, negated, or
    from another item."""
    random = generator(0, "planted", "cot2el")
    units = [_units(random, ACTS[4:] if place % 2 else ACTS[:4]) for place in range(items)]
    rows: dict[str, list[Cot2elRequest]] = {}
    for place, own in enumerate(units):
        true = [said for said, _ in own]
        pairs = {
            "true": true,
            "paraphrased": [_reworded(unit) for unit in true],
            "negated": [negation for _, negation in own],
            "others": [said for said, _ in units[place - 1 if place % 2 else place + 1]],
        }
        for row, statements in pairs.items():
            rows.setdefault(row, []).append(_reasoned(true, statements))
    with toy(ToyJudge()):
        return {row: _kept(requests) for row, requests in rows.items()}


def _units(random: Random, acts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    nouns = [random.permutation(NOUNS)[:2] for _ in acts]
    return [
        (said.format(*own) + ".", negated.format(*own) + ".")
        for (said, negated), own in zip(acts, nouns, strict=True)
    ]


def _reworded(unit: str) -> str:
    """Change small words, and add a speaker."""
    return "I think that " + unit[0].lower() + unit[1:].replace(" the ", " a ")


def _reasoned(units: Sequence[str], statements: Sequence[str]) -> Cot2elRequest:
    return Cot2elRequest.model_validate(
        {
            "question": "Which is it?",
            "options": [{"key": "A", "text": "this"}, {"key": "B", "text": "that"}],
            "reasoning": " ".join(units),
            "pairs": [{"explanation": one, "label": "A"} for one in statements],
            "language": "en",
        }
    )


def _kept(requests: Sequence[Cot2elRequest]) -> Json:
    reports = COT2EL.score_batch(requests)
    hits: list[float] = []
    keys: list[str] = []
    for place, report in enumerate(reports):
        parts = report.components
        hits += [1.0] * parts.kept + [0.0] * (parts.parsed - parts.kept)
        keys += [str(place)] * parts.parsed
    return {"n": len(hits), "kept": share(hits, keys)}


MEASURES = ("sos", "dis", "uii", "uei", "rs", "rn")
FAULTS = {"repeated reason": "dis", "irrelevant reason": "sos", "opposed decision": "rs"}


def haf(items: int) -> dict[str, Json]:
    """Compare responses that have one planted fault with the same responses without it."""
    random = generator(0, "planted", "haf")
    sound = [_responses(random) for _ in range(items)]
    with toy(ToyJudge()):
        before = HAF.score_batch([_judged(one, None) for one in sound])
        return {
            fault: _changes(before, HAF.score_batch([_judged(one, fault) for one in sound]))
            for fault in FAULTS
        }


def _responses(random: Random) -> list[str]:
    """Return two reasons that share words with the text, and words that occur in neither."""
    return [str(noun) for noun in random.permutation(NOUNS)[:8]]


def _judged(nouns: Sequence[str], fault: str | None) -> HafRequest:
    first = f"It mocks the {nouns[0]} beside the {nouns[1]}."
    second = f"Somebody insults the {nouns[2]} near the {nouns[3]}."
    if fault == "repeated reason":
        second = first
    if fault == "irrelevant reason":
        second = f"Perhaps some {nouns[6]} saw another {nouns[7]}."
    enough = "No additional reason is required."
    missing = f"Yes, an additional reason is required.\n1. It mocks the {nouns[4]}."
    decision = missing if fault == "opposed decision" else enough
    return HafRequest.model_validate(
        {
            "text": f"It mocks the {nouns[0]} beside the {nouns[1]}, and somebody insults the "
            f"{nouns[2]} near the {nouns[3]}.",
            "responses": {
                "justify": _said(f"The text is toxic.\n1. {first}\n2. {second}"),
                "internal": _said("No, additional reasons are not required."),
                "external": _said("No, additional reasons are not required."),
                "individual": [_said(decision), _said(decision)],
            },
            "language": "en",
        }
    )


def _said(text: str) -> Json:
    """Return the words as tokens of equal probability."""
    words = text.split(" ")
    tokens = [word if place == 0 else f" {word}" for place, word in enumerate(words)]
    return {"text": text, "logprobs": {"tokens": tokens, "token_logprobs": [-0.1] * len(words)}}


def _changes(before: Sequence[Any], after: Sequence[Any]) -> Json:
    """Return the mean change of each measure and its p, over items with both values."""
    found: Json = {"n": len(before)}
    for name in MEASURES:
        values = [
            getattr(two.components, name) - getattr(one.components, name)
            for one, two in zip(before, after, strict=True)
            if None not in (getattr(one.components, name), getattr(two.components, name))
        ]
        if values:
            test = paired(name, np.array(values)).test
            found[name] = {"change": round(float(np.mean(values)), 3), "p": test.p_value}
    return found


MIXES = (1.0, 0.75, 0.5, 0.25, 0.0)  # of the true distribution; the rest is uniform
ANNOTATORS, OPTIONS = 100, "ABCD"
DISTANCES = ("jsd", "tvd")
NORMALISED = "jsd"


def hlv(items: int) -> dict[str, Json]:
    """Return the rows of HLV for annotators with a known distribution. Judges answer with this
    distribution, with mixtures of it, and with equal probabilities."""
    random = generator(0, "planted", "hlv")
    drawn = [random.dirichlet(np.ones(len(OPTIONS))) for _ in range(items)]
    votes = [random.multinomial(ANNOTATORS, p).astype(np.float64) for p in drawn]
    found: dict[str, Json] = {}
    for mix in MIXES:
        judged = [mix * p + (1 - mix) / len(OPTIONS) for p in drawn]
        requests = [_annotated(*pair) for pair in zip(votes, judged, strict=True)]
        found[f"{mix:.0%} of the truth"] = _distances(requests, HLV.score_batch(requests))
    return found


def _annotated(votes: Floats, judged: Floats) -> HlvRequest:
    return HlvRequest.model_validate(
        {
            "question": "Which is it?",
            "options": [{"key": key, "text": f"option {key}"} for key in OPTIONS],
            "human": {"votes": dict(zip(OPTIONS, votes.tolist(), strict=True))},
            "predictions": {
                "baseline": {"distributions": [dict(zip(OPTIONS, judged.tolist(), strict=True))]}
            },
            "language": "en",
        }
    )


def _distances(requests: Sequence[HlvRequest], reports: Sequence[Any]) -> Json:
    measured = [report.components.methods[0].baseline for report in reports]
    keys = [str(place) for place in range(len(reports))]
    found: Json = {"n": len(reports)}
    for name in DISTANCES:
        found[name] = mean(name, [getattr(one.distribution, name) for one in measured], keys)
    found["tau_b"] = mean("tau_b", [one.tau_b for one in measured], keys, -1)
    scored = [Scored(f"job{place}", None, *pair)
              for place, pair in enumerate(zip(requests, reports, strict=True))]  # fmt: skip
    over = BatchStatistics(HLV.contract, scored, HLV.contract.batch_request(jobs=("all",)))
    tables = HLV.summarize(scored, over).model_dump()["tables"]
    pooled = [table["normalised"] for table in tables if table.get("normalised")]
    found["normalised"] = pooled[0].get(NORMALISED, {}).get("value") if pooled else None
    return found
