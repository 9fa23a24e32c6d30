"""Loads, verifies and places the weights of a catalogue entry. Only safetensors are loaded, a
model's own code never runs, and weights are hashed before loading. Changes to the network (an
adapter, shortened layers) are passed as a function."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Literal

import torch
from safetensors import SafetensorError, safe_open
from transformers import (
    AutoConfig,
    AutoModel,
    AutoModelForCausalLM,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    logging,
)

from services.inference.weights.folder import (
    SERVE_IT,
    demand_same_network,
    demand_usable,
    model_folder,
    weights_folder,
)
from services.inference.weights.limits import (
    LONGEST_PROOF,
    counts_positions,
    demand_numbers,
    demand_same_tokens,
    find_max_length,
    is_padding_invariant,
    max_length_ids,
    max_positions,
    verify_length,
)
from services.inference.weights.openvino_runtime import Unsupported, converted
from services.inference.weights.placement import (
    check_memory,
    device_of,
    dtype_of,
    estimate_memory,
    loaded,
    parameters,
    torch_dtype,
)
from services.inference.weights.quantization import quantize
from shared.contracts.calls import MASK_TEXT
from shared.contracts.errors import ScoringError
from shared.contracts.labels import Head, LabelMapping, Task, label_mapping
from shared.contracts.messages import ModelUse, Numerics, Runtime
from shared.contracts.prompt_table import PromptTable
from shared.models.catalogue.availability import LoadingError, Placement, load_error, placed
from shared.models.catalogue.catalogue import Catalogue, prompt_label_fields
from shared.models.catalogue.checkpoint import (
    EmbeddedMetadata,
    files_state,
    folder_sha256,
)
from shared.models.catalogue.entry import InputTable, ModelEntry
from shared.models.catalogue.models_file import with_version
from shared.process.numerics import promised

PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")

MISMATCHED = "ignore_mismatched_sizes"  # in the message where sizes do not fit
MOST_BESIDE = 20_000_000  # numbers of a network that its files need not hold
UNKNOWN_TYPE = re.compile(r"model type `([^`]*)` but Transformers does not recognize")
TOKENIZER_FILES = (
    "put tokenizer.json (or the files of its vocabulary) and tokenizer_config.json "
    "next to the weights, as `save_pretrained` of a tokenizer writes them"
)
FEWEST_TOKENS = 2  # besides the special ones

Adapt = Callable[[Path, EmbeddedMetadata], tuple[Any, Any]]  # base with adapter, and tokenizer
Shorten = Callable[[Any], None]  # changes a cross-encoder's network in place


@dataclass(frozen=True)
class LoadedModel:
    """A loaded model. `temperature` divides a classifier's logits."""

    model: Any
    tokenizer: Any
    longest: int  # tokens, special ones included
    mapping: LabelMapping | None  # None for causal models: a template names their labels
    languages: tuple[str, ...]
    temperature: float
    use: ModelUse
    input: InputTable | None = None  # how an encoder is given an example
    pads: bool = True  # a classifier: whether padding leaves its answers as they are
    overlong: Literal["cut", "refuse"] = "cut"
    prompt: PromptTable | None = None  # of a causal model
    own_prompts: bool = True  # whether a request may bring its own in its place
    task: Task | None = None  # as its entry states it
    mask_text: str = MASK_TEXT  # what stands for a masked word in a string
    runtime: Runtime = "torch"  # another shows neither attention nor gradients


@dataclass(frozen=True)
class LoadedEncoder:
    """A loaded sentence-transformers model. `output` names the feature that it returns."""

    model: Any
    output: Literal["sentence_embedding", "scores"]
    use: ModelUse


def load_classifier(catalogue: Catalogue, entry: ModelEntry, adapt: Adapt) -> LoadedModel:
    """Load a sequence classifier. `adapt` changes the base of a model that ships with Touchstone.
    All loaders raise LoadingError if files are missing or the device is full. They raise
    ScoringError if files were changed, are damaged, or belong to another kind of model."""
    with _explained(entry), _unchanged(catalogue, entry):
        folder, use = _verify(catalogue, entry)
        note = catalogue.training_metadata(entry)
        if note is None:
            model = _from_folder(folder, AutoModelForSequenceClassification)
            tokenizer = _tokenizer(folder)
        else:
            model, tokenizer = adapt(folder, note)
        mapping = label_mapping(entry, _head(note, model.config))
        model = _to_device(model, entry, use)
        longest = find_max_length(entry, model, tokenizer)
        demand_same_tokens(model, tokenizer)
        verify_length(model, max_length_ids(tokenizer, longest), len(mapping.outputs))
        pads = is_padding_invariant(model, tokenizer, longest)
        more: dict[str, Any] = {"warnings": mapping.warnings, "thresholds": mapping.thresholds}
        if note is not None:  # calibration at another temperature is not known
            more["on_parts"] = note.on_parts if entry.temperature is None else ()
            more["training_tokens"] = note.training_tokens
        if not pads and use.numerics == "bytes":  # rows without padding are small products
            more["numerics"] = promised(str(use.device), str(use.dtype), small_products=True)
        return LoadedModel(
            model=_computed(model, tokenizer, longest, use),
            tokenizer=tokenizer,
            longest=longest,
            mapping=mapping,
            languages=catalogue.languages(entry) or (),
            temperature=entry.temperature or (note.temperature if note else 1.0),
            use=use.model_copy(update=more),
            input=entry.input,
            overlong=entry.overlong,
            pads=pads,
            mask_text=_mask_text(entry, tokenizer),
            runtime=entry.runtime,
        )


def _computed(model: Any, tokenizer: Any, longest: int, use: ModelUse) -> Any:
    if use.runtime == "openvino":
        return converted(model, tokenizer, longest, output="logits", dtype=str(use.dtype))
    if use.dtype == "int8":
        quantize(model.base_model)
    return model


def load_causal(catalogue: Catalogue, entry: ModelEntry) -> LoadedModel:
    with _explained(entry), _unchanged(catalogue, entry):
        folder, use = _verify(catalogue, entry)
        tokenizer = _tokenizer(folder)
        if not tokenizer.is_fast:
            raise ValueError(
                "the model's tokenizer returns no character offsets; use a fast tokenizer"
            )
        model = _to_device(_from_folder(folder, AutoModelForCausalLM), entry, use)
        longest = find_max_length(entry, model, tokenizer)
        demand_same_tokens(model, tokenizer)
        if counts_positions(model):
            verify_length(model.base_model, max_length_ids(tokenizer, longest))
        return LoadedModel(
            model=model,
            tokenizer=tokenizer,
            longest=longest,
            mapping=None,
            languages=catalogue.languages(entry) or (),
            temperature=entry.temperature or 1.0,
            use=use.model_copy(update=prompt_label_fields(entry)),
            prompt=entry.prompt,
            own_prompts=entry.allow_request_prompt,
            task=entry.task,
            overlong=entry.overlong,
            mask_text=_mask_text(entry, tokenizer),
        )


def _mask_text(entry: ModelEntry, tokenizer: Any) -> str:
    return entry.mask_text or tokenizer.mask_token or MASK_TEXT


def load_encoder(catalogue: Catalogue, entry: ModelEntry, shorten: Shorten) -> LoadedEncoder:
    """Load a bi-encoder or a cross-encoder. `shorten` optimises a cross-encoder's network in
    place."""
    with _explained(entry), _unchanged(catalogue, entry):
        folder, use = _verify(catalogue, entry)
        with without_progress():
            make = _bi_encoder if entry.kind == "similarity" else _cross_encoder
            model = make(folder, use)
        if entry.kind == "cross-encoder":
            shorten(model[0].auto_model)
        with _own_memory(model, entry):
            model.to(dtype=_weights_dtype(use)).eval()  # modules after the transformer too
        _cut_to_positions(model)
        if (network := getattr(model[0], "auto_model", None)) is not None:
            demand_same_tokens(network, model.tokenizer)
        if use.dtype == "int8":
            quantize(model[0].auto_model.base_model)
        if entry.runtime == "openvino":
            _convert(model, use)
        output: Literal["sentence_embedding", "scores"] = (
            "sentence_embedding" if entry.kind == "similarity" else "scores"
        )
        return LoadedEncoder(model, output, use)


@contextmanager
def _explained(entry: ModelEntry) -> Iterator[None]:
    """Convert the exceptions of this block to those that `load_classifier` documents."""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        message = f"the model {entry.name!r} does not fit into memory: {error}"
        raise LoadingError(message, "waiting") from error
    except Unsupported as error:
        raise LoadingError(load_error(entry.name, error), "failed", again=False) from error
    except (OSError, ValueError, RuntimeError, SafetensorError) as error:
        if MISMATCHED in str(error):  # transformers names its own switch, and no weight
            error = ValueError(
                "the model's weights have different shapes than its configuration says"
            )
        if (unknown := UNKNOWN_TYPE.search(str(error))) is not None:
            message = (
                "the installed version of Transformers does not know the model type "
                f"{unknown[1]!r}: {SERVE_IT}"
            )
            error = ValueError(f"{message} or classify:")
        raise ScoringError(load_error(entry.name, error)) from error
    finally:
        loaded(entry.name)


@contextmanager
def _unchanged(catalogue: Catalogue, entry: ModelEntry) -> Iterator[None]:
    """Raise LoadingError after the block if the model's files changed during it. Jobs then wait
    until the new files are loaded."""
    folder = model_folder(catalogue, entry)
    before = files_state(folder)
    yield
    if files_state(folder) != before:
        message = (
            f"the files of {entry.name!r} changed while they were read; they are now read again"
        )
        raise LoadingError(message, "downloading")


def _verify(catalogue: Catalogue, entry: ModelEntry) -> tuple[Path, ModelUse]:
    """Return the verified folder of the model's files, and its provenance."""
    demand_usable(weights_folder(catalogue, entry))  # it is whole
    folder, placement = planned(catalogue, entry)
    if entry.scheme != "embedded":
        _demand_stated_size(folder)
    device, dtype = placement.device, placement.dtype
    sha256 = folder_sha256(folder)
    if sha256 is None:
        raise ValueError(f"there are no safetensors files in {folder}")
    if entry.sha256 not in (None, sha256):
        raise ValueError(
            f"weights-altered: the weights have SHA-256 {sha256}, but the entry says "
            f"{entry.sha256}; download them again, or correct the entry"
        )
    placed(placement.model_copy(update={"sha256": sha256}))
    check_memory(entry.name, placement.memory, device)
    return folder, ModelUse(
        name=entry.name,
        revision=catalogue.revision(entry),
        sha256=sha256,
        preset=with_version(entry.preset),
        device=device,
        dtype=dtype,
        numerics=_numerics(entry, device, dtype),
        runtime=None if entry.runtime == "torch" else entry.runtime,
    )


def _numerics(entry: ModelEntry, device: str, dtype: str) -> Numerics:
    """Return how reproducible a model's outputs are. The outputs of a causal model vary slightly
    with the other inputs in the batch."""
    if entry.kind == "causal":
        return "tolerance"
    # a classifier's rows have 16 tokens and more (`padded_width`); of others any number
    small = entry.kind != "classifier"
    return promised(device, dtype, small_products=small, runtime=entry.runtime)


def planned(catalogue: Catalogue, entry: ModelEntry) -> tuple[Path, Placement]:
    """Return the folder of the model's files, and the device, data type and memory with which they
    would be loaded. Raises ValueError."""
    folder, device = model_folder(catalogue, entry), device_of(entry)
    dtype = dtype_of(entry, device, folder)
    copies = 1 if entry.runtime == "torch" else 2  # the network as loaded, and as compiled
    needed = estimate_memory(folder, dtype, copies * parameters(folder))
    device_name = str(device)
    return folder, Placement(
        size=needed.size, memory=needed.memory, device=device_name, dtype=dtype
    )


_library = RLock()


@contextmanager
def without_progress() -> Iterator[None]:
    """Suppress transformers' load report and progress bars. Only one load runs at a time, because
    the library uses process-wide settings (dtype, initialisers)."""
    with _library:
        verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
        logging.set_verbosity_error()
        logging.disable_progress_bar()
        try:
            yield
        finally:
            logging.set_verbosity(verbosity)
            if bars:
                logging.enable_progress_bar()


def _from_folder(folder: Path, kind: Any) -> Any:
    with without_progress():
        model, report = kind.from_pretrained(
            folder,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # they are in the report, by name
        )
    demand_same_network(report, model.state_dict())
    return model


def _demand_stated_size(folder: Path) -> None:
    """Raise ValueError if the configuration describes a far larger network than the files contain.
    Otherwise random numbers would fill the memory before sizes are compared."""
    try:
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        with without_progress(), torch.device("meta"):  # nothing is allocated
            network = AutoModel.from_config(config, trust_remote_code=False)
    except Exception:  # noqa: BLE001 - whoever loads it says what is wrong
        return
    stated, held = sum(parameter.numel() for parameter in network.parameters()), parameters(folder)
    if stated > 2 * held + MOST_BESIDE:
        raise ValueError(
            f"the model's config.json describes {stated:.3g} parameters, but its files contain "
            f"{held:.3g}; use the config.json of these weights"
        )


def _tokenizer(folder: Path) -> Any:
    """Load the tokenizer. Raises ValueError if its files are missing, because the library would
    create a tokenizer without words."""
    try:
        tokenizer = AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False, local_files_only=True
        )
    except Exception as error:
        if isinstance(error, MemoryError):
            raise
        reason = str(error).partition("\n")[0]
        message = (
            f"the model's tokenizer cannot be read ({type(error).__name__}: {reason}); "
            f"{TOKENIZER_FILES}"
        )
        raise ValueError(message) from error
    if len(tokenizer) < len(set(tokenizer.all_special_ids)) + FEWEST_TOKENS:
        raise ValueError(_without_words(folder, len(tokenizer)))
    return tokenizer


def _without_words(folder: Path, entries: int) -> str:
    """Return the error message for a model without a tokenizer, or whose tokenizer has no words.
    `entries` is the number of entries in the tokenizer, including special tokens."""
    files = [name for name in ("tokenizer.json", "vocab.txt") if (folder / name).is_file()]
    if not files:
        return f"the model's files lack a tokenizer; {TOKENIZER_FILES}"
    return (
        f"the model's tokenizer ({files[0]}) has only {entries} entries, special ones included, "
        f"so it contains no words; {TOKENIZER_FILES}"
    )


def _head(note: EmbeddedMetadata | None, config: Any) -> Head:
    if note is not None:
        return Head(note.labels, "single_label_classification")
    names = tuple(config.id2label[index] for index in range(config.num_labels))
    return Head(names, config.problem_type)


def _to_device(model: Any, entry: ModelEntry, use: ModelUse) -> Any:
    """Move the model to its device. Gradients of its weights are switched off, because attributions
    do not need these."""
    demand_numbers(model)
    with _own_memory(model, entry):
        model = model.to(device=torch.device(use.device), dtype=_weights_dtype(use))
    return model.eval().requires_grad_(requires_grad=False)


@contextmanager
def _own_memory(model: Any, entry: ModelEntry) -> Iterator[None]:
    """Copy tensors that the block left mapped from a file on the CPU, so that the model has its own
    memory. Overwriting the file would otherwise change the answers, or end the process (SIGBUS)."""
    is_ours = entry.scheme == "embedded"
    mapped = set() if is_ours else {tensor.data_ptr() for tensor in _numbers(model)}
    yield
    for tensor in _numbers(model):
        if tensor.data_ptr() in mapped and tensor.device.type == "cpu":
            tensor.data = tensor.data.clone()


def _numbers(model: Any) -> list[torch.Tensor]:
    return [*model.parameters(), *model.buffers()]


def _weights_dtype(use: ModelUse) -> torch.dtype:
    """Return the dtype in which weights are loaded. It is float32 for OpenVINO, which does its own
    rounding."""
    return torch.float32 if use.runtime == "openvino" else torch_dtype(str(use.dtype))


def _convert(model: Any, use: ModelUse) -> None:
    """Convert the transformer of a sentence-transformers model to OpenVINO, in place."""
    first, longest = model[0], int(model.max_seq_length or LONGEST_PROOF)
    reads = getattr(first, "modality_config", {}).get("text", {})
    output = reads.get("method_output_name")
    if reads.get("method") != "forward" or not isinstance(output, str):
        raise Unsupported(
            "runtime openvino supports only encoders with a single output; remove "
            "`runtime` from the entry"
        )
    network = converted(
        first.auto_model, model.tokenizer, longest, output=output, dtype=str(use.dtype)
    )
    first.model = network


def _bi_encoder(folder: Path, use: ModelUse) -> Any:
    """Load the bi-encoder with the modules listed in `modules.json`. Raises ValueError if this file
    is missing or if weights are pickled only."""
    from sentence_transformers import SentenceTransformer  # slow: only where there is such a model

    file = folder / "modules.json"
    if not file.exists():
        raise ValueError(
            "the model is not a bi-encoder, because it lacks modules.json, which "
            "describes the pooling"
        )
    for module in json.loads(file.read_text("utf-8")):
        part = folder / module["path"]
        pickled = any(file for pattern in PICKLES for file in part.glob(pattern))
        if pickled and not list(part.glob("*.safetensors")):
            raise ValueError(
                f"the weights of the model's module {module['path']!r} are not safetensors; "
                "convert them"
            )
    return SentenceTransformer(str(folder), **_sentence_settings(use))


def _cross_encoder(folder: Path, use: ModelUse) -> Any:
    """Load a sequence classifier with one output, to which a sigmoid is applied."""
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(str(folder), **_sentence_settings(use))
    if model.num_labels != 1:
        raise ValueError(
            f"the model has {model.num_labels} outputs, but a cross-encoder for similarity has 1"
        )
    if not isinstance(model.activation_fn, torch.nn.Sigmoid):
        raise ValueError(
            f"the model's activation is {model.activation_fn}, but only Sigmoid gives "
            "values in [0, 1]"
        )
    stored: set[str] = set()
    for file in folder.glob("*.safetensors"):
        with safe_open(file, framework="pt") as weights:
            stored |= set(weights.keys())
    if not any(name.split(".")[0] in ("classifier", "score") for name in stored):
        raise ValueError(
            "the model's files contain no classification head; fine-tune the model first"
        )  # it would be random
    return model


def _sentence_settings(use: ModelUse) -> dict[str, Any]:
    return {
        "device": use.device,
        "trust_remote_code": False,
        "local_files_only": True,
        "model_kwargs": {"use_safetensors": True, "dtype": torch_dtype(use.dtype)},
    }


def _cut_to_positions(model: Any) -> None:
    """Limit texts to the positions that the network can use. The library's own limit is too high,
    because it includes unused positions at the start."""
    network = getattr(model[0], "auto_model", None)  # static embeddings have no positions
    usable = None if network is None else max_positions(network)
    if usable is not None:
        model.max_seq_length = min(usable, model.max_seq_length or usable)
