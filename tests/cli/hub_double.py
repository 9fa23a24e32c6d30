"""A hub on this machine: the few endpoints that `touchstone models` and the hub's client ask.

It states hashes as the real one does: the SHA-256 of large files, git's SHA-1 of small ones.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.http_server import HttpServer

LARGE = (".safetensors", ".bin")


@dataclass
class HubDouble:
    """Repositories: name → revision → commit; commit → folder of files."""

    url: str = ""
    revisions: dict[str, dict[str, str]] = field(default_factory=dict)
    commits: dict[str, Path] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)
    cut: int | None = None  # bytes after which the next large answer breaks off

    def add(self, name: str, revision: str, folder: Path, commit: str) -> None:
        """This folder is this commit, and what the revision is now."""
        self.revisions.setdefault(name, {}).update({revision: commit, commit: commit})
        self.commits[commit] = folder

    def answer(self, path: str, token: str | None) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body."""
        steps = [unquote(step) for step in path.strip("/").split("/")]
        api = steps[:2] == ["api", "models"]
        name = "/".join(steps[2:4] if api else steps[:2])
        if name not in self.revisions:
            return 404, {"X-Error-Code": "RepoNotFound"}, b"{}"
        if name in self.gated and token != "Bearer word":
            return 403, {"X-Error-Code": "GatedRepo"}, b"{}"
        if api:
            return self._api(name, steps[4:])
        return self._file(name, steps[3], "/".join(steps[4:]))

    def _api(self, name: str, rest: list[str]) -> tuple[int, dict[str, str], bytes]:
        if rest == ["refs"]:
            requests = [
                {"name": ref, "ref": ref, "targetCommit": commit}
                for ref, commit in self.revisions[name].items()
                if ref.startswith("refs/pr/")
            ]
            found: Any = {"branches": [], "converts": [], "tags": [], "pullRequests": requests}
            return 200, {}, json.dumps(found).encode()
        commit = self.revisions[name].get(rest[1])
        if commit is None:
            return 404, {"X-Error-Code": "RevisionNotFound"}, b"{}"
        files = sorted(file.name for file in self.commits[commit].iterdir())
        siblings = [{"rfilename": file} for file in files]
        return 200, {}, json.dumps({"id": name, "sha": commit, "siblings": siblings}).encode()

    def _file(self, name: str, revision: str, file: str) -> tuple[int, dict[str, str], bytes]:
        commit = self.revisions[name].get(revision, "")
        place = self.commits[commit] / file if commit else None
        if place is None or not place.is_file():
            return 404, {"X-Error-Code": "EntryNotFound"}, b""
        body = place.read_bytes()
        etag = (
            hashlib.sha256(body).hexdigest()
            if file.endswith(LARGE)
            else hashlib.sha1(
                f"blob {len(body)}\0".encode() + body, usedforsecurity=False
            ).hexdigest()
        )
        return 200, {"X-Repo-Commit": commit, "ETag": f'"{etag}"'}, body


class Handler(BaseHTTPRequestHandler):
    """The double's answers over HTTP."""

    double: HubDouble

    def _answer(self, *, body: bool) -> None:
        path = urlsplit(self.path).path
        self.double.asked.append(f"{self.command} {path}")
        status, headers, content = self.double.answer(path, self.headers.get("Authorization"))
        if status == 200 and (asked := self.headers.get("Range", "")).startswith("bytes="):
            start, total = int(asked.removeprefix("bytes=").partition("-")[0]), len(content)
            headers["Content-Range"] = f"bytes {start}-{total - 1}/{total}"
            status, content = 206, content[start:]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if body:
            self._send(content, breaks_off=path.endswith(LARGE) and self.double.cut is not None)

    def _send(self, content: bytes, *, breaks_off: bool) -> None:
        self.wfile.write(content[: self.double.cut] if breaks_off else content)
        if breaks_off:
            self.double.cut, self.close_connection = None, True

    def do_GET(self) -> None:
        self._answer(body=True)

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def log_message(self, *_: object) -> None:
        """Silent."""


@contextmanager
def hub_double() -> Iterator[HubDouble]:
    """It listens until the block is left."""
    double = HubDouble()
    bound = type("Bound", (Handler,), {"double": double})
    server = HttpServer(("127.0.0.1", 0), bound)
    double.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield double
    finally:
        server.shutdown()
        server.server_close()
