"""How many padded tokens one forward pass may have.

On a CPU more than about a thousand only leave the cache (measured with rows of 8 and 16 tokens).
On a GPU it is what fits: half of the free memory over what one token costs, found by one probe
pass.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

CPU_TOKENS = 2_048
LEAST, MOST = 1_024, 1_048_576
PROBED = 2_048  # tokens of the probe pass
SHARE = 0.5  # of the free memory; attention over long rows costs more than the probe's share


def padded_tokens(device: torch.device, probe: Callable[[int], object]) -> int:
    """Tokens of a pass on this device. `probe(n)` runs one of about n tokens."""
    if device.type != "cuda":
        return CPU_TOKENS
    torch.cuda.synchronize(device)
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    probe(PROBED)
    torch.cuda.synchronize(device)
    used = torch.cuda.max_memory_allocated(device) - before
    free, _ = torch.cuda.mem_get_info(device)
    return fitting(free, used / PROBED)


def fitting(free: float, bytes_per_token: float) -> int:
    """How many tokens fit into a share of the free bytes, within bounds."""
    return int(min(MOST, max(LEAST, SHARE * free / max(1.0, bytes_per_token))))
