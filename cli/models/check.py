"""The command `touchstone models check [NAME...]`, which loads models and sends some texts to each.

It prints what each model can do, an answer with its time, and the results of six tests. The tests
include an empty text, a text that is too long, special tokens and an unknown language. The exit
status is 1 if a model cannot be used."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from services.inference.weights.label_use import doubts
from shared.contracts.calls import Example, Pair, Template
from shared.contracts.errors import BadInput
from shared.contracts.language_names import EVERY, language_names
from shared.contracts.messages import ModelUse
from shared.contracts.prompt_table import NO_LABELS
from shared.models.catalogue.catalogue import (
    Catalogue,
    describe_languages,
    load_catalogue,
)
from shared.models.catalogue.entry import ModelEntry
from shared.models.ports import Floats, Models
from shared.process import telemetry
from shared.process.numerics import fast_arithmetic
from shared.process.settings import disable_download, settings_or_exit

Report = dict[str, Any]
RUNTIME_BYTES = 700_000_000  # of a process with the model libraries, measured


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command. Return 0 if every requested model can be used."""
    options = _parser().parse_args(arguments)
    disable_download()  # before a model library is imported
    settings = settings_or_exit()
    telemetry.configure_logging("critical", "console")  # what fails is in the report
    try:
        catalogue = load_catalogue(settings.models_file)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if options.memory:
        sys.stdout.write(f"{memory(catalogue)}\n")
        return 0
    names = [entry.name for entry in catalogue.describe()]
    if strange := sorted(set(options.names) - set(names)):
        sys.stderr.write(f"no such model: {', '.join(strange)}; choose from: {', '.join(names)}\n")
        return 1
    reports = []
    for name in options.names or names:
        reports.append(report(catalogue, name))
        if not options.json:
            sys.stdout.write(format_report(reports[-1]) + "\n")
            sys.stdout.flush()
    if options.json:
        sys.stdout.write(json.dumps(reports, indent=1) + "\n")
    return 0 if all(entry["state"] == "ready" for entry in reports) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="touchstone models check", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="Names of the models to check (default: all)."
    )
    parser.add_argument("--json", action="store_true", help="Print one JSON document.")
    parser.add_argument(
        "--memory",
        action="store_true",
        help="Print only the memory in bytes that a worker needs to hold all these models.",
    )
    return parser


def memory(catalogue: Catalogue) -> int:
    """Return the memory in bytes that all models with local weights and the process itself need."""
    from services.inference.weights.folder import is_complete
    from services.inference.weights.loader import planned

    total = RUNTIME_BYTES
    for entry in catalogue.entries:
        if entry.is_served:
            continue
        with suppress(OSError, ValueError):  # it is not loaded, and takes none
            folder, placement = planned(catalogue, entry)
            total += placement.memory if is_complete(folder) else 0
    return total


def report(catalogue: Catalogue, name: str) -> Report:
    """Return all facts about this model, and its results for the test texts."""
    card = next(card for card in catalogue.describe() if card.name == name)
    entry = next((entry for entry in catalogue.entries if entry.name == name), None)
    if entry is None:
        return {"name": name, "state": "failed", "error": card.fault}
    labels = {label: list(outputs) for label, outputs in (card.mapping or {}).items()}
    fields: Report = {
        "name": card.name,
        "kind": card.kind,
        "revision": card.revision,
        "labels": labels or None,
        "activation": card.activation,
        "languages": list(card.languages) if card.languages else None,
        "language_f1": card.language_f1,
        "warnings": list(card.warnings),
    }
    if entry.prompt is not None and entry.prompt.verbalizers:
        fields["labels"] = {label: list(forms) for label, forms in entry.prompt.verbalizers.items()}
    elif entry.kind == "causal" and not entry.is_served:
        fields["warnings"] += [f"no-prompt: {NO_LABELS}"]
    if card.mapping and (mapping := catalogue.mapping(entry)) is not None:
        fields["warnings"] += doubts(mapping)
    return fields | (_of_server(entry) if entry.is_served else _of_weights(catalogue, entry))


def _of_server(entry: ModelEntry) -> Report:
    from shared.models.server_check import probe

    result = probe(entry)
    return {
        "state": "ready" if result.is_usable else "away" if result.is_away else "failed",
        "error": result.error,
        "server": result.model_dump(mode="json"),
    }


def _of_weights(catalogue: Catalogue, entry: ModelEntry) -> Report:
    from services.inference.weights.placement import free_bytes
    from services.worker import local
    from shared.contracts.errors import ModelNotReady, ScoringError
    from shared.models.catalogue.availability import ModelStates
    from shared.models.ports import describe

    states, started = ModelStates(), time.perf_counter()
    models = local(catalogue, states)
    try:
        use = describe(models, entry.name).use
        seconds = time.perf_counter() - started
        outputs = check_model(models, entry.name, str(use.dtype), catalogue.languages(entry))
    except ScoringError as error:
        state = error.state if isinstance(error, ModelNotReady) else "failed"
        return {"state": state, "error": error.detail}
    except Exception as error:  # noqa: BLE001 - of its own code: this model fails, no other
        return {
            "state": "failed",
            "error": f"the model cannot answer: {type(error).__name__}: {error}",
        }
    model_state = states.get(entry.name)
    return {
        "state": "ready",
        "error": None,
        "sha256": use.sha256,
        "device": use.device,
        "dtype": use.dtype,
        "dtype_reason": _dtype_reason(entry, use),
        "memory_needed": model_state.placement.memory
        if model_state and model_state.placement
        else None,
        "memory_free": free_bytes(str(use.device)),
        "loaded_seconds": round(seconds, 1),
        "limit": outputs.limit,
        "answer": outputs.answer,
        "answer_milliseconds": round(outputs.milliseconds, 1),
        "probes": {name: asdict(probe) for name, probe in outputs.probes.items()},
    }


def _dtype_reason(entry: ModelEntry, use: ModelUse) -> str | None:
    """Return the reason for the dtype that `fast` selects on this device. Return None if the entry
    has another dtype."""
    if entry.dtype != "fast":
        return None
    return fast_arithmetic(entry.kind).reason if use.device == "cpu" else "of this GPU"


def format_report(report: Report) -> str:
    """Return the facts as text, one per line."""
    error = f": {report['error']}" if report.get("error") else ""
    lines = [f"{report['name']}  {report['state']}{error}"]
    labels = [f"{label} = {', '.join(of) or '1 - other'}" for label, of in _items(report, "labels")]
    shown = {
        "kind": report.get("kind"),
        "revision": report.get("revision"),
        "sha256": report.get("sha256"),
        "labels": "; ".join(labels),
        "activation": report.get("activation"),
        "languages": _languages(report),
        "limit": f"{report['limit']} tokens" if report.get("limit") else None,
        "device": _device(report),
        "memory": _memory(report),
        "loaded in": f"{report['loaded_seconds']} s" if "loaded_seconds" in report else None,
        "answer": f"{report['answer']}, in {report['answer_milliseconds']:.0f} ms"
        if "answer" in report
        else None,
    }
    lines += [f"  {name:<22}{value}" for name, value in shown.items() if value]
    for name, probe in _items(report, "probes"):
        lines.append(f"  {name:<22}{'good' if probe['good'] else 'BAD'}: {probe['said']}")
    if server := report.get("server"):
        from shared.models.server_check import render
        from shared.models.server_records import ServerAbilities

        lines += [
            f"  {line}" for line in render(ServerAbilities.model_validate(server)).splitlines()
        ]
    return "\n".join(
        [*lines, *(f"  {'warning':<22}{warning}" for warning in report.get("warnings") or ())]
    )


def _languages(report: Report) -> str:
    stated = report.get("languages") or ("not stated",)
    return ", ".join(describe_languages(stated, report.get("language_f1")))


def _items(report: Report, name: str) -> list[tuple[str, Any]]:
    return list((report.get(name) or {}).items())


def _device(report: Report) -> str | None:
    if not report.get("device"):
        return None
    reason = f" (fast: {report['dtype_reason']})" if report.get("dtype_reason") else ""
    return f"{report['device']} {report['dtype']}{reason}"


def _memory(report: Report) -> str | None:
    needed, free = report.get("memory_needed"), report.get("memory_free")
    if needed is None:
        return None
    return f"needs {needed / 1e9:.2f} GB" + (f", free {free / 1e9:.2f} GB" if free else "")


SENTENCE = "The weather in the old town was lovely today"
FOREIGN = "Das Wetter in der alten Stadt war heute wirklich sehr schön"
SPECIAL = "<s> </s> [CLS] [SEP] [MASK] [PAD] <|im_start|> <|im_end|> <|endoftext|> <start_of_turn>"
LONG = "word " * 4_000  # as long as a request's text may be
YES_OR_NO = Template(
    prefix="Is this friendly?\n", suffix="\nAnswer:", verbalizers={"yes": " yes", "no": " no"}
)
TOLERANCE = {"float32": 1e-5}  # of probabilities, between batches; other dtypes:
COARSE = 0.02
Rows = Callable[..., list[Floats]]  # of texts


@dataclass(frozen=True)
class Probed:
    """The result of one test of a model. `good` means that it found no problem."""

    good: bool
    said: str


@dataclass(frozen=True)
class ModelOutputs:
    """The answers of a model that was run in this process. `limit` is the number of tokens that it
    reads."""

    answer: str
    milliseconds: float
    limit: int | None
    probes: dict[str, Probed]


def check_model(
    models: Models, name: str, dtype: str, languages: Sequence[str] | None
) -> ModelOutputs:
    """Time one answer of the model, then run the checks. Raises ScoringError if the answer
    fails."""
    if models.kind(name) in ("similarity", "cross-encoder"):
        return _check_similarity(models, name, TOLERANCE.get(dtype, COARSE))
    model: Any = models.judge(name)
    template = None if _is_judge(model) else YES_OR_NO

    def rows(*texts: str) -> list[Floats]:
        judged = model.judge([Example(text=text, template=template) for text in texts])
        return [np.asarray(row, dtype=np.float64) for row in judged]

    started = time.perf_counter()
    [row] = rows(SENTENCE)
    seconds = time.perf_counter() - started
    labels = model.labels_of(Example(text=SENTENCE, template=template))
    shown = ", ".join(f"{label} {p:.3f}" for label, p in zip(labels, row, strict=True))
    [reading] = model.tokens([Example(text=LONG, template=template)])
    states = EVERY if languages and "*" in languages else language_names(languages or ())
    probes = _common_checks(rows, TOLERANCE.get(dtype, COARSE))
    foreign = _run_check(lambda: _check_distribution(rows(FOREIGN)[0]))
    said_of_it = f"the model answers; its entry states {states or 'no languages: add `languages`'}"
    probes["another language"] = Probed(foreign.good, said_of_it) if foreign.good else foreign
    return ModelOutputs(shown, 1_000 * seconds, len(reading.ids), probes)


def _is_judge(model: Any) -> bool:
    """Return True if the model has labels for an example without a prompt template."""
    try:
        model.labels_of(Example(text=SENTENCE))
    except BadInput:
        return False
    return True


def _common_checks(rows: Rows, tolerance: float) -> dict[str, Probed]:
    """Run the tests that apply to every kind of model, and return their results by name.
    `tolerance` is the largest allowed effect of other texts in a batch."""
    return {
        "batch invariance": _run_check(lambda: _check_batch_consistency(rows, tolerance)),
        "a text longer than the model reads": _run_check(
            lambda: _check_distribution(rows(LONG)[0])
        ),
        "an empty text": _run_check(lambda: _check_distribution(rows("")[0])),
        "special tokens": _run_check(lambda: _check_distribution(rows(SPECIAL)[0])),
        "other texts": _run_check(lambda: _check_difference(rows)),
    }


def _check_similarity(models: Models, name: str, tolerance: float) -> ModelOutputs:
    model = models.similarity(name)

    def values(*pairs: tuple[str, str]) -> Floats:
        return np.asarray(model.similarities([Pair(a=a, b=b) for a, b in pairs]))

    started = time.perf_counter()
    value = float(values((SENTENCE, FOREIGN))[0])
    seconds = time.perf_counter() - started

    def rows(*texts: str) -> list[Floats]:
        return [np.atleast_1d(value) for value in values(*((SENTENCE, text) for text in texts))]

    shown = f"two sentences {value:.3f}"
    return ModelOutputs(shown, 1_000 * seconds, None, _common_checks(rows, tolerance))


def _run_check(look: Callable[[], Probed]) -> Probed:
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - a probe tells what goes wrong, whatever it is
        return Probed(False, f"{type(error).__name__}: {error}")


def _check_batch_consistency(rows: Rows, tolerance: float) -> Probed:
    """Check that a text gets the same answer alone and in a batch."""
    [alone] = rows(SENTENCE)
    beside = rows(LONG[:600], SENTENCE, "short", FOREIGN)[1]
    moved = float(np.max(np.abs(alone - beside)))
    return Probed(
        moved <= tolerance, f"moves by {moved:.1e} when other texts are in the same batch"
    )


def _check_difference(rows: Rows) -> Probed:
    """Check that different texts get different answers. If all weights are 0, the answers are
    equal."""
    first, *rest = rows(SENTENCE, FOREIGN, SPECIAL)
    moved = max(float(np.max(np.abs(first - other))) for other in rest)
    return Probed(moved > 0, f"move its answer by {moved:.1e}")


def _check_distribution(row: Floats) -> Probed:
    good = bool(np.all(np.isfinite(row)) and np.all((row >= 0) & (row <= 1)))
    return Probed(good, ", ".join(f"{value:.3f}" for value in row))


if __name__ == "__main__":
    sys.exit(main())
