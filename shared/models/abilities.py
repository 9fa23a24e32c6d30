"""What a configured model can be asked, by its kind and source alone: known before it is loaded.

Source: specs "models" §4.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NoReturn

from shared.errors import ModelCannot
from shared.models.calls import AttributionMethod, Example, ExampleRows
from shared.models.entry import ModelEntry

Ability = Literal["judge", "token_rows", "attributions", "truncated", "generate", "score"]
HERE: tuple[Ability, ...] = ("judge", "token_rows", "attributions")
WORDS_OF: dict[Ability, str] = {
    "judge": "tell labels",
    "token_rows": "give token rows",
    "attributions": "give attributions",
    "truncated": "tell where a text is cut",
    "generate": "write text",
    "score": "score text",
}


def abilities(entry: ModelEntry) -> tuple[Ability, ...]:
    """What the model can be asked; a server may turn out to tell less (`models check`)."""
    if entry.scheme == "openai":
        return ("judge", "generate", "score")
    if entry.scheme == "classify":
        return ("judge",)
    if entry.kind == "classifier":
        return (*HERE, "truncated")
    return (*HERE, "generate", "score") if entry.kind == "causal" else ()


def demand_abilities(entry: ModelEntry, needed: Iterable[str]) -> None:
    """Raises ModelCannot for the first ability that the model has not."""
    missing = set(needed) - set(abilities(entry))
    for ability in WORDS_OF:
        if ability in missing:
            raise cannot(entry, ability)


def cannot(entry: ModelEntry, ability: Ability) -> ModelCannot:
    """The refusal, with what would help."""
    return ModelCannot(
        f"{entry.name!r} ({entry.scheme}:) cannot {WORDS_OF[ability]}{_advice(entry, ability)}",
        model=entry.name,
        ability=ability,
        abilities=abilities(entry),
    )


def _advice(entry: ModelEntry, ability: Ability) -> str:
    if not entry.is_served:
        return ""
    if ability in ("token_rows", "attributions"):
        why = "it shows no tokens" if ability == "token_rows" else "it shows no gradients"
        return (
            f": {why}, neither attention nor gradients; our own inference worker can, with the "
            "same model as hf: or path:"
        )
    return ": name the same model as hf: or path:"


class BehindServer:
    """The parts of the port `shared.models.ports.Judge` that no server shows: refused alike."""

    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry

    @property
    def languages(self) -> tuple[str, ...]:
        return self._entry.languages or ()

    def tokens(self, examples: Sequence[Example]) -> NoReturn:
        """Refused."""
        raise cannot(self._entry, "token_rows")

    def judge_rows(self, asked: Sequence[ExampleRows]) -> NoReturn:
        """Refused."""
        raise cannot(self._entry, "token_rows")

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> NoReturn:
        """Refused."""
        raise cannot(self._entry, "attributions")
