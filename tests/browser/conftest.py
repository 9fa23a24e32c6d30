"""A browser, a gateway, and jobs of every metric in every state.

Scores are the metrics' own, made in this process from the examples of their contracts.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from sqlalchemy import Engine

from services.registry import metrics, page_details, service
from shared.contracts.fields import merge_fields
from shared.contracts.problems import make
from shared.ledger import jobs, leases
from shared.models import ports
from shared.process.settings import Settings
from tests.end_to_end.service import ROOT
from tests.gateway.serving import serving
from tests.patience import SECONDS
from tests.shipped import shipped_models

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
NO_FAULT = (  # a page of status 404; no network, or another request came first
    "Failed to load resource", "htmx:afterRequest", "htmx:sendError", "htmx:sendAbort",
)  # fmt: skip
WATCH = """addEventListener("securitypolicyviolation", (event) => console.error(
  `policy: ${event.effectiveDirective} ${event.blockedURI}`), true)"""
LOADING = "loading"  # a selector: what is there until the page has loaded
IS_LOADING = """{
  queryAll: () => document.readyState === "complete" ? [] : [document.documentElement ?? []].flat()
}"""
OWN = ("data:", "blob:", "about:")  # what a page makes itself
FAR = timedelta(hours=1)
FAILURE = make("bad-input", "The request cannot be scored", 422, "the model has no such label")

Visits = Callable[..., Page]

expect.set_options(timeout=1_000 * SECONDS)  # of an expectation; it ends as soon as it is met


def executable() -> str | None:
    """Where a browser is; TOUCHSTONE_BROWSER names another one."""
    named = os.environ.get("TOUCHSTONE_BROWSER")
    return named or next((path for name in BROWSERS if (path := shutil.which(name))), None)


@pytest.fixture(scope="module")  # while it is open, nothing else may run an event loop
def browser() -> Iterator[Browser]:
    """Chromium; without one these tests are skipped."""
    path = executable()
    if path is None:
        pytest.skip("there is no Chromium here: install Debian's `chromium`")
    with sync_playwright() as playwright:
        playwright.selectors.register(LOADING, IS_LOADING, content_script=True)
        started = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"], timeout=1_000 * SECONDS
        )
        yield started
        started.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the windows of a test complain of: faults of scripts, violations of the policy, requests
    to another host."""
    return []


@pytest.fixture
def visits(browser: Browser, complaints: list[str]) -> Iterator[Visits]:
    """Opens windows; one complaint fails the test."""
    contexts: list[BrowserContext] = []

    def visit(url: str, **options: Any) -> Page:
        context = browser.new_context(base_url=url, **options)
        context.set_default_timeout(1_000 * SECONDS)
        context.add_init_script(WATCH)
        context.on("request", lambda one: _asked(one.url, url, complaints))
        contexts.append(context)
        page = context.new_page()
        _attend(page, complaints)
        return page

    yield visit
    for context in contexts:
        for page in context.pages:  # what is under way when a test ends is no fault
            page.unroute_all(behavior="ignoreErrors")
        context.close()
    assert complaints == []


def _attend(page: Page, complaints: list[str]) -> None:
    """Its complaints are heard, and nothing is done or expected there before the page has its
    scripts: a click before that does what it does without them."""
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda said: _heard(said.type, said.text, complaints))
    page.on("popup", lambda other: _attend(other, complaints))
    page.add_locator_handler(page.locator(f"{LOADING}=page"), lambda: None)  # until it is gone


def _asked(address: str, origin: str, complaints: list[str]) -> None:
    if not address.startswith((f"{origin}/", *OWN)):
        complaints.append(f"asks {address}")


def _heard(kind: str, text: str, complaints: list[str]) -> None:
    if kind == "error" and not any(one in text for one in NO_FAULT):
        complaints.append(text)


@pytest.fixture(scope="session")
def open_gateway(_settings: Settings) -> Iterator[str]:
    """A gateway that asks for no keys."""
    with serving(_settings.model_copy(update={"authentication": "none"})) as url:
        yield url


@pytest.fixture(scope="session")
def results() -> dict[str, dict[str, Any]]:
    """metric → the result of its first example, with all the detail that a page can show."""
    ports.bind(shipped_models())
    found = {}
    for name in metrics():
        score = service(name).score
        request = metrics()[name].request.model_validate(example(name))
        found[name] = score(request).model_dump(mode="json")
    ports.bind(None)
    return found


def example(metric: str) -> dict[str, Any]:
    """The metric's first example, asked for all the detail that its page shows."""
    contract = metrics()[metric]
    return merge_fields(next(iter(contract.examples.values())), page_details(metric))


@dataclass(frozen=True)
class Filled:
    """A gateway's address, and the jobs behind it: (metric, state) → id."""

    url: str
    jobs: dict[tuple[str, str], str]


@pytest.fixture
def filled(open_gateway: str, engine: Engine, results: dict[str, dict[str, Any]]) -> Filled:
    """A job of every metric that has succeeded, failed, runs and waits."""
    made = {}
    for metric, result in results.items():
        for state in ("succeeded", "failed", "running", "queued"):
            made[metric, state] = put(engine, metric, state, example(metric), result)
    return Filled(open_gateway, made)


def put(
    engine: Engine, metric: str, state: str, body: dict[str, Any], result: dict[str, Any]
) -> str:
    """A job in this state; its id."""
    request = metrics()[metric].request.model_validate(body).model_dump(mode="json")
    job_id = jobs.new_id()
    with engine.begin() as connection:
        jobs.insert_job(connection, job_id, metric, request, FAR)
        if state == "queued":
            return job_id
        claim = leases.claim(connection, job_id, lease=FAR, max_attempts=3)
        assert claim is not None
        if state == "succeeded":
            assert leases.succeed(connection, claim, result)
        if state == "failed":
            assert leases.fail(connection, claim, FAILURE)
    return job_id


def screenshot_folder() -> Path:
    """Where the README's picture is."""
    return ROOT / "docs" / "pictures"
