"""Firefox by its own protocol, Marionette: no driver, no library, and no patched build.

Each message is `LENGTH:[0, id, command, parameters]`, each answer `LENGTH:[1, id, error, result]`.
Source: firefox-source-docs.mozilla.org/testing/marionette/Protocol.html.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.patience import SECONDS, eventually

BROWSERS = ("firefox-esr", "firefox")


def firefox() -> str | None:
    """Where it is; TOUCHSTONE_FIREFOX names another one."""
    named = os.environ.get("TOUCHSTONE_FIREFOX")
    return named or next((path for name in BROWSERS if (path := shutil.which(name))), None)


class Marionette:
    """One window."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._asked = 0
        self._read()  # a greeting
        self.ask("WebDriver:NewSession", capabilities={})

    def goto(self, url: str) -> None:
        self.ask("WebDriver:Navigate", url=url)

    def run(self, script: str, *args: Any) -> Any:
        """What a function with this body returns in the page."""
        return self.ask("WebDriver:ExecuteScript", script=script, args=list(args))["value"]

    def resize(self, width: int, height: int) -> None:
        """Of the page itself; a window of Firefox is at least 450 wide, so a frame is narrower."""
        self.ask("WebDriver:SetWindowRect", width=width, height=height)

    def ask(self, command: str, **parameters: Any) -> Any:
        self._asked += 1
        raw = json.dumps([0, self._asked, command, parameters]).encode()
        self._connection.sendall(f"{len(raw)}:".encode() + raw)
        _, _, error, result = self._read()
        assert error is None, error
        return result

    def _read(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            length += self._receive(1)
        found = b""
        while len(found) < int(length[:-1]):
            found += self._receive(int(length[:-1]) - len(found))
        return json.loads(found)

    def _receive(self, most: int) -> bytes:
        found = self._connection.recv(most)
        assert found, "Firefox has gone"
        return found


@contextmanager
def started(path: str, profile: Path, *, dark: bool = False) -> Iterator[Marionette]:
    """Without a screen, with a new profile."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "marionette.port": port,
        "layout.css.prefers-color-scheme.content-override": not dark,
    }
    settings["security.sandbox.content.level"] = 0  # containers allow it no namespaces
    lines = [
        f"user_pref({json.dumps(name)}, {json.dumps(int(one))});" for name, one in settings.items()
    ]
    (profile / "user.js").write_text("\n".join(lines), "utf-8")
    command = [path, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    own = os.environ | {"HOME": str(profile)}
    silent = subprocess.DEVNULL
    process = subprocess.Popen(command, env=own, stdout=silent, stderr=silent)
    try:
        with _connected(port) as connection:
            yield Marionette(connection)
    finally:
        process.terminate()
        process.wait(SECONDS)


def _connected(port: int) -> socket.socket:
    found: list[socket.socket] = []

    def connect() -> bool:
        try:
            found.append(socket.create_connection(("127.0.0.1", port), SECONDS))
        except OSError:
            return False
        return True

    eventually(connect, every=0.2)
    return found[0]
