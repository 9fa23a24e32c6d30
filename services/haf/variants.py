"""The three variants of HAF, and the settings in which they differ. docs/methods/haf.md explains
each difference."""

from __future__ import annotations

from dataclasses import dataclass

from services.haf.contract import DecisionTarget, HafRequest
from services.haf.report import Answer
from shared.contracts.messages import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class HafVariant:
    """The choices in which the HAF paper and its released code differ. The defaults are those of
    `robust`."""

    uses_reader: bool = True  # else the released parser, and the similarity for every decision
    decision_target: DecisionTarget = "sentence"  # what a decision's tokens are relevant to
    whole_tokens: bool = False  # only tokens that lie wholly inside a statement
    same_is_one: bool = True  # equal texts have similarity 1, without a call
    left_to_similarity: tuple[Answer, ...] = ()  # of the reader; the similarity decides instead
    best_template: bool = False  # the most similar sentence of each side, else their mean
    necessity_without_reasons: float | None = 0.0  # I_N where no reason is given
    diversity_without_others: float | None = None  # div from an empty list
    count_undefined: bool = False  # DiS divides by pairs that it leaves out
    prompts_without_reasons: bool = False  # a single reason's necessity: with an empty list


VARIANTS: dict[Variant, HafVariant] = {
    "robust": HafVariant(),
    "paper": HafVariant(
        left_to_similarity=("irrelevant", "unclear"),
        necessity_without_reasons=None,
    ),
    "reference": HafVariant(
        uses_reader=False,
        decision_target="label",
        whole_tokens=True,
        same_is_one=False,
        best_template=True,
        necessity_without_reasons=0.01,
        diversity_without_others=0.0,
        count_undefined=True,
        prompts_without_reasons=True,
    ),
}


def variant_of(request: HafRequest) -> HafVariant:
    return VARIANTS[request.variant]
