"""The released scores through variant `reference` itself: stored tokens in, its own choices made.

Every statement gets a text of its own, one character a token, so that the stored relevances can be
looked up as similarities; only reading is left out, since the stored numbers carry no texts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from services.haf.contract import HafRequest
from services.haf.model_calls import HafCollected, SimilarityTable
from services.haf.parsing import Decision, DecisionVerdict, ParsedResponse, ParsedStatement
from services.haf.parsing_reference import NONE
from services.haf.report import Answer, Stage
from services.haf.scoring import HafScores, StageValue, score_transcript
from services.haf.transcript import Exchange, ResponseTokens, StatementTokens, TokenSpan, Transcript
from tests.haf.test_golden import FILES, check, load

pytestmark = pytest.mark.skipif(not FILES, reason="no golden numbers on this machine")

TEXT = "the text"
FIRST_LETTER = 0x4E00  # many letters follow, none of which is a word of the rules

Json = dict[str, Any]


@dataclass
class Told:
    """A stored sample as if a model had just said it."""

    sample: Json
    g: dict[tuple[str, str], float] = field(default_factory=dict)
    verdicts: dict[str, DecisionVerdict] = field(default_factory=dict)

    def measured(self) -> HafScores:
        request = HafRequest(text=TEXT, model="lm", language="en", variant="reference", extras=True)
        told = Transcript(
            justify=self.justify(),
            internal=self.later("internal"),
            external=self.later("external"),
            individual=tuple(map(self.individual, self.sample["individual"]["items"])),
        )
        return score_transcript(
            request,
            told,
            HafCollected(g=SimilarityTable(self.g, False), verdicts=self.verdicts, pairs=0),
        )

    def justify(self) -> Exchange:
        part = self.sample["initial"]
        made = self.exchange("justify", "justify", part)
        for said, reason in zip(made.reasons, part["reasons"], strict=True):
            self.g[TEXT, said.statement.text] = reason["sim_input"]
        for i, j, g in part["sims_reasons"]:
            pair = made.reasons[min(i, j)].statement.text, made.reasons[max(i, j)].statement.text
            self.g[pair] = g
        self.initial = [said.statement.text for said in made.reasons]
        return made

    def later(self, stage: Stage) -> Exchange:
        part = self.sample[stage]
        made = self.exchange(stage, stage, part)
        for said, reason in zip(made.reasons, part["reasons"], strict=True):
            self.apart(said, reason["div_solved"])
        return made

    def individual(self, item: Json) -> Exchange:
        sufficiency = self.sample["individual"]["metric"] == "RS"
        stage: Stage = "sufficiency" if sufficiency else "necessity"
        place = item["index"]
        made = self.exchange(stage, f"{stage} {place}", item, place)
        ideal: tuple[Answer, Answer] = ("sufficient", "insufficient")
        upheld, denied = ideal if sufficiency else ideal[::-1]
        if made.decision is not None:
            answer = upheld if item.get("w") == 1 else denied
            self.verdicts[made.decision.statement.text] = DecisionVerdict(answer, "similarity", 1.0)
        for said in made.reasons:
            if sufficiency:
                self.apart(said, item["mean_div_solved"])
            else:
                left_out = self.sample["initial"]["reasons"][place]["confidence"]
                near = item["mean_sim_times_conf_solved"] / left_out
                self.g[said.statement.text, self.initial[place]] = near
        return made

    def apart(self, said: StatementTokens, diversity: float) -> None:
        """As diverse from every JUSTIFY reason as the stored mean says."""
        for other in self.initial:
            self.g[said.statement.text, other] = 1 - diversity

    def exchange(self, stage: Stage, name: str, part: Json, reason: int | None = None) -> Exchange:
        decision = self.said(f"{name} !", part["decision"], NONE) if part["decision"] else None
        if decision is not None:
            self.verdicts[decision.statement.text] = DecisionVerdict("unclear", "similarity", 1.0)
        reasons = tuple(
            self.said(f"{name} {place} ?", stored)
            for place, stored in enumerate(part.get("reasons", ()))
        )
        parsed = ParsedResponse(
            Decision(decision.statement) if decision else None, self.sample["stance"], (), False
        )
        return Exchange(stage, reason, ResponseTokens("", ()), parsed, decision, reasons)

    def said(self, name: str, stored: Json, target: str | None = None) -> StatementTokens:
        letters = "".join(chr(FIRST_LETTER + place) for place in range(len(stored["nll"])))
        pieces = tuple(
            TokenSpan(len(name) + place, len(name) + place + 1, nll)
            for place, nll in enumerate(stored["nll"])
        )
        text = name + letters
        made = StatementTokens(ParsedStatement(text, (0, len(text))), pieces)
        for masked, relevance in zip(made.masked, stored["rel"], strict=True):
            self.g[target or text, masked] = 1 - relevance
        return made


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_variant_gives_every_released_number(file: Path) -> None:
    seen = 0
    for sample in load(file):
        found = Told(sample).measured()
        justify, internal, external, *single = found.stages
        seen += confidences(justify, sample["initial"])
        for value, reason in zip(justify.reasons, sample["initial"]["reasons"], strict=True):
            check(value.value, reason["sos"])
        check(found.components.dis, sample["initial"]["dis_avg"])
        check(found.extras.dis_dpp, sample["initial"]["dis_dpp"])
        for stage, part in ((internal, sample["internal"]), (external, sample["external"])):
            seen += confidences(stage, part)
            for value, reason in zip(stage.reasons, part["reasons"], strict=True):
                check(value.value, reason["expected"])
        check(found.extras.internal_del_pe, sample["internal"].get("del_pe"))
        check(found.extras.external_del_pe, sample["external"].get("del_pe"))
        for stage, item in zip(single, sample["individual"]["items"], strict=True):
            check(stage.value, item["expected"])
            if item["expected"] is not None:
                check(stage.informativeness, item["informativeness"])
                check(stage.weight, item["w"])
                seen += confidences(stage, item)
    assert seen > 20


def confidences(stage: StageValue, part: Json) -> int:
    """How many of them there are, each checked."""
    check(stage.decision, part["decision"]["confidence"] if part["decision"] else None)
    for value, stored in zip(stage.reasons, part["reasons"], strict=True):
        check(value.confidence, stored["confidence"])
    return 1 + len(stage.reasons)
