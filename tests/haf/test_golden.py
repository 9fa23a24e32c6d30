"""The released scores and parses. Texts are never printed: a failure names the row."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from services.haf import kernel, parsing_reference
from services.haf.contract import HafWeights
from services.haf.reading import read_responses
from services.haf.report import Stage

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"
FILES = sorted((GOLDEN / "haf").glob("*.json"))
PARSES = GOLDEN / "haf_parse.jsonl"
WEIGHTS = HafWeights()
STAGES: dict[str, Stage] = {
    "initial": "justify",
    "internal": "internal",
    "external": "external",
    "individual": "sufficiency",
}
CLOSE = 1e-4

pytestmark = pytest.mark.skipif(not FILES, reason="no golden numbers on this machine")


def load(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["samples"]
    return found


def confidence(part: dict[str, Any] | None) -> float | None:
    if part is None:
        return None
    return kernel.confidence(np.array(part["nll"]), np.array(part["rel"]))


def similarities(initial: dict[str, Any]) -> kernel.Floats:
    found = np.eye(len(initial["reasons"]))
    for i, j, g in initial["sims_reasons"]:
        found[i, j] = found[j, i] = g
    return found


def check(ours: float | None, stored: float | None) -> None:
    assert (ours is None) == (stored is None)
    assert ours is None or stored is None or abs(ours - stored) < CLOSE


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_confidence(file: Path) -> None:
    seen = 0
    for sample in load(file):
        parts = [sample[stage] for stage in ("initial", "internal", "external")]
        parts += sample["individual"]["items"]
        for part in parts:
            for said in [part.get("decision"), *part.get("reasons", ())]:
                if said is not None:
                    check(confidence(said), said["confidence"])
                    seen += 1
    assert seen > 20


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_support_and_its_diversity(file: Path) -> None:
    for sample in load(file):
        initial = sample["initial"]
        confidences = [confidence(reason) for reason in initial["reasons"]]
        for c, reason in zip(confidences, initial["reasons"], strict=True):
            check(
                kernel.weighted_pair(c, reason["sim_input"], WEIGHTS.sos_confidence), reason["sos"]
            )
        alike = similarities(initial)
        dis = kernel.diversity_in_support(confidences, alike, count_undefined=True)
        check(dis, initial["dis_avg"])
        check(kernel.determinantal_diversity(confidences, alike), initial["dis_dpp"])


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_reliance(file: Path) -> None:
    for sample in load(file):
        initial = [confidence(reason) for reason in sample["initial"]["reasons"]]
        for stage, share in (
            ("internal", WEIGHTS.uii_confidence),
            ("external", WEIGHTS.uei_confidence),
        ):
            part = sample[stage]
            later = [confidence(reason) for reason in part["reasons"]]
            for c, reason in zip(later, part["reasons"], strict=True):
                check(kernel.weighted_pair(c, reason["div_solved"], share), reason["expected"])
            check(kernel.predictive_entropy_change(later, initial), part.get("del_pe"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_individual_sufficiency_and_necessity(file: Path) -> None:
    for sample in load(file):
        initial = [confidence(reason) for reason in sample["initial"]["reasons"]]
        part = sample["individual"]
        for item in part["items"]:
            decision = confidence(item["decision"])
            if item["expected"] is None:
                assert decision is None
                continue
            if part["metric"] == "RS":
                informative = sufficient_informativeness(item)
                ours = kernel.sufficiency(item["w"], decision, informative)
            else:
                informative = necessary_informativeness(item, initial)
                ours = kernel.necessity(item["w"], decision, informative)
            check(informative, item["informativeness"])
            check(ours, item["expected"])


def sufficient_informativeness(item: dict[str, Any]) -> float | None:
    """Eq. 10; the mean of the terms is the term of the means, of which one is stored."""
    later = kernel.mean([confidence(reason) for reason in item["reasons"]])
    if later is None:
        return 0.0
    return kernel.weighted_pair(later, item["mean_div_solved"], WEIGHTS.sufficiency_confidence)


def necessary_informativeness(item: dict[str, Any], initial: list[float | None]) -> float | None:
    """Eq. 12; stored is the mean of g times C(r_j)."""
    later = kernel.mean([confidence(reason) for reason in item["reasons"]])
    left_out = initial[item["index"]]
    if later is None:
        return 0.01
    assert left_out is not None
    return kernel.recovery(later, item["mean_sim_times_conf_solved"] / left_out, left_out)


def rows() -> list[dict[str, Any]]:
    if not PARSES.exists():
        return []
    return [json.loads(line) for line in PARSES.read_text("utf-8").splitlines()]


def test_reference_finds_what_the_released_parser_finds() -> None:
    wrong = []
    for row in rows():
        found = parsing_reference.parse_as_released(row["response"], STAGES[row["stage"]])
        sentence = found.decision.statement.text if found.decision else parsing_reference.NONE
        label = parsing_reference.NONE if found.stance == "unclear" else found.stance
        same = (
            sentence == row["decision_sentence"],
            label == row["decision"],
            [reason.text for reason in found.reasons] == row["reasons"],
        )
        if not all(same):
            wrong.append((row["id"], same))
    assert wrong == []
    assert rows()


MARKER = re.compile(r"\d+[.)]|[-*]")
MUTATIONS: dict[str, Callable[[str, int], str]] = {
    "as it is": lambda line, _: line,
    "sub-bullets": lambda line, _: f"{line}\n   - and this detail of it, too" if line else line,
    "every other item indented": lambda line, place: "  " * (place % 2) + line,
    "tabs": lambda line, place: "\t" * (place % 3 == 0) + line,
    "all indented": lambda line, _: f" {line}",
    "other bullets": lambda line, _: MARKER.sub("*", line, count=1),
    "blank lines": lambda line, _: f"{line}\n \n",
}


def released_items(response: str, sentence: str) -> list[str]:
    """The released parser's items line by line: one begins with a marker in the first column."""
    items: list[list[str]] = []
    for line in response.replace(sentence, "").split("\n"):
        marker = MARKER.match(line)
        if marker:
            items.append([line[marker.end() :]])
        elif items:
            items[-1].append(line)
    kept = ["\n".join(item).strip().split("\n\n")[0].strip() for item in items]
    return [item for item in kept if len(item) > 20]


@pytest.mark.parametrize("change", MUTATIONS.values(), ids=MUTATIONS)
def test_reference_finds_items_in_the_first_column_alone(change: Callable[[str, int], str]) -> None:
    assert rows()
    for row in rows():
        lines = row["response"].split("\n")
        response = "\n".join(change(line, place) for place, line in enumerate(lines))
        sentence = parsing_reference.decision_sentence(response) or parsing_reference.NONE
        found = parsing_reference.reasons_of(response, sentence, "justify")
        assert found == released_items(response, sentence), row["id"]


LISTED = (
    ("Llama-3.1-8B", "Llama-3.2-3B", "Ministral-8B"),
    (
        "civil_comments",
        "hate_explain",
        "real_toxicity_prompts",
    ),
)  # models and data sets whose every difference is listed

# docs/methods/haf.md justifies each of these.
OTHER_DECISION = {
    "Llama-3.1-8B-Instruct|civil_comments|1|external",
    "Llama-3.1-8B-Instruct|civil_comments|3|external",
    "Llama-3.1-8B-Instruct|civil_comments|5|external",
    "Llama-3.1-8B-Instruct|civil_comments|5|internal",
    "Llama-3.1-8B-Instruct|hate_explain|1|external",
    "Llama-3.1-8B-Instruct|hate_explain|3|internal",
    "Llama-3.1-8B-Instruct|hate_explain|4|external",
    "Llama-3.1-8B-Instruct|hate_explain|7|external",
    "Llama-3.1-8B-Instruct|hate_explain|7|internal",
    "Llama-3.2-3B-Instruct|civil_comments|0|individual|0",
    "Llama-3.2-3B-Instruct|civil_comments|2|internal",
    "Llama-3.2-3B-Instruct|real_toxicity_prompts|3|individual|1",
}
OTHER_REASONS = {
    "Llama-3.1-8B-Instruct|hate_explain|3|external",
    "Llama-3.1-8B-Instruct|hate_explain|3|internal",
}
OTHER_STANCE = {
    "Llama-3.2-3B-Instruct|civil_comments|5|initial",
    "Llama-3.2-3B-Instruct|civil_comments|6|initial",
    "Llama-3.2-3B-Instruct|real_toxicity_prompts|5|initial",
}


@pytest.mark.usefixtures("_embedded_models")
def test_robust_differs_only_where_the_card_says_so() -> None:
    decisions, reasons, stances = set(), set(), set()
    read = read_responses([(row["response"], STAGES[row["stage"]]) for row in rows()])
    for row, found in zip(rows(), read, strict=True):
        if not (row["model"].startswith(LISTED[0]) and row["dataset"] in LISTED[1]):
            continue
        sentence = found.decision.statement.text if found.decision else parsing_reference.NONE
        if sentence != row["decision_sentence"]:
            decisions.add(row["id"])
        if [reason.text for reason in found.reasons] != row["reasons"]:
            reasons.add(row["id"])
        if row["stage"] == "initial" and found.stance != row["decision"]:
            stances.add(row["id"])
        for reason in found.reasons:
            assert reason.span is not None
            same = row["response"][slice(*reason.span)] == reason.text
            assert same, row["id"]
    assert (decisions, reasons, stances) == (OTHER_DECISION, OTHER_REASONS, OTHER_STANCE)
