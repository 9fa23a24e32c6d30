"""What a configured model can be asked, by its kind and source alone: known before it is loaded.

Source: specs "models" §4.5.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NoReturn

from shared.errors import ModelCannot
from shared.models.calls import AttributionMethod, Example, Rows, WordJudgements, WordRows
from shared.models.entry import ModelEntry
from shared.models.judgement import Judgement
from shared.models.word_rows import judged_words, mask_text_of

Ability = Literal[
    "judge", "word_rows", "token_rows", "attributions", "truncated", "generate", "score"
]
HERE: tuple[Ability, ...] = ("judge", "word_rows", "token_rows", "attributions")
WORDS_OF: dict[Ability, str] = {
    "judge": "tell labels",
    "word_rows": "judge rows of words",
    "token_rows": "give token rows",
    "attributions": "give attributions",
    "truncated": "tell where a text is cut",
    "generate": "write text",
    "score": "score text",
}
INSTEAD: dict[Ability, str] = {
    "token_rows": ': it shows no tokens. Ask with "rows": "words" (operators delete, mask, infill; '
    "not variant reference), or",
    "attributions": ": it shows neither attention nor gradients. Ask for lime, which needs words "
    "alone, send values of your own, or",
}


def abilities(entry: ModelEntry) -> tuple[Ability, ...]:
    """What the model can be asked; a server may turn out to tell less (`models check`)."""
    if entry.scheme == "openai":
        return ("judge", "word_rows", "generate", "score")
    if entry.scheme == "classify":
        return ("judge", "word_rows")
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
    return f"{INSTEAD.get(ability, ':')} name the same model as hf: or path:"


class BehindServer:
    """The parts of the port `shared.models.ports.Judge` that are alike behind every server: words
    are judged as strings, what no server shows is refused."""

    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry

    @property
    def languages(self) -> tuple[str, ...]:
        return self._entry.languages or ()

    @property
    def abilities(self) -> frozenset[Ability]:
        """No tokens, no attributions."""
        return frozenset(abilities(self._entry))

    @property
    def mask_text(self) -> str:
        """The entry's; no server shows its tokenizer's."""
        return mask_text_of(self._entry)

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """Each server in its way."""
        raise NotImplementedError

    def judge_words(self, asked: Sequence[WordRows]) -> list[WordJudgements]:
        """P of variations, a request each; equal strings are asked once."""
        return judged_words(self, asked, self.mask_text)

    def tokens(self, examples: Sequence[Example]) -> NoReturn:
        """Refused."""
        raise cannot(self._entry, "token_rows")

    def judge_rows(self, asked: Sequence[Rows]) -> NoReturn:
        """Refused."""
        raise cannot(self._entry, "token_rows")

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> NoReturn:
        """Refused."""
        raise cannot(self._entry, "attributions")
