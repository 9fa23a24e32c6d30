"""A service that does nothing."""

from services.noop.contract import (  # type: ignore[import-not-found]  # see bench.extended
    CONTRACT,
    NoopReport,
    NoopRequest,
)

from shared.contracts.service import Service


class Noop(Service):
    contract = CONTRACT

    def score(self, _request: NoopRequest) -> NoopReport:
        return NoopReport(done=True)


SERVICE = Noop()
