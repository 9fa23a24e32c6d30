"""How an encoder is given an example: the strings of its one or two sequences, and where they came
from.

By default the text, and its pair second. `input` of an entry says otherwise: the order of a pair
(heads of natural language inference differ in it) and words around it. Source: specs "models" §1.
"""

from __future__ import annotations

from dataclasses import dataclass

from shared.errors import BadInput
from shared.models.calls import Example, Part
from shared.models.entry import InputTable
from shared.models.prompt_table import Piece, filled, placeholders

Place = tuple[Part, int | None, int | None]
OUTSIDE: Place = ("special", None, None)
PARTS: dict[str, Part] = {"text": "text", "premise": "text", "hypothesis": "text_pair"}


@dataclass(frozen=True)
class Side:
    """One of an encoder's sequences, in pieces."""

    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def placed(self, start: int, end: int) -> Place:
        """The part of the example that these characters of the sequence belong to, with offsets
        into it; a token across a border belongs where it begins."""
        if len(self.pieces) == 1 and self.pieces[0].inserted:  # the usual case
            return PARTS[self.pieces[0].inserted], start, end
        begin = 0
        for piece in self.pieces:
            if start < begin + len(piece.text):
                break
            begin += len(piece.text)
        if not piece.inserted:
            return "template", None, None
        return PARTS[piece.inserted], start - begin, min(end - begin, len(piece.text))


class EncoderTexts:
    """From examples to sequences."""

    def __init__(self, table: InputTable | None) -> None:
        self._table = table

    def of(self, example: Example) -> tuple[Side, ...]:
        """One or two sequences. Raises BadInput where the model reads pairs and there is none, or
        the other way round."""
        if self._table is None:
            pair = example.text_pair
            text = Side((Piece(example.text, "text"),))
            return (text,) if pair is None else (text, Side((Piece(pair, "hypothesis"),)))
        values = (
            {"text": example.text}
            if example.text_pair is None
            else {"premise": example.text, "hypothesis": example.text_pair}
        )
        sides = [self._table.text, *([self._table.pair] if self._table.pair else [])]
        if any(placeholders(side) - values.keys() for side in sides):
            wanted = "single texts" if "premise" in values else "pairs: send `text_pair`"
            raise BadInput(f"the model reads {wanted}", pointer="/text_pair")
        return tuple(Side(filled(side, values)) for side in sides)
