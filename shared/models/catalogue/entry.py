"""An entry of `models.toml`: its keys, the valid combinations of keys, and the model's abilities.

The abilities follow from kind and source, before the model is loaded. An encoder reads one or two
sequences (`EncoderTexts`), by default the text and its pair. The key `input` can add words and
change the order of the sequences, because models of natural language inference differ in their
order."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, StringConstraints, field_validator, model_validator

from shared.contracts.calls import Example, Part
from shared.contracts.errors import BadInput, ModelCannot
from shared.contracts.labels import CANONICAL, LabelKeys
from shared.contracts.messages import Message, ModelKind, ModelName, Runtime
from shared.contracts.prompt_table import (
    FROM_USERS,
    PromptTable,
    TemplatePart,
    fill_template,
    placeholders,
)
from shared.models.catalogue.checkpoint import BASE, Language, Sha256, embedded_adapters

COMMIT = re.compile(r"[0-9a-f]{40}")
Scheme = Literal["embedded", "hf", "path", "openai", "classify"]
SERVED: frozenset[Scheme] = frozenset({"openai", "classify"})
SOURCES = "embedded:NAME, hf:REPO@COMMIT, path:FOLDER, openai:URL or classify:URL"
Dtype = Literal["auto", "fast", "float32", "bfloat16", "float16", "int8"]
# names in requests: no blanks at the ends, no control characters
EntryName = Annotated[
    ModelName,
    StringConstraints(pattern=r"^[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$"),
]
HeaderValue = Annotated[str, StringConstraints(max_length=2_000)]
HEADER_NAME = re.compile(r"[A-Za-z0-9_-]+")
SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "proxy-authorization"})


class InputTable(Message):
    """The input of an encoder. The order of a pair depends on the model."""

    text: str = Field(min_length=1, description="`{text}`, or `{premise}` or `{hypothesis}`")
    pair: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _check_text_input(self) -> Self:
        names = placeholders(self.text) | placeholders(self.pair)
        if not names & FROM_USERS:
            raise ValueError("must contain {text}, or {premise} and {hypothesis}")
        if unknown := sorted(names - FROM_USERS):
            raise ValueError(
                f"must not contain {{{unknown[0]}}}, because an encoder's input has no such field"
            )
        if names not in ({"text"}, {"premise", "hypothesis"}):
            raise ValueError("must contain {text} alone, or both {premise} and {hypothesis}")
        return self


class KserveTensors(Message):
    """The names of a KServe v2 model's tensors."""

    input: str = Field(min_length=1, description="BYTES, the texts")
    output: str = Field(min_length=1, description="FP32, logits")


class ServerKeys(Message):
    """The keys of a `models.toml` entry for a model behind another server."""

    served_name: str | None = Field(
        default=None, min_length=1, max_length=200, description="the server's name for the model"
    )
    api_key_env: str | None = Field(
        default=None,
        pattern=r"^[A-Z][A-Z0-9_]*$",
        description="environment variable that holds the server's API key",
    )
    auth: Literal["bearer", "api-key", "none"] = "bearer"
    headers: dict[str, HeaderValue] = Field(
        default_factory=dict,
        description="additional headers, without secrets; `$NAME` stands for an environment "
        "variable",
    )
    query: dict[str, HeaderValue] = Field(
        default_factory=dict, description="query parameters; values as in `headers`"
    )
    timeout_seconds: float = Field(default=120, gt=0, le=86_400)
    answer_bytes: int = Field(
        default=4_000_000, ge=1_000, le=100_000_000, description="maximum size of one answer"
    )
    requests_at_once: int = Field(default=16, ge=1, le=1_024)
    requests_per_minute: int | None = Field(default=None, ge=1)
    protocol: Literal["auto", "vllm", "sglang", "tei", "infinity", "kserve-v2"] = Field(
        default="auto", description="protocol of a classify: server"
    )
    kserve: KserveTensors | None = None
    keep_reasoning: bool = Field(
        default=False, description="true: return a chat's reasoning with its text"
    )
    votes: int = Field(
        default=0,
        ge=0,
        le=10_000,
        description="number of answers to draw if the server returns no log-probabilities",
    )

    @field_validator("headers")
    @classmethod
    def _check_no_secrets(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not HEADER_NAME.fullmatch(name) or not value.isprintable():
                raise ValueError(f"{name!r} is not a valid HTTP header; correct its name or value")
            if name.casefold() in SECRET_HEADERS and "$" not in value:
                raise ValueError(
                    f"the value of {name} is secret; name an environment variable instead, "
                    "as in $NAME"
                )
        return headers


class ModelEntry(LabelKeys, ServerKeys):
    name: EntryName
    kind: ModelKind
    source: str = Field(description=SOURCES)
    preset: str | None = Field(default=None, description="a preset: a named set of these keys")
    dtype: Dtype = "auto"
    device: str = Field(default="auto", pattern=r"^(auto|cpu|cuda(:\d+)?)$")
    runtime: Runtime = Field(
        default="torch", description="`openvino` computes an encoder on a CPU, without attributions"
    )
    input: InputTable | None = None
    prompt: PromptTable | None = None
    allow_request_prompt: bool = True
    reader_model: ModelName | None = Field(
        default=None,
        description="causal model that reads explanations in languages that the rules do not cover",
    )
    mask_text: str | None = Field(default=None, min_length=1, max_length=64)
    languages: tuple[Language, ...] | None = Field(
        default=None,
        description="BCP 47 languages that the model learned; `*`: every language; "
        "absent: taken from its card",
    )
    language_f1: dict[Language, Annotated[float, Field(ge=0, le=1)]] | None = Field(
        default=None, description="language → F1 that the model's authors report; only displayed"
    )
    max_length: int | None = Field(
        default=None,
        ge=8,
        description="maximum number of tokens, if lower than the model's own limit",
    )
    overlong: Literal["cut", "refuse"] = "cut"
    revision: str | None = Field(default=None, description="name of the revision, only displayed")
    sha256: Sha256 | None = Field(
        default=None,
        description="SHA-256 of the weights (`folder_sha256`); other weights are refused",
    )
    load: Literal["start", "first-use"] = "start"
    idle_minutes: float = Field(
        default=30,
        gt=0,
        description="minutes without use after which a model with load = "
        '"first-use" may be unloaded',
    )
    licence: str | None = Field(default=None, max_length=500)
    card: str | None = Field(default=None, max_length=2_000)

    @field_validator("source")
    @classmethod
    def _check_source(cls, source: str) -> str:
        scheme, _, location = source.partition(":")
        if scheme not in ("embedded", "hf", "path", *SERVED) or not location:
            raise ValueError(f"must be {SOURCES}")
        if scheme == "hf" and not COMMIT.fullmatch(location.partition("@")[2]):
            raise ValueError(
                "must pin a commit with all its 40 hex digits, as in hf:org/repo@<commit>"
            )
        if scheme in SERVED and not _is_http_url(location):
            raise ValueError(f"must name an http(s) address, as in {scheme}:http://vllm:8000/v1")
        if scheme == "embedded" and location not in (shipped := ["base", *embedded_adapters()]):
            raise ValueError(f"must be one of the embedded models: {', '.join(shipped)}")
        return source

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if (kind := fixed_kind(self.source)) is not None and self.kind != kind:
            article = "an" if self.scheme == "openai" else "a"
            source = f"{article} {self.scheme}: source" if self.is_served else self.source
            raise ValueError(f"{source} can only be of kind {kind}; change `kind`")
        if self.is_served and self.sha256 is not None:
            raise ValueError(
                f"the weights of an {self.scheme}: source cannot be checked; remove `sha256`"
            )
        return self

    @model_validator(mode="after")
    def _keys_fit_source(self) -> Self:
        keys_set = self.model_fields_set
        if not self.is_served and (keys := sorted(keys_set & ServerKeys.model_fields.keys())):
            raise ValueError(
                f"remove {' and '.join(keys)}, which only an openai: or classify: source can have"
            )
        if self.scheme != "classify" and (keys := sorted(keys_set & {"protocol", "kserve"})):
            raise ValueError(f"remove {' and '.join(keys)}, which only a classify: source can have")
        if (self.protocol == "kserve-v2") != (self.kserve is not None):
            raise ValueError('give both protocol = "kserve-v2" and the table `kserve`, or neither')
        return self

    @model_validator(mode="after")
    def _keys_fit_kind(self) -> Self:
        keys_set = self.model_fields_set
        if self.kind != "causal" and (
            keys := sorted(keys_set & {"prompt", "allow_request_prompt"})
        ):
            raise ValueError(f"remove {' and '.join(keys)}, which only a causal model can have")
        of_heads = {"outputs", "labels", "input", "activation", "combine"}
        if self.kind != "classifier" and (keys := sorted(keys_set & of_heads)):
            raise ValueError(f"remove {' and '.join(keys)}, which only a classifier can have")
        if self.kind == "causal" and self.dtype == "int8":
            raise ValueError(
                'dtype int8 is for encoders only; for a causal model use dtype = "fast"'
            )
        of_judges = LabelKeys.model_fields.keys() | {"overlong"}
        if self.kind not in ("classifier", "causal") and (keys := sorted(keys_set & of_judges)):
            raise ValueError(
                f"remove {' and '.join(keys)}, which only a model with labels can have"
            )
        return self

    @model_validator(mode="after")
    def _runtime_fits(self) -> Self:
        if self.runtime == "torch":
            return self
        if self.is_served or self.kind == "causal":
            raise ValueError(
                f"runtime {self.runtime} works only for encoders that this process loads; "
                "remove `runtime`"
            )
        if self.device not in ("auto", "cpu"):
            raise ValueError(f'runtime {self.runtime} works only on CPUs; set device = "cpu"')
        if self.dtype in ("float16", "int8"):
            raise ValueError(
                f"runtime {self.runtime} works only with the dtypes float32, bfloat16 and "
                "fast; choose one of them"
            )
        return self

    @model_validator(mode="after")
    def _words_fit_task(self) -> Self:
        """Check that a causal model's labels and thresholds are consistent and fit its task. The
        labels of a classifier are checked elsewhere, when its outputs are known."""
        canonical = CANONICAL[self.task or "free"]
        words = (self.prompt.verbalizers if self.prompt else None) or {}
        thresholds = self.threshold if isinstance(self.threshold, dict) else {}
        if words and (unknown := sorted(thresholds.keys() - words.keys())):
            raise ValueError(
                f"`threshold` names {unknown[0]}, but the labels in `prompt.verbalizers` "
                f"are {', '.join(words)}"
            )
        if canonical and (
            unknown := sorted({word for word in words if word.casefold() not in canonical})
        ):
            raise ValueError(
                f"`prompt.verbalizers` names {', '.join(unknown)}, but the labels of "
                f"task {self.task} are {', '.join(canonical)}"
            )
        return self

    @property
    def scheme(self) -> Scheme:
        """The kind of source of the weights, such as `path`."""
        return self.source.partition(":")[0]  # type: ignore[return-value]  # validated above

    @property
    def is_served(self) -> bool:
        """True if another server holds the weights."""
        return self.scheme in SERVED

    @property
    def location(self) -> str:
        """The part of `source` after the scheme, without the commit."""
        path = self.source.partition(":")[2]
        return path.partition("@")[0] if self.scheme == "hf" else path

    @property
    def owner(self) -> str:
        """The model's owner: an organisation on the hub, the host of a server, `embedded` or
        `local`."""
        if self.scheme == "hf":
            return self.location.partition("/")[0]
        if self.is_served:
            return urlsplit(self.location).hostname or self.scheme
        return "embedded" if self.scheme == "embedded" else "local"

    @property
    def idle_seconds(self) -> float:
        return 60 * self.idle_minutes if self.load == "first-use" else math.inf

    @property
    def commit(self) -> str | None:
        """The pinned commit of a hub model."""
        return self.source.partition("@")[2] if self.scheme == "hf" else None


def fixed_kind(source: str) -> ModelKind | None:
    """Return the only possible kind of model for a source, or None if several are possible."""
    scheme = source.partition(":")[0]
    if scheme == "embedded":
        return "similarity" if source == BASE else "classifier"
    return {"openai": "causal", "classify": "classifier"}.get(scheme)  # type: ignore[return-value]


def _is_http_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # unclosed brackets, a port above 65535
        return False


Place = tuple[Part, int | None, int | None]
OUTSIDE: Place = ("special", None, None)
PARTS: dict[str, Part] = {"text": "text", "premise": "text", "hypothesis": "text_pair"}


@dataclass(frozen=True)
class Side:
    """A template of one input sequence of an encoder. It consists of literal words and of
    placeholders for the example's texts."""

    pieces: tuple[TemplatePart, ...]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def to_place(self, start: int, end: int) -> Place:
        """Return the part of the example that contains these characters, with offsets into that
        part. A token that crosses a border belongs to the part in which it begins."""
        if len(self.pieces) == 1 and self.pieces[0].inserted:  # the usual case
            return PARTS[self.pieces[0].inserted], start, end
        begin = 0
        for piece in self.pieces:
            if start < begin + len(piece.text):
                break
            begin += len(piece.text)
        if not piece.inserted:
            return "template", None, None
        return PARTS[piece.inserted], start - begin, min(end - begin, len(piece.text))


class EncoderTexts:
    def __init__(self, table: InputTable | None) -> None:
        self._table = table

    def of(self, example: Example) -> tuple[Side, ...]:
        """Return the model's one or two input sequences for an example. Raises BadInput if the
        model reads pairs and the example is a single text, or the reverse."""
        if self._table is None:
            pair = example.text_pair
            text = Side((TemplatePart(example.text, "text"),))
            return (text,) if pair is None else (text, Side((TemplatePart(pair, "hypothesis"),)))
        values = (
            {"text": example.text}
            if example.text_pair is None
            else {"premise": example.text, "hypothesis": example.text_pair}
        )
        sides = [self._table.text, *([self._table.pair] if self._table.pair else [])]
        if any(placeholders(side) - values.keys() for side in sides):
            input_kind = (
                "single texts; leave out `text_pair`"
                if "premise" in values
                else "pairs of texts; send `text_pair`"
            )
            raise BadInput(f"the model reads {input_kind}", pointer="/text_pair")
        return tuple(Side(fill_template(side, values)) for side in sides)


Ability = Literal[
    "judge", "word_rows", "token_rows", "attributions", "truncated", "generate", "score"
]
LOCAL_ABILITIES: tuple[Ability, ...] = ("judge", "word_rows", "token_rows", "attributions")
WORDS_OF: dict[Ability, str] = {
    "judge": "tell labels",
    "word_rows": "judge texts without some of their words",
    "token_rows": "judge texts without some of their tokens",
    "attributions": "give attributions",
    "truncated": "report where it cuts a text",
    "generate": "write text",
    "score": "score text",
}
INSTEAD_OF: dict[Ability, str] = {
    "token_rows": ', because it does not show its tokens. Set "rows": "words" in `options` '
    "(with the operators delete, mask or infill; not for variant reference), or",
    "attributions": ", because it shows neither attention nor gradients. Use lime, which only "
    "needs words, send your own values, or",
}
WITHOUT_GRADIENTS = (
    ", because its runtime shows neither attention nor gradients. Use lime, send your own "
    'values, or choose an entry with the same weights and runtime = "torch"'
)


def abilities(entry: ModelEntry) -> tuple[Ability, ...]:
    """Return the abilities of models of this kind and source. A server may have fewer, as
    `models check` shows."""
    if entry.scheme == "openai":
        return ("judge", "word_rows", "generate", "score")
    if entry.scheme == "classify":
        return ("judge", "word_rows")
    if entry.kind == "classifier" and entry.runtime == "openvino":
        return (*(a for a in LOCAL_ABILITIES if a != "attributions"), "truncated")
    if entry.kind == "classifier":
        return (*LOCAL_ABILITIES, "truncated")
    return (*LOCAL_ABILITIES, "generate", "score") if entry.kind == "causal" else ()


def check_abilities(entry: ModelEntry, needed: Iterable[str]) -> None:
    """Raise ModelCannot for the first ability that the model lacks."""
    missing = set(needed) - set(abilities(entry))
    for ability in WORDS_OF:
        if ability in missing:
            raise unsupported_error(entry, ability)


def unsupported_error(entry: ModelEntry, ability: Ability) -> ModelCannot:
    """Return the error for a missing ability, with advice."""
    advice = ""
    if ability == "attributions" and entry.runtime == "openvino":
        advice = WITHOUT_GRADIENTS
    elif entry.is_served:
        advice = f"{INSTEAD_OF.get(ability, ':')} name the same model as hf: or path:"
    return ModelCannot(
        f"{entry.name!r} ({entry.scheme}:) cannot {WORDS_OF[ability]}{advice}",
        model=entry.name,
        ability=ability,
        abilities=abilities(entry),
    )
