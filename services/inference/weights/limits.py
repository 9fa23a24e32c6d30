"""Checks of a network's maximum text length and of its invariance to padding, by running passes."""

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
    """Return the maximum length of a text in tokens. Raises ValueError if neither the catalogue nor
    the model states it."""
    limits = [tokenizer.model_max_length, max_positions(model), entry.max_length]
    longest = min(limit for limit in limits if limit is not None)
    if longest >= NO_LIMIT:
        raise ValueError(
            "neither the model's tokenizer nor its configuration states the context "
            "length; set `max_length`"
        )
    return int(longest)


def max_positions(network: Any) -> int | None:
    """Return the maximum number of positions in tokens, or None if there is no limit.

    It is the smallest of `max_position_embeddings` and the usable rows of each table of positions.
    RoBERTa, XLM-R, CamemBERT, MPNet and Longformer count positions from `padding_idx + 1`, so 514
    rows read 512 tokens. Source: huggingface/transformers issues 1726, 14243.
    """
    stated = getattr(network.config, "max_position_embeddings", None)
    limits = [int(stated)] if stated is not None and stated > 0 else []
    for name, module in network.named_modules():
        if name.rpartition(".")[2] == POSITIONS and getattr(module, "weight", None) is not None:
            padding = getattr(module, "padding_idx", None)
            limits.append(len(module.weight) - (0 if padding is None else padding + 1))
    return min(limits, default=None)


def counts_positions(model: Any) -> bool:
    """Return True if the network has position embeddings (an embedding table besides that of
    words). Such a network limits the length of its input."""
    words = model.get_input_embeddings()
    tables = (module for module in model.modules() if isinstance(module, torch.nn.Embedding))
    return any(table is not words for table in tables)


def demand_same_tokens(model: Any, tokenizer: Any) -> None:
    """Raise ValueError if the tokenizer has words without a row in the weights. Such a word could
    crash the process."""
    try:
        words = model.get_input_embeddings()
    except NotImplementedError:  # CANINE hashes characters
        return
    if not isinstance(words, torch.nn.Embedding):
        return
    rows = words.num_embeddings
    if tokenizer.vocab_size > rows:
        raise ValueError(
            f"the model's tokenizer has {tokenizer.vocab_size} tokens, but its weights "
            f"have only {rows} rows; use the tokenizer of these weights"
        )
    if added := sorted(name for name, at in tokenizer.get_added_vocab().items() if at >= rows):
        raise ValueError(
            "the model's tokenizer has added tokens without a row in the weights: "
            f"{listed(added)}. Save the model with the tokenizer that it was trained "
            "with"
        )


@torch.inference_mode()
def demand_numbers(model: Any) -> None:
    """Raise ValueError for NaN weights, since texts with the affected word would get no answer. The
    check sums the weights, which needs no extra memory."""
    broken = [name for name, parameter in model.named_parameters() if parameter.sum().isnan()]
    if broken:
        raise ValueError(
            f"the model's weights are damaged (NaN in {listed(broken)}); download them again"
        )


def max_length_ids(tokenizer: Any, longest: int) -> list[int]:
    """Return the ids of a text of maximum length, including the special tokens that some heads
    need."""
    length = longest if longest <= LONGEST_PROOF else 8  # no table of positions is so long
    encoded = tokenizer(WORD, return_special_tokens_mask=True, verbose=False)
    ids, special = list(encoded["input_ids"]), list(encoded["special_tokens_mask"])
    word = next((index for index, is_special in enumerate(special) if not is_special), None)
    if word is None:
        raise ValueError(f"the model's tokenizer has no token for {WORD!r}")
    return [*ids[:word], *ids[word : word + 1] * (length - len(ids) + 1), *ids[word + 1 :]]


@torch.inference_mode()
def verify_length(model: Any, ids: Sequence[int], outputs: int | None = None) -> None:
    """Run a text of maximum length. Raises ValueError if the model reads less than it states, has
    another number of outputs, or returns NaN."""
    try:
        output = model(input_ids=torch.tensor([ids], device=model.device))
    except torch.OutOfMemoryError:
        raise
    except (IndexError, RuntimeError) as error:
        raise ValueError(
            f"the model reads fewer tokens than its files state, because a text of {len(ids)} "
            "tokens fails; lower `max_length`"
        ) from error
    if outputs is None:
        return
    if output.logits.shape[-1] != outputs:
        raise ValueError(
            f"the model's head has {output.logits.shape[-1]} outputs, but {outputs} are expected"
        )
    if not output.logits.isfinite().all():
        dtype = str(model.dtype).removeprefix("torch.")
        raise ValueError(
            f"the model's output contains NaN or infinity in {dtype}; download the weights again, "
            "or use another dtype"
        )


@torch.inference_mode()
def is_padding_invariant(model: Any, tokenizer: Any, longest: int) -> bool:
    """Return True if padding does not change a text's logits. Networks without an attention mask
    (FNet) depend on padding, and so do those that always read their last token (XLNet)."""
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
