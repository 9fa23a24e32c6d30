"""One model behind an OpenAI-compatible server, and the server's abilities, each tested once. No
ability is recorded while the server is unreachable.

vLLM and SGLang have an endpoint for the probabilities of given next tokens. It is called
without a softmax over the labels, so that the total probability of all other tokens is
known. vLLM's `/generative_scoring` returns only the first label, so it takes one request
per label. SGLang's `/v1/score` returns all labels. A server has the endpoint if its raw
values, normalised over two labels, equal its values with the softmax. Source: vLLM docs
0.22, Generative Scoring; SGLang docs, native API."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, Protocol

from pydantic import BaseModel, Field, ValidationError

from shared.contracts.calls import Prompt, WrittenToken
from shared.contracts.errors import BadInput, ScoringError, Unavailable
from shared.models.catalogue.entry import ModelEntry
from shared.models.openai.constraint import MissingLabels
from shared.models.openai.protocol import CHAT, Dialect
from shared.models.openai.scoring import PROBE, ScoringMethod, find_scoring_method
from shared.models.openai.text import ServerTokenizer, TokenizedPrompt, align_tokens
from shared.models.server_connection import AnswerUnread, Connection, Json, listed_models

CONTINUING: Json = {"continue_final_message": True, "add_generation_prompt": False}
OTHER = TokenizedPrompt(PROBE.before, " bad", None)  # another completion of the probe


class LanguageServer:
    """The properties of a server. Thread-safe. Methods raise Unavailable if the server is
    unreachable."""

    def __init__(self, entry: ModelEntry) -> None:
        self.entry = entry
        self.served = entry.served_name or entry.name
        self.connection = Connection(entry)
        self.dialect = Dialect(self.connection, self.served)
        table = entry.prompt
        self.chat_keys: Json = (
            {"chat_template_kwargs": table.template_kwargs}
            if table and table.template_kwargs
            else {}
        )
        self.tokenizer = ServerTokenizer(self.connection, self.served, self.chat_keys)
        self.missing_labels = MissingLabels()
        self.is_silent = False  # it returned no log-probabilities
        self.continuing: Json = {}  # fields that continue the last turn
        self._completes: bool | None = None
        self._continues: bool | None = None
        self._owner: str | None = None
        self._scoring_method: ScoringMethod | None = None
        self._endpoint: LabelEndpoint | None = None
        self._tried, self._tried_endpoint, self._trying = False, False, Lock()

    @property
    def owner(self) -> str:
        """The model's owner as the server states it ("vllm", "llamacpp"), or "". Raises Unavailable
        if the server does not serve the model."""
        if self._owner is None:
            names = self.listed()
            if names and self.served not in names:
                raise Unavailable(
                    f"the server of {self.entry.name!r} does not serve the model "
                    f"{self.served!r}; set `served_name` in its entry to one of: "
                    f"{', '.join(sorted(names))[:200]}"
                )
            self._owner = names.get(self.served, "")
        return self._owner

    def listed(self) -> dict[str, str]:
        """Return the owner of each listed model, or {} if the server has no list."""
        try:
            answer = self.connection.get("/models")
        except BadInput:  # deployments of Azure have none
            return {}
        return {str(m.get("id")): str(m.get("owned_by") or "") for m in listed_models(answer)}

    @property
    def scoring_method(self) -> ScoringMethod | None:
        """The method for log-probabilities of given text, or None."""
        with self._trying:
            if not self._tried:
                self._scoring_method = find_scoring_method(
                    self.connection, self.served, self._probe(PROBE)
                )
                self._tried = True
            return self._scoring_method

    @property
    def endpoint(self) -> LabelEndpoint | None:
        """The server's endpoint for label probabilities, found by a probe. None if no endpoint
        works or the server does not return token ids."""
        with self._trying:
            if not self._tried_endpoint:
                first, second = self._probe(PROBE).ids, self._probe(OTHER).ids
                if first and second and first[1] and second[1] and len(first[0]) > 1:
                    labels = first[1][0], second[1][0]
                    self._endpoint = find_label_endpoint(
                        self.connection, self.served, first[0], labels
                    )
                self._tried_endpoint = True
            return self._endpoint

    @property
    def supports_completion(self) -> bool:
        if self._completes is None:
            try:
                self.dialect.complete(
                    "/completions", [{"prompt": "The weather is", "max_tokens": 1}]
                )
                self._completes = True
            except BadInput:
                self._completes = False
        return self._completes

    @property
    def continues(self) -> bool:
        """Return True if the server continues an unfinished turn of the assistant."""
        if self._continues is None:
            turns = [
                {"role": "user", "content": "Count to nine."},
                {"role": "assistant", "content": "1, 2, 3, 4, 5, 6,"},
            ]
            body = {"messages": turns, "max_tokens": 4, "temperature": 0}
            self._continues = self._counts_on({**body, **CONTINUING})
            if self._continues:
                self.continuing = CONTINUING
            else:
                self._continues = self._counts_on(body)
        return self._continues

    def _counts_on(self, body: Json) -> bool:
        try:
            [choice] = self.dialect.complete(CHAT, [body])
        except BadInput:
            return False
        return choice.written.lstrip().startswith("7")

    def score(self, asked: Sequence[TokenizedPrompt]) -> list[list[WrittenToken]]:
        """Return the tokens of each given text, with offsets into it.

        Raises BadInput if the server cannot score text.
        """
        scoring = self.scoring_method
        if scoring is None:
            raise BadInput(
                f"the server of {self.entry.name!r} returns no log-probabilities of a "
                "given text (no prompt_logprobs, echo, prefill or forced tokens); use "
                "the inference worker instead",
                pointer="/model",
            )
        bodies = [scoring.build_requests(text) if text.written else [] for text in asked]
        flat = [body for row in bodies for body in row]
        answers = iter(scoring.complete(self.connection, self.served, flat))
        results = []
        for text, row in zip(asked, bodies, strict=True):
            choices = [next(answers) for _ in row]
            pieces = scoring.read_tokens(text, choices) if choices else []
            results.append(align_tokens(pieces, text.written))
        return results

    def _probe(self, probe: TokenizedPrompt) -> TokenizedPrompt:
        _ = self.owner
        if not self.tokenizer.is_available:
            return probe
        [text] = self.tokenizer.read([Prompt(text=probe.before)], [probe.written])
        return text


Ids = tuple[int, ...]
SAME = 0.01  # of a probability; bfloat16 and batches change it by less


class LabelEndpoint(Protocol):
    """A server's endpoint for the probabilities of labels' tokens."""

    path: str

    def build_requests(self, prompt: Ids, labels: Ids, *, softmax: bool = False) -> list[Json]:
        """Return the requests for one prompt of at least two tokens."""

    def parse_scores(self, answers: Sequence[Any]) -> list[float]:
        """Return one probability per label's token. Raises ScoringError if the response format is
        unknown."""


class _Item(BaseModel):
    score: float = Field(ge=0, le=1.0001)


class _Items(BaseModel):
    data: list[_Item] = Field(min_length=1)


class _Scores(BaseModel):
    scores: list[list[float]] = Field(min_length=1)


class GenerativeScoring:
    """vLLM's endpoint `/generative_scoring`, which returns the probability of the first label."""

    path = "/generative_scoring"

    def build_requests(self, prompt: Ids, labels: Ids, *, softmax: bool = False) -> list[Json]:
        """Return one request per label. With `softmax`, return one request for the first label's
        probability among all labels."""
        groups = [labels] if softmax else [(label,) for label in labels]
        return [
            {**_split(prompt), "label_token_ids": [*group], "apply_softmax": softmax}
            for group in groups
        ]

    def parse_scores(self, answers: Sequence[Any]) -> list[float]:
        return [_read(_Items, answer).data[0].score for answer in answers]


class ScoreEndpoint:
    """SGLang's endpoint `/v1/score`, which returns the probabilities of all labels."""

    path = "/v1/score"

    def build_requests(self, prompt: Ids, labels: Ids, *, softmax: bool = False) -> list[Json]:
        fields = {"label_token_ids": [*labels], "apply_softmax": softmax, "item_first": False}
        return [{**_split(prompt), **fields}]

    def parse_scores(self, answers: Sequence[Any]) -> list[float]:
        return [share for answer in answers for share in _read(_Scores, answer).scores[0]]


def find_label_endpoint(
    connection: Connection, served: str, prompt: Ids, labels: Ids
) -> LabelEndpoint | None:
    """Return the first endpoint that works, tested with a prompt and two labels."""
    endpoints: tuple[LabelEndpoint, ...] = (GenerativeScoring(), ScoreEndpoint())
    for endpoint in endpoints:
        if _is_supported(connection, served, endpoint, (prompt, labels)):
            return endpoint
    return None


def call_label_endpoint(
    connection: Connection, served: str, endpoint: LabelEndpoint, asked: Sequence[tuple[Ids, Ids]]
) -> list[list[float]]:
    """Ask the endpoint for the probabilities of labels. `asked` holds (prompt, labels); the result
    has one probability per label."""
    bodies = [endpoint.build_requests(prompt, labels) for prompt, labels in asked]
    flat = [{"model": served, **body} for row in bodies for body in row]
    answers = iter(connection.post_at_root(endpoint.path, flat))
    return [endpoint.parse_scores([next(answers) for _ in row]) for row in bodies]


def _is_supported(
    connection: Connection, served: str, endpoint: LabelEndpoint, probe: tuple[Ids, Ids]
) -> bool:
    try:
        [raw] = call_label_endpoint(connection, served, endpoint, [probe])
        bodies = [
            {"model": served, **body} for body in endpoint.build_requests(*probe, softmax=True)
        ]
        among = endpoint.parse_scores(connection.post_at_root(endpoint.path, bodies))[0]
    except Unavailable:
        raise
    except ScoringError:
        return False
    total = sum(raw)
    return len(raw) == len(probe[1]) and 0 < total < 1 + SAME and abs(raw[0] / total - among) < SAME


def _split(prompt: Ids) -> Json:
    """Return the prompt as a query (all tokens but the last) and an item (the last token). The
    endpoints for label scores join both parts."""
    return {"query": [*prompt[:-1]], "items": [[prompt[-1]]]}


def _read(shape: type[Any], answer: Any) -> Any:
    try:
        return shape.model_validate(answer)
    except ValidationError as error:
        raise AnswerUnread("the answer of the label endpoint has an unexpected form") from error
