"""Training examples in the input format of the base model, and the file of a trained adapter.

Source: Devlin et al., BERT, arXiv:1810.04805, section 3.2: an example is one sequence, or two with
the second marked as such.

An example is a text or a pair of texts with its label. Examples of a family (a common text, premise
or template) are never split. 20 % of the families are held back. 15 % of the others are for
calibration. Hashes decide, so the split is always the same."""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from peft import get_peft_model_state_dict
from safetensors.torch import save

from services.inference.embedded.adapter import CONFIG, WEIGHTS, minilm_tokenizer
from shared.models.catalogue.checkpoint import BASE_NAME, file_sha256
from shared.models.ports import Floats


@dataclass(frozen=True)
class TrainingExample:
    """One labelled text, or pair of texts. Only HateCheck has `group` and `functionality`."""

    id: str
    text: str
    label: int  # column of the true label
    target: tuple[float, ...]  # training target, the probability of each label
    text_pair: str | None = None  # what the model reads as its second sequence
    source: str = ""  # data set
    original_label: str = ""  # as the data set has it; each is held back in the same share
    family: str | None = None  # examples of one family are never parted
    group: str | None = None  # protected group that the case names
    functionality: str | None = None  # what the case tests
    language: str = "en"

    @property
    def cluster(self) -> str:
        """Return the cluster; examples of one cluster are not independent."""
        return self.family or self.id


Ask = Callable[[Sequence[TrainingExample]], Floats]  # examples to (N, L) logits


def json_lines(path: Path, columns: set[str], contents: str) -> list[dict[str, Any]]:
    """Return the rows of a JSON Lines file. Raises ValueError if columns are missing."""
    rows: list[dict[str, Any]] = [
        json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
    ]
    if not rows or any(not columns <= row.keys() for row in rows):
        raise ValueError(f"{path}: not {contents} by its columns")
    return rows


def one_hot(label: int, labels: int) -> tuple[float, ...]:
    """Return a vector that is 1 at index `label` and 0 elsewhere."""
    return tuple(float(column == label) for column in range(labels))


def normalize_text(text: str) -> str:
    """Return only the text's letters and digits, in lower case. Texts that differ only in
    punctuation or spaces give the same result."""
    return re.sub(r"[\W_]+", "", text.lower())


HELD_BACK_SHARE = 0.20
CALIBRATION_SHARE = 0.15  # of what is not held back


@dataclass(frozen=True)
class Split:
    train: list[TrainingExample]
    calibration: list[TrainingExample]
    held_back: list[TrainingExample]
    held_back_cases: list[TrainingExample] = field(default_factory=list)  # HateCheck
    watched: list[TrainingExample] = field(default_factory=list)  # choose the epoch, too

    @property
    def sizes(self) -> dict[str, int]:
        return {
            "train": len(self.train),
            "calibration": len(self.calibration),
            "held_back": len(self.held_back),
        }


def split(examples: Sequence[TrainingExample]) -> Split:
    """Split the examples into training, calibration and held-back sets. Each original label has
    about the same share in every set."""
    held_back, remaining = _split_by_label(examples, HELD_BACK_SHARE)
    calibration, train = _split_by_label(remaining, CALIBRATION_SHARE)
    return Split(train=train, calibration=calibration, held_back=held_back)


def split_by_group(
    examples: Iterable[TrainingExample], share: float
) -> tuple[list[TrainingExample], list[TrainingExample]]:
    """Split the examples by family into (inside, outside), in the original order. `share` is the
    share of families that go inside."""
    listed = list(examples)
    ordered = sorted(
        {example.cluster for example in listed},
        key=lambda id_: hashlib.sha256(id_.encode()).digest(),
    )
    families = set(ordered[: round(len(ordered) * share)])
    inside = [example for example in listed if example.cluster in families]
    return inside, [example for example in listed if example.cluster not in families]


def _split_by_label(
    examples: Iterable[TrainingExample], share: float
) -> tuple[list[TrainingExample], list[TrainingExample]]:
    """Split the examples into (inside, outside) without dividing a family, separately for each
    original label. `share` is the share of examples inside."""
    by_label: dict[str, list[TrainingExample]] = defaultdict(list)
    for example in examples:
        by_label[example.original_label].append(example)
    inside: list[TrainingExample] = []
    outside: list[TrainingExample] = []
    for label in sorted(by_label):
        some, rest = split_by_group(by_label[label], share)
        inside += some
        outside += rest
    return inside, outside


@dataclass(frozen=True)
class TokenRow:
    """A tokenized example. `segments` has 0 for each token of the first sequence and 1 for each
    token of the second."""

    ids: list[int]
    segments: list[int]


def tokenize(
    examples: Sequence[TrainingExample], longest: int, tokenizer: Any = None
) -> list[TokenRow]:
    """Return a row for each example, cut to `longest` tokens. The default tokenizer is that of
    all-MiniLM-L6-v2. Raises ValueError if only some examples are pairs."""
    tokenizer = tokenizer or minilm_tokenizer()
    texts = [example.text for example in examples]
    pairs = [example.text_pair for example in examples if example.text_pair is not None]
    if pairs and len(pairs) != len(texts):
        raise ValueError("some examples are pairs of texts and some are not")
    encoded = tokenizer(texts, pairs or None, truncation=True, max_length=longest)
    ids = encoded["input_ids"]
    segments = encoded.get("token_type_ids") or [[0] * len(row) for row in ids]
    return [TokenRow(*row) for row in zip(ids, segments, strict=True)]


def token_range(
    examples: Sequence[TrainingExample], longest: int, tokenizer: Any = None
) -> tuple[int, int]:
    """Return the 1st and 99th percentile of the texts' token counts, truncated to `longest`. Both
    are counts of actual texts."""
    lengths = sorted(len(row.ids) for row in tokenize(examples, longest, tokenizer))
    last = len(lengths) - 1
    return lengths[round(0.01 * last)], lengths[round(0.99 * last)]


def collate(rows: Sequence[TokenRow], width: int) -> dict[str, torch.Tensor]:
    """Return the model's inputs, each (N, width); BERT pads with 0."""
    lengths = torch.tensor([len(row.ids) for row in rows])
    return {
        "input_ids": _pad([row.ids for row in rows], width),
        "attention_mask": (torch.arange(width) < lengths[:, None]).long(),
        "token_type_ids": _pad([row.segments for row in rows], width),
    }


def _pad(rows: Sequence[list[int]], width: int) -> torch.Tensor:
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


def save_adapter(model: Any, folder: Path, base: str = BASE_NAME) -> str:
    """Write weights and configuration; return the SHA-256 of the weights."""
    weights = get_peft_model_state_dict(model, save_embedding_layers=False)
    rounded = {name: value.to(torch.bfloat16).contiguous() for name, value in weights.items()}
    (folder / WEIGHTS).write_bytes(save(rounded, metadata={"format": "pt"}))
    config = model.peft_config["default"].to_dict() | {"base_model_name_or_path": base}
    text = json.dumps(config, indent=2, sort_keys=True, default=sorted)  # sets, in a fixed order
    (folder / CONFIG).write_text(text + "\n", encoding="utf-8")
    return file_sha256(folder / WEIGHTS)
