"""Counts explanations with an actionable verdict, and the correct ones among them.

python -m bench.decisive lines.jsonl [--labels labels.jsonl] [--wrong] [--worthless]

A line of the file is an object with `id`, `text`, `decision` and `explanation`; `language` is
optional. A line of the labels has `id` and `problems`: codes of the metric's problems, or an empty
list for a good explanation. The table counts all lines, and those with the same decision by the
model. `--worthless` also scores explanations that must not hold up: each post with the explanation
of another post of the same decision and language, and with a stock sentence that names its longest
word.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from services import registry
from services.worker import local
from shared.models import ports
from shared.models.catalogue.catalogue import load_catalogue
from shared.reports.metric import Metric

Row = dict[str, Any]
ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.decisive", description=__doc__)
    parser.add_argument("lines", type=Path)
    parser.add_argument("--labels", type=Path)
    parser.add_argument("--wrong", action="store_true", help="name the lines that are wrong")
    parser.add_argument("--worthless", action="store_true", help="shuffled and stock explanations")
    options = parser.parse_args()
    ports.bind(local(load_catalogue(ROOT / "models.toml")))
    lines = _rows(options.lines)
    results = score(lines)
    labels = {row["id"]: row["problems"] for row in _rows(options.labels)} if options.labels else {}
    shared = [result for result in results if result["model_agrees"]]
    for name, chosen in (("all", results), ("decision shared by the model", shared)):
        print(f"{name}: {_shares(chosen)}")
    for verdict in ("not_tested", "problem_found"):
        _print_reasons(verdict, results)
    if labels:
        _print_precision(lines, results, labels, wrong=options.wrong)
    if options.worthless:
        print(f"shuffled: {_shares(score(list(_shuffled(lines))))}")
        print(f"stock sentence: {_shares(score(list(map(_with_stock_sentence, lines))))}")


def _shuffled(lines: Sequence[Row]) -> Iterator[Row]:
    """Yield each line with the explanation of the next line that has the same decision and
    language."""
    groups: dict[tuple[str, str | None], list[Row]] = {}
    for line in lines:
        groups.setdefault((line["decision"], line.get("language")), []).append(line)
    for group in groups.values():
        for line, other in pairwise([*group, group[0]]):
            if line is not other:
                yield {**line, "explanation": other["explanation"]}


def _with_stock_sentence(line: Row) -> Row:
    word = max(line["text"].split(), key=len)
    stock = f"The word “{word}” shows why this post is {line['decision']}."
    return {**line, "explanation": stock}


def score(lines: Sequence[Row]) -> list[Row]:
    service = registry.service("hatexscore")
    assert isinstance(service, Metric)
    contract = service.contract
    requests = [
        contract.request.model_validate(
            {
                "text": row["text"],
                "explanation": row["explanation"],
                "decision": row["decision"],
                **({"language": row["language"]} if row.get("language") else {}),
            }
        )
        for row in lines
    ]
    return [
        contract.judged(report).model_dump(mode="json") for report in service.score_batch(requests)
    ]


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def _shares(results: Sequence[Row]) -> str:
    counts = Counter(result["verdict"] for result in results)
    decisive = counts["holds_up"] + counts["problem_found"]
    share = decisive / max(1, len(results))
    return f"n {len(results)}, decisive {share:.3f}, {dict(counts)}"


def _print_reasons(verdict: str, results: Sequence[Row]) -> None:
    """Print how often each reason decided the verdict. It is the first reason that a result
    lists."""
    chosen = [result for result in results if result["verdict"] == verdict]
    listed = [[*row["problems"], *(one["reason"] for one in row["untested"])] for row in chosen]
    first = Counter(reasons[0] if reasons else "none" for reasons in listed)
    print(f"{verdict}: {len(chosen)} of {len(results)}")
    for reason, count in first.most_common():
        print(f"  {reason:24} {count:4} {count / len(results):.3f}")


def _print_precision(
    lines: Sequence[Row], results: Sequence[Row], labels: dict[str, list[str]], *, wrong: bool
) -> None:
    pairs = [
        (line, result, labels[line["id"]])
        for line, result in zip(lines, results, strict=True)
        if line["id"] in labels
    ]
    for verdict, is_right in (("holds_up", False), ("problem_found", True)):
        chosen = [pair for pair in pairs if pair[1]["verdict"] == verdict]
        right = sum(bool(label) == is_right for _, _, label in chosen)
        print(f"precision of {verdict}: {right} of {len(chosen)}")
    for line, result, label in pairs:
        verdict = result["verdict"]
        false = (verdict == "holds_up" and label) or (verdict == "problem_found" and not label)
        if wrong and false:
            print(line["id"], line["decision"], verdict, result["problems"], "labelled", label)
    kinds = Counter((tuple(label) or ("good",), result["verdict"]) for _, result, label in pairs)
    for (problems, verdict), count in sorted(kinds.items()):
        print(f"{'+'.join(problems):28} {verdict:14} {count}")


if __name__ == "__main__":
    main()
