"""The ports over an OpenAI-compatible server: what it can truly do, and a refusal of the rest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from shared.contracts import ModelUse
from shared.models.abilities import BehindServer
from shared.models.calls import Completion, Example, Prompt, Sampling
from shared.models.catalogue import SERVER, of_prompted_labels
from shared.models.entry import ModelEntry
from shared.models.judgement import Judgement
from shared.models.openai.label_ways import judgements
from shared.models.openai.questions import Question, prompt_sha256, question
from shared.models.openai.scoring import check_distinct, first_tokens, softmax
from shared.models.openai.server import LanguageServer
from shared.models.openai.text import TokenizedPrompt, completion, generate, neutral
from shared.models.ports import Floats
from shared.models.presets import versioned
from shared.models.server_records import Findings


def served(entry: ModelEntry) -> ServedLanguageModel:
    """The model of an `openai:` entry; one for all that ask, so that they share its connections."""
    return _served(entry.model_dump_json(exclude_unset=True))


@lru_cache(maxsize=64)
def _served(entry: str) -> ServedLanguageModel:
    return ServedLanguageModel(ModelEntry.model_validate_json(entry))


class ServedLanguageModel(BehindServer):
    """The port `shared.models.ports.LanguageModel`, as far as a server goes.

    Raises Unavailable where the server is away, ModelCannot for what no server shows, BadInput
    where this one refuses.
    """

    def __init__(self, entry: ModelEntry) -> None:
        super().__init__(entry)
        self._findings = Findings(entry.name, lambda: LanguageServer(entry))

    @property
    def server(self) -> LanguageServer:
        """The server, and what is known of it by now."""
        return self._findings.value

    @property
    def use(self) -> ModelUse:
        """For the provenance; the weights' hash, device and dtype are the server's affair.

        Asks the server once whether it serves the model: Unavailable where it does not.
        """
        _ = self.server.owner
        revision = self.server.served
        return ModelUse(
            name=self._entry.name,
            revision=revision,
            sha256=None,
            device=SERVER,
            dtype=SERVER,
            prompt_sha256=prompt_sha256(self._entry),
            preset=versioned(self._entry.preset),
            system_fingerprint=self.server.dialect.fingerprint,
            **of_prompted_labels(self._entry),
        )

    def generate(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        """A completion of each prompt. Prompt i is drawn with a seed made of the seed and i.

        A server that batches may move a log-probability, and so a draw, by rounding. A text of
        whose tokens the server did not tell all is scored afterwards, as its tokenizer reads it;
        it has no tokens where the server scores no text either.
        """
        return self._findings.asked(lambda: self._generated(prompts, sampling))

    def _generated(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[Completion]:
        extra = neutral(self.server.owner)
        done = generate(self.server.dialect, prompts, sampling, extra)
        bare = [place for place, one in enumerate(done) if one.text and not one.tokens]
        if bare and self.server.way is not None:
            texts = [done[place].text for place in bare]
            scored = self.score([prompts[place] for place in bare], texts)
            for place, one in zip(bare, scored, strict=True):
                done[place] = one.model_copy(update={"finish": done[place].finish})
        return done

    def score(self, prompts: Sequence[Prompt], completions: Sequence[str]) -> list[Completion]:
        """Token log-probabilities of each given completion after its prompt."""
        return self._findings.asked(
            lambda: self._scored(self.server.tokenizer.read(prompts, completions))
        )

    def labels_of(self, example: Example) -> tuple[str, ...]:
        """The labels of its template, else of the entry's prompt."""
        return question(example, self._entry).labels

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        """For each example (L,) probabilities of its labels.

        With a template: softmax over the labels of the sum of log-probabilities of each
        verbalizer's tokens after `prefix + text + suffix`. With the entry's prompt: `judgements`.
        """
        if any(example.template is None for example in examples):
            return [np.array(one.demand()) for one in self.judgements(examples)]
        return self._findings.asked(lambda: self._by_template(examples))

    def _by_template(self, examples: Sequence[Example]) -> list[Floats]:
        questions = [question(example) for example in examples]
        if self.server.way is None:
            texts = [one.prompt.text or "" for one in questions]
            words = [[string for _, string in one.strings] for one in questions]
            scores = first_tokens(self.server.connection, self.server.served, texts, words)
        else:
            scores = self._verbalized(questions)
        return [softmax(np.array(row)) for row in scores]

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """For each example P with its mass and uncertainty, and how it was read."""
        questions = [question(one, self._entry) for one in examples]
        found = self._findings.asked(lambda: judgements(self.server, questions))
        return [
            judged
            if one.prompt is None
            else judged.model_copy(update={"prompt_sha256": prompt_sha256(self._entry, one.prompt)})
            for one, judged in zip(examples, found, strict=True)
        ]

    def _verbalized(self, questions: Sequence[Question]) -> list[list[float]]:
        """For each question (L,) log-probabilities of its verbalizers."""
        prompts = [one.prompt for one in questions for _ in one.strings]
        written = [string for one in questions for _, string in one.strings]
        asked = self.server.tokenizer.read(prompts, written)
        columns = iter(zip(asked, self._scored(asked), strict=True))
        scores = []
        for one in questions:
            own = [next(columns) for _ in one.strings]
            check_distinct([text.ids[1] for text, _ in own if text.ids])
            scores.append([sum(token.logprob for token in done.tokens) for _, done in own])
        return scores

    def _scored(self, asked: Sequence[TokenizedPrompt]) -> list[Completion]:
        found = zip(asked, self.server.scored(asked), strict=True)
        return [completion(one.written, tokens, "given") for one, tokens in found]
