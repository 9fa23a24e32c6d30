"""Label probabilities, attributions, log-probabilities and text from a local causal model.

Labels are scored at the last position of `prefix + text + suffix`. If every label word is one
token, P is the softmax over the logits of these tokens. Otherwise it is the softmax of the
words' summed log-probabilities, so longer words are less likely. The other texts of a batch
change a result only by rounding. The change is up to 1e-5 in float32, and 0.02 in bfloat16 and
float16. On an Intel processor there is none in float32 (`shared.process.numerics`). With
`thinking = "before"` the model first writes its reasoning (`Reasoner`). P is then a mean over
draws with different seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import torch
from torch import Tensor

from services.inference.attribution import (
    AttributionInput,
    ExampleBatch,
    answer,
    attribute,
    by_lime,
    column,
    eager,
)
from services.inference.causal_pass import CausalPass, CausalRow, share_prefix
from services.inference.causal_prompt import CausalReader, CausalReading, LabelPrompt
from services.inference.generated_text import GeneratedText, prompt_generator
from services.inference.generation import LocalWriter
from services.inference.generation_queue import GenerationQueue
from services.inference.tokenization import Encoder, Ids, InputSpan, TokenContext
from services.inference.weights.batcher import (
    Device,
    MicroBatcher,
    device_run,
    measure_stage,
    padded_tokens,
)
from services.inference.weights.loader import LoadedModel
from shared.contracts.calls import (
    AttributionMethod,
    Attributions,
    Example,
    ExampleRows,
    Row,
    Sampling,
    Tokens,
    WordJudgements,
    WordRows,
)
from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement, average, with_mass
from shared.contracts.messages import ModelUse
from shared.models.catalogue.entry import LOCAL_ABILITIES, Ability
from shared.models.guard_categories import (
    CATEGORY_TOKENS,
    is_written,
    named_categories,
    with_only_category,
)
from shared.models.label_readout import softmax
from shared.models.ports import Floats
from shared.models.word_rows import judged_words
from shared.queue.job_context import wait_all
from shared.queue.priority_lock import PriorityLock

GREEDY = Sampling.model_construct(
    temperature=0.0, top_p=1.0, max_tokens=CATEGORY_TOKENS, stop=(), seed=0
)
OPENS, CLOSES = "<think>", "</think>"  # as Qwen, DeepSeek and their like mark it


def with_categories(
    readings: Sequence[CausalReading],
    judged: Sequence[Judgement],
    model: tuple[GenerationQueue, Encoder],
    least: Mapping[str, float],
) -> list[Judgement]:
    """Return the judgements with the categories (such as kinds of harm) that a guard model writes
    after each prompt. `model` has the generation queue and its tokenizer. `least` maps a label to
    its decision threshold."""
    tables = [item.prompt.table if item.prompt else None for item in readings]
    generation, encoder = model
    drafts = {
        index: GeneratedText(reading.tokens.ids, encoder, prompt_generator(0, 0))
        for index, reading in enumerate(readings)
        if is_written(tables[index]) and judged[index].unread is None and not reading.reasons
    }
    generation.finish(list(drafts.values()), GREEDY)
    results = [with_only_category(*pair, least) for pair in zip(judged, tables, strict=True)]
    for index, draft in drafts.items():
        categories = named_categories(tables[index], draft.text)
        results[index] = judged[index].model_copy(update={"categories": categories})
    return results


class LocalLanguageModel(LocalWriter):
    """A causal language model with weights in this process. It has the interface
    `shared.models.ports.LanguageModel`."""

    def __init__(self, weights: LoadedModel, budget: int | None = None) -> None:
        """Wrap the loaded model. `budget` is the number of tokens in one forward pass. The default
        is measured from the free memory."""
        self._weights = weights
        causal = CausalPass(weights.model, weights.use.name)
        device = torch.device(weights.use.device)
        self._budget = budget or padded_tokens(
            device,
            lambda tokens: causal.run(_probe(tokens, weights.longest)),
        )
        batcher: MicroBatcher[CausalRow, Floats] = MicroBatcher(
            Device(
                kind=lambda row: row.kind,
                cost=lambda row: row.cost(device.type),
                run=causal.run,
                budget=self._budget,
                full=torch.OutOfMemoryError,
                name=weights.use.name,
            )
        )
        chat_keys = weights.prompt.template_kwargs if weights.prompt else None
        encoder = Encoder(weights.tokenizer, chat_keys)
        super().__init__(weights, causal, batcher, encoder)
        self._reader = CausalReader(weights, encoder)
        self._reasoner = Reasoner(self._generation, encoder, self._reader, weights.longest)

    @property
    def languages(self) -> tuple[str, ...]:
        return self._weights.languages

    @property
    def use(self) -> ModelUse:
        prompt = self._reader.prompt
        if prompt is None:
            return self._weights.use
        return self._weights.use.model_copy(update={"prompt_sha256": prompt.sha256})

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset((*LOCAL_ABILITIES, "generate", "score"))

    @property
    def mask_text(self) -> str:
        return self._weights.mask_text

    def labels_of(self, example: Example) -> tuple[str, ...]:
        """Return the labels of the example's template, or of the model's prompt. Raises BadInput if
        the model cannot distinguish them."""
        return self._reader.read([example])[0].labels

    def tokens(self, examples: Sequence[Example]) -> list[Tokens]:
        return [reading.tokens for reading in self._reader.read(examples)]

    def judge(self, examples: Sequence[Example]) -> list[Floats]:
        """Return for each example the probabilities of its L labels, which sum to 1."""
        if any(reading.reasons for reading in self._reader.read(examples)):
            return [np.array(judgement.unwrap()) for judgement in self.judgements(examples)]
        requests = [ExampleRows(example=example, rows=(Row(),)) for example in examples]
        return [rows[0] for rows in self.judge_rows(requests)]

    def judgements(self, examples: Sequence[Example]) -> list[Judgement]:
        """Return for each example the label probabilities, the probability of all labels together,
        and the share of the text that was read."""
        with measure_stage(self.use.name, "tokenize"):
            readings = self._reader.read(examples)
        pass_inputs = [self._to_be_read(reading) for reading in readings]
        futures = [
            self._batcher.submit(share_prefix(list(_rows_of(item.reading, [item.ids], whole=True))))
            for items in pass_inputs
            for item in items
        ]
        answers = iter(wait_all(futures))
        done = []
        for example, reading, items in zip(examples, readings, pass_inputs, strict=True):
            share = reading.tokens.read_share(example)
            parts = [_judgement(item.reading, next(answers), share) for item in items]
            result = average(parts, "verbalizers") if reading.reasons else parts[0]
            brought = reading.prompt if example.prompt else None
            fields = {"read_share": share, "prompt_sha256": brought and brought.sha256}
            done.append(result.model_copy(update=fields))
        indices = [index for index, example in enumerate(examples) if example.categories]
        if not indices:
            return done
        model = self._generation, self._encoder
        judgements = with_categories(
            [readings[index] for index in indices],
            [done[index] for index in indices],
            model,
            self.use.thresholds,
        )
        for index, judgement in zip(indices, judgements, strict=True):
            done[index] = judgement
        return done

    def _to_be_read(self, reading: CausalReading) -> list[Reasoned]:
        if reading.prompt is not None and reading.reasons:
            return self._reasoner.reasoned(reading, reading.prompt)
        return [Reasoned(reading, reading.row(Row()))]

    def judge_rows(self, requests: Sequence[ExampleRows]) -> list[Floats]:
        """Return the label probabilities of each example's R variations, of shape (R, L). A prefix
        that variations share is computed only once."""
        with measure_stage(self.use.name, "tokenize"):
            readings = self._whole_rows([request.example for request in requests])
            groups = [
                share_prefix(list(_rows_of(reading, map(reading.row, request.rows))))
                for reading, request in zip(readings, requests, strict=True)
            ]
        futures = [self._batcher.submit(group) for group in groups]
        return [
            _probabilities(reading, answers)
            for reading, answers in zip(readings, wait_all(futures), strict=True)
        ]

    def judge_words(self, requests: Sequence[WordRows]) -> list[WordJudgements]:
        return judged_words(self, requests, self.mask_text)

    def _whole_rows(self, examples: Sequence[Example]) -> list[CausalReading]:
        """Return the tokenized prompts of examples whose text variations will be scored. Raises
        BadInput if the model writes its reasoning before the label, because such models can only
        score whole texts."""
        readings = self._reader.read(examples)
        if any(reading.reasons for reading in readings):
            raise BadInput(
                f"{self.use.name!r} reasons before it answers, so it can only judge "
                "whole texts; choose another model",
                pointer="/model",
            )
        return readings

    def attributions(
        self, examples: Sequence[Example], targets: Sequence[str], method: AttributionMethod
    ) -> list[Attributions]:
        """Return the importance of each example's T tokens for its target label. The explained
        score is the logit of the label's word, or its log-probability if the word has several
        tokens. Attention weights are those of the last token. LIME explains the probability
        instead."""
        if method.name in ("attention", "gradient"):
            readings = self._whole_rows(examples)
            if all(reading.single for reading in readings):
                tokens = [
                    reading.verbalizers[column(reading.labels, target)][0]
                    for reading, target in zip(readings, targets, strict=True)
                ]
                with device_run(self.use.name):
                    arrays = ExampleBatch(self._causal, readings, tokens).values(
                        method, self._budget
                    )
                return [answer(values) for values in arrays]
        return [
            self._attribute(example, target, method)
            for example, target in zip(examples, targets, strict=True)
        ]

    def _attribute(self, example: Example, target: str, method: AttributionMethod) -> Attributions:
        reading = self._whole_rows([example])[0]
        index = column(reading.labels, target)
        if method.name == "lime":
            return by_lime(self, example, reading.tokens, index, method)
        inside = CausalInside(self._causal, reading, index)
        with device_run(self.use.name):
            return attribute(AttributionInput(inside, reading.tokens, self._budget), method)


def _rows_of(
    reading: CausalReading, rows: Iterable[Ids], *, whole: bool = False
) -> Iterable[CausalRow]:
    """Yield one row of model input for each text. If some verbalizers have several tokens, yield
    one per text and verbalizer."""
    for ids in rows:
        if reading.single:
            yield CausalRow(
                (), ids, candidates=tuple(ids for (ids,) in reading.label_tokens), whole=whole
            )
        else:
            for verbalizer in reading.label_tokens:
                yield CausalRow((), ids + verbalizer[:-1], followed=verbalizer)


def _judgement(reading: CausalReading, answers: list[Floats], read_share: float) -> Judgement:
    """Return the judgement of one row. It is undefined if the labels have almost no probability
    mass."""
    if reading.single:
        [values] = answers
        answers = [values[:-1]]
        mass = float(np.exp(np.logaddexp.reduce(values[:-1]) - values[-1]))
    else:
        mass = float(np.exp(np.logaddexp.reduce([answer.sum() for answer in answers])))
    row = _probabilities(reading, answers)[0]
    return with_mass(reading.labels, row.tolist(), mass, "verbalizers").model_copy(
        update={"read_share": read_share}
    )


def _probabilities(reading: CausalReading, answers: list[Floats]) -> Floats:
    """Return label probabilities of shape (R, L) for R rows. An array in `answers` has a row's
    logits of all label words, or one word's token log-probabilities. Probabilities of words for the
    same label are summed."""
    if not reading.single:
        answers = [np.array(answer.sum()) for answer in answers]
    scores = np.array(answers, dtype=np.float64).reshape(-1, len(reading.label_tokens))
    if len(reading.label_tokens) > len(reading.labels):
        ends = list(accumulate(map(len, reading.strings)))
        by_label = np.split(scores, ends[:-1], axis=1)
        scores = np.stack([np.logaddexp.reduce(several, axis=1) for several in by_label], axis=1)
    return softmax(scores)


def _probe(tokens: int, longest: int) -> list[CausalRow]:
    row = CausalRow((), (0,) * min(tokens, longest), candidates=(0, 1))
    return [row] * (tokens // len(row.rest))


@dataclass(frozen=True)
class CausalInside:
    """One example in a causal model, for attributions of the score of one label."""

    causal: CausalPass
    reading: CausalReading
    column: int
    attention_index: int = -1  # the last token: where the label is read

    @property
    def lock(self) -> PriorityLock:
        return self.causal.lock

    def embed(self, ids: Sequence[int]) -> Tensor:
        model = self.causal.model
        with torch.no_grad():
            embeddings: Tensor = model.get_input_embeddings()(
                torch.tensor(ids, device=model.device)
            )
        return embeddings

    def target(self, embeddings: Tensor) -> Tensor:
        """Return the label's scores in float32: logits of its token, or log-probabilities of its
        token sequence."""
        readout, verbalizer = self.causal.readout, self.reading.verbalizers[self.column]
        if self.reading.single:
            states, _ = readout.states(1, inputs_embeds=embeddings, use_cache=False)
            ids = torch.tensor(verbalizer, device=embeddings.device)
            return readout.token_logits(states[:, -1], ids)[:, 0]
        count = len(embeddings)
        tail = self.embed(verbalizer[:-1]).expand(count, -1, -1) if verbalizer[1:] else None
        whole = embeddings if tail is None else torch.cat([embeddings, tail], dim=1)
        states, _ = readout.states(len(verbalizer), inputs_embeds=whole, use_cache=False)
        tokens = torch.tensor(verbalizer, device=embeddings.device).expand(count, -1)
        return readout.token_logprobs(states, tokens).sum(dim=1)

    @torch.no_grad()
    def attentions(self) -> Sequence[Tensor] | None:
        model = self.causal.model
        ids = torch.tensor([self.reading.tokens.ids], device=model.device)
        with eager(model):
            answer = model.base_model(input_ids=ids, output_attentions=True, use_cache=False)
        layers: Sequence[Tensor] | None = answer.attentions
        return layers


@dataclass(frozen=True)
class Reasoned:
    """An example with reasoning that the model wrote before the label."""

    reading: CausalReading
    ids: Ids


@dataclass(frozen=True)
class Reasoner:
    generation: GenerationQueue
    encoder: Encoder
    reader: CausalReader
    longest: int

    def reasoned(self, reading: CausalReading, prompt: LabelPrompt) -> list[Reasoned]:
        """Generate several reasonings for the example. Return the example once per reasoning,
        followed by that reasoning. Raises BadInput."""
        table = prompt.table
        drafts = [
            GeneratedText(reading.tokens.ids, self.encoder, prompt_generator(0, draw))
            for draw in range(table.draws)
        ]
        sampling = Sampling.model_construct(
            temperature=1.0, top_p=1.0, max_tokens=table.reasoning_tokens, stop=(CLOSES,), seed=0
        )
        self.generation.finish(drafts, sampling)
        return [self._after(reading, prompt, draft) for draft in drafts]

    def _after(self, reading: CausalReading, prompt: LabelPrompt, draft: GeneratedText) -> Reasoned:
        reasoning = draft.text.rstrip()
        opened = prompt.opens_reasoning or OPENS in reasoning
        end = f"\n{CLOSES}\n\n" if opened else "\n"
        context = TokenContext(
            reasoning + end + prompt.table.answer_prefix,
            special=False,
            inserted=(InputSpan("text", 0, len(reasoning)),),
        )
        tail = tuple(token.id for token in self.encoder.tokens(context))
        strings = self.reader.strings(context, prompt.verbalizers)
        most = max(len(string) for several in strings for string in several)
        room = self.longest - len(reading.tokens.ids) - most + 1
        tail = tail[-room:]  # read in pieces it may be longer than it was written
        answer_reading = CausalReading(
            reading.tokens, reading.labels, strings, reading.vocabulary, reading.first, prompt
        )
        return Reasoned(answer_reading, reading.tokens.ids + tail)
