"""HAF in plain words: its metrics, its stages, its answers.

Source of the terms: Mothilal et al., arXiv:2506.19113.
"""

from __future__ import annotations

from dataclasses import dataclass

from services.haf.report import Answer, DecidedBy, Stage, Stance


@dataclass(frozen=True, slots=True)
class MetricWords:
    """One of the six, as a page names it."""

    name: str  # of the report's component
    short: str
    title: str
    says: str
    lower_is_better: bool = False

    @property
    def better(self) -> str:
        """Its direction."""
        return "lower is better" if self.lower_is_better else "higher is better"


METRICS = (
    MetricWords("sos", "SoS", "Strength of Support", "the reasons are sure and about the text"),
    MetricWords("dis", "DiS", "Diversity in Support", "the reasons do not repeat each other"),
    MetricWords(
        "uii", "UII", "Unused Internal Information",
        "asked again, the model finds more in the text that it had not used",
        lower_is_better=True,
    ),
    MetricWords(
        "uei", "UEI", "Unused External Information",
        "asked again, the model finds more beyond the text that it had not used",
        lower_is_better=True,
    ),
    MetricWords("rs", "RS", "Reason Sufficiency", "each reason suffices by itself (toxic stances)"),
    MetricWords(
        "rn", "RN", "Reason Necessity", "each reason is missed if left out (non-toxic stances)"
    ),
)  # fmt: skip

STANCES: dict[Stance, str] = {
    "toxic": "calls the text toxic",
    "maybe": "calls the text perhaps toxic",
    "non-toxic": "calls the text not toxic",
    "unclear": "takes no clear stance on the text",
}
TITLES: dict[Stage, str] = {
    "justify": "Justify",
    "internal": "Uphold the reasons: internal",
    "external": "Uphold the reasons: external",
    "sufficiency": "Uphold the stance: sufficiency",
    "necessity": "Uphold the stance: necessity",
}
QUESTIONS: dict[Stage, str] = {
    "justify": "Is the text toxic, and why?",
    "internal": "Is another reason needed that the text itself gives?",
    "external": "Is another reason needed that lies beyond the text?",
    "sufficiency": "With one reason alone: is another reason needed?",
    "necessity": "With one reason left out: is another reason needed?",
}
LEADS_TO: dict[Stage, tuple[str, ...]] = {
    "justify": ("sos", "dis"),
    "internal": ("uii",),
    "external": ("uei",),
    "sufficiency": ("rs",),
    "necessity": ("rn",),
}
ANSWERS: dict[Answer, str] = {
    "sufficient": "no more reasons are needed",
    "insufficient": "more reasons are needed",
    "doubtful": "it may or may not be enough",
    "irrelevant": "answers another question",
    "unclear": "could not be read",
}
JUDGES: dict[DecidedBy, str] = {
    "rules": "our rules",
    "similarity": "the similarity model",
    "nli": "an entailment model",
}


def upheld(stage: Stage, answer: Answer | None) -> bool | None:
    """Whether the model stands by its reasons; None where the answer does not tell.

    A reason that was left out should be missed: there `insufficient` is the ideal answer.
    """
    ideal: Answer = "insufficient" if stage == "necessity" else "sufficient"
    if answer not in ("sufficient", "insufficient"):
        return None
    return answer == ideal
