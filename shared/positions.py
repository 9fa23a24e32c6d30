"""How many tokens the learned positions of a network are enough for. Duck-typed: no torch here.

Source: specs "models" §1.4. RoBERTa, XLM-R, CamemBERT, MPNet and Longformer count positions from
`padding_idx + 1`, so that 514 rows read 512 tokens (huggingface/transformers issues 1726, 14243).
"""

from __future__ import annotations

from typing import Any

TABLE = "position_embeddings"  # what these networks call the module


def usable_positions(network: Any) -> int | None:
    """Tokens of the longest text that the network has positions for; None: it states none.

    The least of `max_position_embeddings` and the rows of each table of positions, without those
    up to its padding row where it has one. Relative and rotary positions have no table.
    """
    stated = getattr(network.config, "max_position_embeddings", None)
    limits = [int(stated)] if stated is not None and stated > 0 else []
    for name, module in network.named_modules():
        if name.rpartition(".")[2] == TABLE and getattr(module, "weight", None) is not None:
            padding = getattr(module, "padding_idx", None)
            limits.append(len(module.weight) - (0 if padding is None else padding + 1))
    return min(limits, default=None)
