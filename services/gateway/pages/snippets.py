"""The curl and the Python that send the same request."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pprint import pformat
from typing import Any

from shared.contracts import ServiceContract

KEY = "$TOUCHSTONE_API_KEY"


@dataclass(frozen=True)
class Snippets:
    """Both, ready to be pasted."""

    curl: str
    python: str


def snippets(
    room: ServiceContract, body: dict[str, Any], base_url: str, *, with_key: bool
) -> Snippets:
    """base_url: of this service, without a slash at its end. The key is never written out."""
    url = f"{base_url}{room.path}"
    return Snippets(_curl(url, body, with_key=with_key), _python(url, body, with_key=with_key))


def _curl(url: str, body: dict[str, Any], *, with_key: bool) -> str:
    lines = [f"curl -sS {shlex.quote(url)}", "-H 'Content-Type: application/json'"]
    if with_key:
        lines.append(f'-H "Authorization: Bearer {KEY}"')
    lines += ["-H 'Prefer: wait=30'", f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}"]
    return " \\\n  ".join(lines)


def _python(url: str, body: dict[str, Any], *, with_key: bool) -> str:
    imports = "import os\n\nimport httpx\n" if with_key else "import httpx\n"
    headers = '    "Prefer": "wait=30",\n'
    if with_key:
        headers += '    "Authorization": f"Bearer {os.environ[\'TOUCHSTONE_API_KEY\']}",\n'
    written = pformat(body, width=88, sort_dicts=False)
    return (
        f"{imports}\nrequest = {written}\nheaders = {{\n{headers}}}\n"
        f"answer = httpx.post({url!r}, json=request, headers=headers, timeout=60)\n"
        'answer.raise_for_status()\nprint(answer.json()["result"])\n'
    )
