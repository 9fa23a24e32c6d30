"""Load models and ask each something: `touchstone models check [NAME...]`.

Of a model with weights: state, labels, limit, languages, dtype, memory, an answer with its time and
five probes. Of a server: what it can do. The exit status is 1 if any cannot be used.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from shared import telemetry
from shared.models.catalogue import Catalogue, ModelCard, load_catalogue
from shared.models.entry import ModelEntry
from shared.models.prompt_table import NO_LABELS
from shared.settings import settings_or_exit, stay_offline

if TYPE_CHECKING:
    from services.inference.model_probes import ModelAnswers

Report = dict[str, Any]
RUNTIME_BYTES = 700_000_000  # of a process with the model libraries, measured


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0 if every model that was asked for can be used."""
    asked = _parser().parse_args(arguments)
    stay_offline()  # before a model library is imported
    chosen = settings_or_exit()
    telemetry.configure_logging("error", "console")
    try:
        catalogue = load_catalogue(chosen.models_file)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if asked.memory:
        sys.stdout.write(f"{memory(catalogue)}\n")
        return 0
    known = [one.name for one in catalogue.describe()]
    if strange := sorted(set(asked.names) - set(known)):
        sys.stderr.write(f"no such model: {', '.join(strange)}; there are: {', '.join(known)}\n")
        return 1
    reports = []
    for name in asked.names or known:
        reports.append(report(catalogue, name))
        if not asked.json:
            sys.stdout.write(rendered(reports[-1]) + "\n")
            sys.stdout.flush()
    if asked.json:
        sys.stdout.write(json.dumps(reports, indent=1) + "\n")
    return 0 if all(one["state"] == "ready" for one in reports) else 1


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="touchstone models check", description=__doc__)
    made.add_argument("names", nargs="*", metavar="NAME", help="none: all that are configured")
    made.add_argument("--json", action="store_true", help="for machines")
    made.add_argument(
        "--memory", action="store_true", help="only the bytes that a worker with all of them needs"
    )
    return made


def memory(catalogue: Catalogue) -> int:
    """Bytes for all models with weights that are here, and for the process."""
    from services.weights.folder import is_whole
    from services.weights.loader import planned

    total = RUNTIME_BYTES
    for entry in catalogue.entries:
        if not entry.is_served:
            folder, placement = planned(catalogue, entry)
            total += placement.memory if is_whole(folder) else 0
    return total


def report(catalogue: Catalogue, name: str) -> Report:
    """Everything that is known of this model, and what it answers."""
    card = next(one for one in catalogue.describe() if one.name == name)
    entry = next((one for one in catalogue.entries if one.name == name), None)
    if entry is None:
        return {"name": name, "state": "failed", "error": card.fault}
    known = _configured(card)
    if entry.prompt is not None and entry.prompt.verbalizers:
        known["labels"] = {label: list(own) for label, own in entry.prompt.verbalizers.items()}
    elif entry.kind == "causal" and not entry.is_served:
        known["warnings"] += [f"no-prompt: {NO_LABELS}"]
    return known | (_of_server(entry) if entry.is_served else _of_weights(catalogue, entry))


def _configured(card: ModelCard) -> Report:
    labels = {label: list(outputs) for label, outputs in (card.mapping or {}).items()}
    return {
        "name": card.name,
        "kind": card.kind,
        "revision": card.revision,
        "labels": labels or None,
        "activation": card.activation,
        "languages": list(card.languages) if card.languages else None,
        "warnings": list(card.warnings),
    }


def _of_server(entry: ModelEntry) -> Report:
    from shared.models.server_check import probe

    found = probe(entry)
    return {
        "state": "ready" if found.is_usable else "away" if found.is_away else "failed",
        "error": found.error,
        "server": found.model_dump(mode="json"),
    }


def _of_weights(catalogue: Catalogue, entry: ModelEntry) -> Report:
    from services.bindings import local
    from services.inference.model_probes import asked
    from services.weights.memory import free_bytes
    from shared.errors import ModelNotReady, ScoringError
    from shared.models.availability import ModelStates
    from shared.models.ports import describe

    states, started = ModelStates(), time.perf_counter()
    models = local(catalogue, settings_or_exit().padded_tokens, states)
    try:
        use = describe(models, entry.name).use
        seconds = time.perf_counter() - started
        answered = asked(models, entry.name, str(use.dtype), catalogue.languages(entry))
    except ScoringError as error:
        state = error.state if isinstance(error, ModelNotReady) else "failed"
        return {"state": state, "error": error.detail}
    known = states.get(entry.name)
    return {
        "state": "ready",
        "error": None,
        "sha256": use.sha256,
        "device": use.device,
        "dtype": use.dtype,
        "memory_needed": known.placement.memory if known and known.placement else None,
        "memory_free": free_bytes(str(use.device)),
        "loaded_seconds": round(seconds, 1),
        **_answers(answered),
    }


def _answers(answered: ModelAnswers) -> Report:
    return {
        "limit": answered.limit,
        "answer": answered.answer,
        "answer_milliseconds": round(answered.milliseconds, 1),
        "probes": {name: asdict(one) for name, one in answered.probes.items()},
    }


def rendered(found: Report) -> str:
    """The report for people, a line a fact."""
    error = f": {found['error']}" if found.get("error") else ""
    lines = [f"{found['name']}  {found['state']}{error}"]
    labels = [f"{one} = {', '.join(of) or '1 - other'}" for one, of in _items(found, "labels")]
    shown = {
        "kind": found.get("kind"),
        "revision": found.get("revision"),
        "sha256": found.get("sha256"),
        "labels": "; ".join(labels),
        "activation": found.get("activation"),
        "languages": ", ".join(found.get("languages") or ("not stated",)),
        "limit": f"{found['limit']} tokens" if found.get("limit") else None,
        "device": f"{found['device']} {found['dtype']}" if found.get("device") else None,
        "memory": _memory(found),
        "loaded in": f"{found['loaded_seconds']} s" if "loaded_seconds" in found else None,
        "answer": f"{found['answer']}, in {found['answer_milliseconds']:.0f} ms"
        if "answer" in found
        else None,
    }
    lines += [f"  {name:<22}{value}" for name, value in shown.items() if value]
    for name, probe in _items(found, "probes"):
        lines.append(f"  {name:<22}{'good' if probe['good'] else 'BAD'}: {probe['said']}")
    if server := found.get("server"):
        from shared.models.server_check import render
        from shared.models.server_records import ServerAbilities

        lines += [
            f"  {line}" for line in render(ServerAbilities.model_validate(server)).splitlines()
        ]
    return "\n".join([*lines, *(f"  {'warning':<22}{one}" for one in found.get("warnings") or ())])


def _items(found: Report, name: str) -> list[tuple[str, Any]]:
    return list((found.get(name) or {}).items())


def _memory(found: Report) -> str | None:
    needed, free = found.get("memory_needed"), found.get("memory_free")
    if needed is None:
        return None
    return f"needs {needed / 1e9:.2f} GB" + (f", free {free / 1e9:.2f} GB" if free else "")


if __name__ == "__main__":
    sys.exit(main())
