"""One model behind an OpenAI-compatible server, and what that server offers: found out once.

A server that is away is another matter than one that cannot: nothing is learned of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from shared.errors import BadInput, Unavailable
from shared.models.calls import Prompt, WrittenToken
from shared.models.entry import ModelEntry
from shared.models.openai.dialect import CHAT, Dialect
from shared.models.openai.label_endpoints import LabelEndpoint, find_label_endpoint
from shared.models.openai.scoring import PROBE, Way, ask, find_way
from shared.models.openai.text import ServerTokenizer, TokenizedPrompt, written_tokens
from shared.models.server_connection import Connection, Json

CONTINUING: Json = {"continue_final_message": True, "add_generation_prompt": False}
OTHER = TokenizedPrompt(PROBE.before, " bad", None)  # what else the probe might say


class LanguageServer:
    """For any number of threads. Raises Unavailable where the server is away."""

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
        self.is_silent = False  # it was seen to tell no log-probabilities of what it writes
        self.continuing: Json = {}  # what a request says for its last turn to be continued
        self._completes: bool | None = None
        self._continues: bool | None = None
        self._owner: str | None = None
        self._way: Way | None = None
        self._endpoint: LabelEndpoint | None = None
        self._tried, self._tried_endpoint, self._trying = False, False, Lock()

    @property
    def owner(self) -> str:
        """Who owns the model, as the server says ("vllm", "llamacpp"); empty: not stated.

        Raises Unavailable where the server does not serve it.
        """
        if self._owner is None:
            names = self.listed()
            if names and self.served not in names:
                raise Unavailable(
                    f"the server of {self.entry.name!r} serves no model {self.served!r}; "
                    f"it serves {', '.join(sorted(names))[:200]}"
                )
            self._owner = names.get(self.served, "")
        return self._owner

    def listed(self) -> dict[str, str]:
        """The models that it lists: name → owner; none where it has no list."""
        try:
            answer = self.connection.get("/models")
        except BadInput:  # deployments of Azure have none
            return {}
        listed = (answer.get("data") if isinstance(answer, dict) else None) or []
        return {
            str(one.get("id")): str(one.get("owned_by") or "")
            for one in listed
            if isinstance(one, dict)
        }

    @property
    def way(self) -> Way | None:
        """How it tells log-probabilities of a given text; None: it does not."""
        with self._trying:
            if not self._tried:
                self._way = find_way(self.connection, self.served, self._probe(PROBE))
                self._tried = True
            return self._way

    @property
    def endpoint(self) -> LabelEndpoint | None:
        """Its label endpoint; None: it has none, or tells no tokens."""
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
    def completes(self) -> bool:
        """Whether it continues raw text."""
        if self._completes is None:
            try:
                self.dialect.ask("/completions", [{"prompt": "The weather is", "max_tokens": 1}])
                self._completes = True
            except BadInput:
                self._completes = False
        return self._completes

    @property
    def continues(self) -> bool:
        """Whether it goes on where a last turn of the assistant ends."""
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
            [found] = self.dialect.ask(CHAT, [body])
        except BadInput:
            return False
        return found.written.lstrip().startswith("7")

    def scored(self, asked: Sequence[TokenizedPrompt]) -> list[list[WrittenToken]]:
        """For each given text its tokens, whose offsets are into it. Raises BadInput where the
        server tells none."""
        way = self.way
        if way is None:
            raise BadInput(
                f"the server of {self.entry.name!r} tells no log-probabilities of a given text: "
                "neither prompt_logprobs nor echo, nor can its tokens be forced; our own inference "
                "worker can",
                pointer="/model",
            )
        bodies = [way.bodies(one) if one.written else [] for one in asked]
        answers = iter(
            ask(self.connection, self.served, [body for some in bodies for body in some])
        )
        done = []
        for one, some in zip(asked, bodies, strict=True):
            choices = [next(answers) for _ in some]
            pieces = way.pieces(one, choices) if choices else []
            done.append(written_tokens(pieces, one.written))
        return done

    def _probe(self, probe: TokenizedPrompt) -> TokenizedPrompt:
        _ = self.owner
        if not self.tokenizer.offered:
            return probe
        [found] = self.tokenizer.read([Prompt(text=probe.before)], [probe.written])
        return found
