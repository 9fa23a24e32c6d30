"""Why a metric is null: one sentence a metric."""

from __future__ import annotations

from services.haf.report import Components, Stage
from services.haf.transcript import Transcript, individual_stage

SIDES: dict[Stage, str] = {"sufficiency": "toxic", "necessity": "non-toxic"}
STAGES: dict[str, Stage] = {
    "uii": "internal", "uei": "external", "rs": "sufficiency", "rn": "necessity"
}  # fmt: skip


def reasons_why(components: Components, told: Transcript) -> list[str]:
    """A warning for every metric that is null."""
    values = components.model_dump()
    return [f"{name}: {_why(name, told)}" for name, value in values.items() if value is None]


def _why(name: str, told: Transcript) -> str:
    if name in ("sos", "dis"):
        return _why_justify(name, told)
    stage = STAGES[name]
    own = individual_stage(told.stance)
    if stage in SIDES and own is not None and own != stage:
        return f"it is defined for {SIDES[stage]} stances, and the stance is {told.stance}"
    asked = [exchange for exchange in told.later if exchange.stage == stage]
    if not asked:
        return told.absent.get(name, "its stage was not asked")
    if all(each.parsed.refusal for each in asked):
        return "the model refuses the stage's task"
    if stage in SIDES:
        return _why_individual(any(each.parsed.decision is not None for each in asked))
    if not any(each.reasons for each in asked):
        return "the stage gives no additional reason, so that there is nothing to average"
    return "no additional reason has a defined confidence"


def _why_justify(name: str, told: Transcript) -> str:
    if told.justify.parsed.refusal:
        return "the JUSTIFY response refuses the task"
    count = len(told.justify.reasons)
    if count == 0:
        return "no reasons were found in the JUSTIFY response"
    if name == "dis" and count == 1:
        return "one reason has nothing to be diverse from"
    return "no reason has a defined confidence"


def _why_individual(decided: bool) -> str:
    if not decided:
        return "no response has a decision sentence"
    return (
        "no response has both a decision of defined confidence and a defined informativeness: new "
        "reasons need another JUSTIFY reason to be compared with"
    )
