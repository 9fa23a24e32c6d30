"""From the explained label to what should follow: relation, counterfactuals, their labels.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, Table 2 and Propositions 1 to 3.
"""

from __future__ import annotations

from services.ftc.report import Kind, NliLabel

# A equals B: what holds of the one holds of the other.            E -> E
# A does not equal B: with the other span the hypothesis holds.    C -> E
# A does not imply B: A holds, B stays open.                       N[A] -> E, N[B] -> N
TARGETS: dict[NliLabel, dict[Kind, NliLabel]] = {
    "entailment": {"substituted": "entailment"},
    "contradiction": {"substituted": "entailment"},
    "neutral": {"a": "entailment", "b": "neutral"},
}


def target(label: NliLabel, kind: Kind) -> NliLabel:
    """The label that the counterfactual should get. Raises KeyError for a kind without meaning."""
    return TARGETS[label][kind]
