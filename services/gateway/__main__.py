"""The gateway's process: `python -m services.gateway`."""

from __future__ import annotations

import argparse

import uvicorn

from services.gateway.app import create_app
from shared import log
from shared.settings import settings


def main() -> None:
    """Serve until SIGTERM; open requests are finished first."""
    argparse.ArgumentParser(prog="python -m services.gateway", description=__doc__).parse_args()
    chosen = settings()
    log.configure(chosen.log_level, chosen.log_format)
    uvicorn.run(
        create_app(chosen),
        host=chosen.host,
        port=chosen.port,
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=chosen.max_wait_seconds + 5,
    )


if __name__ == "__main__":
    main()
