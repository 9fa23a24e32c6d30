"""The pages over real HTTP: who sees what, what is escaped, what a form may do."""

from __future__ import annotations

import hashlib
import re
import tomllib
from typing import Any
from urllib.parse import parse_qsl, urlencode

import httpx
import pytest
import redis
from sqlalchemy import Engine

from services.gateway.pages.page_route import POLICY
from services.gateway.pages.templates import STATIC, asset, style_sheet
from services.registry import contracts, metrics
from shared.contracts.errors import Unavailable
from shared.ledger import keys
from shared.process.settings import Settings
from shared.queue import broker
from tests.end_to_end.service import ROOT
from tests.gateway.conftest import Opens
from tests.gateway.pages.parsed import FormFields
from tests.gateway.test_scores import GOOD, URL

HOSTILE = "<script>alert(1)</script> \" ' \u202eright-to-left\u202c \U0001f600 &amp;"
META = re.compile(r'<meta name="csrf" content="([0-9a-f]{128})">')
SCRIPT = re.compile(r"""<script src="\{\{ asset\('([\w./-]+)'\)""")
NO_LIVE = "{% block live %}{% endblock %}"
MOST_SCRIPTS = 70_000  # bytes
CSRF = re.compile(r'name="csrf" value="([0-9a-f]{128})"')


def token(page: httpx.Response) -> str:
    """The token that this page's forms carry."""
    found = CSRF.search(page.text) or META.search(page.text)
    assert found is not None
    return found[1]


def created(client: httpx.Client, address: str) -> httpx.Response:
    """The page at this address, once its button has created what it reports."""
    path, _, query = address.partition("?")
    pairs = [*parse_qsl(query), ("csrf", token(client.get("/")))]
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = client.post(path, content=urlencode(pairs), headers=kind)
    assert answer.status_code == 303, answer.text
    return client.get(answer.headers["location"].partition("#")[0])


def submitted(client: httpx.Client, **fields: Any) -> httpx.Response:
    """The form of /try, sent as a browser would."""
    form = client.get("/try", params={"metric": fields["metric"]})
    return client.post("/try", data={"csrf": token(form), "action": "score", **fields})


def test_every_page_is_strict_about_what_it_loads(client: httpx.Client) -> None:
    for path in ("/", "/try", "/jobs", "/batches", "/docs", "/jobs/job_none"):
        answer = client.get(path)
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["content-type"].startswith("text/html")
        assert " style=" not in answer.text
        assert re.findall(r"<script(?! src=\"/static/)", answer.text) == []
        assert re.findall(r'(?:src|href)="(?:https?:)?//', answer.text) == []


@pytest.mark.parametrize("metric", sorted(metrics()))
def test_every_example_of_every_metric_can_be_tried(client: httpx.Client, metric: str) -> None:
    for name in metrics()[metric].examples:
        form = client.get("/try", params={"metric": metric, "example": name})
        typed = FormFields(form.text).sent | {"action": "score"}
        answer = client.post("/try", data=typed)
        assert answer.status_code == 303, answer.text
        job = client.get(f"/v1{answer.headers['location']}").json()
        assert job["metric"] == metric


def test_a_hostile_text_stays_text(client: httpx.Client) -> None:
    answer = submitted(client, metric="hatexscore", text=HOSTILE, explanation=HOSTILE, rest="{}")
    shown = client.get(answer.headers["location"])
    assert "<script>alert" not in shown.text
    assert "&lt;script&gt;alert" in shown.text
    assert "queued" in shown.text


def test_what_is_wrong_is_said_beside_its_place(client: httpx.Client) -> None:
    for fields, said in (
        ({"text": "a", "explanation": "b", "rest": "{"}, "not valid JSON"),
        ({"text": "a", "explanation": "b", "rest": "[]"}, "not a JSON object"),
        ({"text": "a", "explanation": "b", "rest": "[" * 100_000}, "cannot be read"),
        ({"text": "a", "explanation": "b", "rest": '{"x": "\\ud800"}'}, "not valid"),
        (
            {"text": "a", "explanation": "b", "rest": '{"options": {"tau": 2}}'},
            "<code>options/tau</code>",
        ),
        ({"text": "a", "explanation": "b", "rest": '{"model": "none"}'}, "none"),
        ({"text": "", "explanation": "b", "rest": "{}"}, "<code>text</code>"),
    ):
        answer = submitted(client, metric="hatexscore", **fields)
        assert (answer.status_code, said in answer.text) == (422, True), answer.text
    assert client.get("/v1/jobs").json()["data"] == []


def test_the_request_can_be_shown_without_being_sent(client: httpx.Client) -> None:
    form = {"text": "It's mild", "explanation": "b", "rest": "{}", "action": "show"}
    answer = submitted(client, metric="hatexscore", **form)
    assert "curl -sS" in answer.text
    assert "import httpx" in answer.text
    assert client.get("/v1/jobs").json()["data"] == []


def test_a_form_of_another_site_does_nothing(client: httpx.Client) -> None:
    form = client.get("/try")
    fields = {"metric": "hatexscore", "text": "a", "explanation": "b", "rest": "{}"}
    without = client.post("/try", data=fields)
    wrong = client.post("/try", data=fields | {"csrf": "0" * 64})
    foreign = client.post(
        "/try", data=fields | {"csrf": token(form)}, headers={"Origin": "https://elsewhere.example"}
    )
    assert {without.status_code, wrong.status_code, foreign.status_code} == {403}
    assert client.get("/v1/jobs").json()["data"] == []


def test_a_form_may_carry_its_token_as_a_header(client: httpx.Client) -> None:
    fields = {"metric": "hatexscore", "text": "a", "explanation": "b", "action": "show"}
    known = META.search(client.get("/try").text)
    assert known is not None
    for sent, status in ((known[1], 200), ("0" * 64, 403), ("", 403)):
        answer = client.post("/try", data=fields, headers={"X-CSRF-Token": sent})
        assert answer.status_code == status
    both = client.post("/try", data=fields | {"csrf": "0" * 64}, headers={"X-CSRF-Token": known[1]})
    assert both.status_code == 403


def test_what_others_wrote_is_as_they_published_it() -> None:
    named = set()
    for notice in STATIC.glob("vendor/*.toml"):
        told = tomllib.loads(notice.read_text("utf-8"))
        script = notice.with_name(f"{notice.stem}.min.js")
        assert hashlib.sha256(script.read_bytes()).hexdigest() == told["sha256"]
        assert f'version:"{told["version"]}"' in script.read_text("utf-8")
        assert told["licence"]
        named |= {notice, script}
    assert named == set(STATIC.glob("vendor/*"))


def test_no_page_loads_more_than_the_budget_of_scripts() -> None:
    """The bytes of all of them, as they are stored."""
    folder = STATIC.with_name("templates")
    sources = {path.name: path.read_text("utf-8") for path in folder.glob("*.html")}
    base, htmx = SCRIPT.findall(sources["base.html"]), SCRIPT.findall(sources["macros.html"])
    assert len(htmx) == 2
    for name, source in sources.items():
        loaded = {*base, *SCRIPT.findall(source), *(htmx if "ui.htmx()" in source else ())}
        if NO_LIVE in source:
            loaded.remove("live.js")
        assert sum((STATIC / one).stat().st_size for one in loaded) <= MOST_SCRIPTS, name


def test_every_file_of_ours_is_packed_and_kept_only_as_it_is(client: httpx.Client) -> None:
    packed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    patterns = packed["tool"]["setuptools"]["package-data"]["*"]
    names = [one.relative_to(STATIC).as_posix() for one in STATIC.rglob("*.*")]
    for name in names + [f"{one}.css" for one in contracts() if style_sheet(f"{one}.css")]:
        assert f"*.{name.rpartition('.')[2]}" in patterns
        assert "immutable" in client.get(asset(name)).headers["cache-control"]
        for other in (f"/static/{name}", f"/static/{name}?v=bogus"):
            assert client.get(other).headers["cache-control"] == "no-cache"


def test_a_silent_broker_does_not_hold_the_overview_up(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_metrics: object) -> None:
        raise Unavailable("away")

    monkeypatch.setattr(broker, "queue_lengths", away)
    assert client.get("/").status_code == 200


def test_all_lanes_are_measured_in_one_trip(client: httpx.Client) -> None:
    broker.send("hatexscore", "job_x", batch=True)
    depths = broker.queue_lengths(["hatexscore", "ice"])
    assert depths[("hatexscore", True)] == 1
    assert sum(depths.values()) == 1


def test_a_job_is_cancelled_by_its_page(client: httpx.Client) -> None:
    job = client.post(URL, json=GOOD).json()
    shown = client.get(f"/jobs/{job['id']}")
    cancelled = client.post(f"/jobs/{job['id']}/cancel", data={"csrf": token(shown)})
    assert cancelled.status_code == 303
    assert "was cancelled" in client.get(f"/jobs/{job['id']}").text


def test_the_list_is_filtered_and_paged(client: httpx.Client) -> None:
    ids = [client.post(URL, json=GOOD).json()["id"] for _ in range(52)]
    first = client.get("/jobs")
    older = re.search(r'href="(/jobs\?after=[^"]+)"', first.text)
    assert older is not None
    second = client.get(older[1])
    seen = re.findall(r'href="/jobs/(job_[0-9a-f]{32})"', first.text + second.text)
    assert seen == ids[::-1]
    assert "No job matches these filters" in client.get("/jobs", params={"status": "failed"}).text
    assert client.get("/jobs", params={"after": "x"}).status_code == 422


class TestLogIn:
    """With keys configured."""

    def test_strangers_are_sent_to_log_in_and_come_back(self, opens: Opens, engine: Engine) -> None:
        secret, browser = bearer(opens), stranger(opens)
        sent = browser.get("/jobs?status=failed")
        assert (sent.status_code, sent.headers["location"]) == (
            303,
            "/login?next=/jobs%3Fstatus%3Dfailed",
        )
        form = browser.get(sent.headers["location"])
        wrong = browser.post("/login", data={"csrf": token(form), "key": "tsk_" + "x" * 43})
        assert (wrong.status_code, "unknown" in wrong.text) == (401, True)
        fields = {"csrf": token(form), "key": secret, "next": "/jobs?status=failed"}
        inside = browser.post("/login", data=fields)
        assert inside.headers["location"] == "/jobs?status=failed"
        assert "__Host-" not in inside.headers["set-cookie"]  # this is not HTTPS
        cookie = inside.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=lax" in cookie
        assert secret not in cookie
        shown = browser.get("/jobs?status=failed")
        assert shown.status_code == 200
        out = browser.post("/logout", data={"csrf": token(shown)})
        assert out.headers["location"] == "/login"
        assert browser.get("/jobs").status_code == 303

    def test_over_https_no_other_host_can_set_the_cookies(self, opens: Opens) -> None:
        secret, browser = bearer(opens), stranger(opens)
        browser.headers["X-Forwarded-Proto"] = "https"
        form = browser.get("/login")
        browser.cookies.set("__Host-touchstone_visit", cookie_of(form, "__Host-touchstone_visit"))
        inside = browser.post("/login", data={"csrf": token(form), "key": secret})
        assert inside.status_code == 303
        said = inside.headers["set-cookie"]
        assert "__Host-touchstone_session=" in said
        assert "Secure" in said

    def test_another_tenants_job_is_not_there(self, opens: Opens, engine: Engine) -> None:
        job = opens("a").post(URL, json=GOOD).json()
        inside, outside = entered(opens, "a"), entered(opens, "b")
        assert inside.get(f"/jobs/{job['id']}").status_code == 200
        for path in (f"/jobs/{job['id']}", f"/jobs/{job['id']}/result.json"):
            assert outside.get(path).status_code == 404
        assert job["id"] not in outside.get("/jobs").text + outside.get("/").text

    def test_a_revoked_key_ends_its_sessions(self, opens: Opens, engine: Engine) -> None:
        browser = entered(opens, "a")
        assert browser.get("/").status_code == 200
        with engine.begin() as connection:
            for key in keys.all_of(connection, "a"):
                keys.revoke(connection, key.id)
        assert browser.get("/").status_code == 303

    def test_who_writes_into_redis_opens_no_session(
        self, opens: Opens, engine: Engine, chosen: Settings
    ) -> None:
        browser = entered(opens, "a")
        with engine.begin() as connection:
            (key,) = keys.all_of(connection, "a")
        with redis.Redis.from_url(chosen.redis_url.get_secret_value()) as store:
            (name,) = store.keys("touchstone:session:*")
            genuine = store.get(name)
            mine = "forged"
            forged_name = f"touchstone:session:{hashlib.sha256(mine.encode()).hexdigest()}"
            for value in (key.id, f"{forged_name} {key.id}", genuine):
                store.set(forged_name, value)
                other = stranger(opens)
                other.cookies.set("touchstone_session", mine)
                assert other.get("/").status_code == 303
        assert browser.get("/").status_code == 200

    def test_a_key_that_may_not_score_tries_nothing(self, opens: Opens, engine: Engine) -> None:
        browser = entered(opens, "a", "batch")
        form = browser.get("/try")
        fields = {"metric": "hatexscore", "text": "a", "explanation": "b", "rest": "{}"}
        assert browser.post("/try", data=fields | {"csrf": token(form)}).status_code == 403

    @pytest.mark.parametrize(
        "target", ["//evil.example", "/\\evil.example", "https://evil.example"]
    )
    def test_nobody_is_sent_elsewhere(self, opens: Opens, target: str) -> None:
        secret, browser = bearer(opens), stranger(opens)
        form = browser.get("/login")
        answer = browser.post("/login", data={"csrf": token(form), "key": secret, "next": target})
        assert answer.headers["location"] == "/"


def cookie_of(answer: httpx.Response, name: str) -> str:
    """A cookie's value, of those that a client without TLS does not keep."""
    found = re.search(rf"{name}=([^;]+)", answer.headers["set-cookie"])
    assert found is not None
    return found[1]


def stranger(opens: Opens) -> httpx.Client:
    """A browser without a key."""
    client = opens("nobody")
    del client.headers["Authorization"]
    return client


def bearer(opens: Opens, tenant: str = "a", *scopes: keys.Scope) -> str:
    """A key's secret."""
    return opens(tenant, *scopes).headers["Authorization"].removeprefix("Bearer ")


def entered(opens: Opens, tenant: str, *scopes: keys.Scope) -> httpx.Client:
    """A browser that has logged in."""
    secret, browser = bearer(opens, tenant, *scopes), stranger(opens)
    form = browser.get("/login")
    answer = browser.post("/login", data={"csrf": token(form), "key": secret})
    assert answer.status_code == 303
    return browser
