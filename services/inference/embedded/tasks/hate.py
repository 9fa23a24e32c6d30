"""`embedded-hate`: the posts that it learns from, and what "hateful" means in them.

Sources: HateXplain (Mathew et al., AAAI 2021) and HateCheck (Röttger et al., ACL 2021).
A post is hateful if most of its three annotators called it hate speech: "offensive" is not hateful.
That is HateCheck's line too (abuse of no protected group is not hateful) and HateXScore's, which
asks for the protected group. The training target is the share of annotators who said hate speech.
HateCheck is held back by whole template families, so that no respelling or negation of a held-back
case was trained on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from services.inference.embedded import split as splitting
from services.inference.embedded.answers import Ask
from services.inference.embedded.evaluation import columns, quality, shares
from services.inference.embedded.examples import Example, certain
from services.inference.embedded.split import Split
from services.inference.embedded.task import Task
from services.inference.embedded.tasks.hate_card import HateMetrics, HateQuality, render
from shared.models import Floats

NON_HATEFUL, HATEFUL = LABELS = ("non-hateful", "hateful")
FILES = ("hatexplain.jsonl", "hatecheck.jsonl")
NO_GROUP = "no group"


def read(paths: Iterable[Path]) -> list[Example]:
    """The examples of these JSONL files, told apart by their columns."""
    examples: list[Example] = []
    for path in paths:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if rows and "annotator_labels" in rows[0]:
            examples += [_post(row) for row in rows]
        elif rows and "functionality" in rows[0]:
            examples += _cases(rows)
        else:
            raise ValueError(f"{path}: neither HateXplain nor HateCheck by its columns")
    return examples


def _post(row: dict[str, Any]) -> Example:
    votes = row["annotator_labels"]
    hateful = votes.count("hatespeech") / len(votes)
    return Example(
        id=row["id"],
        text=row["text"],
        source="hatexplain",
        label=int(row["label"] == "hatespeech"),
        target=(1 - hateful, hateful),
        original_label=row["label"],
    )


def _cases(rows: list[dict[str, Any]]) -> list[Example]:
    by_number = {row["id"].rpartition("-")[2]: row for row in rows}

    def family(row: dict[str, Any]) -> str:
        while row["ref_case_id"]:
            row = by_number[row["ref_case_id"]]
        return str(row["templ_id"])

    return [
        Example(
            id=row["id"],
            text=row["text"],
            source="hatecheck",
            label=LABELS.index(row["label"]),
            target=certain(LABELS.index(row["label"]), len(LABELS)),
            original_label=row["label"],
            family=family(row),
            group=row["target_group"],
            functionality=row["functionality"],
        )
        for row in rows
    ]


def split(examples: Sequence[Example]) -> Split:
    """Part the posts in three, and hold back a share of HateCheck's families."""
    posts = splitting.split([example for example in examples if example.source == "hatexplain"])
    held_back, trained = splitting.by_family(
        (example for example in examples if example.source == "hatecheck"),
        splitting.HELD_BACK_SHARE,
    )
    return replace(posts, train=posts.train + trained, held_back_cases=held_back)


def evaluate(ask: Ask, parts: Split, temperature: float) -> HateMetrics:
    """Measure the held-back posts and the held-back HateCheck families."""
    posts, cases = parts.held_back, parts.held_back_cases
    post_logits, case_logits = ask(posts), ask(cases)
    called = case_logits.argmax(axis=1).tolist()
    harmless = [number for number, case in enumerate(cases) if case.label == 0]
    return HateMetrics(
        held_back=_quality(post_logits, posts, temperature),
        called_hateful=shares(
            [post.original_label for post in posts],
            [bool(column) for column in post_logits.argmax(axis=1)],
        ),
        hatecheck=_quality(case_logits, cases, temperature),
        false_positives=shares(
            [cases[number].group or NO_GROUP for number in harmless],
            [bool(called[number]) for number in harmless],
        ),
        functionalities=shares(
            [str(case.functionality) for case in cases],
            [case.label == column for case, column in zip(cases, called, strict=True)],
        ),
        rows=_sizes(parts),
    )


def _quality(logits: Floats, examples: Sequence[Example], temperature: float) -> HateQuality:
    common = quality(logits, columns(examples), temperature)
    hateful = sum(example.label for example in examples)
    return HateQuality(rows=len(examples), hateful=hateful, **dict(common))


def _sizes(parts: Split) -> dict[str, int]:
    posts = sum(example.source == "hatexplain" for example in parts.train)
    return {
        "train_posts": posts,
        "train_cases": len(parts.train) - posts,
        "calibration": len(parts.calibration),
        "held_back": len(parts.held_back),
        "held_back_cases": len(parts.held_back_cases),
    }


HATE = Task(
    name="hate",
    labels=LABELS,
    files=FILES,
    read=read,
    evaluate=evaluate,
    card=render,
    measured=HateMetrics,
    split=split,
)
