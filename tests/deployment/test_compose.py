"""docker-compose.yml: valid, complete, hardened; and each of its commands works as a process."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from cryptography.fernet import Fernet
from redis import Redis
from redis.backoff import ConstantBackoff
from redis.exceptions import AuthenticationError
from redis.retry import Retry

from cli.models.check import memory
from cli.stack.servers import HOST, Child, free_port, redis_server
from services import worker
from services.registry import contracts
from shared.models.catalogue.catalogue import load_catalogue
from shared.process.settings import Settings
from shared.process.settings_sources import fields_of, is_secret, variable_of
from tests.deployment.containers import READY_SECONDS, answers, bare, own_model, they_score
from tests.deployment.manifests import (
    COMPOSE_FILE,
    ROOT,
    Json,
    compose,
    containers,
    needs_helm,
    ours,
    pod_specs,
    rendered,
)
from tests.patience import SECONDS, busy, eventually

SECRETS = {  # file → whose it is
    "postgres_password": {"postgres"},
    "redis_password": {"redis"},
    "grafana_password": {"grafana"},
    "webhook_keys": {"gateway", "scheduler"},
}
OF_OURS = {"redis_url", "database_url", "secret_keys"}
OF_MODELS = {"redis_url", "secret_keys"}
FEWER = {
    "migrate": {"database_url"},
    "models": {"redis_url"},
    "model-worker": OF_MODELS,
    "model-worker-gpu": OF_MODELS,
}
RUN = "/run/secrets/"
DEFAULT = re.compile(r"\$\{\w+:-([^}]*)\}")
PATIENT = Retry(ConstantBackoff(0.1), 300)  # for a server that starts


def test_it_is_valid_by_the_compose_specification(tmp_path: Path) -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    valid = subprocess.run([*check, str(COMPOSE_FILE)], capture_output=True, text=True, check=False)
    assert valid.returncode == 0, valid.stdout
    broken = tmp_path / "docker-compose.yml"
    broken.write_text(COMPOSE_FILE.read_text("utf-8") + "\nnonsense: true\n")
    assert subprocess.run([*check, str(broken)], capture_output=True, check=False).returncode == 1


def command(service: Json) -> list[str]:
    """Return the service's command with the defaults of its variables."""
    said = service["command"]
    words = said.split() if isinstance(said, str) else said
    return [DEFAULT.sub(r"\1", word) for word in words]


def test_every_service_is_served_once_and_chosen_metrics_run_alone() -> None:
    commands = [command(service) for service in ours().values()]
    served = [
        name
        for words in commands
        if words[2] == "services.worker"
        for name in worker.parse(words[3:])
    ]
    assert sorted(served) == list(contracts())
    for words in commands:
        assert words[:2] == ["python", "-m"]
        assert importlib.util.find_spec(words[2]) is not None
    chosen = compose()["services"]["worker"]["command"].replace(
        "${TOUCHSTONE_SERVE:-metrics}", "hatexscore sor"
    )
    assert worker.parse(chosen.split()[3:]) == ["hatexscore", "sor"]


def test_every_service_is_hardened_watched_and_given_time_to_end() -> None:
    for name, service in compose()["services"].items():
        assert service["user"].partition(":")[0] != "0", name
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in service["security_opt"]
        limits = service["deploy"]["resources"]["limits"]
        assert {"cpus", "memory"} <= limits.keys(), name
        assert {"max-size", "max-file"} <= service["logging"]["options"].keys(), name
        if name == "models":
            assert service["restart"] == "no"
            continue
        restarted = "on-failure" if name == "migrate" else "unless-stopped"
        assert service["restart"] == restarted, name  # a worker that is ill ends itself
        if name != "migrate":
            assert "healthcheck" in service, name
            assert "stop_grace_period" in service, name


def test_every_setting_reaches_every_process() -> None:
    fields = fields_of(Settings)
    variables = {variable_of(name, field) for name, field in fields} - {"HF_ENDPOINT"}
    secrets = {variable_of(name, field) for name, field in fields if is_secret(field)}
    files = secrets - {"TOUCHSTONE_QUEUE_REDIS"}
    own = {"HOST", "PORT", "AUTHENTICATION", "SERVE", "BINDING"}  # what compose itself decides
    for name, service in ours().items():
        lacking = variables - files - service["environment"].keys()
        assert lacking <= {f"TOUCHSTONE_{one}" for one in own}, name
        with_values = {key for key, value in service["environment"].items() if value is not None}
        assert "TOUCHSTONE_RETENTION_HOURS" not in with_values  # .env or the shell sets it


def test_a_default_start_fits_two_processors() -> None:
    for name, service in compose()["services"].items():
        cpus = service["deploy"]["resources"]["limits"]["cpus"]
        assert float(DEFAULT.sub(r"\1", cpus)) <= 2, name  # the engine refuses more than there are


def test_only_the_gateway_and_grafana_are_published_and_only_here() -> None:
    published = {
        name: service["ports"]
        for name, service in compose()["services"].items()
        if "ports" in service
    }
    assert published == {
        "gateway": ["127.0.0.1:8000:8000"],
        "grafana": ["127.0.0.1:${TOUCHSTONE_GRAFANA_PORT:-3000}:3000"],
    }


def test_the_gpu_worker_has_a_device_and_serves_all_models() -> None:
    service = compose()["services"]["model-worker-gpu"]
    assert set(worker.parse(command(service)[3:])) == worker.MODEL_SERVICES
    assert (ROOT / service["build"]["dockerfile"]).is_file()
    [device] = service["deploy"]["resources"]["reservations"]["devices"]
    assert "count" not in device  # Docker then takes the first device, not the chosen one
    assert [DEFAULT.sub(r"\1", number) for number in device["device_ids"]] == ["0"]


def mounts(service: Json) -> dict[str, tuple[str, bool]]:
    """place in the container → what lies there, and whether it is read-only."""
    found = {}
    for volume in service.get("volumes", []):
        source, _, rest = volume.rpartition(":/")
        if not volume.endswith((":ro", ":rw")):
            found["/" + rest] = (source, False)
            continue
        source, place, mode = volume.rsplit(":", 2)
        found[place] = (source, mode == "ro")
    return found


def test_own_models_reach_every_process_and_only_their_service_writes_them() -> None:
    for name, service in compose()["services"].items():
        if not service["image"].startswith("touchstone-"):
            continue
        found, said = mounts(service), service["environment"]
        assert "HF_HUB_OFFLINE" not in said, name  # a worker's own start sees to it
        file, is_closed = found[said["TOUCHSTONE_MODELS_FILE"]]
        assert file == "${TOUCHSTONE_MODELS_FILE:-./models.toml}"
        weights, is_read_only = found[said["TOUCHSTONE_MODELS_DIR"]]
        assert weights == "${TOUCHSTONE_MODELS_DIR:-models}"
        assert is_closed is is_read_only is (name != "models"), name
        assert ("HF_TOKEN" in said) is (name == "models"), name
    tools = compose()["services"]["models"]
    assert (tools["profiles"], "models" in compose()["volumes"]) == (["tools"], True)


def test_each_process_has_the_image_that_it_needs_and_no_more() -> None:
    targets = {name: service["build"]["target"] for name, service in ours().items()}
    assert (targets["worker"], targets["model-worker"]) == ("metrics", "models")
    for name, service in ours().items():
        assert service["image"] == f"touchstone-{targets[name]}"
    stages = re.findall(r"^FROM \S+ AS (\S+)", (ROOT / "Dockerfile").read_text("utf-8"), re.M)
    assert set(targets.values()) <= set(stages)


def test_the_default_memory_of_a_worker_holds_the_shipped_models() -> None:
    """As `touchstone models check --memory` says."""
    needed = memory(load_catalogue(ROOT / "models.toml"))
    said = compose()["services"]["model-worker"]["deploy"]["resources"]["limits"]["memory"]
    assert needed <= int(DEFAULT.sub(r"\1", said).removesuffix("g")) * 2**30


def test_each_secret_is_a_file_that_only_its_processes_have() -> None:
    made = compose()["secrets"]
    assert made.keys() == OF_OURS | SECRETS.keys()
    for name, service in compose()["services"].items():
        own = {one for one, whose in SECRETS.items() if name in whose}
        if service["image"].startswith("touchstone-"):
            own |= FEWER.get(name, OF_OURS)
        assert set(service.get("secrets", ())) == own, name
        said = service.get("environment", {})
        files = {
            str(value).removeprefix(RUN) for key, value in said.items() if key.endswith("_FILE")
        }
        assert own - {"redis_password"} <= files, name  # redis reads it in its command
        words = [key for key in said if not key.endswith("_FILE")]
        hidden = re.compile("PASSWORD|KEYS$|^(REDIS|DATABASE)_URL$")
        assert not [key for key in words if hidden.search(key)], name


def made_secrets(folder: Path, **said: str) -> dict[str, str]:
    """What `make secrets` writes there, by file."""
    command = ["sh", str(ROOT / "cli" / "secrets.sh"), str(folder / "secrets")]
    path = {"PATH": os.environ["PATH"]}
    subprocess.run(command, cwd=folder, env=path | said, check=True, capture_output=True)
    return {one.name: one.read_text("utf-8") for one in (folder / "secrets").iterdir()}


def test_secrets_are_made_once_for_every_file_that_is_read(tmp_path: Path) -> None:
    made = made_secrets(tmp_path)
    assert made.keys() == compose()["secrets"].keys()
    for key in ("secret_keys", "webhook_keys"):
        Fernet(made[key])
    assert f":{made['postgres_password']}@postgres:5432/" in made["database_url"]
    assert f":{made['redis_password']}@redis:6379/" in made["redis_url"]
    assert len(set(made.values())) == len(made)
    folder = tmp_path / "secrets"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {one.stat().st_mode & 0o777 for one in folder.iterdir()} == {0o444}
    assert made_secrets(tmp_path) == made


def test_a_password_that_two_files_hold_is_restored_or_refused(tmp_path: Path) -> None:
    script = ["sh", str(ROOT / "cli" / "secrets.sh"), "--cluster"]

    def ran(**given: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"]} | given
        return subprocess.run(script, cwd=tmp_path, env=environment, capture_output=True, text=True)

    first = ran()
    for file in ("redis_password", "postgres_password", "scaler_password"):
        (tmp_path / "secrets" / file).unlink()
        assert ran().stdout == first.stdout
        (tmp_path / "secrets" / file).unlink()
        (tmp_path / "secrets" / file).write_text("another")
        assert (ran().returncode, ran().stdout.count("kind: Secret")) == (1, 0)
        assert f"secrets/{file} and secrets/" in ran().stderr
        (tmp_path / "secrets" / file).unlink()
    elsewhere = ran(NAMESPACE="other")
    assert (elsewhere.returncode, elsewhere.stdout) == (1, "")
    assert "scaler_url is not for postgres.other.svc" in elsewhere.stderr
    managed = tmp_path / "managed"
    managed.mkdir()
    (managed / "database_url").write_text("postgresql://t:word@postgres.acme.example:5432/t")
    without = ran(TOUCHSTONE_SECRETS="managed")
    assert "touchstone-scaler" not in without.stdout
    assert "no managed/scaler_url" in without.stderr


def mounted(service: Json, target: str) -> Path:
    """Return the file of this checkout that lies there."""
    source, is_read_only = mounts(service)[target]
    assert is_read_only
    assert source.startswith("./")
    return ROOT / source


def test_every_process_is_watched_by_our_alerts_and_shown_on_our_dashboard() -> None:
    assert "configs" not in compose()  # compose cannot write them where the root is read-only
    prometheus, grafana = (compose()["services"][name] for name in ("prometheus", "grafana"))
    provisioning = "/etc/grafana/provisioning"
    configs = {
        place: yaml.safe_load(mounted(service, place).read_text("utf-8"))
        for service, place in (
            (prometheus, "/etc/prometheus/prometheus.yml"),
            (grafana, f"{provisioning}/datasources/touchstone.yml"),
            (grafana, f"{provisioning}/dashboards/touchstone.yml"),
        )
    }
    scraping, sources, dashboards = configs.values()
    [scraped] = scraping["scrape_configs"]
    [found] = scraped["dns_sd_configs"]
    staying = {name for name, one in ours().items() if one["restart"] != "on-failure"}
    assert set(found["names"]) == staying | {"model-worker-gpu"}
    assert (found["type"], found["port"]) == ("A", 9100)  # every container of a scaled service
    assert compose()["x-settings"]["TOUCHSTONE_METRICS_PORT"] == "9100"
    rules = mounted(prometheus, f"/etc/prometheus/{scraping['rule_files'][0]}")
    assert rules == ROOT / "k8s/touchstone/alerts.yaml"
    assert [one["url"] for one in sources["datasources"]] == ["http://prometheus:9090"]
    [provider] = dashboards["providers"]
    board = mounted(grafana, f"{provider['options']['path']}/touchstone.json")
    assert board == ROOT / "k8s/touchstone/grafana.json"


@needs_helm
def test_the_same_script_makes_every_secret_that_the_chart_requires(tmp_path: Path) -> None:
    script = ["sh", str(ROOT / "cli" / "secrets.sh"), "--cluster", str(tmp_path / "secrets")]
    ran = subprocess.run(script, cwd=tmp_path, check=True, capture_output=True, text=True)
    made = {one["metadata"]["name"]: one["stringData"] for one in yaml.safe_load_all(ran.stdout)}
    egress = {"files": [{"cidr": "198.51.100.0/24", "port": 443}]}
    objects = rendered(keda={"enabled": True}, backup={"url": "s3://b"}, network={"egress": egress})
    required = {
        source["secretRef"]["name"]
        for spec in pod_specs(objects).values()
        for container in containers(spec)
        for source in container["envFrom"]
        if "secretRef" in source and not source["secretRef"].get("optional")
    }
    assert made.keys() == required | {"touchstone-scaler"}
    webhooks = {name for name, data in made.items() if "TOUCHSTONE_WEBHOOK_KEYS" in data}
    assert webhooks == {"touchstone-gateway", "touchstone-scheduler"}
    assert made["touchstone-migrate"].keys() == {"DATABASE_URL"}
    assert made["touchstone-models"].keys() == {"REDIS_URL", "TOUCHSTONE_SECRET_KEYS"}
    password = made["touchstone-postgres"]["SCALER_PASSWORD"]
    assert f"scaler:{password}@" in made["touchstone-scaler"]["connection"]
    assert (
        made["touchstone-postgres"]["POSTGRES_PASSWORD"]
        not in made["touchstone-scaler"]["connection"]
    )


def test_any_password_arrives_as_it_was_given(tmp_path: Path) -> None:
    password = "p@ss/w#1%'\"\\é:?"
    script = ["sh", str(ROOT / "cli" / "secrets.sh"), "--cluster", str(tmp_path / "secrets")]
    given = {"PATH": os.environ["PATH"]} | dict.fromkeys(
        ("POSTGRES_PASSWORD", "REDIS_PASSWORD", "SCALER_PASSWORD"), password
    )
    ran = subprocess.run(script, cwd=tmp_path, env=given, check=True, capture_output=True)
    made = {one["metadata"]["name"]: one["stringData"] for one in yaml.safe_load_all(ran.stdout)}
    for address in (
        made["touchstone-gateway"]["DATABASE_URL"],
        made["touchstone-gateway"]["REDIS_URL"],
        made["touchstone-scaler"]["connection"],
    ):
        assert unquote(urlsplit(address).password or "") == password
    assert made["touchstone-postgres"]["POSTGRES_PASSWORD"] == password
    backup = made["touchstone-backup"]
    assert (backup["PGHOST"], backup["PGPASSWORD"]) == ("postgres", password)


def test_passwords_of_before_stay(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("POSTGRES_PASSWORD=of-before\nHF_TOKEN=x\n", "utf-8")
    made = made_secrets(tmp_path, REDIS_PASSWORD="said")
    assert (made["postgres_password"], made["redis_password"]) == ("of-before", "said")
    assert "of-before" in made["database_url"]


def test_what_redis_runs_takes_its_password_from_a_file(tmp_path: Path) -> None:
    port = free_port()
    redis = compose()["services"]["redis"]
    shell, option, script = redis["command"]
    ours = f"{redis_server()} - --port {port} --dir {tmp_path}"
    written = script.replace("$$", "$").replace("redis-server -", ours, 1)
    (tmp_path / "redis_password").write_text(password := "wo rd\"\\'#", "utf-8")
    (tmp_path / "memory.max").write_text("1000000000\n")
    written = written.replace(RUN, f"{tmp_path}/").replace("/sys/fs/cgroup", str(tmp_path))
    child = Child("redis", (shell, option, written), {})
    child.start(tmp_path)
    try:
        with Redis(port=port, password=password, retry=PATIENT, decode_responses=True) as client:
            assert client.ping()
            assert client.config_get("maxmemory") == {"maxmemory": "700000000"}
            assert client.config_get("appendonly") == {"appendonly": "yes"}
        with Redis(port=port) as stranger, pytest.raises(AuthenticationError):
            stranger.ping()
    finally:
        child.stop()
    [_, check] = redis["healthcheck"]["test"]
    assert f"cat {RUN}redis_password" in check
    assert "redis-cli -e ping" in check  # without -e a refusal exits with 0


@needs_helm
def test_the_charts_redis_is_the_same_and_stores_have_time_to_start() -> None:
    specs = pod_specs(rendered())
    [redis], [postgres] = (containers(specs[name]) for name in ("redis", "postgres"))
    _, _, script = compose()["services"]["redis"]["command"]
    requirepass = re.compile(" *requirepass .*\n")
    assert requirepass.sub("", redis["command"][2]) == requirepass.sub("", script).replace(
        "$$", "$"
    )
    assert "-e" in redis["readinessProbe"]["exec"]["command"]
    for container in (redis, postgres):
        probe = container["startupProbe"]
        assert probe["periodSeconds"] * probe["failureThreshold"] >= 3_600


@pytest.fixture
def started(chosen: Settings, tmp_path: Path) -> Iterator[str]:
    """Every command of the project's image as a process with its environment; the gateway's URL."""
    made_secrets(tmp_path)
    stores = {"redis_url": chosen.redis_url, "database_url": chosen.database_url}
    for name, address in stores.items():
        (tmp_path / "secrets" / name).chmod(0o644)
        (tmp_path / "secrets" / name).write_text(address.get_secret_value(), "utf-8")
    real = {
        "TOUCHSTONE_FILES_URL": str(tmp_path / "files"),
        "HOME": str(tmp_path),
        "TOUCHSTONE_MODELS_FILE": str(own_model(tmp_path)),
        "TOUCHSTONE_MODELS_DIR": str(tmp_path / "models"),
    }
    with ExitStack() as held:
        probes = [
            held.enter_context(_process(name, service, real, tmp_path))
            for name, service in ours().items()
        ]
        for probe in filter(None, probes):
            eventually(partial(answers, probe), probe, seconds=READY_SECONDS, every=0.2)
        yield next(probe for probe in probes if probe and "readyz" in probe).rpartition("/")[0]


@contextmanager
def _process(name: str, service: Json, real: dict[str, str], logs: Path) -> Iterator[str | None]:
    """Run it; where it answers probes, if it stays. Ports are free ones, hosts are this machine."""
    port = free_port()
    here = f"{logs}/secrets/"
    said = {
        variable: DEFAULT.sub(r"\1", value).replace(RUN, here)
        for variable, value in service["environment"].items()
        if value is not None
    }
    said |= {variable: value for variable, value in real.items() if variable in said}
    probed = " ".join(service.get("healthcheck", {}).get("test", []))
    own = "TOUCHSTONE_PORT" if "TOUCHSTONE_PORT" in said else "TOUCHSTONE_METRICS_PORT"
    if own == "TOUCHSTONE_PORT":
        said["TOUCHSTONE_METRICS_PORT"] = str(free_port())
    said |= {own: str(port), "PYTHONPATH": str(ROOT)}
    words = (sys.executable, *command(service)[1:])
    if service.get("restart") == "on-failure":
        subprocess.run(words, env=bare() | said, cwd=ROOT, check=True, timeout=SECONDS * busy())
        yield None
        return
    stores = ("DATABASE_URL", "REDIS_URL", "TOUCHSTONE_SECRET_KEYS", "TOUCHSTONE_WEBHOOK_KEYS")
    unset = [f"--unset={variable}" for variable in stores]  # of other tests
    child = Child(name, ("env", *unset, *words), bare() | said)
    child.start(logs)
    try:
        path = probed.rpartition("/")[2].partition("'")[0]
        yield f"http://{HOST}:{port}/{path}"
    finally:
        child.stop()


@pytest.mark.end_to_end
def test_every_command_works_and_together_they_score(
    started: str, chosen: Settings, tmp_path: Path
) -> None:
    they_score(started, chosen, tmp_path / "models.toml")
