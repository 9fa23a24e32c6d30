"""A metric for tests: it echoes, or fails in whatever way the text asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from shared.contracts.errors import BadInput, ModelNotReady, Unavailable
from shared.contracts.messages import Evidence, Message, Provenance, Report, ScoreRequest, Variant
from shared.contracts.service import MetricContract
from shared.reports.metric import Collected, Metric


class EchoRequest(ScoreRequest):
    """What to echo."""

    text: str


class EchoReport(Report):
    """The echo."""

    components: Message = Message()
    evidence: tuple[Evidence, ...] = ()
    control: Message | None = None
    echo: str


ECHO = MetricContract(
    name="echo",
    version="1.0",
    summary="Echo.",
    request=EchoRequest,
    report=EchoReport,
    model_kinds=("classifier",),
    default_model="none",
)


def echo(request: EchoRequest) -> EchoReport:
    """The text back, or the error that it names."""
    match request.text:
        case "bad":
            raise BadInput("too bad", pointer="/text")
        case "away":
            raise Unavailable("the model is away")
        case "loading":
            raise ModelNotReady("the model 'm' is being loaded", model="m")
        case "broken":
            raise ModelNotReady("the model 'm' cannot be loaded", model="m", state="failed")
        case "crash":
            raise ZeroDivisionError("a secret detail")
        case "nan":
            EchoReport(
                metric="echo",
                score=float("nan"),
                range=(0, 1),
                provenance=_provenance(request),
                echo="",
            )
    return EchoReport(
        metric="echo",
        score=1.0,
        range=(0, 1),
        provenance=_provenance(request),
        echo=request.text,
    )


def _provenance(request: EchoRequest) -> Provenance:
    return Provenance(
        metric_version="1.0",
        variant=request.variant,
        seed=request.seed,
        parameters={},
        models=(),
        service_version="0",
    )


class Echo(Metric[EchoRequest, Collected, EchoReport, None]):
    """The echo as a service."""

    contract = ECHO
    variants = dict.fromkeys(get_args(Variant))

    def collect(self, requests: Sequence[EchoRequest]) -> list[Collected]:
        """Nothing."""
        return [Collected() for _ in requests]

    def report(self, request: EchoRequest, collected: Collected) -> EchoReport:
        """The text back."""
        return echo(request)
