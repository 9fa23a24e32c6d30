"""The page `/guide`, which serves the built guide if it exists. `make guide` builds it. The theme
has a few inline scripts. The content security policy allows these by their hashes, and no others.
"""

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
    """The guide's files with their own content policy."""

    def __init__(self, folder: Path) -> None:
        super().__init__(directory=folder, html=True)
        self._headers = {**PAGE_HEADERS, "Content-Security-Policy": policy(folder)}

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return the file with headers that require revalidation."""
        response = await super().get_response(path, scope)
        response.headers.update(self._headers)
        response.headers["Cache-Control"] = "no-cache"
        return response


def policy(folder: Path) -> str:
    """Return a policy that allows our files, and the inline scripts of this build by their
    SHA-256."""
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
    """Install the guide at `/guide`. If the guide is not built, the address does not exist."""
    if (SITE / "index.html").is_file():
        app.mount("/guide", Guide(SITE), name="guide")
