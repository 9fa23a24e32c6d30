"""Under which address this visitor reached us: TLS may have ended in front of us."""

from __future__ import annotations

from fastapi import Request


def is_https(request: Request) -> bool:
    """Whether the visitor's side is encrypted; who forges the header denies itself a cookie."""
    forwarded = request.headers.get("x-forwarded-proto", "").partition(",")[0].strip().lower()
    return (forwarded or request.url.scheme) == "https"


def base_url(request: Request) -> str:
    """Of this service, without a slash at its end."""
    scheme = "https" if is_https(request) else "http"
    return str(request.base_url.replace(scheme=scheme)).rstrip("/")
