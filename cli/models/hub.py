"""A client of the model hub (Hugging Face) for `touchstone models`. It lists the files of a
repository and reads small ones. The variables `HF_ENDPOINT` and `HF_TOKEN` apply."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import quote

import httpx

SECONDS = 30.0  # without a byte
MOST_BYTES = 5_000_000  # of a small file
CONVERSIONS = 20  # newest pull requests that are looked at for safetensors


class CommandError(Exception):
    """A command failed. The message is meant for the user."""


@dataclass(frozen=True)
class Repository:
    """A repository at a fixed commit. `files` holds the paths of its files."""

    name: str
    commit: str
    files: tuple[str, ...]

    @property
    def has_safetensors(self) -> bool:
        return any("/" not in file and file.endswith(".safetensors") for file in self.files)


class Hub:
    """A connection to the model hub. Use it in a `with` statement. Its methods raise
    CommandError."""

    def __init__(self, url: str, token: str | None = None) -> None:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._url = url.rstrip("/")
        self._client = httpx.Client(
            base_url=self._url, headers=headers, timeout=SECONDS, follow_redirects=True
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def repository(self, name: str, revision: str) -> Repository:
        """Return the repository at this branch, tag or commit."""
        description = self._get(
            name, f"/api/models/{name}/revision/{quote(revision, safe='')}"
        ).json()
        files = tuple(str(file["rfilename"]) for file in description.get("siblings") or ())
        return Repository(name, str(description["sha"]), files)

    def file(self, repository: Repository, path: str) -> bytes | None:
        """Return the content of a small file, or None if it does not exist."""
        if path not in repository.files:
            return None
        location = f"/{repository.name}/resolve/{repository.commit}/{quote(path)}"
        content = self._get(repository.name, location).content
        if len(content) > MOST_BYTES:
            raise CommandError(f"{repository.name}: {path} is too large")
        return content

    def converted(self, name: str) -> Repository | None:
        """Return the newest pull request that adds safetensors, or None."""
        listed = self._get(name, f"/api/models/{name}/refs?include_prs=1").json()
        requests = sorted(listed.get("pullRequests") or (), key=_number, reverse=True)
        for pull_request in requests[:CONVERSIONS]:
            repository = self.repository(name, str(pull_request["ref"]))
            if repository.has_safetensors:
                return repository
        return None

    def _get(self, repository: str, path: str) -> httpx.Response:
        try:
            answer = self._client.get(path)
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise CommandError(
                f"the hub {self._url} cannot be reached ({error or type(error).__name__})"
            ) from None
        if answer.status_code in (401, 403):
            raise CommandError(
                f"{repository}: the hub requires a login, because the repository is gated or "
                "does not exist. Check the name, accept the terms on the repository's page, "
                "and set HF_TOKEN"
            )
        if answer.status_code == 404:
            raise CommandError(
                f"{repository}: the hub has no repository, revision or file of this name; "
                "check the name"
            )
        if answer.is_error:
            raise CommandError(
                f"{repository}: the hub answered with HTTP status {answer.status_code}"
            )
        return answer


def _number(request: dict[str, Any]) -> int:
    last = str(request.get("ref", "")).rpartition("/")[2]
    return int(last) if last.isdecimal() else 0
