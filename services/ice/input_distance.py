"""Measures how far a model's inputs are from texts that people write: lengths, calibration,
fluency. Texts with words removed are unlike written texts, so a model's answers to them may mean
little. Fluency is measured as perplexity under a language model. Source: Hase, Xie & Bansal (2021),
arXiv:2106.00786."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.ice.experiment import Experiment
from services.ice.explanations import TokenizedInput
from services.ice.report import TEXTS, IceDistance, Operator
from services.ice.variants import Subset
from shared.contracts.calls import (
    MASK_TEXT,
    Completion,
    Example,
    Prompt,
    Row,
    WordRow,
    WordRows,
    WordSpan,
)
from shared.contracts.errors import BadInput, pointing_to
from shared.contracts.judgement import ece_perturbed, nearest_parts
from shared.contracts.messages import Languages, ModelUse
from shared.models.ports import Writer, models
from shared.models.word_rows import render_rows
from shared.text.language import ModelLanguages, find_language, model_coverage, requested_language

ROWS = 50  # random rationales that are read
CONTEXT = Prompt(text="\n")  # so that a first token has a probability under every model
STRANGE = 10.0  # perplexity over that of the text
UNLIKE = 2.0  # factor between rationale and random ones
ODD = 0.5  # share of rows of unusual length that is told


@dataclass(frozen=True)
class Fluency:
    """Fluency of the text reduced to random tokens (`random`) or to the explanation's tokens
    (`rationale`). Both values are the perplexity of the reduced text divided by that of the whole
    text. Above 1 means less fluent. `doubt` says why a value is None."""

    use: ModelUse
    random: float | None = None
    rationale: float | None = None
    doubt: str | None = None

    def warnings(self) -> Iterator[str]:
        name = self.use.name
        if self.doubt is not None:
            yield f"perplexity_ratio is null: {self.doubt}"
        if self.random is not None and self.random > STRANGE:
            yield (
                f"perplexity_ratio: the text that random rationales leave is {self.random:.1f} "
                f"times as surprising to {name} as the whole text, so the judge's answers to "
                "such inputs may mean little"
            )
        if (
            self.random
            and self.rationale
            and (not 1 / UNLIKE <= self.rationale / self.random <= UNLIKE)
        ):
            yield (
                f"perplexity_ratio: the rationale's input ({self.rationale:.1f}) and those of "
                f"random ones ({self.random:.1f}) differ by more than a factor of {UNLIKE:g} "
                f"under {name}, so the win rate may reflect fluency"
            )


def fluency_of(experiment: Experiment) -> Fluency | None:
    """Return the fluency of the text reduced to the first explanation or to random tokens. The
    first budget (share of tokens kept) and the first removal method are used. Return None if the
    request names no fluency model. Raises Unavailable, or BadInput if the model is not a language
    model."""
    request = experiment.tokenized.request
    if request.options.fluency_model is None:
        return None
    with pointing_to("/options/fluency_model"):
        writer = models().writer(request.options.fluency_model)
        use = writer.use
    doubt = _unlearned(experiment.tokenized, writer)
    if doubt is not None:
        return Fluency(use, doubt=doubt)
    try:
        return _measure(experiment, writer)
    except BadInput as error:  # a text that is too long for it, a server that scores none
        return Fluency(use, doubt=error.detail)


def _unlearned(tokenized: TokenizedInput, writer: Writer) -> str | None:
    request = tokenized.request
    language = find_language("\n".join(_text_parts(tokenized.example)), requested_language(request))
    languages = (ModelLanguages(writer.use.name, writer.languages),)
    obstacles = model_coverage(request, Languages(text=language), languages, ()).obstacles
    return obstacles[0].detail if obstacles else None


def _measure(experiment: Experiment, writer: Writer) -> Fluency:
    trial = experiment.trials[0]
    operator = experiment.tokenized.request.options.operators[0]
    drawn = experiment.null_subsets(trial)[:ROWS]
    texts = render_subsets(experiment, operator, [trial.rationale, *drawn])
    whole = "\n".join(_text_parts(experiment.tokenized.example))
    losses = token_loss(writer, [whole, *texts])
    text_loss = _mean_loss(losses[:1])
    if text_loss is None:
        return Fluency(writer.use, doubt=f"{writer.use.name} returns no probability of the text")
    random, rationale = _mean_loss(losses[2:]), _mean_loss(losses[1:2])
    return Fluency(
        writer.use,
        None if random is None else math.exp(random - text_loss),
        None if rationale is None else math.exp(rationale - text_loss),
        None if random is not None else "no random rationale leaves a text that the model reads",
    )


def render_subsets(
    experiment: Experiment, operator: Operator, subsets: Sequence[Subset]
) -> list[str]:
    """Return the text that remains for each set of kept tokens. If the operator creates several
    versions of it, the first is returned."""
    rows = [experiment.rows_of((operator, subset))[0] for subset in subsets]
    tokenized = experiment.tokenized
    if tokenized.words is not None:
        examples = render_rows(tokenized.words.rows(rows), tokenized.words.mask_text)
    else:
        pool = experiment.operators.pool
        examples = _of_tokens(tokenized, rows, {} if pool is None else pool.written)
    return ["\n".join(_text_parts(example)) for example in examples]


def _of_tokens(
    tokenized: TokenizedInput, rows: Sequence[Row], written: Mapping[int, str]
) -> list[Example]:
    """Return the text of each row of tokens, as an example. Masked tokens get the model's mask
    text. `written` maps the ids of filler tokens to strings."""
    tokens = tokenized.tokens
    borders = zip(tokens.parts, tokens.starts, tokens.ends, strict=True)
    spans = {
        position: WordSpan(start=start, end=end, of=part)
        for position, (part, start, end) in enumerate(borders)
        if part in TEXTS and start is not None and end is not None and start < end
    }
    numbers = {position: number for number, position in enumerate(spans)}
    mask = tokens.mask_text or MASK_TEXT

    def of_words(row: Row) -> WordRow:
        kept = None if row.kept is None else tuple(numbers[p] for p in row.kept if p in numbers)
        replaced = tuple(
            (numbers[position], written.get(id_, mask))
            for position, id_ in row.replaced
            if position in numbers
        )
        return WordRow(kept=kept, replaced=replaced)

    word_rows = WordRows(
        example=tokenized.example, words=tuple(spans.values()), rows=tuple(map(of_words, rows))
    )
    return render_rows(word_rows, mask)


def _text_parts(example: Example) -> list[str]:
    return [text for text in (example.text, example.text_pair) if text and not text.isspace()]


def token_loss(writer: Writer, texts: Sequence[str]) -> list[list[float]]:
    """Return the negative log-probabilities of each text's tokens, in nats."""
    distinct = [text for text in dict.fromkeys(texts) if text]
    done: list[Completion] = writer.score([CONTEXT] * len(distinct), distinct) if distinct else []
    losses = {
        text: [-token.logprob for token in completion.tokens]
        for text, completion in zip(distinct, done, strict=True)
    }
    return [losses.get(text, []) for text in texts]


def _mean_loss(losses: Sequence[Sequence[float]]) -> float | None:
    """Return the mean loss in nats over all tokens. Return None if there are no tokens, or if a
    loss is infinite."""
    every = [loss for text_losses in losses for loss in text_losses]
    if not every or not all(map(math.isfinite, every)):
        return None
    return math.fsum(every) / len(every)


def distance_of(
    experiment: Experiment, use: ModelUse, fluency: Fluency | None
) -> IceDistance | None:
    """Return measures of how much the texts with removed words differ from natural texts. Return
    None for the published variants. `use` describes the classifier."""
    if not experiment.tokenized.variant.corrected:
        return None
    distance = experiment.asked.distance(experiment.random_keys())
    excesses = [part.excess for part in nearest_parts(use, _parts(experiment))]
    return distance.model_copy(
        update={
            "ece_perturbed": max(excesses, key=abs, default=None),
            "length_share": experiment.asked.length_share(use.training_tokens),
            "perplexity_ratio": fluency and fluency.random,
            "rationale_perplexity_ratio": fluency and fluency.rationale,
        }
    )


def length_warnings(distance: IceDistance | None) -> Iterator[str]:
    if distance and distance.length_share is not None and distance.length_share > ODD:
        yield (
            f"{distance.length_share:.0%} of the inputs to the model are outside the range of "
            "lengths that covers 98 % of its training texts, so its answers to them may mean "
            "little"
        )


def calibration_warnings(experiment: Experiment, use: ModelUse) -> Iterable[str]:
    """Return warnings if the model's probabilities are known to be less calibrated on partial texts
    like those of the tests. Model cards do not measure this for the operator `infill`."""
    tokenized = experiment.tokenized
    if not tokenized.variant.calibrated:
        return ()
    return ece_perturbed(use, _parts(experiment))


def _parts(experiment: Experiment) -> list[tuple[str, float]]:
    """Return (operator, share of tokens kept) for the rationales and their complements."""
    eligible, options = experiment.tokenized.eligible, experiment.tokenized.request.options
    alone = [len(trial.rationale) / len(eligible) for trial in experiment.trials]
    rest = [1 - share for share in alone] if "necessity" in options.aspects else []
    operators = dict.fromkeys(name.partition("_")[0] for name in options.operators)
    return [(operator, kept) for operator in operators for kept in (*alone, *rest)]
