"""Blocks that name what only their reader has: run as they are typed, with a double for that alone.

A bucket is a folder, an id is that of a batch made here, a model is the embedded one's name, a port
is a free one. What asks for more, a part of a message, a file, is read by what reads it in the
service.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.stack.servers import free_port
from tests.end_to_end.service import ROOT, Service, environment
from tests.patience import SECONDS, eventually
from tests.receivers import Receiver, receiving
from tests.sdk.test_blocks import blocks
from tests.sdk.test_guide import TYPED
from touchstone_client import Touchstone

end_to_end = pytest.mark.end_to_end
SPAN = b"00f067aa0ba902b7"
POSTS = ROOT / "examples" / "posts.jsonl"
PRELUDE = """
import pandas
from touchstone_client import Touchstone
ts = Touchstone()
frame = pandas.read_json("posts.jsonl", lines=True).rename(
    columns={"id": "name", "text": "post", "explanation": "why"}).head(3)
post, why = frame.iloc[0][["post", "why"]]
"""


def block(page: str, begins: str) -> str:
    """The one of this page that begins so."""
    [found] = [one.source for one in blocks(ROOT / page) if one.begins.startswith(begins)]
    return found


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What readers bring: posts, as JSON Lines and as a table with names of its own."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    shutil.copy(POSTS, tmp_path)
    shutil.copy(POSTS, tmp_path / "explanations.jsonl")
    (tmp_path / "bucket").mkdir()
    return tmp_path


def table(file: Path, separator: str, *names: str) -> None:
    """Two posts: under these names, those of text, explanation and decision first."""
    posts = [json.loads(line) for line in POSTS.read_text("utf-8").splitlines()[:2]]
    rows = [[post["text"], post["explanation"], "1", "v7", "en"] for post in posts]
    quoted = [[f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row] for row in rows]
    lines = [list(names), *quoted]
    file.write_text("".join(f"{separator.join(line)}\n" for line in lines), "utf-8")


def run(command: list[str], folder: Path, service: Service, **told: str) -> str:
    path = {"PATH": f"{sys.prefix}/bin:{environment()['PATH']}", "TOUCHSTONE_URL": service.url}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment() | path | {"PYTHONWARNINGS": "ignore"} | told,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def shell(source: str, folder: Path, service: Service, **told: str) -> str:
    return run(["bash", "-euc", source.replace(TYPED, service.url)], folder, service, **told)


@pytest.fixture
def batch(service: Service) -> str:
    """One that is scored."""
    with Touchstone(service.url) as client:
        return client.batches.create(POSTS, "hatexscore").wait().id


@end_to_end
def test_a_table_goes_to_a_bucket(service: Service, folder: Path) -> None:
    table(folder / "posts.csv", ",", "body", "why", "decision", "model", "market")
    typed = block("docs/guide/data.md", "touchstone submit posts.csv")
    shell(typed.replace("s3://ours", f"file://{folder}/bucket"), folder, service)
    assert (folder / "bucket" / "scores.parquet").read_bytes()[:4] == b"PAR1"


@pytest.mark.nightly
@end_to_end
def test_a_batch_is_sent_reported_and_compared(service: Service, folder: Path, batch: str) -> None:
    table(folder / "posts.csv", ",", "body", "explanation", "decision", "model", "market")
    text = (folder / "posts.csv").read_text("utf-8").replace(',"1",', ',"hateful",')
    (folder / "posts.csv").write_text(text, "utf-8")
    typed = block("docs/guide/api.md", "touchstone submit")
    shell(re.sub(r"batch_\w+…", batch, typed), folder, service)
    for made in ("scores.jsonl", "scores.parquet", "report.html", "items.csv"):
        assert (folder / made).stat().st_size


@end_to_end
def test_a_gate_of_two_commands_lets_the_same_scores_pass(
    service: Service, folder: Path, batch: str
) -> None:
    """Of few texts an interval is as wide as their scores: the threshold is doubled, too."""
    typed = block("docs/guide/integrations.md", ". .venv")
    shell(typed.replace("-0.02", "-1"), folder, service, NEW=batch, BASE=batch)


@end_to_end
def test_a_gate_keeps_its_base(service: Service, folder: Path) -> None:
    """The first run writes it; the second, on the same texts, is not worse."""
    shutil.copy(ROOT / "examples" / "integrations" / "ci_gate" / "gate.sh", folder)
    typed = block("examples/integrations/ci_gate/README.md", "export").replace("-0.02", "-1")
    said = typed.replace("https://touchstone.example", service.url).replace("tsk_…", "")
    assert "is the base from now on" in shell(said, folder, service)
    base = (folder / "base-batch.txt").read_text("utf-8")
    assert re.search(r"^batch_\w+$", shell(said, folder, service), re.MULTILINE)
    assert (folder / "base-batch.txt").read_text("utf-8") == base


@pytest.mark.nightly
@end_to_end
@pytest.mark.parametrize("begins", ["from touchstone_client import", "from touchstone_client.data"])
def test_the_clients_page(service: Service, folder: Path, begins: str) -> None:
    table(folder / "posts.csv", ";", "body", "why", "flag", "model", "market")
    typed = block("sdk/README.md", begins).replace("s3://ours", f"file://{folder}/bucket")
    run([sys.executable, "-c", f"{PRELUDE}{typed}"], folder, service)
    if begins.endswith("data"):
        assert (folder / "bucket" / "scores.parquet").exists()
        assert (folder / "posts.csv").stat().st_size


@pytest.mark.nightly
@end_to_end
def test_without_servers(service: Service, folder: Path) -> None:
    typed = block("docs/guide/sdk.md", "from touchstone_client import Local")
    said = typed.replace("…", "They bring soup to the ill, so they are kind.")
    run([sys.executable, "-c", said], folder, service)


@pytest.fixture
def receiver(folder: Path) -> Iterator[str]:
    """The page's own, on a free port."""
    port = free_port()
    source = block("docs/guide/webhooks.md", "# receiver.py").replace("9000", str(port))
    with (folder / "received").open("wb") as received:
        process = subprocess.Popen(
            [sys.executable, "-u", "-c", source],
            stdout=received,
            stderr=subprocess.DEVNULL,
        )
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait(SECONDS)


@pytest.mark.nightly
@end_to_end
def test_an_endpoint_is_made_tried_and_given_a_new_secret(
    service: Service, folder: Path, receiver: str
) -> None:
    typed = block("docs/guide/webhooks.md", ". .venv").replace("http://127.0.0.1:9000", receiver)
    create, test = re.split(r"(?=^touchstone webhooks test)", typed, flags=re.M)
    made = re.search(r"we_[0-9a-f]+", shell(create, folder, service))
    assert made
    try:
        shell(test.replace("we_…", made[0]), folder, service)
        eventually(lambda: b"endpoint.test" in (folder / "received").read_bytes(), "no event came")
        later = block("docs/guide/webhooks.md", "touchstone webhooks failed")
        shell(later.replace("we_…", made[0]), folder, service)
    finally:
        with Touchstone(service.url) as client:
            client.webhooks.delete(made[0])


@end_to_end
def test_a_score_goes_to_a_collector(service: Service, folder: Path) -> None:
    """Over the page's own commands, at a collector on a free port."""
    with receiving(Receiver(status=200)) as collector:
        typed = block("docs/guide/pushes.md", ". .venv")
        base = f"http://127.0.0.1:{collector.port}"
        shell(typed.replace("http://127.0.0.1:4318", base), folder, service)
        eventually(lambda: SPAN in pushed(collector), "the score was not pushed")
    assert b"ruining" not in pushed(collector), "a text left"
    with Touchstone(service.url) as client:
        for one in client.webhooks.list():
            if one.url.startswith(base):
                client.webhooks.delete(one.id)


def pushed(collector: Receiver) -> bytes:
    return b"".join(one.body for one in collector.received if one.path == "/v1/logs")
