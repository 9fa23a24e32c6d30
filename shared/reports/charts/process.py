"""The drawing process. It converts a Vega-Lite specification to SVG, and an SVG to PNG. It ends
when the other end of its pipe is closed. `engine.Painter` starts it by path, so it imports nothing
of the project."""

from __future__ import annotations

import signal
import sys
from multiprocessing.connection import Connection

import vl_convert

DRAWN, REFUSED = b"+", b"-"
DOTS_PER_INCH = 150 * 72 / 96  # of a PNG; vl-convert reads an SVG's 96 pixels per inch as 72


def draw(request: str, version: str) -> bytes:
    """Return the SVG of a specification in JSON, or the PNG of an SVG. Raises ValueError."""
    if request.startswith("<"):
        return vl_convert.svg_to_png(request, ppi=DOTS_PER_INCH)
    return vl_convert.vegalite_to_svg(request, vl_version=version).encode()


def run(caller: Connection, version: str, seconds: int) -> None:
    """Draw one chart after another. The kernel ends the process if a chart takes longer than
    `seconds`."""
    while True:
        try:
            request = caller.recv_bytes().decode()
        except (EOFError, OSError):  # the caller has ended
            return
        signal.alarm(seconds)  # also ends an orphan that hangs in the engine
        try:
            answer = DRAWN + draw(request, version)
        except ValueError as error:
            answer = REFUSED + str(error).encode()
        signal.alarm(0)
        try:
            caller.send_bytes(answer)
        except OSError:
            return


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the caller
    run(Connection(int(sys.argv[1])), sys.argv[2], int(sys.argv[3]))
