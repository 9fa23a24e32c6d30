"""An entry of `models.toml`: its keys, what of them fits together, what its model can be asked.

What can be asked is known from kind and source alone, before the model is loaded. An encoder is
given the strings of its one or two sequences (`EncoderTexts`): by default the text, and its pair
second; `input` of an entry says otherwise: the order of a pair (heads of natural language inference
differ in it) and words around it. Source: specs "models" §1, §4.5.
"""

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
# what requests can say: no blanks at the ends, no control characters
EntryName = Annotated[
    ModelName,
    StringConstraints(pattern=r"^[^\s\x00-\x1f\x7f]([^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f])?$"),
]
HeaderValue = Annotated[str, StringConstraints(max_length=2_000)]
HEADER_NAME = re.compile(r"[A-Za-z0-9_-]+")
SECRET_HEADERS = frozenset({"authorization", "api-key", "x-api-key", "proxy-authorization"})


class InputTable(Message):
    """How an encoder is given an example; the order of a pair is the model's affair."""

    text: str = Field(min_length=1, description="`{text}`, or `{premise}` or `{hypothesis}`")
    pair: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _check_text_input(self) -> Self:
        both = placeholders(self.text) | placeholders(self.pair)
        if not both & FROM_USERS:
            raise ValueError("must hold {text}, or {premise} and {hypothesis}")
        if strange := sorted(both - FROM_USERS):
            raise ValueError(f"an encoder's input has no {{{strange[0]}}}")
        if both not in ({"text"}, {"premise", "hypothesis"}):
            raise ValueError("must hold {text} alone, or both {premise} and {hypothesis}")
        return self


class KserveTensors(Message):
    """Names of a KServe v2 model's tensors."""

    input: str = Field(min_length=1, description="BYTES, the texts")
    output: str = Field(min_length=1, description="FP32, logits")


class ServerKeys(Message):
    """The keys of models that another server holds."""

    served_name: str | None = Field(
        default=None, min_length=1, max_length=200, description="the server's name for it"
    )
    api_key_env: str | None = Field(
        default=None,
        pattern=r"^[A-Z][A-Z0-9_]*$",
        description="the environment variable that holds the server's key",
    )
    auth: Literal["bearer", "api-key", "none"] = "bearer"
    headers: dict[str, HeaderValue] = Field(
        default_factory=dict, description="no secrets: `$NAME` is an environment variable"
    )
    query: dict[str, HeaderValue] = Field(default_factory=dict, description="likewise")
    timeout_seconds: float = Field(default=120, gt=0, le=86_400)
    answer_bytes: int = Field(
        default=4_000_000, ge=1_000, le=100_000_000, description="size of one answer, at most"
    )
    requests_at_once: int = Field(default=16, ge=1, le=1_024)
    requests_per_minute: int | None = Field(default=None, ge=1)
    protocol: Literal["auto", "vllm", "sglang", "tei", "infinity", "kserve-v2"] = Field(
        default="auto", description="of a classify: server"
    )
    kserve: KserveTensors | None = None
    keep_reasoning: bool = Field(
        default=False, description="whether what a chat reasoned is kept beside what it wrote"
    )
    votes: int = Field(
        default=0, ge=0, le=10_000, description="draws where a server tells no log-probabilities"
    )

    @field_validator("headers")
    @classmethod
    def _check_no_secrets(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if not HEADER_NAME.fullmatch(name) or not value.isprintable():
                raise ValueError(f"{name!r}: no header of HTTP has this name or value")
            if name.casefold() in SECRET_HEADERS and "$" not in value:
                raise ValueError(f"{name}: write the environment variable that holds it, $NAME")
        return headers


class ModelEntry(LabelKeys, ServerKeys):
    name: EntryName
    kind: ModelKind
    source: str = Field(description=SOURCES)
    preset: str | None = Field(default=None, description="a named bundle of these keys")
    dtype: Dtype = "auto"
    device: str = Field(default="auto", pattern=r"^(auto|cpu|cuda(:\d+)?)$")
    runtime: Runtime = Field(
        default="torch", description="openvino: an encoder on a processor, without attributions"
    )
    input: InputTable | None = None
    prompt: PromptTable | None = None
    allow_request_prompt: bool = True
    reader_model: ModelName | None = Field(
        default=None,
        description="the causal model that reads explanations where no rules know their language",
    )
    mask_text: str | None = Field(default=None, min_length=1, max_length=64)
    languages: tuple[Language, ...] | None = Field(
        default=None, description="BCP 47; `*`: every language; else its card's"
    )
    language_f1: dict[Language, Annotated[float, Field(ge=0, le=1)]] | None = Field(
        default=None, description="that its authors report for a language; shown, never used"
    )
    max_length: int | None = Field(default=None, ge=8, description="tokens; only lowers")
    overlong: Literal["cut", "refuse"] = "cut"
    revision: str | None = Field(default=None, description="for readers: what `source` was called")
    sha256: Sha256 | None = Field(
        default=None, description="of the weights; others are refused. As `folder_sha256` says"
    )
    load: Literal["start", "first-use"] = "start"
    idle_minutes: float = Field(default=30, gt=0, description="then `first-use` may be unloaded")
    licence: str | None = Field(default=None, max_length=500)
    card: str | None = Field(default=None, max_length=2_000)

    @field_validator("source")
    @classmethod
    def _check_source(cls, source: str) -> str:
        scheme, _, rest = source.partition(":")
        if scheme not in ("embedded", "hf", "path", *SERVED) or not rest:
            raise ValueError(f"must be {SOURCES}")
        if scheme == "hf" and not COMMIT.fullmatch(rest.partition("@")[2]):
            raise ValueError("must pin a full commit of 40 hex digits, as in hf:org/repo@<commit>")
        if scheme in SERVED and not _is_http_url(rest):
            raise ValueError(f"must name an http(s) address, as in {scheme}:http://vllm:8000/v1")
        if scheme == "embedded" and rest not in (shipped := ["base", *embedded_adapters()]):
            raise ValueError(f"must be an embedded model: {', '.join(shipped)}")
        return source

    @model_validator(mode="after")
    def _check_kind(self) -> Self:
        if (needed := fixed_kind(self.source)) is not None and self.kind != needed:
            article = "an" if self.scheme == "openai" else "a"
            source = f"{article} {self.scheme}: source" if self.is_served else self.source
            raise ValueError(f"{source} can only be of kind {needed}")
        if self.is_served and self.sha256 is not None:
            raise ValueError(
                f"the weights of an {self.scheme}: source cannot be checked: no sha256"
            )
        return self

    @model_validator(mode="after")
    def _keys_fit_source(self) -> Self:
        stated = self.model_fields_set
        if not self.is_served and (keys := sorted(stated & ServerKeys.model_fields.keys())):
            raise ValueError(f"{' and '.join(keys)} belong to an openai: or classify: source")
        if self.scheme != "classify" and (keys := sorted(stated & {"protocol", "kserve"})):
            raise ValueError(f"{' and '.join(keys)} belong to a classify: source")
        if (self.protocol == "kserve-v2") != (self.kserve is not None):
            raise ValueError('protocol "kserve-v2" and the table `kserve` need each other')
        return self

    @model_validator(mode="after")
    def _keys_fit_kind(self) -> Self:
        stated = self.model_fields_set
        if self.kind != "causal" and (keys := sorted(stated & {"prompt", "allow_request_prompt"})):
            raise ValueError(f"{' and '.join(keys)} belong to a causal model")
        of_heads = {"outputs", "labels", "input", "activation", "combine"}
        if self.kind != "classifier" and (keys := sorted(stated & of_heads)):
            raise ValueError(f"{' and '.join(keys)} belong to a classifier")
        if self.kind == "causal" and self.dtype == "int8":
            raise ValueError("dtype int8 belongs to an encoder; a causal model has fast")
        of_judges = LabelKeys.model_fields.keys() | {"overlong"}
        if self.kind not in ("classifier", "causal") and (keys := sorted(stated & of_judges)):
            raise ValueError(f"{' and '.join(keys)} belong to a model that tells labels")
        return self

    @model_validator(mode="after")
    def _runtime_fits(self) -> Self:
        if self.runtime == "torch":
            return self
        if self.is_served or self.kind == "causal":
            raise ValueError(f"runtime {self.runtime} computes encoders in this process only")
        if self.device not in ("auto", "cpu"):
            raise ValueError(f'runtime {self.runtime} computes on processors: device = "cpu"')
        if self.dtype in ("float16", "int8"):
            raise ValueError(f"runtime {self.runtime} computes in float32, bfloat16 or fast")
        return self

    @model_validator(mode="after")
    def _words_fit_task(self) -> Self:
        """Of a causal model; a classifier's labels are checked with its outputs."""
        known = CANONICAL[self.task or "free"]
        named = (self.prompt.verbalizers if self.prompt else None) or {}
        decided = self.threshold if isinstance(self.threshold, dict) else {}
        if named and (strange := sorted(decided.keys() - named.keys())):
            raise ValueError(f"`threshold` names {strange[0]}; its labels are {', '.join(named)}")
        if known and (strange := sorted({one for one in named if one.casefold() not in known})):
            raise ValueError(
                f"`prompt.verbalizers`: {', '.join(strange)}: task {self.task} knows "
                f"{', '.join(known)}"
            )
        return self

    @property
    def scheme(self) -> Scheme:
        """Where the weights come from."""
        return self.source.partition(":")[0]  # type: ignore[return-value]  # validated above

    @property
    def is_served(self) -> bool:
        """Whether another server holds the weights."""
        return self.scheme in SERVED

    @property
    def location(self) -> str:
        """The part after the scheme, without the commit."""
        rest = self.source.partition(":")[2]
        return rest.partition("@")[0] if self.scheme == "hf" else rest

    @property
    def owner(self) -> str:
        """Whose model it is: the hub's organisation, a server's host, `embedded`, `local`."""
        if self.scheme == "hf":
            return self.location.partition("/")[0]
        if self.is_served:
            return urlsplit(self.location).hostname or self.scheme
        return "embedded" if self.scheme == "embedded" else "local"

    @property
    def idle_seconds(self) -> float:
        """How long its weights stay unused, where another model needs the room."""
        return 60 * self.idle_minutes if self.load == "first-use" else math.inf

    @property
    def commit(self) -> str | None:
        """The pinned commit of a hub model."""
        return self.source.partition("@")[2] if self.scheme == "hf" else None


def fixed_kind(source: str) -> ModelKind | None:
    """The only kind that a source can be of, if there is but one."""
    scheme = source.partition(":")[0]
    if scheme == "embedded":
        return "similarity" if source == BASE else "classifier"
    return {"openai": "causal", "classify": "classifier"}.get(scheme)  # type: ignore[return-value]


def _is_http_url(url: str) -> bool:
    """Whether it names a scheme that we speak, a host and, if any, a port that there is."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets that do not close, a port beyond 65535
        return False


Place = tuple[Part, int | None, int | None]
OUTSIDE: Place = ("special", None, None)
PARTS: dict[str, Part] = {"text": "text", "premise": "text", "hypothesis": "text_pair"}


@dataclass(frozen=True)
class Side:
    """One of an encoder's sequences, in pieces."""

    pieces: tuple[TemplatePart, ...]

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)

    def to_place(self, start: int, end: int) -> Place:
        """The part of the example that these characters of the sequence belong to, with offsets
        into it; a token across a border belongs where it begins."""
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
        """One or two sequences. Raises BadInput where the model reads pairs and there is none, or
        the other way round."""
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
            wanted = "single texts" if "premise" in values else "pairs: send `text_pair`"
            raise BadInput(f"the model reads {wanted}", pointer="/text_pair")
        return tuple(Side(fill_template(side, values)) for side in sides)


Ability = Literal[
    "judge", "word_rows", "token_rows", "attributions", "truncated", "generate", "score"
]
LOCAL_ABILITIES: tuple[Ability, ...] = ("judge", "word_rows", "token_rows", "attributions")
WORDS_OF: dict[Ability, str] = {
    "judge": "tell labels",
    "word_rows": "judge rows of words",
    "token_rows": "give token rows",
    "attributions": "give attributions",
    "truncated": "tell where a text is cut",
    "generate": "write text",
    "score": "score text",
}
INSTEAD_OF: dict[Ability, str] = {
    "token_rows": ': it shows no tokens. Ask with "rows": "words" (operators delete, mask, infill; '
    "not variant reference), or",
    "attributions": ": it shows neither attention nor gradients. Ask for lime, which needs words "
    "alone, send values of your own, or",
}
WITHOUT_GRADIENTS = (
    ": its runtime shows neither attention nor gradients. Ask for lime, send values of your own, "
    'or name an entry of the same weights with runtime = "torch"'
)


def abilities(entry: ModelEntry) -> tuple[Ability, ...]:
    """By kind and source; a server may turn out to tell less (`models check`)."""
    if entry.scheme == "openai":
        return ("judge", "word_rows", "generate", "score")
    if entry.scheme == "classify":
        return ("judge", "word_rows")
    if entry.kind == "classifier" and entry.runtime == "openvino":
        return (*(one for one in LOCAL_ABILITIES if one != "attributions"), "truncated")
    if entry.kind == "classifier":
        return (*LOCAL_ABILITIES, "truncated")
    return (*LOCAL_ABILITIES, "generate", "score") if entry.kind == "causal" else ()


def check_abilities(entry: ModelEntry, needed: Iterable[str]) -> None:
    """Raises ModelCannot for the first ability that the model has not."""
    missing = set(needed) - set(abilities(entry))
    for ability in WORDS_OF:
        if ability in missing:
            raise unsupported_error(entry, ability)


def unsupported_error(entry: ModelEntry, ability: Ability) -> ModelCannot:
    """The refusal, with what would help."""
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
