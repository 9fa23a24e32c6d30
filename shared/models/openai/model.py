"""The ports over an OpenAI-compatible server: what it can truly do, and a refusal of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import NoReturn

import numpy as np

from shared.contracts import ModelUse
from shared.errors import BadInput, Unavailable
from shared.models.calls import (
    AttributionMethod,
    Attributions,
    Completion,
    Example,
    Prompt,
    Rows,
    Sampling,
    Tokens,
    WrittenToken,
)
from shared.models.catalogue import SERVER
from shared.models.entry import ModelEntry
from shared.models.openai.connection import Connection
from shared.models.openai.scoring import (
    PROBE,
    Question,
    Way,
    ask,
    check_distinct,
    find_way,
    first_tokens,
    question,
    softmax,
)
from shared.models.openai.text import (
    ServerTokenizer,
    TokenizedPrompt,
    completion,
    generate,
    neutral,
    written_tokens,
)
from shared.models.ports import Floats


@lru_cache(maxsize=64)
def served(entry: ModelEntry) -> ServedLanguageModel:
    """The model of an `openai:` entry; one for all that ask, so that they share its connections."""
    return ServedLanguageModel(entry)


class ServedLanguageModel:
    """The port `shared.models.ports.LanguageModel`, as far as a server goes.

    Raises Unavailable where the server is away, BadInput where it refuses or cannot do it.
    """

    def __init__(self, entry: ModelEntry) -> None:
        self._entry = entry
        self._served = entry.served_name or entry.name
        self._connection = Connection(entry)
        self._tokenizer = ServerTokenizer(self._connection, self._served)
        self._owner: str | None = None
        self._way: Way | None = None
        self._tried, self._trying = False, Lock()

    @property
    def use(self) -> ModelUse:
        """For the provenance; the weights' hash, device and dtype are the server's affair.

        Asks the server once whether it serves the model: Unavailable where it does not.
        """
        self._known()
        return ModelUse(
            name=self._entry.name, revision=self._served, sha256=None, device=SERVER, dtype=SERVER
        )

    @property
    def languages(self) -> tuple[str, ...]:
        return self._entry.languages or ()

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        """A completion of each prompt. Prompt i is drawn with a seed made of the seed and i.

        A server that batches may move a log-probability, and so a draw, by rounding. A text of
        whose tokens the server did not tell all is scored afterwards, as its tokenizer reads it.
        """
        extra = {"model": self._served, **neutral(self._known())}
        done = generate(self._connection, prompts, sampling, extra)
        bare = [place for place, one in enumerate(done) if one.text and not one.tokens]
        if bare:
            texts = [done[place].text for place in bare]
            scored = self.score([prompts[place] for place in bare], texts)
            for place, one in zip(bare, scored, strict=True):
                done[place] = one.model_copy(update={"finish": done[place].finish})
        return done

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        """Token log-probabilities of each given completion after its prompt."""
        asked = self._tokenizer.read(prompts, completions)
        return self._scored(asked)

    def labels_of(self, example: Example) -> tuple[str, ...]:
        """The labels of its template."""
        return tuple(question(example)[1])

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        """For each example (L,) probabilities of its labels.

        Softmax over the labels of the sum of log-probabilities of each verbalizer's tokens after
        `prefix + text + suffix`: for verbalizers of one token the same as from their logits.
        """
        questions = [question(example) for example in examples]
        if self._chosen_way() is None:
            texts = [text for text, _ in questions]
            words = [list(words.values()) for _, words in questions]
            scores = first_tokens(self._connection, self._served, texts, words)
        else:
            scores = self._verbalized(questions)
        return [softmax(np.array(row)) for row in scores]

    def tokens(self, examples: Sequence[Example]) -> list[Tokens]:
        """Refused."""
        self._refuse("its tokens one by one")

    def judge_rows(self, asked: Sequence[Rows]) -> list[Floats]:
        """Refused."""
        self._refuse("rows with tokens taken away or masked")

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> list[Attributions]:
        """Refused."""
        self._refuse("attributions")

    def _verbalized(self, questions: Sequence[Question]) -> list[list[float]]:
        """For each question (L,) log-probabilities of its verbalizers."""
        # longer than a prompt of a request may be: a template comes on top
        prompts = [
            Prompt.model_construct(text=text, turns=None)
            for text, words in questions
            for _ in words
        ]
        written = [word for _, words in questions for word in words.values()]
        asked = self._tokenizer.read(prompts, written)
        columns = iter(zip(asked, self._scored(asked), strict=True))
        scores = []
        for _, words in questions:
            own = [next(columns) for _ in words]
            check_distinct([one.ids[1] for one, _ in own if one.ids])
            scores.append([sum(token.logprob for token in done.tokens) for _, done in own])
        return scores

    def _refuse(self, what: str) -> NoReturn:
        raise BadInput(
            f"{self._entry.name!r} is behind an OpenAI-compatible server, which shows neither "
            f"attention nor gradients and gives no {what}: our own inference worker is needed, "
            "with the model as hf: or path:",
            pointer="/model",
        )

    def _known(self) -> str:
        """Who owns the model, as the server says ("vllm", "llamacpp"); empty: not stated."""
        if self._owner is None:
            listed = self._connection.get("/models").get("data") or []
            names = {str(one.get("id")): str(one.get("owned_by") or "") for one in listed}
            if names and self._served not in names:
                raise Unavailable(
                    f"the server of {self._entry.name!r} serves no model {self._served!r}; "
                    f"it serves {', '.join(sorted(names))[:200]}"
                )
            self._owner = names.get(self._served, "")
        return self._owner

    def _scored(self, asked: Sequence[TokenizedPrompt]) -> list[Completion]:
        way = self._chosen_way()
        if way is None:
            raise BadInput(
                f"the server of {self._entry.name!r} tells no log-probabilities of a given text: "
                "neither prompt_logprobs nor echo, nor can its tokens be forced; our own inference "
                "worker can",
                pointer="/model",
            )
        bodies = [way.bodies(one) if one.written else [] for one in asked]
        flat = [body for some in bodies for body in some]
        answers = iter(ask(self._connection, self._served, flat))
        done = []
        for one, some in zip(asked, bodies, strict=True):
            choices = [next(answers) for _ in some]
            tokens: list[WrittenToken] = []
            if choices:
                tokens = written_tokens(way.pieces(one, choices), one.written)
            done.append(completion(one.written, tokens, "given"))
        return done

    def _chosen_way(self) -> Way | None:
        with self._trying:
            if not self._tried:
                self._known()
                probe = PROBE
                if self._tokenizer.offered:
                    [probe] = self._tokenizer.read([Prompt(text=PROBE.before)], [PROBE.written])
                self._way = find_way(self._connection, self._served, probe)
                self._tried = True
            return self._way
