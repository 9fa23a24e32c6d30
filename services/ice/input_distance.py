"""How far the inputs that a model is asked about lie from texts: lengths, calibration, fluency.

Taking words away makes inputs that no writer wrote, and what a model says of such may mean little.
Fluency is perplexity under a language model: where what a rationale leaves is much more fluent than
what random ones leave, or much less, the win rate may measure that. Hase, Xie & Bansal (2021),
arXiv:2106.00786.
"""

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
    """random, rationale: perplexity of what stays, over that of the text; above 1: less fluent.
    None has its doubt."""

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
                f"perplexity_ratio: what random rationales leave of the text is {self.random:.1f} "
                f"times as surprising to {name} as the text itself: what the judge says of such "
                "inputs may mean little"
            )
        if (
            self.random
            and self.rationale
            and (not 1 / UNLIKE <= self.rationale / self.random <= UNLIKE)
        ):
            yield (
                f"perplexity_ratio: the rationale's input ({self.rationale:.1f}) and those of "
                f"random ones ({self.random:.1f}) differ by more than a factor of {UNLIKE:g} under "
                f"{name}: the win rate may measure fluency"
            )


def fluency_of(experiment: Experiment) -> Fluency | None:
    """Of the first explanation at its first budget, under the first operator; None where no model
    was named. Raises BadInput for a name that is no language model's, Unavailable."""
    request = experiment.tokenized.request
    if request.fluency_model is None:
        return None
    with pointing_to("/fluency_model"):
        writer = models().writer(request.fluency_model)
        use = writer.use
    doubt = _unlearned(experiment.tokenized, writer)
    if doubt is not None:
        return Fluency(use, doubt=doubt)
    try:
        return _measure(experiment, writer)
    except BadInput as error:  # a text that is too long for it, a server that scores none
        return Fluency(use, doubt=error.detail)


def _unlearned(tokenized: TokenizedInput, writer: Writer) -> str | None:
    """Why the model's P would say nothing of this language."""
    request = tokenized.request
    found = find_language("\n".join(_text_parts(tokenized.example)), requested_language(request))
    asked = (ModelLanguages(writer.use.name, writer.languages),)
    obstacles = model_coverage(request, Languages(text=found), asked, ()).obstacles
    return obstacles[0].detail if obstacles else None


def _measure(experiment: Experiment, writer: Writer) -> Fluency:
    trial = experiment.trials[0]
    operator = experiment.tokenized.request.operators[0]
    drawn = experiment.null_subsets(trial)[:ROWS]
    texts = render_subsets(experiment, operator, [trial.rationale, *drawn])
    whole = "\n".join(_text_parts(experiment.tokenized.example))
    losses = token_loss(writer, [whole, *texts])
    own = _mean_loss(losses[:1])
    if own is None:
        return Fluency(writer.use, doubt=f"{writer.use.name} gives the text no probability")
    random, rationale = _mean_loss(losses[2:]), _mean_loss(losses[1:2])
    return Fluency(
        writer.use,
        None if random is None else math.exp(random - own),
        None if rationale is None else math.exp(rationale - own),
        None if random is not None else "no random rationale leaves a text that the model reads",
    )


def render_subsets(
    experiment: Experiment, operator: Operator, subsets: Sequence[Subset]
) -> list[str]:
    """The text under an operator, one string a subset; of several fills the first."""
    rows = [experiment.rows_of((operator, subset))[0] for subset in subsets]
    tokenized = experiment.tokenized
    if tokenized.words is not None:
        found = render_rows(tokenized.words.rows(rows), tokenized.words.mask_text)
    else:
        pool = experiment.operators.pool
        found = _of_tokens(tokenized, rows, {} if pool is None else pool.written)
    return ["\n".join(_text_parts(one)) for one in found]


def _of_tokens(
    tokenized: TokenizedInput, rows: Sequence[Row], written: Mapping[int, str]
) -> list[Example]:
    """Rows of tokens as strings: a token is what it covers of the text, a mask is written as the
    model writes one. written: of the ids that fill."""
    tokens = tokenized.tokens
    borders = zip(tokens.parts, tokens.starts, tokens.ends, strict=True)
    spans = {
        place: WordSpan(start=start, end=end, of=part)
        for place, (part, start, end) in enumerate(borders)
        if part in TEXTS and start is not None and end is not None and start < end
    }
    numbers = {place: number for number, place in enumerate(spans)}
    mask = tokens.mask_text or MASK_TEXT

    def of_words(row: Row) -> WordRow:
        kept = None if row.kept is None else tuple(numbers[p] for p in row.kept if p in numbers)
        replaced = tuple(
            (numbers[place], written.get(id_, mask))
            for place, id_ in row.replaced
            if place in numbers
        )
        return WordRow(kept=kept, replaced=replaced)

    asked = WordRows(
        example=tokenized.example, words=tuple(spans.values()), rows=tuple(map(of_words, rows))
    )
    return render_rows(asked, mask)


def _text_parts(example: Example) -> list[str]:
    """Text and pair, without what is blank."""
    return [text for text in (example.text, example.text_pair) if text and not text.isspace()]


def token_loss(writer: Writer, texts: Sequence[str]) -> list[list[float]]:
    """Of each text the negative log-probability of its tokens, nats; equal ones are asked once."""
    distinct = [text for text in dict.fromkeys(texts) if text]
    done: list[Completion] = writer.score([CONTEXT] * len(distinct), distinct) if distinct else []
    known = {
        text: [-token.logprob for token in one.tokens]
        for text, one in zip(distinct, done, strict=True)
    }
    return [known.get(text, []) for text in texts]


def _mean_loss(losses: Sequence[Sequence[float]]) -> float | None:
    """Nats a token, over all tokens together; None without any, or where one is impossible."""
    every = [loss for own in losses for loss in own]
    if not every or not all(map(math.isfinite, every)):
        return None
    return math.fsum(every) / len(every)


def distance_of(
    experiment: Experiment, use: ModelUse, fluency: Fluency | None
) -> IceDistance | None:
    """None in the published variants. use: the judge."""
    if not experiment.tokenized.variant.corrected:
        return None
    found = experiment.asked.distance(experiment.random_keys())
    excesses = [one.excess for one in nearest_parts(use, _parts(experiment))]
    return found.model_copy(
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
            f"{distance.length_share:.0%} of the inputs that the model was asked about are shorter "
            "or longer than 98 % of the texts that it was trained on: what it says of such may "
            "mean little"
        )


def calibration_warnings(experiment: Experiment, use: ModelUse) -> Iterable[str]:
    """Of the parts that the tests ask about; fills are none that a card measures."""
    tokenized = experiment.tokenized
    if not tokenized.variant.calibrated:
        return ()
    return ece_perturbed(use, _parts(experiment))


def _parts(experiment: Experiment) -> list[tuple[str, float]]:
    """(operator, share of the text that stays) of the rationales, and of what they leave."""
    tokenized = experiment.tokenized
    alone = [len(trial.rationale) / len(tokenized.eligible) for trial in experiment.trials]
    rest = [1 - share for share in alone] if "necessity" in tokenized.request.aspects else []
    operators = dict.fromkeys(one.partition("_")[0] for one in tokenized.request.operators)
    return [(operator, kept) for operator in operators for kept in (*alone, *rest)]
