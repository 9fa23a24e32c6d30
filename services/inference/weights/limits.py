"""How long a text a network reads, and whether padding leaves its answers alone: proved by passes.

Source: specs "models" §1.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from shared.contracts.labels import listed
from shared.models.catalogue.entry import ModelEntry

POSITIONS = "position_embeddings"  # what networks with learned positions call their table
LONGEST_PROOF = 8_192  # tokens
NO_LIMIT = 100_000_000  # a tokenizer without a length limit states some 1e30
WORD = "the"
PADDED = 32  # tokens of a text that is padded to half
STANDS = {torch.float32: 1e-3, torch.bfloat16: 0.1, torch.float16: 0.1}  # of logits: rounding
NO_TOKEN = -1  # an id that no token has


def find_max_length(entry: ModelEntry, model: Any, tokenizer: Any) -> int:
    """Tokens that the model is given. Raises ValueError where nothing says so."""
    limits = [tokenizer.model_max_length, max_positions(model), entry.max_length]
    longest = min(limit for limit in limits if limit is not None)
    if longest >= NO_LIMIT:
        raise ValueError("neither its tokenizer nor its configuration says how much it reads")
    return int(longest)


def max_positions(network: Any) -> int | None:
    """Tokens of the longest text that the network has positions for; None: it states none.

    The least of `max_position_embeddings` and the rows of each table of positions, without those
    up to its padding row where it has one. Relative and rotary positions have no table.
    Source: RoBERTa, XLM-R, CamemBERT, MPNet and Longformer count positions from `padding_idx + 1`,
    so that 514 rows read 512 tokens (huggingface/transformers issues 1726, 14243).
    """
    stated = getattr(network.config, "max_position_embeddings", None)
    limits = [int(stated)] if stated is not None and stated > 0 else []
    for name, module in network.named_modules():
        if name.rpartition(".")[2] == POSITIONS and getattr(module, "weight", None) is not None:
            padding = getattr(module, "padding_idx", None)
            limits.append(len(module.weight) - (0 if padding is None else padding + 1))
    return min(limits, default=None)


def counts_positions(model: Any) -> bool:
    """Whether it looks anything but words up in a table: then a text may be longer than that."""
    words = model.get_input_embeddings()
    tables = (module for module in model.modules() if isinstance(module, torch.nn.Embedding))
    return any(table is not words for table in tables)


def demand_same_tokens(model: Any, tokenizer: Any) -> None:
    """Raises ValueError where the tokenizer has words that the weights have no row for: the first
    text with one would end in an error of its own, on a GPU of the whole process."""
    try:
        words = model.get_input_embeddings()
    except NotImplementedError:  # CANINE hashes characters
        return
    if not isinstance(words, torch.nn.Embedding):
        return
    rows = words.num_embeddings
    if tokenizer.vocab_size > rows:
        raise ValueError(
            f"its tokenizer has {tokenizer.vocab_size} tokens, and its weights know {rows}: they "
            "do not belong together"
        )
    if added := sorted(name for name, at in tokenizer.get_added_vocab().items() if at >= rows):
        raise ValueError(
            f"tokens were added to its tokenizer that its weights have no row for: {listed(added)}"
            ". Save it with the tokenizer that it was trained with"
        )


@torch.inference_mode()
def demand_numbers(model: Any) -> None:
    """Raises ValueError for weights that are NaN: texts with that word alone would have no answer.
    A sum with one is one, and takes no memory."""
    broken = [name for name, parameter in model.named_parameters() if parameter.sum().isnan()]
    if broken:
        raise ValueError(
            f"its weights are damaged, NaN stands in {listed(broken)}: fetch them again"
        )


def max_length_ids(tokenizer: Any, longest: int) -> list[int]:
    """(T,) ids of a text as long as the model reads, in the frame that its tokenizer puts around
    texts: some heads look for a token of it."""
    length = longest if longest <= LONGEST_PROOF else 8  # no table of positions is so long
    encoded = tokenizer(WORD, return_special_tokens_mask=True, verbose=False)
    ids, special = list(encoded["input_ids"]), list(encoded["special_tokens_mask"])
    word = next((index for index, is_special in enumerate(special) if not is_special), None)
    if word is None:
        raise ValueError(f"its tokenizer makes no token of {WORD!r}")
    return [*ids[:word], *ids[word : word + 1] * (length - len(ids) + 1), *ids[word + 1 :]]


@torch.inference_mode()
def verify_length(model: Any, ids: Sequence[int], outputs: int | None = None) -> None:
    """One pass of the longest text. Raises ValueError where the model reads less than it states, or
    its head has another number of outputs or answers no number."""
    try:
        output = model(input_ids=torch.tensor([ids], device=model.device))
    except torch.OutOfMemoryError:
        raise
    except (IndexError, RuntimeError) as error:
        raise ValueError(
            f"reads fewer tokens than it states: a text of {len(ids)} tokens fails"
        ) from error
    if outputs is None:
        return
    if output.logits.shape[-1] != outputs:
        raise ValueError(f"its head has {output.logits.shape[-1]} outputs, not {outputs}")
    if not output.logits.isfinite().all():
        dtype = str(model.dtype).removeprefix("torch.")
        raise ValueError(
            f"its answer is not a number in {dtype}: its weights are damaged, or need another dtype"
        )


@torch.inference_mode()
def is_padding_invariant(model: Any, tokenizer: Any, longest: int) -> bool:
    """Whether a text's logits stay when padding follows it, as an attention mask should see to.

    Not where the network has no mask (FNet), or reads its last token whatever it is (XLNet). A head
    that takes the last token which is no padding is told which one pads; where nothing does, none.
    """
    padding = tokenizer.pad_token_id
    if model.config.pad_token_id is None:
        model.config.pad_token_id = NO_TOKEN if padding is None else padding
    if padding is None:
        return False
    ids = max_length_ids(tokenizer, min(longest, PADDED // 2))
    gap = min(longest, PADDED) - len(ids)
    if gap <= 0:
        return True  # as long as it reads: nothing will be padded
    alone, padded = (
        model(
            input_ids=torch.tensor([[*ids, *[padding] * more]], device=model.device),
            attention_mask=torch.tensor([[*[1] * len(ids), *[0] * more]], device=model.device),
        ).logits.double()
        for more in (0, gap)
    )
    far = STANDS[model.dtype] * (1 + alone.abs().max())
    return bool((alone - padded).abs().max() <= far)
