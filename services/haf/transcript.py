"""One generation's way through the stages: what was asked, answered and found."""

from __future__ import annotations

from dataclasses import dataclass, field

from services.haf import reference
from services.haf.contract import HafRequest
from services.haf.parsed import Parsed
from services.haf.report import Stage, Stance
from services.haf.responses import MOST_REASONS
from services.haf.spoken import Spoken, Written, spoken
from services.haf.variants import HafVariant, variant_of

UNCLEAR = "the JUSTIFY response takes no clear stance, so that later stages cannot ask about it"
REFUSED = "the JUSTIFY response refuses the task"
NO_REASONS = "no reasons were found in the JUSTIFY response"
TOO_MANY = f"the JUSTIFY response gives more than {MOST_REASONS} reasons, too many to ask about"
NOT_BROUGHT = "its response was not brought"
SINGLE = "there is one reason only, and nothing is left when it is left out"


@dataclass(frozen=True)
class Exchange:
    """A response of one stage, read. `reason`: which JUSTIFY reason was asked about."""

    stage: Stage
    reason: int | None
    written: Written
    parsed: Parsed
    decision: Spoken | None
    reasons: tuple[Spoken, ...]

    @property
    def decision_label(self) -> str:
        """The released code's label of the decision sentence, which it gives in every stage."""
        found = self.parsed.decision
        stance = reference.stance_of(found.statement.text) if found else "unclear"
        return reference.NONE if stance == "unclear" else stance


@dataclass(frozen=True)
class Reordered:
    """The reasons in another order: JUSTIFY rewritten and scored, the internal stage asked anew."""

    order: tuple[int, ...]
    justify: Exchange
    internal: Exchange | None


@dataclass(frozen=True)
class Transcript:
    """All stages of one generation. `individual`: one place a JUSTIFY reason."""

    justify: Exchange
    internal: Exchange | None = None
    external: Exchange | None = None
    individual: tuple[Exchange | None, ...] = ()
    absent: dict[str, str] = field(default_factory=dict)  # metric → why its stage is missing
    orders: tuple[Reordered, ...] = ()  # the original order first; empty: not asked for

    @property
    def stance(self) -> Stance:
        """The stance that JUSTIFY takes."""
        return self.justify.parsed.stance

    @property
    def later(self) -> tuple[Exchange, ...]:
        """The stages after JUSTIFY, in the order in which they are asked."""
        each = (self.internal, self.external, *self.individual)
        return tuple(exchange for exchange in each if exchange is not None)

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Every response, those of other orders included."""
        more = (part for each in self.orders for part in (each.justify, each.internal))
        return (self.justify, *self.later, *(part for part in more if part is not None))


def read(
    request: HafRequest, stage: Stage, written: Written, reason: int | None = None
) -> Exchange:
    """Parse a response and find its statements' tokens."""
    way: HafVariant = variant_of(request)
    parsed = way.parse(written.text, stage)
    return exchange(request, stage, written, parsed, reason)


def exchange(
    request: HafRequest, stage: Stage, written: Written, parsed: Parsed, reason: int | None = None
) -> Exchange:
    """A response that is parsed already."""
    whole = variant_of(request).whole_tokens
    found = parsed.decision
    return Exchange(
        stage=stage,
        reason=reason,
        written=written,
        parsed=parsed,
        decision=spoken(written, found.statement, whole_tokens=whole) if found else None,
        reasons=tuple(spoken(written, each, whole_tokens=whole) for each in parsed.reasons),
    )


def individual_stage(stance: Stance) -> Stage | None:
    """Which question the individual stage asks: sufficiency of toxic, necessity of non-toxic."""
    if stance == "unclear":
        return None
    return "necessity" if stance == "non-toxic" else "sufficiency"


def obstacle(justify: Exchange) -> str | None:
    """Why later stages have nothing to ask about, or None."""
    if justify.parsed.refusal:
        return REFUSED
    if not justify.reasons:
        return NO_REASONS
    if len(justify.reasons) > MOST_REASONS:
        return TOO_MANY
    return UNCLEAR if justify.parsed.stance == "unclear" else None
