"""Counts how many reported cases (small inputs that once failed) are now correct, by kind.

python -m bench.reported ../shared/cases/reported.jsonl [--wrong]

A case is a request and its required result. Compared are: the stated verdict, HTC and TGI, whether
quotations are located or invented, decision and outcome of an answer, HAF's stance and number of
reasons, FTC's phrase, and whether a request is refused. `inverted` counts verdicts that are the
opposite of the true one.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from services import registry
from services.worker import local
from shared.contracts.errors import ScoringError
from shared.contracts.fields import options_of
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue

Json = dict[str, Any]
ROOT = Path(__file__).parents[1]
OPPOSITE = {"hateful": "non-hateful", "non-hateful": "hateful", "toxic": "non-toxic"}
NEAR = 0.1  # of a score
OLD_NAMES = {"predicted_label": "decision"}  # of fields, when the cases were written


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.reported")
    parser.add_argument("file", type=Path)
    parser.add_argument("--wrong", action="store_true", help="name the cases that are wrong")
    chosen = parser.parse_args()
    ports.bind(local(load_catalogue(ROOT / "models.toml")))
    checked: Counter[str] = Counter()
    right: Counter[str] = Counter()
    inverted = 0
    for line in chosen.file.read_text("utf-8").splitlines():
        case = json.loads(line)
        kind, door = case["kind"].split()[0], case["door"]
        if not door.startswith("POST /v1/"):
            continue
        service = door.rsplit("/", 1)[1]
        found = answered(service, of_today(service, case["request"]))
        faults = list(differences(case, found))
        checked[kind] += 1
        right[kind] += not faults
        inverted += any(fault.startswith("inverted") for fault in faults)
        if faults and chosen.wrong:
            print(case["id"], kind, "; ".join(faults))
    for kind, count in sorted(checked.items()):
        print(f"{kind:3} {right[kind]:3} of {count}")
    total = sum(checked.values())
    share = sum(right.values()) / total
    print(f"all {sum(right.values())} of {total} ({share:.3f}), {inverted} inverted")


def of_today(service: str, request: Json) -> Json:
    """Return the request with the current field names. Fields that no longer exist had no value."""
    model = registry.service(service).contract.request
    options = options_of(model)
    named = {OLD_NAMES.get(name, name): value for name, value in request.items()}
    moved = {name: named.pop(name) for name in [*named] if name in options}
    kept = {name: named[name] for name in named if name in model.model_fields or named[name]}
    return {**kept, "options": moved} if moved else kept


def answered(service: str, request: Json) -> Json:
    """Return the result as JSON with `status` 200, or `status` 422 with the reason."""
    scorer = registry.service(service)
    try:
        found = scorer.score(scorer.contract.request.model_validate(request))
    except (ValidationError, ScoringError) as error:
        return {"status": 422, "detail": str(error)}
    result: Json = found.model_dump(mode="json")
    return {**result, **result.get("elicitation", {}), "status": 200}


def differences(case: Json, found: Json) -> Iterator[str]:
    """Yield the differences of a result from the required one."""
    expected = case["expected"]
    if isinstance(expected, str):
        expected = {"said": expected}
    if isinstance(expected.get("htc"), str) and _htc(found) is None:
        return  # "1, or null": it may stay unread
    for key, wanted in expected.items():
        check = CHECKS.get(key)
        if check is not None and (fault := check(wanted, found)):
            yield fault


def _label(key: str) -> Callable[[Any, Json], str | None]:
    def check(wanted: Any, found: Json) -> str | None:
        got, true = found.get(key), None if wanted is None else str(wanted).rstrip("?")
        if got == true or str(wanted).endswith("?"):
            return None
        word = "inverted" if got is not None and OPPOSITE.get(str(true)) == got else "wrong"
        return f"{word} {key}: {got}, not {true}"

    return check


def _htc(found: Json) -> Any:
    return found.get("components", {}).get("htc")


def _part(key: str) -> Callable[[Any, Json], str | None]:
    def check(wanted: Any, found: Json) -> str | None:
        got = found.get("components", {}).get(key)
        allowed = {1, None} if isinstance(wanted, str) else {wanted}
        return None if got in allowed else f"{key}: {got}, not {wanted}"

    return check


def _invented(wanted: Any, found: Json) -> str | None:
    lost = bool(found.get("hallucinated_quotes"))
    if wanted == []:
        return "a true quotation is called invented" if lost else None
    noted = lost or ("or at least" in str(wanted) and bool(found.get("warnings")))
    return None if noted else "a false quotation is not told of"


def _quotes(wanted: Any, found: Json) -> str | None:
    located = any(one.get("quoted_as") is not None for one in found.get("evidence", ()))
    return None if located == bool(wanted) else f"quotations located: {located}"


def _said(wanted: Any, found: Json) -> str | None:
    text, warnings = str(wanted), " ".join(found.get("warnings", ()))
    if text.startswith("located"):
        return _quotes(True, found)
    if text.startswith("no quotes_not_found") or text == "warning":
        noted = "neither in the post" in warnings
        return None if noted == (text == "warning") else f"a warning of a quotation: {noted}"
    item = text.removesuffix(" found").removeprefix("some ")
    if item in ("ground", "restriction", "redress"):
        return f"{item} is not found" if item in found.get("missing", (item,)) else None
    return None if found["status"] == 422 else "it is not refused"


def _reasons(wanted: Any, found: Json) -> str | None:
    if not isinstance(wanted, int):
        return None
    told = sum(len(one["reasons"]) for one in found.get("stages", ()) if one["stage"] == "justify")
    return None if told == wanted else f"{told} reasons, not {wanted}"


def _score(wanted: Any, found: Json) -> str | None:
    got = found.get("score")
    if wanted is None or isinstance(wanted, str):
        return None if wanted is not None or got is None else f"score {got}, not null"
    near = got is not None and abs(got - wanted) <= NEAR
    return None if near else f"score {got}, not {wanted}"


def _status(wanted: Any, found: Json) -> str | None:
    return None if found["status"] == wanted else f"status {found['status']}, not {wanted}"


CHECKS: dict[str, Callable[[Any, Json], str | None]] = {
    "stated_label": _label("stated_decision"),
    "decision": _label("decision"),
    "stance": _label("stance"),
    "htc": _part("htc"),
    "tgi": _part("tgi"),
    "qf": _part("qf"),
    "hallucinated": _invented,
    "quotes": _quotes,
    "said": _said,
    "reasons": _reasons,
    "score": _score,
    "status": _status,
}


if __name__ == "__main__":
    main()
