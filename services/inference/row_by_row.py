"""A classification head that answers each row alone.

A matrix product of (N, d) rows takes other kernels, and so other roundings, for small N: one row
through a BERT pooler differs in its last bits from the same row among 64. The hidden states before
it, (N, width, d), do not. So the head's products are taken row by row: a few microseconds each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode


class RowByRow(TorchFunctionMode):
    """Within it, a linear layer on exactly (rows, d) input is computed one row at a time."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        self._rows = rows

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Every torch call passes here."""
        kwargs = kwargs or {}
        if func is not functional.linear or args[0].dim() != 2 or len(args[0]) != self._rows:
            return func(*args, **kwargs)
        rows, *rest = args
        # a copy each: kernels may round otherwise where memory is aligned otherwise
        return torch.cat([func(row.clone(), *rest, **kwargs) for row in rows.split(1)])
