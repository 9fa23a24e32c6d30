"""The score of a label that attributions explain, from a head's raw logits.

Probabilities: `shared.models.label_readout`. Source: specs "models" §1.1, §1.2.
"""

from __future__ import annotations

import torch
from torch import Tensor

from shared.models.labels import LabelMapping


def label_logit(logits: Tensor, mapping: LabelMapping, place: int) -> Tensor:
    """(N,) the score of a label that attributions explain, from (N, K) raw logits.

    softmax: logsumexp of its outputs, so that of a single one its raw logit; sigmoid: the logit of
    its combined probability; of a complement the negative of the other's.
    """
    columns = list(mapping.columns.values())[place]
    if not columns:
        return -label_logit(logits, mapping, 1 - place)
    own = logits[:, list(columns)].float()
    if len(columns) == 1:
        return own[:, 0]
    if mapping.activation == "softmax":
        return torch.logsumexp(own, dim=1)
    if mapping.combine == "max":
        return own.max(dim=1).values
    none = -torch.nn.functional.softplus(own).sum(dim=1)  # log prod(1 - p)
    return torch.log(-torch.expm1(none)) - none
