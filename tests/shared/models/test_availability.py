"""A model is loaded once, by one thread; one that cannot be is told of, and tried again later."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from shared.contracts.errors import (
    JobCancelled,
    ModelNotReady,
    ModelState,
    ScoringError,
    Unavailable,
)
from shared.models.catalogue import availability
from shared.models.catalogue.availability import (
    LoadedModels,
    LoadingError,
    ModelStates,
    Placement,
    placed,
)
from shared.models.catalogue.catalogue import load_catalogue
from shared.models.catalogue.entry import ModelEntry
from shared.models.ports import Models
from shared.models.remote import QueueModels
from shared.process import telemetry
from shared.process.telemetry import MODEL_READY


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds, moved by hand."""
    now = [0.0]
    monkeypatch.setattr("shared.models.catalogue.availability.monotonic", lambda: now[0])
    return now


def test_many_threads_get_the_one_that_was_loaded_once() -> None:
    loads: list[int] = []
    models: LoadedModels[object] = LoadedModels()

    def load() -> object:
        loads.append(1)
        return object()

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: models.get("m", load), range(40)))
    assert len(set(found)) == len(loads) == 1


def test_a_failure_is_told_at_once_and_tried_again_ever_later(clock: list[float]) -> None:
    states, loads = ModelStates(), []
    models: LoadedModels[str] = LoadedModels(states)

    def load() -> str:
        loads.append(clock[0])
        if len(loads) < 4:
            raise KeyError("hidden_size")
        return "model"

    for clock[0] in range(70):  # time passes
        with pytest.raises(ModelNotReady) as caught:
            models.get("m", load)
        assert caught.value.model == "m"
        assert caught.value.detail == "the model 'm' cannot be loaded: KeyError: 'hidden_size'"
        found = states.all()["m"]
        assert (found.state, found.reason) == ("failed", caught.value.detail)
        assert found.since == 0  # since it failed first
    clock[0] = 70
    assert models.get("m", load) == "model"
    assert loads == [0, 10, 30, 70]
    assert states.all()["m"].state == "ready"


def test_what_no_other_try_would_mend_is_tried_once_until_it_is_configured_anew(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    states, loads = ModelStates(), []
    models: LoadedModels[str] = LoadedModels(states)
    monkeypatch.setattr(availability, "logger", telemetry.logger("models"))  # none used it before

    def load() -> str:
        loads.append(clock[0])
        if len(loads) == 1:
            raise LoadingError("no network of this runtime", "failed", again=False)
        return "model"

    with capture_logs() as events:
        for clock[0] in (0, 100, 100_000):
            with pytest.raises(ModelNotReady, match="no network of this runtime"):
                models.get("m", load)
    assert loads == [0]
    [event] = events
    assert event["event"] == "model.failed"
    assert "again_seconds" not in event  # nobody is told of a try that there is not
    states.remove("m")  # as at a reload, where the entry or the files have changed
    assert models.get("m", load) == "model"


def test_no_model_waits_for_another_and_no_thread_for_long() -> None:
    states = ModelStates()
    models: LoadedModels[str] = LoadedModels(states, patience=0.01)
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> str:
        begun.set()
        go_on.wait()
        return "slow"

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(models.get, "slow", slow)
        begun.wait()
        assert models.get("quick", lambda: "quick") == "quick"
        with pytest.raises(ModelNotReady, match="is being loaded"):
            models.get("slow", slow)
        assert states.all()["slow"].state == "loading"
        go_on.set()
        assert first.result() == "slow"
    assert models.get("slow", slow) == "slow"


def test_who_waits_learns_of_the_failure() -> None:
    models: LoadedModels[str] = LoadedModels()
    begun, go_on = threading.Event(), threading.Event()

    def broken() -> str:
        begun.set()
        go_on.wait()
        raise ScoringError("its weights are altered")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(models.get, "m", broken)
        begun.wait()
        second = pool.submit(models.get, "m", broken)
        go_on.set()
        for asked in (first, second):
            with pytest.raises(ModelNotReady, match="its weights are altered"):
                asked.result()


def test_a_job_that_is_stopped_while_it_loads_says_nothing_of_the_model() -> None:
    states = ModelStates()
    models: LoadedModels[str] = LoadedModels(states)

    def stopped() -> str:
        raise JobCancelled("enough")

    with pytest.raises(JobCancelled):
        models.get("m", stopped)
    assert models.get("m", lambda: "model") == "model"


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (LoadingError("not on this disk", "absent"), "absent"),
        (LoadingError("4 GB needed, 1 GB free", "waiting"), "waiting"),
        (LoadingError("1 GB so far", "downloading"), "downloading"),
        (Unavailable("the device is full"), "waiting"),
        (ScoringError("its weights are altered"), "failed"),
        (KeyError("hidden_size"), "failed"),
    ],
)
def test_a_model_that_cannot_be_loaded_says_how_it_is(error: Exception, state: ModelState) -> None:
    states = ModelStates()
    models: LoadedModels[str] = LoadedModels(states)

    def load() -> str:
        raise error

    with pytest.raises(ModelNotReady) as caught:
        models.get("m", load)
    found = states.get("m")
    assert found is not None
    assert caught.value.state == found.state == state


def test_what_a_model_needs_is_known_while_it_is_loaded() -> None:
    states = ModelStates()
    models: LoadedModels[str] = LoadedModels(states)
    seen = []

    def load() -> str:
        placed(Placement(size=1_100_000_000, memory=2, device="cpu", dtype="float32"))
        seen.append(states.get("m"))
        return "model"

    models.get("m", load)
    assert seen[0] is not None
    assert (seen[0].state, str(seen[0].placement)) == ("loading", "1.1 GB, cpu float32")
    ready = states.get("m")
    assert ready is not None
    assert ready.placement == seen[0].placement  # it stays


def test_a_model_that_is_forgotten_is_loaded_anew_and_counted_no_more() -> None:
    states = ModelStates()
    loads: list[int] = []
    models: LoadedModels[int] = LoadedModels(states)

    def load() -> int:
        loads.append(1)
        return len(loads)

    assert models.get("forgotten", load) == 1
    assert MODEL_READY.labels("forgotten")._value.get() == 1
    states.remove("forgotten")
    assert states.get("forgotten") is None
    assert ("forgotten",) not in MODEL_READY._metrics
    assert models.get("forgotten", load) == 2


def test_what_is_idle_is_unloaded_where_another_needs_the_room(clock: list[float]) -> None:
    states = ModelStates()
    judges: LoadedModels[str] = LoadedModels(states)
    writers: LoadedModels[str] = LoadedModels(states)
    again = list[int]()

    def load(name: str) -> str:
        held = set(states.all()) & {"idle", "used", "kept"}
        if name == "large" and "idle" in held:
            raise LoadingError("no room", "waiting")
        return name

    judges.get("idle", lambda: load("idle"), 60)
    judges.get("used", lambda: load("used"), 60)
    writers.get("kept", lambda: load("kept"))
    clock[0] = 30
    judges.get("used", lambda: load("used"), 60)
    with pytest.raises(ModelNotReady, match="no room"):  # nobody's time is over yet
        writers.get("large", lambda: load("large"))
    assert set(states.all()) == {"idle", "used", "kept", "large"}
    clock[0] = 61
    assert writers.get("large", lambda: load("large")) == "large"
    assert set(states.all()) == {"used", "kept", "large"}

    def loaded_again() -> str:
        again.append(1)
        return "idle"

    judges.get("idle", loaded_again, 60)
    assert again == [1]  # it is loaded again


def test_a_model_of_first_use_is_idle_after_its_minutes(
    clock: list[float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`idle_minutes` of an entry: kept so long after its last use, then unloaded where another
    needs the room; one that is loaded at start is never."""
    from services.inference import local_models

    file = tmp_path / "models.toml"
    file.write_text(IDLE, "utf-8")
    states = ModelStates()

    def load(_: object, entry: ModelEntry, adapter: object) -> str:
        if entry.name == "large" and "brief" in states.all():
            raise LoadingError("no room", "waiting")
        return entry.name

    monkeypatch.setattr(local_models, "load_classifier", load)
    monkeypatch.setattr(local_models, "LocalClassifier", lambda loaded, budget: loaded)
    models = local_models.LocalModels(load_catalogue(file), states=states)
    for name in ("brief", "usual", "start"):
        models.local_classifier(name)
    clock[0] = 119
    with pytest.raises(ModelNotReady, match="no room"):
        models.local_classifier("large")
    models.local_classifier("brief")  # asked again: its time begins anew
    clock[0] = 119 + 121
    assert str(models.local_classifier("large")) == "large"
    assert set(states.all()) == {"usual", "start", "large"}
    clock[0] += 30 * 60
    assert set(states.release_idle()) == {"usual"}  # 30 minutes, where the entry says nothing


IDLE = "schema = 2\n" + "".join(
    f'[[models]]\nname = "{name}"\nkind = "classifier"\nsource = "path:{name}"\n{more}\n'
    for name, more in (
        ("brief", 'load = "first-use"\nidle_minutes = 2'),
        ("usual", 'load = "first-use"'),
        ("start", "idle_minutes = 2"),
        ("large", ""),
    )
)
SERVED = """
[[models]]
name = "m"
kind = "{kind}"
source = "{scheme}:http://127.0.0.1:9"
served_name = "m"
{more}
"""


@pytest.mark.parametrize("by_queue", [True, False])
@pytest.mark.parametrize(
    ("kind", "scheme", "more"),
    [("causal", "openai", ""), ("classifier", "classify", 'outputs = ["no", "yes"]')],
)
def test_a_job_of_any_server_that_is_away_waits(
    by_queue: bool, kind: str, scheme: str, more: str, tmp_path: Path
) -> None:
    from services.inference.local_models import LocalModels

    file = tmp_path / "models.toml"
    file.write_text(SERVED.format(kind=kind, scheme=scheme, more=more))
    states = ModelStates()
    catalogue = load_catalogue(file)
    port: Models = (
        QueueModels(catalogue, states)
        if by_queue
        else LocalModels(catalogue, similarity=None, states=states)
    )
    states.set("m", "away", "no connection")
    with pytest.raises(ModelNotReady, match="no connection"):
        port.judge("m")
    states.set("m", "ready")
    assert port.judge("m") is not None
