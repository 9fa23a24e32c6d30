"""The HTTP server of every double: one whose queue of connections is no shorter than a client's."""

from __future__ import annotations

from http.server import ThreadingHTTPServer


class HttpServer(ThreadingHTTPServer):
    """Five connections may wait by default; the sixth one is tried again after a whole second."""

    request_queue_size = 128
    daemon_threads = True

    def serve_forever(self, poll_interval: float = 0.02) -> None:
        """Its end is noticed at once, not after half a second."""
        super().serve_forever(poll_interval)
