"""Load a model and print what it can do: `python -m services.inference.check MODEL`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from services.bindings import local
from shared.errors import ScoringError
from shared.models.calls import Example, Template
from shared.models.catalogue import Catalogue, load_catalogue
from shared.models.ports import Models, describe
from shared.settings import settings

SENTENCE = "The weather in the old town was lovely today"
YES_OR_NO = Template(
    prefix="Is this friendly?\n", suffix="\nAnswer:", verbalizers={"yes": " yes", "no": " no"}
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0 if the model can be used."""
    chosen = settings()
    parser = argparse.ArgumentParser(prog="python -m services.inference.check", description=__doc__)
    parser.add_argument("model", help=f"a name of {chosen.models_file}")
    name = parser.parse_args(arguments).model
    console = Console()
    try:
        console.print(report(load_catalogue(chosen.models_file), name))
    except ScoringError as error:
        console.print(f"[bold red]{name} cannot be used:[/bold red] {error.detail}")
        return 1
    return 0


def report(catalogue: Catalogue, name: str) -> Table:
    """Everything that the model says of itself, and one answer with its time."""
    models = local(catalogue)
    started = time.perf_counter()
    about = describe(models, name)
    seconds = time.perf_counter() - started
    table = Table(title=name, show_header=False, title_justify="left")
    rows = {
        "kind": about.kind,
        **about.use.model_dump(exclude={"name"}),
        "labels": ", ".join(about.labels) or "as the template says",
        "languages": ", ".join(about.languages) or "not stated",
        "loaded in": f"{seconds:.1f} s",
    }
    if about.kind in ("classifier", "causal"):
        rows |= _one_answer(models, name, causal=about.kind == "causal")
    for key, value in rows.items():
        table.add_row(key, str(value))
    return table


def _one_answer(models: Models, name: str, *, causal: bool) -> dict[str, str]:
    example = Example(text=SENTENCE, template=YES_OR_NO if causal else None)
    model = models.judge(name)
    started = time.perf_counter()
    [row] = model.judge([example])
    seconds = time.perf_counter() - started
    pairs = zip(model.labels_of(example), row, strict=True)
    said = ", ".join(f"{label} {probability:.3f}" for label, probability in pairs)
    return {"on a sentence": said, "answered in": f"{1000 * seconds:.0f} ms"}


if __name__ == "__main__":
    sys.exit(main())
