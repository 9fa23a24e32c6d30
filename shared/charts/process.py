"""The process that draws: a Vega-Lite specification in, SVG out, until the other end is closed.

`painter` starts it by its path: it imports nothing of the house.
"""

from __future__ import annotations

import signal
import sys
from multiprocessing.connection import Connection

import vl_convert

DRAWN, REFUSED = b"+", b"-"


def serve(gateway: Connection, version: str, seconds: int) -> None:
    """One picture after the other. seconds: what a picture may take; the kernel ends us then."""
    while True:
        try:
            spec = gateway.recv_bytes().decode()
        except (EOFError, OSError):  # the gateway has gone
            return
        signal.alarm(seconds)  # also of an orphan that never comes back from the engine
        try:
            answer = DRAWN + vl_convert.vegalite_to_svg(spec, vl_version=version).encode()
        except ValueError as error:
            answer = REFUSED + str(error).encode()
        signal.alarm(0)
        try:
            gateway.send_bytes(answer)
        except OSError:
            return


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the gateway's to hear
    serve(Connection(int(sys.argv[1])), sys.argv[2], int(sys.argv[3]))
