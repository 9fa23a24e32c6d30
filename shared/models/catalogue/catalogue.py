"""The allow-list of models: a request can only name models of `models.toml`.

Revisions of hub models are pinned to a full commit, and hashes of weights do not depend on the
folder. The file is read once, at start. An invalid entry is left out, with its reason. The start
fails only if the file as a whole is invalid. The gateway answers `GET /v1/models` from here and
needs neither model code nor the network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field

from shared.contracts.errors import BadInput, ModelNotReady, ModelUnusable, pointing_to
from shared.contracts.fields import field_paths, path_of, value_at
from shared.contracts.labels import (
    CANONICAL,
    Activation,
    Head,
    LabelMapping,
    first_label,
    label_mapping,
    thresholds,
)
from shared.contracts.language_names import language_name
from shared.contracts.messages import JobRequest, Message, ModelKind
from shared.contracts.prompt_table import (
    NOT_ALLOWED,
    PromptKeys,
    first_reason,
    override_table,
    task_of,
)
from shared.contracts.request_cost import FEWEST_READ, Work
from shared.contracts.service import MetricContract, ServiceContract
from shared.models.catalogue.checkpoint import (
    BASE,
    BASE_REVISION,
    BASE_SHA256,
    EMBEDDED,
    EMBEDDED_READS,
    NOTE,
    READER_NAME,
    Checkpoint,
    EmbeddedMetadata,
    files_of,
    files_state,
    folder_sha256,
    hub_folder,
)
from shared.models.catalogue.entry import Dtype, ModelEntry, check_abilities
from shared.models.catalogue.models_file import InvalidEntry, preset, read_entries, with_version
from shared.process.cached import cached_property

SERVER: Literal["server"] = (
    "server"  # device and dtype of a model behind another server, which knows them
)
LOCAL = "local"  # revision of a model without one; its hash identifies it
JUDGES = ("tokens", "judge", "judge_rows", "attributions")
JUDGING = frozenset({"judge", "word_rows", "token_rows"})  # abilities that return P of labels
CAPABILITIES: dict[ModelKind, tuple[str, ...]] = {
    "classifier": ("probabilities", "truncated", *JUDGES),
    "causal": (*JUDGES, "generate", "score"),
    "similarity": ("similarities",),
    "cross-encoder": ("similarities",),
}
BEHIND_HTTP = ("judge", "generate", "score")  # abilities of an OpenAI-compatible server
BEHIND_CLASSIFY = ("probabilities", "judge")  # abilities of a classification server
NOTHING_LOADED: Mapping[str, str] = MappingProxyType({})
FilesState = tuple[tuple[str, int, int], ...]  # as `files_state` returns it


class ModelCard(Message):
    """A model in the answer to `GET /v1/models`."""

    name: str
    created: int = Field(
        description="time of the last change of the weights, or else of `models.toml`, unix seconds"
    )
    owned_by: str = Field(
        description="owner: embedded, local, the hub's organisation, or a server's host"
    )
    kind: ModelKind | None = Field(description="null if the model's entry does not state it")
    revision: str
    sha256: str | None = Field(
        description="SHA-256 of the weights; null if they are not on this disk"
    )
    capabilities: tuple[str, ...]
    labels: tuple[str, ...] | None = Field(description="canonical labels, as requests name them")
    languages: tuple[str, ...] | None
    language_f1: dict[str, float] | None = Field(
        default=None, description="language → F1 that the model's authors report; null: not stated"
    )
    dtype: Dtype | Literal["server"]
    device: str
    outputs: tuple[str, ...] | None = Field(
        default=None,
        description="outputs of the model's head, in order; null if its files are not on this disk",
    )
    mapping: dict[str, tuple[str, ...]] | None = Field(
        default=None,
        description="canonical label → its outputs; if empty, its probability is 1 minus that of "
        "the other label",
    )
    ignored: tuple[str, ...] = Field(default=(), description="outputs without a canonical label")
    activation: Activation | None = None
    warnings: tuple[str, ...] = Field(
        default=(), description="warnings in every result that uses this model"
    )
    preset: str | None = Field(default=None, description="preset as name@version")
    licence: str | None = None
    card: str | None = None
    fault: str | None = Field(default=None, description="why the model cannot be used")


READER = ModelEntry(
    name=READER_NAME,
    kind="classifier",
    source="embedded:reader",
    device="cpu",
    dtype="int8",  # a third of the time of float32, see training/reader/README.md
)


@dataclass
class Catalogue:
    """The configured models. Relative `path:` sources are resolved from `root`. There is one object
    per process, so that all its users see a reload."""

    entries: tuple[ModelEntry, ...]
    root: Path
    faults: tuple[InvalidEntry, ...] = ()
    changed: int = 0  # unix seconds of the file
    files: Mapping[str, FilesState] = field(default_factory=dict)  # of `path:` models, as read
    renew: Callable[[], object] | None = None  # called before a name counts as unknown

    def entry(self, name: str) -> ModelEntry:
        """Return the model of this name. Raises BadInput if it is unknown or invalid, and
        ModelNotReady if it needs a folder that is missing."""
        if self.renew is not None and name not in self._by_name():
            self.renew()
        for entry in self.entries:
            if entry.name == name:
                return entry
        for fault in self.faults:
            if fault.name == name and fault.missing is not None:
                detail = f"the folder of the model {name!r} is missing: {fault.reason}"
                raise ModelNotReady(detail, model=name, state="away", pointer="/model")
            if fault.name == name:
                raise ModelUnusable(
                    f"the model {name!r} cannot be used: {fault.reason}", pointer="/model"
                )
        names = ", ".join(sorted(entry.name for entry in self.entries)) or "none"
        raise BadInput(f"no model {name!r} is configured; choose one of: {names}", pointer="/model")

    def of_kind(self, name: str, *kinds: ModelKind) -> ModelEntry:
        """Return the model of this name. Raises BadInput if it is unknown, invalid or of another
        kind, and ModelNotReady if its folder is missing."""
        entry = self.entry(name)
        if entry.kind not in kinds:
            raise BadInput(
                f"{name!r} is of kind {entry.kind}, but kind {' or '.join(kinds)} is needed",
                pointer="/model",
            )
        return entry

    def take(self, newer: Catalogue) -> list[str]:
        """Replace the contents of this catalogue with those of a newer one. Return the models that
        were added or removed, or whose entry or files changed."""
        old, new = self._by_name(), newer._by_name()
        names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        names += [name for name in newer.files if self.files.get(name) != newer.files[name]]
        self.entries, self.faults, self.root = newer.entries, newer.faults, newer.root
        self.changed, self.files = newer.changed, newer.files
        self.__dict__.pop("_labels_known", None)  # files may have changed although names did not
        return list(dict.fromkeys(names))

    def _by_name(self) -> dict[str, ModelEntry | InvalidEntry]:
        entries: dict[str, ModelEntry | InvalidEntry] = {
            entry.name: entry for entry in self.entries
        }
        return entries | {fault.name: fault for fault in self.faults}

    def check_request(
        self, contract: ServiceContract, name: str | None, request: JobRequest | None = None
    ) -> None:
        """Check that the requested or default model is configured and suits the request. Raises
        BadInput. Raises ModelCannot if a server lacks an ability that the request needs."""
        for other in contract.further(request) if contract.further and request else ():
            is_same = request is not None and other.request.model == request.model is not None
            with pointing_to("/model" if is_same else other.pointer):
                self.check_request(other.contract, other.request.model, other.request)
        if not contract.model_kinds:
            return
        for named_by in contract.writers if request is not None else ():
            self._check_writer(request, named_by)
        if (name := name or contract.default_model) is None:
            if contract.model_optional:
                return
            raise BadInput(
                "`model` is missing, and this request has no default model; send `model`",
                pointer="/model",
            )
        entry = self.entry(name)
        if entry.kind not in contract.model_kinds:
            needed = " or ".join(contract.model_kinds)
            raise BadInput(
                f"{contract.name} needs a model of kind {needed}, but {entry.name} is "
                f"of kind {entry.kind}",
                pointer="/model",
            )
        if request is not None:
            self._check_abilities(contract, entry, request)

    def _check_abilities(
        self, contract: ServiceContract, entry: ModelEntry, request: JobRequest
    ) -> None:
        if contract.needs is None:
            return
        if (prompt := _request_prompt(request)) is not None:
            pointer = f"/{path_of(type(request), 'prompt').replace('.', '/')}"
            if entry.kind != "causal":
                detail = f"{entry.name!r} is a {entry.kind} and takes no prompt; leave out `prompt`"
                raise BadInput(detail, pointer=pointer)
            if not entry.allow_request_prompt:
                raise BadInput(NOT_ALLOWED.format(entry.name), pointer=pointer)
            try:
                override_table(entry.prompt, prompt)
            except ValueError as error:
                raise BadInput(f"prompt: {first_reason(error)}", pointer=pointer) from error
        abilities = contract.needs(request)
        if entry.is_served or entry.runtime != "torch":
            check_abilities(entry, abilities)
        if JUDGING & set(abilities):
            self._check_labels(contract, entry, request)

    def _check_writer(self, request: JobRequest | None, named_by: str) -> None:
        if request is None or (name := value_at(request, named_by)) is None:
            return
        pointer = f"/{named_by.replace('.', '/')}"
        with pointing_to(pointer, only=("/model",)):
            entry = self.entry(name)
        if entry.kind != "causal":
            raise BadInput(
                f"`{named_by}` needs a causal model, but {name!r} is a {entry.kind}",
                pointer=pointer,
            )

    def _check_labels(
        self, contract: ServiceContract, entry: ModelEntry, request: JobRequest
    ) -> None:
        """Raise BadInput if the model's labels are known and do not fit the request. Metrics reject
        a causal model without a prompt, which has no labels. A `template` in the request needs no
        check."""
        labels = self._labels_known.get(entry.name)
        if (prompt := _request_prompt(request)) is not None and prompt.verbalizers:
            labels = tuple(prompt.verbalizers)
        if labels is None or _field(request, "template") is not None:
            return
        if not labels and isinstance(contract, MetricContract):
            has_prompt = path_of(type(request), "prompt") in field_paths(type(request))
            raise BadInput(
                f"{entry.name!r} is a causal model without a prompt, so it has no labels: "
                "its entry needs [models.prompt] with `verbalizers`, or a preset"
                + (", or the request a `prompt` with them" if has_prompt else ""),
                pointer="/model",
            )
        if not contract.labels:
            return
        fits = contract.fits or (
            lambda _, names: set(contract.labels) <= set(map(str.casefold, names))
        )
        if fits(request, labels):
            return
        raise BadInput(
            f"{contract.name} needs a model with the labels "
            f"{', '.join(contract.labels)}, but {entry.name!r} has {', '.join(labels)}",
            pointer="/model",
        )

    @cached_property
    def _labels_known(self) -> dict[str, tuple[str, ...]]:
        """Return the labels of each model that can classify texts. The labels come from the model's
        entry in `models.toml` or its files."""
        labels: dict[str, tuple[str, ...]] = {}
        for entry in self.entries:
            if entry.kind == "causal":
                table = entry.prompt
                labels[entry.name] = tuple(table.verbalizers or ()) if table else ()
                continue
            with suppress(ValueError):  # reported in its card and state
                if (mapping := self.mapping(entry)) is not None:
                    labels[entry.name] = mapping.labels
        return labels

    def work(self, contract: ServiceContract, request: JobRequest) -> Sequence[Work]:
        """Return an estimate of the work of this request (`shared.contracts.request_cost`)."""
        name = request.model or contract.default_model
        entry = next((entry for entry in self.entries if entry.name == name), None)
        embedded = (
            entry is not None
            and entry.source.startswith("embedded:")
            and entry.kind == "classifier"
        )
        reads = EMBEDDED_READS if embedded else FEWEST_READ
        if entry is None or not entry.is_served or contract.server_cost is None:
            return contract.work(request, reads)
        return contract.server_cost(request, reads)

    def folder(self, entry: ModelEntry) -> Path | None:
        """Return the folder of the weights on this disk, or None if the weights are elsewhere."""
        if entry.scheme == "embedded" and entry.source != BASE:
            return EMBEDDED / entry.location
        return self.root / entry.location if entry.scheme == "path" else None

    def training_metadata(self, entry: ModelEntry) -> EmbeddedMetadata | None:
        """Return the metadata of an embedded adapter, or None for other sources."""
        if entry.scheme != "embedded" or entry.source == BASE:
            return None
        return EmbeddedMetadata.model_validate_json((EMBEDDED / entry.location / NOTE).read_bytes())

    def checkpoint(self, entry: ModelEntry) -> Checkpoint | None:
        """Return the entry's checkpoint, or None if its weights are not files in the local folders.
        Raises ValueError if the checkpoint is invalid."""
        return files_of(entry.source, self.root)

    def mapping(self, entry: ModelEntry) -> LabelMapping | None:
        """Return a classifier's label mapping. Return None for other models, or if this process
        does not know the classifier's outputs. Raises ValueError."""
        if entry.kind != "classifier":
            return None
        if (note := self.training_metadata(entry)) is not None:
            return label_mapping(entry, Head(note.labels, "single_label_classification"))
        checkpoint = self.checkpoint(entry)
        if checkpoint is None and entry.outputs is None:
            return None
        return label_mapping(entry, checkpoint.head if checkpoint else Head(entry.outputs or ()))

    def languages(self, entry: ModelEntry) -> tuple[str, ...] | None:
        """Return the BCP 47 tags of the entry or the model card, or None if neither states them."""
        if entry.languages is not None:
            return entry.languages
        if (note := self.training_metadata(entry)) is not None:
            return note.languages
        checkpoint = self.checkpoint(entry)
        return checkpoint.languages if checkpoint else None

    def warnings(self, entry: ModelEntry) -> tuple[str, ...]:
        """Return the warnings about the model's labels that every report contains. Raises
        ValueError if the label mapping of a classifier is invalid."""
        mapping = self.mapping(entry)
        return (*(mapping.warnings if mapping else ()), *_extra_labels(entry))

    def revision(self, entry: ModelEntry) -> str:
        """Return the version of the weights: a hub model's commit, an embedded model's revision, or
        the model's name on its server. For a local folder it is `local`."""
        if entry.source == BASE:
            return BASE_REVISION
        if entry.is_served:
            return entry.served_name or entry.name
        note = self.training_metadata(entry)
        return entry.commit or (note.revision if note else LOCAL)

    def describe(
        self, loaded: Mapping[str, str] = NOTHING_LOADED, *, hashed: bool = True
    ) -> list[ModelCard]:
        """Return every model's public card in the order of the file, invalid entries last. `loaded`
        maps names to the hash of the weights that a worker uses. Other weights are hashed only if
        `hashed` is True, because hashing reads all files."""
        cards = []
        for entry in self.entries:
            sha256 = loaded.get(entry.name) or entry.sha256
            folder = self.folder(entry)
            if sha256 is None and entry.source == BASE:
                sha256 = BASE_SHA256
            elif sha256 is None and folder is not None and hashed:
                with suppress(OSError):  # the loader reports it as the model's state
                    sha256 = folder_sha256(folder)
            cards.append(self._card(entry, sha256))
        return [*cards, *(_error_card(fault, self.changed) for fault in self.faults)]

    def created(self, entry: ModelEntry) -> int:
        """Return the modification time of the weights in unix seconds. If this machine has no
        weights, return that of `models.toml`."""
        folder = self.folder(entry)
        if entry.scheme == "hf":
            folder = hub_folder(entry.location, entry.commit or "")
        weights = folder.glob("*.safetensors") if folder else ()
        with suppress(OSError):
            return max((int(file.stat().st_mtime) for file in weights), default=self.changed)
        return self.changed

    def _card(self, entry: ModelEntry, sha256: str | None) -> ModelCard:
        capabilities = CAPABILITIES[entry.kind]
        if entry.is_served:
            capabilities = BEHIND_HTTP if entry.scheme == "openai" else BEHIND_CLASSIFY
        elif entry.runtime != "torch":
            capabilities = tuple(name for name in capabilities if name != "attributions")
        card = ModelCard(
            name=entry.name,
            created=self.created(entry),
            owned_by=entry.owner,
            kind=entry.kind,
            revision=self.revision(entry),
            sha256=sha256,
            capabilities=capabilities,
            labels=None,
            languages=None,
            dtype=SERVER if entry.is_served else entry.dtype,
            device=SERVER if entry.is_served else entry.device,
            preset=with_version(entry.preset),
            language_f1=entry.language_f1,
            licence=entry.licence,
            card=entry.card,
        )
        try:
            fields: dict[str, Any] = {
                "languages": self.languages(entry),
                "warnings": self.warnings(entry),
            }
            if (mapping := self.mapping(entry)) is not None:
                fields |= {
                    "labels": mapping.labels,
                    "outputs": mapping.outputs,
                    "mapping": mapping.by_label,
                    "ignored": mapping.ignored,
                    "activation": mapping.activation,
                }
            elif entry.prompt and entry.prompt.verbalizers:
                fields["labels"] = tuple(entry.prompt.verbalizers)
            return card.model_copy(update=fields)
        except ValueError as error:  # the loader also reports it as the model's state
            return card.model_copy(update={"fault": str(error)})


def prompt_label_fields(entry: ModelEntry) -> dict[str, Any]:
    """Return provenance fields that describe the labels in a causal model's prompt."""
    task = task_of(entry.prompt, entry.task)
    verbalizers = entry.prompt.verbalizers if entry.prompt else None
    first = first_label(task, tuple(verbalizers or CANONICAL[task] or CANONICAL["hate"]))
    return {
        "warnings": _extra_labels(entry),
        "thresholds": thresholds(entry.threshold, first),
    }


def _extra_labels(entry: ModelEntry) -> tuple[str, ...]:
    wider = preset(entry.preset).wider if entry.preset and entry.kind == "causal" else None
    return (f"wider-label: {wider}",) if wider else ()


def _request_prompt(request: JobRequest) -> PromptKeys | None:
    prompt = _field(request, "prompt")
    return prompt if isinstance(prompt, PromptKeys) else None


def _field(request: JobRequest, name: str) -> Any:
    return value_at(request, path_of(type(request), name))


def describe_languages(codes: Sequence[str], f1: Mapping[str, float] | None) -> list[str]:
    """Format languages with the F1 that the model's authors report, such as `Italian (it): F1
    0.59`."""
    scores = f1 or {}
    return [
        language_name(code) + (f": F1 {scores[code]:.2f}" if code in scores else "")
        for code in codes
    ]


def _error_card(fault: InvalidEntry, changed: int) -> ModelCard:
    return ModelCard(
        name=fault.name,
        created=changed,
        owned_by=LOCAL,
        kind=None,
        revision=LOCAL,
        sha256=None,
        capabilities=(),
        labels=None,
        languages=None,
        dtype="auto",
        device="auto",
        fault=fault.reason,
    )


def load_catalogue(path: Path) -> Catalogue:
    """Read `models.toml`. The catalogue's `faults` lists the invalid entries, each with its key and
    the reason. Raises ValueError if the file as a whole is invalid."""
    entries, faults = read_entries(path)
    root = path.parent.resolve()
    files = {e.name: files_state(root / e.location) for e in entries if e.scheme == "path"}
    return Catalogue(entries, root, faults, int(path.stat().st_mtime), files)
