"""The three variants of HAF, a row each. The card (README.md) gives the reasons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from services.haf import parsing, parsing_reference
from services.haf.contract import DecisionTarget, HafRequest
from services.haf.parsing import ParsedResponse
from services.haf.report import Answer, Stage
from shared.contracts.messages import Variant


@dataclass(frozen=True, slots=True, kw_only=True)
class HafVariant:
    """Choices where the paper, its code and its meaning part."""

    parse: Callable[[str, Stage], ParsedResponse]
    decision_target: DecisionTarget  # what a decision's tokens are relevant to
    whole_tokens: bool  # only tokens that lie wholly inside a statement
    same_is_one: bool  # equal texts have similarity 1, without a call
    left_to_model: tuple[Answer | None, ...]  # rule answers that a model must give instead
    best_template: bool  # the most similar sentence of each side, else their mean
    least_share: float  # of the winning side; below it the decision is unclear
    necessity_without_reasons: float | None  # I_N where no reason is given
    diversity_without_others: float | None  # div from an empty list
    count_undefined: bool  # DiS divides by pairs that it leaves out
    prompts_without_reasons: bool  # necessity of a single reason: prompted with an empty list


# Of 56 distinct real decisions whose answer the rules know, the embedded similarity gives the side
# that says `sufficient` a share of 0.51 to 0.55, whatever they mean: it cannot tell.
CLEAR_SHARE = 0.6

EVERY_ANSWER: tuple[Answer | None, ...] = (
    None, "sufficient", "insufficient", "doubtful", "irrelevant", "unclear",
)  # fmt: skip

VARIANTS: dict[Variant, HafVariant] = {
    "robust": HafVariant(
        parse=parsing.parse_response,
        decision_target="sentence",
        whole_tokens=False,
        same_is_one=True,
        left_to_model=(None,),
        best_template=False,
        least_share=CLEAR_SHARE,
        necessity_without_reasons=0.0,
        diversity_without_others=None,
        count_undefined=False,
        prompts_without_reasons=False,
    ),
    "paper": HafVariant(
        parse=parsing.parse_response,
        decision_target="sentence",
        whole_tokens=False,
        same_is_one=True,
        left_to_model=(None, "irrelevant"),
        best_template=False,
        least_share=0.5,
        necessity_without_reasons=None,
        diversity_without_others=None,
        count_undefined=False,
        prompts_without_reasons=False,
    ),
    "reference": HafVariant(
        parse=parsing_reference.parse_as_released,
        decision_target="label",
        whole_tokens=True,
        same_is_one=False,
        left_to_model=EVERY_ANSWER,
        best_template=True,
        least_share=0.5,
        necessity_without_reasons=0.01,
        diversity_without_others=0.0,
        count_undefined=True,
        prompts_without_reasons=True,
    ),
}


def variant_of(request: HafRequest) -> HafVariant:
    return VARIANTS[request.variant]
