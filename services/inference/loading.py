"""From an entry of the catalogue to weights in memory.

Safetensors only, a model's own code is never run, and what is loaded is hashed first.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
)

from services.inference.embedded.adapter import load_adapter
from services.inference.quiet import quiet
from services.inference.weights import LoadedModel
from shared.contracts import ModelUse
from shared.errors import ScoringError, Unavailable
from shared.models.availability import unloadable
from shared.models.catalogue import Catalogue, ModelEntry, base_folder, folder_sha256
from shared.numerics import promised
from shared.positions import usable_positions

FILES = ["*.json", "*.jinja", "*.safetensors", "*.txt", "*.model"]  # weights, settings, words
LONGEST_PROOF = 8_192  # tokens
NO_LIMIT = 100_000_000  # a tokenizer without a length limit states some 1e30


def load_classifier(catalogue: Catalogue, entry: ModelEntry) -> LoadedModel:
    """A classifier's weights, on its device.

    Raises Unavailable where the hub is out of reach or the device is full (a retry can help),
    ScoringError where the files are missing, altered, damaged or no sequence classifier.
    """
    return _loaded(_classifier, catalogue, entry)


def load_causal(catalogue: Catalogue, entry: ModelEntry) -> LoadedModel:
    """A causal language model's weights, on its device. Raises as `load_classifier` does."""
    return _loaded(_causal, catalogue, entry)


def _loaded(
    load: Callable[[Catalogue, ModelEntry], LoadedModel], catalogue: Catalogue, entry: ModelEntry
) -> LoadedModel:
    try:
        return load(catalogue, entry)
    except (LocalEntryNotFoundError, torch.OutOfMemoryError, MemoryError) as error:
        raise Unavailable(f"the model {entry.name!r} cannot be loaded now: {error}") from error
    except Exception as error:  # whatever the libraries make of files that others wrote
        raise ScoringError(unloadable(entry.name, error)) from error


def _classifier(catalogue: Catalogue, entry: ModelEntry) -> LoadedModel:
    folder = catalogue.folder(entry) or _from_hub(entry)
    sha256 = _checked_hash(folder, entry)
    note = catalogue.note(entry)
    if note is None:
        model, words = _from_folder(folder, AutoModelForSequenceClassification), folder
    else:
        model, words = load_adapter(folder, note), base_folder()
    tokenizer = _tokenizer(words)
    if tokenizer.pad_token_id is None:
        raise ValueError("its tokenizer has no padding token")
    labels = _labels(entry.labels or (note.labels if note else None), model.config)
    model, longest = _placed(model, entry), _longest(model, tokenizer)
    _prove(model, longest, tokenizer.pad_token_id)
    return LoadedModel(
        model=model,
        tokenizer=tokenizer,
        longest=longest,
        labels=labels,
        languages=entry.languages or (note.languages if note else ()),
        temperature=note.temperature if note else 1.0,
        use=_use(catalogue, entry, sha256),
    )


def _causal(catalogue: Catalogue, entry: ModelEntry) -> LoadedModel:
    folder = catalogue.folder(entry) or _from_hub(entry)
    sha256 = _checked_hash(folder, entry)
    tokenizer = _tokenizer(folder)
    if not tokenizer.is_fast:
        raise ValueError("its tokenizer gives no character offsets")
    model = _from_folder(folder, AutoModelForCausalLM)
    return LoadedModel(
        model=_placed(model, entry),
        tokenizer=tokenizer,
        longest=_longest(model, tokenizer),
        labels=(),
        languages=entry.languages or (),
        temperature=1.0,
        use=_use(catalogue, entry, sha256),
    )


def _placed(model: Any, entry: ModelEntry) -> Any:
    """The model on its device, for answers only: attributions need no gradient of its weights."""
    model = model.to(device=_device(entry.device), dtype=getattr(torch, entry.dtype))
    return model.eval().requires_grad_(requires_grad=False)


def _tokenizer(folder: Path) -> Any:
    return AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)


def _use(catalogue: Catalogue, entry: ModelEntry, sha256: str) -> ModelUse:
    device = str(_device(entry.device))
    return ModelUse(
        name=entry.name,
        revision=catalogue.revision(entry),
        sha256=sha256,
        device=device,
        dtype=entry.dtype,
        # a classifier's rows have 16 tokens and more (`packing`); a causal model's any number
        numerics=promised(device, entry.dtype, small_products=entry.kind == "causal"),
    )


def _device(name: str) -> torch.device:
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if name != "cpu" and not torch.cuda.is_available():
        raise ValueError(f"it is configured for {name}, and this machine has no GPU")
    return torch.device(name)


def _from_hub(entry: ModelEntry) -> Path:
    """The folder of a hub model's files at its commit, fetched if they are not in the cache."""
    return Path(snapshot_download(entry.location, revision=entry.commit, allow_patterns=FILES))


def _checked_hash(folder: Path, entry: ModelEntry) -> str:
    found = folder_sha256(folder)
    if found is None:
        raise ValueError(f"there are no safetensors files in {folder}")
    if entry.sha256 not in (None, found):
        raise ValueError(f"its weights have SHA-256 {found}, configured is {entry.sha256}")
    return found


def _from_folder(folder: Path, kind: Any) -> Any:
    with quiet():
        model, report = kind.from_pretrained(
            folder,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are in the report, by name
        )
    if report["missing_keys"]:  # they would be filled with random numbers
        raise ValueError(f"its files lack the weights {sorted(report['missing_keys'])}")
    if report["mismatched_keys"]:  # so would these
        names = sorted(name for name, *_ in report["mismatched_keys"])
        raise ValueError(f"its weights {names} have other sizes than its configuration says")
    return model


def _labels(configured: tuple[str, ...] | None, config: Any) -> tuple[str, ...]:
    labels = configured or tuple(config.id2label[place] for place in range(config.num_labels))
    if len(labels) != config.num_labels or config.num_labels < 2:
        raise ValueError(f"it has {config.num_labels} outputs, and {len(labels)} labels are named")
    return labels


def _longest(model: Any, tokenizer: Any) -> int:
    """Tokens that the model reads. Raises ValueError where nothing says so."""
    limits = [tokenizer.model_max_length, usable_positions(model)]
    longest = min(limit for limit in limits if limit is not None)
    if longest >= NO_LIMIT:
        raise ValueError("neither its tokenizer nor its configuration says how much it reads")
    return int(longest)


@torch.inference_mode()
def _prove(model: Any, longest: int, padding: int) -> None:
    """One pass of the longest text. Raises ValueError where the model reads less than it states."""
    if longest > LONGEST_PROOF:  # no table of positions is so long
        return
    word = (padding + 1) % model.config.vocab_size
    try:
        model(input_ids=torch.full((1, longest), word, device=model.device))
    except torch.OutOfMemoryError:
        raise
    except (IndexError, RuntimeError) as error:
        raise ValueError(f"it reads fewer than the {longest} tokens that it states") from error
