"""The gateway's process: `python -m services.gateway`."""

from __future__ import annotations

import argparse
import sys

import uvicorn
from opentelemetry.instrumentation.fastapi import FastAPIInstrumentor

from services.gateway.app import create_app
from services.gateway.server import config_of, start_metrics_server
from services.gateway.site_security import KeyRequiredError, keys_needed
from services.gateway.state import State
from services.registry import process_settings
from shared.process import telemetry

OPEN = {
    None: "no API key is required until a key is created; until then only this machine can reach "
    "the service",
    False: "no API key is required: everyone who can reach the service can use it",
}

logger = telemetry.logger(__name__)


def main() -> None:
    """Serve until SIGTERM, then finish the open requests and exit."""
    argparse.ArgumentParser(prog="python -m services.gateway", description=__doc__).parse_args()
    settings = process_settings()
    telemetry.configure_logging(settings.log_level, settings.log_format)
    telemetry.configure_tracing("gateway")
    app = create_app(settings)
    gateway: State = app.state.gateway
    try:
        needed = keys_needed(settings, gateway.engine)
    except KeyRequiredError as error:
        sys.exit(str(error))
    if needed:
        gateway.key_cache.set_required()
    else:
        logger.warning("gateway.open", host=settings.host, detail=OPEN[needed])
    if settings.metrics_port is not None:
        start_metrics_server(app, settings.metrics_host, settings.metrics_port)
    if settings.otlp_endpoint is not None:
        FastAPIInstrumentor.instrument_app(app, excluded_urls="healthz,readyz,metrics")
    uvicorn.Server(config_of(app, settings)).run()


if __name__ == "__main__":
    main()
