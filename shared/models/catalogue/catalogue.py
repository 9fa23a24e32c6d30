"""The allow-list of models: a request can only name what `models.toml` configures.

Revisions of hub models are pinned to a full commit; weights have a hash that is the same on every
machine, whatever the folder is called. The file is read once, at start. A mistake in one entry
takes that entry out, with its reason; only a file that cannot be understood at all stops the start.
Neither model code nor the network is needed to read it: the gateway answers `GET /v1/models` from
here. Source: specs "models" §1.
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
    "server"  # device and dtype of a model that another server holds: its own affair
)
LOCAL = "local"  # revision of what has no revision of its own: look at the hash
JUDGES = ("tokens", "judge", "judge_rows", "attributions")
JUDGING = frozenset({"judge", "word_rows", "token_rows"})  # abilities that tell P of labels
CAPABILITIES: dict[ModelKind, tuple[str, ...]] = {
    "classifier": ("probabilities", "truncated", *JUDGES),
    "causal": (*JUDGES, "generate", "score"),
    "similarity": ("similarities",),
    "cross-encoder": ("similarities",),
}
BEHIND_HTTP = ("judge", "generate", "score")  # what an OpenAI-compatible server can do of them
BEHIND_CLASSIFY = ("probabilities", "judge")  # what a classification server can
NOTHING_LOADED: Mapping[str, str] = MappingProxyType({})
FilesState = tuple[tuple[str, int, int], ...]  # as `files_state` tells it


class ModelCard(Message):
    """What `GET /v1/models` says about a model."""

    name: str
    created: int = Field(description="unix seconds: when its weights, else `models.toml`, were")
    owned_by: str = Field(description="embedded, local, the hub's organisation, a server's host")
    kind: ModelKind | None = Field(description="null where its entry does not say")
    revision: str
    sha256: str | None = Field(description="of the weights; null where they are not on this disk")
    capabilities: tuple[str, ...]
    labels: tuple[str, ...] | None = Field(description="canonical labels, as requests name them")
    languages: tuple[str, ...] | None
    language_f1: dict[str, float] | None = Field(
        default=None, description="language → F1 that the model's authors report; null: not stated"
    )
    dtype: Dtype | Literal["server"]
    device: str
    outputs: tuple[str, ...] | None = Field(
        default=None, description="of its head, in order; null where its files are not on this disk"
    )
    mapping: dict[str, tuple[str, ...]] | None = Field(
        default=None, description="canonical label → its outputs; none: 1 minus the other label"
    )
    ignored: tuple[str, ...] = Field(default=(), description="outputs in no canonical label")
    activation: Activation | None = None
    warnings: tuple[str, ...] = Field(default=(), description="of every report that it serves")
    preset: str | None = Field(default=None, description="with its version, as name@version")
    licence: str | None = None
    card: str | None = None
    fault: str | None = Field(default=None, description="why it cannot be used")


READER = ModelEntry(
    name=READER_NAME,
    kind="classifier",
    source="embedded:reader",
    device="cpu",
    dtype="int8",  # a third of the time of float32, see training/reader/README.md
)


@dataclass
class Catalogue:
    """The configured models. `root`: folder that relative `path:` sources start from.

    One object in a process: who holds it sees what was read again.
    """

    entries: tuple[ModelEntry, ...]
    root: Path
    faults: tuple[InvalidEntry, ...] = ()
    changed: int = 0  # unix seconds: when the file was
    files: Mapping[str, FilesState] = field(default_factory=dict)  # of `path:` models, as read
    renew: Callable[[], object] | None = None  # is called before a name is said to be unknown

    def entry(self, name: str) -> ModelEntry:
        """The model configured under this name. Raises BadInput for an unknown or a faulty one,
        ModelNotReady for one that cannot be understood while its folder is away."""
        if self.renew is not None and name not in self._by_name():
            self.renew()
        for entry in self.entries:
            if entry.name == name:
                return entry
        for fault in self.faults:
            if fault.name == name and fault.missing is not None:
                detail = f"the folder of the model {name!r} is not there: {fault.reason}"
                raise ModelNotReady(detail, model=name, state="away", pointer="/model")
            if fault.name == name:
                raise ModelUnusable(
                    f"the model {name!r} cannot be used: {fault.reason}", pointer="/model"
                )
        known = ", ".join(sorted(entry.name for entry in self.entries)) or "none"
        raise BadInput(f"no model {name!r} is configured; configured: {known}", pointer="/model")

    def of_kind(self, name: str, *kinds: ModelKind) -> ModelEntry:
        """The model of this name. Raises BadInput as `entry`, and for one of another kind."""
        entry = self.entry(name)
        if entry.kind not in kinds:
            raise BadInput(
                f"{name!r} is of kind {entry.kind}; needed is {' or '.join(kinds)}",
                pointer="/model",
            )
        return entry

    def take(self, newer: Catalogue) -> list[str]:
        """Become this one; the names of the models that came, went, are configured anew or have
        other files."""
        before, after = self._by_name(), newer._by_name()
        names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        names += [name for name in newer.files if self.files.get(name) != newer.files[name]]
        self.entries, self.faults, self.root = newer.entries, newer.faults, newer.root
        self.changed, self.files = newer.changed, newer.files
        self.__dict__.pop("_labels_known", None)  # files may have changed even where names did not
        return list(dict.fromkeys(names))

    def _by_name(self) -> dict[str, ModelEntry | InvalidEntry]:
        entries: dict[str, ModelEntry | InvalidEntry] = {one.name: one for one in self.entries}
        return entries | {fault.name: fault for fault in self.faults}

    def check_request(
        self, contract: ServiceContract, name: str | None, request: JobRequest | None = None
    ) -> None:
        """Raises BadInput unless the named model, or the service's own, is configured and fits, as
        far as this process knows its labels; ModelCannot where it is behind a server that cannot do
        what the request needs."""
        for other in contract.further(request) if contract.further and request else ():
            same = request is not None and other.request.model == request.model is not None
            with pointing_to("/model" if same else other.pointer):
                self.check_request(other.contract, other.request.model, other.request)
        if not contract.model_kinds:
            return
        for named_by in contract.writers if request is not None else ():
            self._check_writer(request, named_by)
        if (name := name or contract.default_model) is None:
            if contract.model_optional:
                return
            raise BadInput("name a model", pointer="/model")
        entry = self.entry(name)
        if entry.kind not in contract.model_kinds:
            needed = " or ".join(contract.model_kinds)
            raise BadInput(
                f"{contract.name} needs a {needed}; {entry.name} is a {entry.kind}",
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
            if entry.kind != "causal":
                detail = f"{entry.name!r} is a {entry.kind}: it takes no prompt"
                raise BadInput(detail, pointer="/prompt")
            if not entry.allow_request_prompt:
                raise BadInput(NOT_ALLOWED.format(entry.name), pointer="/prompt")
            try:
                override_table(entry.prompt, prompt)
            except ValueError as error:
                raise BadInput(f"prompt: {first_reason(error)}", pointer="/prompt") from error
        abilities = contract.needs(request)
        if entry.is_served or entry.runtime != "torch":
            check_abilities(entry, abilities)
        if JUDGING & set(abilities):
            self._check_labels(contract, entry, request)

    def _check_writer(self, request: JobRequest | None, named_by: str) -> None:
        """Raises BadInput where a field names what writes no text."""
        if (name := getattr(request, named_by)) is None:
            return
        with pointing_to(f"/{named_by}", only=("/model",)):
            entry = self.entry(name)
        if entry.kind != "causal":
            raise BadInput(
                f"`{named_by}` needs a causal model; {name!r} is a {entry.kind}",
                pointer=f"/{named_by}",
            )

    def _check_labels(
        self, contract: ServiceContract, entry: ModelEntry, request: JobRequest
    ) -> None:
        """Of a model whose labels are known; a causal one without a prompt tells none, whatever
        labels a metric asks for. Outside of metrics a request may bring a template."""
        known = self._labels_known.get(entry.name)
        if (prompt := _request_prompt(request)) is not None and prompt.verbalizers:
            known = tuple(prompt.verbalizers)
        if known is None or getattr(request, "template", None) is not None:
            return
        if not known and isinstance(contract, MetricContract):
            has_prompt = "prompt" in type(request).model_fields
            raise BadInput(
                f"{entry.name!r} is a causal model without a prompt, so that it tells no labels: "
                "its entry needs [models.prompt] with `verbalizers`, or a preset"
                + (", or the request a `prompt` with them" if has_prompt else ""),
                pointer="/model",
            )
        if not contract.labels:
            return
        fits = contract.fits or (
            lambda _, told: set(contract.labels) <= set(map(str.casefold, told))
        )
        if fits(request, known):
            return
        raise BadInput(
            f"{contract.name} needs a judge of {', '.join(contract.labels)}; {entry.name!r} tells "
            f"{', '.join(known)}",
            pointer="/model",
        )

    @cached_property
    def _labels_known(self) -> dict[str, tuple[str, ...]]:
        """Of each judge whose labels its entry, or its files when first asked, tell."""
        found: dict[str, tuple[str, ...]] = {}
        for entry in self.entries:
            if entry.kind == "causal":
                table = entry.prompt
                found[entry.name] = tuple(table.verbalizers or ()) if table else ()
                continue
            with suppress(ValueError):  # its card says so, and its state
                if (mapping := self.mapping(entry)) is not None:
                    found[entry.name] = mapping.labels
        return found

    def work(self, contract: ServiceContract, request: JobRequest) -> Sequence[Work]:
        """How much work this request asks for, by its sizes (`shared.contracts.request_cost`)."""
        name = request.model or contract.default_model
        entry = next((one for one in self.entries if one.name == name), None)
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
        """The weights' folder on this disk; None for a source that is elsewhere."""
        if entry.scheme == "embedded" and entry.source != BASE:
            return EMBEDDED / entry.location
        return self.root / entry.location if entry.scheme == "path" else None

    def training_metadata(self, entry: ModelEntry) -> EmbeddedMetadata | None:
        """Written by training beside an embedded adapter; None for every other source."""
        if entry.scheme != "embedded" or entry.source == BASE:
            return None
        return EmbeddedMetadata.model_validate_json((EMBEDDED / entry.location / NOTE).read_bytes())

    def checkpoint(self, entry: ModelEntry) -> Checkpoint | None:
        """None where the files are elsewhere. Raises ValueError as they are read."""
        return files_of(entry.source, self.root)

    def mapping(self, entry: ModelEntry) -> LabelMapping | None:
        """A classifier's labels; None where nobody here knows its outputs. Raises ValueError."""
        if entry.kind != "classifier":
            return None
        if (note := self.training_metadata(entry)) is not None:
            return label_mapping(entry, Head(note.labels, "single_label_classification"))
        found = self.checkpoint(entry)
        if found is None and entry.outputs is None:
            return None
        return label_mapping(entry, found.head if found else Head(entry.outputs or ()))

    def languages(self, entry: ModelEntry) -> tuple[str, ...] | None:
        """BCP 47 tags as configured, else as its card states them; None: not stated."""
        if entry.languages is not None:
            return entry.languages
        if (note := self.training_metadata(entry)) is not None:
            return note.languages
        found = self.checkpoint(entry)
        return found.languages if found else None

    def warnings(self, entry: ModelEntry) -> tuple[str, ...]:
        """Standing doubts about its labels, for every report. Raises ValueError."""
        mapping = self.mapping(entry)
        return (*(mapping.warnings if mapping else ()), *_extra_labels(entry))

    def revision(self, entry: ModelEntry) -> str:
        """The pinned commit, an embedded model's revision, a server's name for it, or `local`."""
        if entry.source == BASE:
            return BASE_REVISION
        if entry.is_served:
            return entry.served_name or entry.name
        note = self.training_metadata(entry)
        return entry.commit or (note.revision if note else LOCAL)

    def describe(
        self, loaded: Mapping[str, str] = NOTHING_LOADED, *, hashed: bool = True
    ) -> list[ModelCard]:
        """Every model's public card, in the order of the file; those taken out at the end.

        loaded: name → hash of the weights that a worker answers with. Those on this disk may be
        others by now, and are hashed only where nobody has loaded any, and if `hashed`: it takes
        as long as reading them.
        """
        cards = []
        for entry in self.entries:
            sha256 = loaded.get(entry.name) or entry.sha256
            folder = self.folder(entry)
            if sha256 is None and entry.source == BASE:
                sha256 = BASE_SHA256
            elif sha256 is None and folder is not None and hashed:
                with suppress(OSError):  # the loader says it, and makes it the model's state
                    sha256 = folder_sha256(folder)
            cards.append(self._card(entry, sha256))
        return [*cards, *(_error_card(fault, self.changed) for fault in self.faults)]

    def created(self, entry: ModelEntry) -> int:
        """Unix seconds: when its weights were written; where they are not here, `models.toml`."""
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
            capabilities = tuple(one for one in capabilities if one != "attributions")
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
        try:  # what its files tell
            found: dict[str, Any] = {
                "languages": self.languages(entry),
                "warnings": self.warnings(entry),
            }
            if (mapping := self.mapping(entry)) is not None:
                found |= {
                    "labels": mapping.labels,
                    "outputs": mapping.outputs,
                    "mapping": mapping.by_label,
                    "ignored": mapping.ignored,
                    "activation": mapping.activation,
                }
            elif entry.prompt and entry.prompt.verbalizers:
                found["labels"] = tuple(entry.prompt.verbalizers)
            return card.model_copy(update=found)
        except ValueError as error:  # the loader says the same, and makes it the model's state
            return card.model_copy(update={"fault": str(error)})


def prompt_label_fields(entry: ModelEntry) -> dict[str, Any]:
    """What the provenance says of the labels that a causal model's prompt names."""
    task = task_of(entry.prompt, entry.task)
    verbalizers = entry.prompt.verbalizers if entry.prompt else None
    first = first_label(task, tuple(verbalizers or CANONICAL[task] or CANONICAL["hate"]))
    return {
        "warnings": _extra_labels(entry),
        "thresholds": thresholds(entry.threshold, first),
    }


def _extra_labels(entry: ModelEntry) -> tuple[str, ...]:
    """Of a causal model whose preset asks for more than its labels say."""
    wider = preset(entry.preset).wider if entry.preset and entry.kind == "causal" else None
    return (f"wider-label: {wider}",) if wider else ()


def _request_prompt(request: JobRequest) -> PromptKeys | None:
    found = getattr(request, "prompt", None)
    return found if isinstance(found, PromptKeys) else None


def describe_languages(codes: Sequence[str], f1: Mapping[str, float] | None) -> list[str]:
    """Each with the F1 that the model's authors report for it, as `Italian (it): F1 0.59`."""
    known = f1 or {}
    return [
        language_name(code) + (f": F1 {known[code]:.2f}" if code in known else "") for code in codes
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
    """Read `models.toml`. Raises ValueError where the file as a whole cannot be understood; what is
    wrong with one entry is in `faults`, with the entry, the key and the reason."""
    entries, faults = read_entries(path)
    root = path.parent.resolve()
    files = {one.name: files_state(root / one.location) for one in entries if one.scheme == "path"}
    return Catalogue(entries, root, faults, int(path.stat().st_mtime), files)
