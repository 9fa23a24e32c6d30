"""What HAF says of a single token. Part of the contract: pydantic only.

Source: Mothilal et al., arXiv:2506.19113, Eqs. 1 to 4.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shared.contracts import Message

Share = Annotated[float, Field(ge=0, le=1)]
Offset = Annotated[int, Field(ge=0, description="character offset into the stage's response")]

ONLY_IF_ASKED = "absent unless the request's `token_values` asks for it"


class TokenValue(Message):
    """A token of a statement; tokens that share a character are one."""

    start: Offset  # the first token of a statement may begin before it (" It")
    end: Offset
    tokens: int = Field(ge=1, description="more than 1 where they share a character")
    logprob: float = Field(le=0, description="log p, nats; summed over `tokens`")
    relevance: Share = Field(
        description="Eq. 3: 1 - g(statement, statement without it); of a decision see "
        "`decision_target`. Not normalised: Eq. 2 divides by the statement's sum"
    )
