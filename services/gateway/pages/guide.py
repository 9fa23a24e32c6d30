"""The page `/guide`, which shows the user guide once `make guide` has built it. The guide's theme
has a few inline scripts. The content security policy allows only these, by their hashes."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from services.gateway.pages.page_route import PAGE_HEADERS

SITE = Path("site")  # as mkdocs.yml has it, in the folder that the gateway is started in
INLINE = re.compile(r"<script(?![^>]*\b(?:src|type)=)[^>]*>(.*?)</script>", re.DOTALL)


class Guide(StaticFiles):
    """The files of the user guide, with their own content security policy."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder, html=True)
        self._headers = {**PAGE_HEADERS, "Content-Security-Policy": policy(folder)}

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file of the guide. Browsers must revalidate it each time."""
        response = await super().get_response(path, scope)
        response.headers.update(self._headers)
        response.headers["Cache-Control"] = "no-cache"
        return response


def policy(folder: Path) -> str:
    """Return a content security policy that allows our files and the guide's inline scripts (by
    SHA-256)."""
    inline = {
        hashlib.sha256(script.encode()).digest()
        for file in folder.rglob("*.html")
        for script in INLINE.findall(file.read_text("utf-8"))
    }
    hashes = sorted(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in inline)
    scripts = " ".join(["'self'", *hashes])
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def install(app: FastAPI) -> None:
    """Serve the user guide at `/guide`. If it is not built, the address does not exist."""
    if (SITE / "index.html").is_file():
        app.mount("/guide", Guide(SITE), name="guide")
