"""How a causal model reads an example: `prefix + text + suffix`, tokenized once as one string.

So merges at the borders are those that the model would see. A token that straddles a border belongs
to the part where its first character that is not a space lies. A text that is too long loses its
last tokens; the template around it stays whole.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from services.inference.encoding import Context, Encoder, Token
from services.inference.variations import Ids, varied
from services.inference.weights import Weights
from shared.calls import Example, Part, Row, Template, Tokens
from shared.errors import BadInput

REMEMBERED = 1_024  # examples: a metric asks about each several times in a row

Placed = tuple[Token, Part, int | None, int | None]  # with offsets into the text


@dataclass(frozen=True)
class CausalReading:
    """An example as read."""

    tokens: Tokens
    labels: tuple[str, ...]
    verbalizers: tuple[Ids, ...]  # (L,) tokens of each label's verbalizer, at least one
    vocabulary: int
    first: Ids  # what stands for a row without tokens

    @property
    def single(self) -> bool:
        """Whether every verbalizer is one token: then labels are read off one position."""
        return all(len(tokens) == 1 for tokens in self.verbalizers)

    def row(self, row: Row) -> Ids:
        """(K,) one variation's tokens; the beginning token alone where nothing is kept."""
        ids = varied(self.tokens.ids, row, self.vocabulary) or self.first
        if not ids:
            raise BadInput("a row keeps no token", pointer="/rows")
        return ids


class CausalReader:
    """From examples to tokens."""

    def __init__(self, weights: Weights, encoder: Encoder) -> None:
        self._encoder = encoder
        self._weights = weights
        self._read_before: OrderedDict[Hashable, CausalReading] = OrderedDict()
        self._alone = Lock()

    def read(self, examples: Sequence[Example]) -> list[CausalReading]:
        """(N,) examples as read. Raises BadInput for a pair, and where there is no template."""
        return [self._remembered(example) for example in examples]

    def _remembered(self, example: Example) -> CausalReading:
        key = _content(example)
        with self._alone:
            known = self._read_before.get(key)
        if known is not None:
            return known
        found = self._read(example)
        with self._alone:
            self._read_before[key] = found
            while len(self._read_before) > REMEMBERED:
                self._read_before.popitem(last=False)
        return found

    def _read(self, example: Example) -> CausalReading:
        if example.template is None:
            raise BadInput("a causal model needs a template", pointer="/template")
        if example.text_pair is not None:
            raise BadInput(
                "a causal model reads one text: put the other into the template",
                pointer="/text_pair",
            )
        template = example.template
        context = Context(template.prefix + example.text + template.suffix)
        read = self._encoder.tokens(context)
        verbalizers = self._verbalizers(context, template)
        room = self._weights.longest - max(map(len, verbalizers)) + 1
        placed = [_placed(token, template, example.text, context.text) for token in read]
        fitting = _cut(placed, room)
        return CausalReading(
            tokens=self._tokens(fitting, truncated=len(fitting) < len(placed)),
            labels=tuple(template.verbalizers),
            verbalizers=verbalizers,
            vocabulary=int(self._weights.model.get_input_embeddings().weight.shape[0]),
            first=self._encoder.first,
        )

    def _verbalizers(self, context: Context, template: Template) -> tuple[Ids, ...]:
        found: dict[Ids, str] = {}
        for label, written in template.verbalizers.items():
            ids = tuple(token.id for token in self._encoder.continuation(context, written))
            if not ids or ids in found:
                other = f"the same tokens as for {found[ids]!r}" if ids else "no tokens"
                raise BadInput(
                    f"the verbalizer of {label!r} has {other}", pointer="/template/verbalizers"
                )
            found[ids] = label
        return tuple(found)

    def _tokens(self, placed: Sequence[Placed], *, truncated: bool) -> Tokens:
        words: Any = self._weights.tokenizer
        return Tokens(
            ids=tuple(token.id for token, *_ in placed),
            parts=tuple(part for _, part, _, _ in placed),
            starts=tuple(start for _, _, start, _ in placed),
            ends=tuple(end for *_, end in placed),
            truncated=truncated,
            mask_id=words.mask_token_id,
            unk_id=words.unk_token_id,
            pad_id=words.pad_token_id,
        )


def _content(example: Example) -> Hashable:
    template = example.template
    asked = template and (template.prefix, template.suffix, *template.verbalizers.items())
    return example.text, example.text_pair, asked


def _placed(token: Token, template: Template, text: str, whole: str) -> Placed:
    if token.special:
        return token, "special", None, None
    begin = len(template.prefix)
    inked = [place for place in range(token.start, token.end) if not whole[place].isspace()]
    first = inked[0] if inked else token.start
    if not begin <= first < begin + len(text):
        return token, "template", None, None
    return token, "text", max(0, token.start - begin), min(len(text), token.end - begin)


def _cut(placed: list[Placed], room: int) -> list[Placed]:
    """Without as many of the text's last tokens as are too many."""
    excess = len(placed) - room
    of_text = [place for place, (_, part, _, _) in enumerate(placed) if part == "text"]
    if excess > len(of_text):
        raise BadInput(f"the template leaves no room: {room} tokens are read", pointer="/template")
    gone = set(of_text[len(of_text) - max(0, excess) :])
    return [one for place, one in enumerate(placed) if place not in gone]
