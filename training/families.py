"""Assigns each case of Multilingual HateCheck to a HateCheck family, and writes
`families.json`.

python -m training.families --data-folder ../shared/data

The cases of Multilingual HateCheck are translations of HateCheck's cases, but the file does not
name the original case. A case therefore joins the family of the English case with the nearest
vector among those of the same functionality. Families that are almost as near are also listed. A
case is used for training only if none of its listed families is held back. Vectors are those of
multilingual-e5-small, minus the mean of their language and group."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from services.inference.embedded.e5 import e5_model, e5_tokenizer, read_e5
from shared.models.catalogue.checkpoint import e5_path
from shared.models.ports import Floats
from training.examples import TrainingExample

FAMILIES = Path(__file__).with_name("families.json")
LONGEST = 96  # tokens
BATCH = 64
MARGIN = 0.2  # in similarity, below the nearest
FEWEST = 3  # cases of a language and group, so that their mean says something


@torch.inference_mode()
def vectors(texts: Sequence[str]) -> Floats:
    """Return (N, d) text embeddings: the mean of the token embeddings of multilingual-e5-small."""
    file = read_e5(e5_path())
    model, tokenizer = e5_model(file, ("a", "b")).eval(), e5_tokenizer(file)
    order = sorted(range(len(texts)), key=lambda row: len(texts[row]))
    means = np.empty((len(texts), model.config.hidden_size))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        batch = tokenizer(
            [f"query: {texts[row]}" for row in rows],
            padding=True,
            truncation=True,
            max_length=LONGEST,
            return_tensors="pt",
        )
        hidden = model.bert(**batch).last_hidden_state
        weights = batch["attention_mask"][..., None].float()
        means[rows] = ((hidden * weights).sum(1) / weights.sum(1)).numpy()
    return means


def centred(raw: Floats, cases: Sequence[TrainingExample]) -> Floats:
    """Return (N, d) unit vectors after subtracting the mean of the cases with the same language and
    group. Small groups are not changed."""
    units = _units(raw)
    rows: dict[tuple[str, str | None], list[int]] = defaultdict(list)
    for row, case in enumerate(cases):
        rows[case.language, case.group].append(row)
    for some in rows.values():
        if len(some) >= FEWEST:
            units[some] -= units[some].mean(axis=0)
    return _units(units)


def one_of_each_template(cases: Sequence[TrainingExample]) -> list[TrainingExample]:
    """Return one English case for each template of each family. The templates of one family differ
    in more words than the group's name."""
    first: dict[tuple[str, str | None], TrainingExample] = {}
    for case in cases:
        if case.source == "hatecheck":
            first.setdefault((case.cluster, case.functionality), case)
    return list(first.values())


def nearest_families(
    english: Sequence[TrainingExample], others: Sequence[TrainingExample], near: Floats
) -> dict[str, list[str]]:
    """Map the id of each case in another language to the English families that may contain its
    original, nearest first.

    near: (N, M) similarity of N cases in other languages with M English cases."""
    tested = np.array([case.functionality for case in english])
    families = {}
    for row, case in zip(near, others, strict=True):
        same = tested == case.functionality
        own = np.where(same, row, -np.inf) if same.any() else row
        order = [place for place in np.argsort(-own) if own[place] >= own.max() - MARGIN]
        families[case.id] = list(dict.fromkeys(english[place].cluster for place in order))
    return families


def _units(rows: Floats) -> Floats:
    lengths: Floats = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths


def main() -> None:
    """Parse the command line, assign the cases to families, and write the file of families."""
    from training.hate import FILES, read  # which reads what this writes

    parser = argparse.ArgumentParser(prog="python -m training.families", description=__doc__)
    parser.add_argument("--data-folder", type=Path, required=True, metavar="FOLDER")
    folder = parser.parse_args().data_folder
    cases = [case for case in read(folder / name for name in FILES) if case.functionality]
    cases = [*one_of_each_template(cases), *(case for case in cases if case.source != "hatecheck")]
    both = centred(vectors([case.text for case in cases]), cases)
    english = [row for row, case in enumerate(cases) if case.source == "hatecheck"]
    others = [row for row, case in enumerate(cases) if case.source != "hatecheck"]
    families = nearest_families(
        [cases[row] for row in english],
        [cases[row] for row in others],
        both[others] @ both[english].T,
    )
    rows = [f"{json.dumps(id_)}: {json.dumps(found)}" for id_, found in sorted(families.items())]
    FAMILIES.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
