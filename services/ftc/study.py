"""What a batch may bring along for its report: simulators, people, reduced inputs.

Source: Sia et al., AAAI 2023, arXiv:2205.12469, sections 3.3, 3.4 and 6.4. Part of the contract.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from services.ftc.report import Kind, NliLabel
from shared.contracts import Message

Inputs = Literal["all", "hypothesis", "premise", "label", "another_item"]
Votes = Annotated[tuple[NliLabel, ...], Field(min_length=1, max_length=100)]


class Simulation(Message):
    """What a simulator, trained with explanations, takes the model's label to be."""

    from_input: NliLabel = Field(description="shown premise and hypothesis")
    from_input_and_explanation: NliLabel = Field(description="shown the explanation too")
    from_explanation: NliLabel | None = Field(
        default=None, description="shown the explanation alone; LAS needs it"
    )


class Perturbation(Message):
    """The same item with noise on the model's input embeddings."""

    variance: float = Field(ge=0, le=1e6, description="of the zero-mean Gaussian noise")
    label: NliLabel = Field(description="the model's label under noise")
    simulated: NliLabel | None = Field(
        default=None,
        description="the simulator's label from the noisy input and the explanation that was "
        "generated from it; the stability form of LRA needs it",
    )


class Study(Message):
    """Extra observations about the item."""

    simulation: Simulation | None = None
    perturbations: tuple[Perturbation, ...] = Field(default=(), max_length=32)
    human_labels: dict[Kind, Votes] = Field(
        default_factory=dict, description="people's labels of (premise, counterfactual)"
    )
    inputs: Inputs | None = Field(
        default=None,
        description="what the explanation was generated from; `another_item`: it belongs to "
        "another pair of sentences",
    )
