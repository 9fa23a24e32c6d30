"""Messages for requests to models and for their answers.

An example is sent once. Its variations (tokens deleted, masked or replaced) are sent as token
positions. Each request names the type of its answer. Numbers are JSON floats, which Python reads
back bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, StringConstraints, TypeAdapter, model_validator

from shared.contracts.errors import BadInput
from shared.contracts.judgement import Judgement, Unread
from shared.contracts.messages import MAX_TEXT, Count, Message, ModelKind, ModelUse, Share
from shared.contracts.prompt_table import LANGUAGE, PromptKeys

MOST_CHARACTERS = 8 * MAX_TEXT  # of a text that is masked or in a template: longer than as sent
Text = Annotated[str, StringConstraints(max_length=MOST_CHARACTERS)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=64)]
BcpTag = Annotated[
    str, StringConstraints(max_length=35, pattern=r"^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$")
]
Position = Annotated[int, Field(ge=0, description="position of a token in the example, from 0")]
WordPosition = Annotated[int, Field(ge=0, description="position of a word in `words`, from 0")]
TokenId = Annotated[int, Field(ge=0)]
Part = Literal["text", "text_pair", "template", "special"]
MOST = 10_000  # of anything in one call
MOST_ROWS = 100_000  # of one example
MASK_TEXT = "[MASK]"  # where neither the model's entry nor its tokenizer says otherwise
Vector = list[float]
Matrix = list[Vector]
Texts = Annotated[tuple[Text, ...], Field(max_length=MOST)]


class Template(Message):
    """A causal model's prompt: `prefix + text + suffix`, then a word for a label."""

    prefix: Text = ""
    suffix: Text = ""
    verbalizers: dict[Label, Annotated[str, StringConstraints(min_length=1, max_length=200)]] = (
        Field(
            min_length=2,
            max_length=32,
            description="label → the string that the model would write for it",
        )
    )

    @model_validator(mode="after")
    def _check_unique(self) -> Self:
        if len(set(self.verbalizers.values())) < len(self.verbalizers):
            raise ValueError("two labels have the same verbalizer; give each label its own")
        return self


class Example(Message):
    """The example that a model judges: a text, a pair of texts, or a text in a template."""

    text: Text
    text_pair: Text | None = None
    template: Template | None = Field(default=None, description="for causal models only")
    prompt: PromptKeys | None = Field(
        default=None,
        exclude_if=lambda prompt: prompt is None,
        description="settings that replace those of a causal model's own prompt, if its entry "
        "allows this",
    )
    language: BcpTag | None = Field(
        default=None,
        exclude_if=lambda language: language is None,
        description="BCP 47 language that replaces `{language}` in a prompt; absent: identified "
        "from the text",
    )
    categories: bool = Field(
        default=False,
        exclude_if=lambda asked: not asked,
        description="whether to return a guard model's further labels (`judgements`)",
    )

    @model_validator(mode="after")
    def _template_or_prompt(self) -> Self:
        if self.template is not None and self.prompt is not None:
            raise ValueError("`template` and `prompt` are both given; send only one of them")
        return self


def sent_texts(
    example: Example, asked: Collection[str], identified: Callable[[str], str]
) -> dict[str, str]:
    """Map placeholders to the example's texts. `identified` returns a text's language. Raises
    BadInput if the prompt and the example differ: one needs a pair of texts and the other has one
    text."""
    values = {"text": example.text}
    if example.text_pair is not None:
        values = {"premise": example.text, "hypothesis": example.text_pair}
    if LANGUAGE in asked:
        values[LANGUAGE] = example.language or identified(example.text)
    if missing := set(asked) - values.keys():
        expected = (
            "one text; leave out `text_pair`"
            if "text" in missing
            else "pairs of texts; send `text_pair`"
        )
        raise BadInput(f"the model's prompt needs {expected}", pointer="/text_pair")
    return values


class Tokens(Message):
    """The tokens of an example. Each tuple has one entry per token."""

    ids: tuple[TokenId, ...]
    parts: tuple[Part, ...] = Field(
        description="the part of the example that each token belongs to"
    )
    starts: tuple[int | None, ...] = Field(
        description="start of each token, as a character offset into `text` (or `text_pair`);"
        " null for other parts"
    )
    ends: tuple[int | None, ...] = Field(
        description="end of each token, exclusive; null for other parts"
    )
    truncated: bool = Field(
        description="true if the example is too long and the model reads only its beginning"
    )
    mask_id: TokenId | None = Field(description="the text of a masked token, if there is one")
    unk_id: TokenId | None
    pad_id: TokenId | None
    mask_text: Text | None = Field(
        default=None,
        description="the token that replaces a masked token in a text: mask, else unk, pad, eos",
    )

    def read_share(self, example: Example) -> float:
        """Return the share of the example's characters that the model reads, in [0, 1]."""
        if not self.truncated:
            return 1.0
        spans = list(zip(self.parts, self.ends, strict=True))
        read = sum(
            max((end for part, end in spans if part == of and end is not None), default=0)
            for of in ("text", "text_pair")
        )
        return read / max(1, len(example.text.rstrip()) + len((example.text_pair or "").rstrip()))


class Row(Message):
    """A variation of an example. Tokens are replaced first, then all but `kept` deleted."""

    kept: tuple[Position, ...] | None = Field(
        default=None,
        description="positions of the tokens that stay, in ascending order; "
        "absent: all tokens stay",
    )
    replaced: tuple[tuple[Position, TokenId], ...] = Field(
        default=(), description="tokens to insert, as pairs of position and token id"
    )


class ExampleRows(Message):
    """An example and its variations."""

    example: Example
    rows: tuple[Row, ...] = Field(max_length=MOST_ROWS)
    calibrated: bool = Field(
        default=True,
        exclude_if=lambda calibrated: bool(calibrated),
        description="whether a classifier's logits are divided by its temperature",
    )


class WordSpan(Message):
    """A word of an example; the caller splits the text into words."""

    start: Count = Field(description="character offset (Unicode code points)")
    end: int = Field(ge=1, description="character offset, exclusive")
    of: Literal["text", "text_pair"] = "text"


class WordRow(Message):
    """A variation of an example. Words are masked or replaced first, then cut to `kept`."""

    kept: tuple[WordPosition, ...] | None = Field(
        default=None,
        description="positions of the words that stay, in ascending order; absent: all words stay",
    )
    masked: tuple[WordPosition, ...] = Field(
        default=(),
        description="positions of the words that are replaced by the model's `mask_text`",
    )
    replaced: tuple[tuple[WordPosition, Text], ...] = Field(
        default=(), description="pairs of a word and its replacement"
    )


class WordRows(Message):
    """An example, its words, and its variations. Words have offsets, so no tokenizer is needed."""

    example: Example
    words: tuple[WordSpan, ...] = Field(
        max_length=MOST_CHARACTERS,
        description="the words in ascending order, those of `text` first; they must not overlap",
    )
    rows: tuple[WordRow, ...] = Field(max_length=MOST_ROWS)

    @model_validator(mode="after")
    def _check_sorted(self) -> Self:
        ends = {"text": 0, "text_pair": 0}
        for before, word in pairwise((None, *self.words)):
            text = getattr(self.example, word.of) or "" if word else ""
            if word is None or not ends[word.of] <= word.start < word.end <= len(text):
                raise ValueError(
                    "each word must lie in its text, after the previous word; check "
                    "`start` and `end`"
                )
            if before is not None and (before.of, word.of) == ("text_pair", "text"):
                raise ValueError("list the words of `text` before those of `text_pair`")
            ends[word.of] = word.end
        return self

    @model_validator(mode="after")
    def _rows_name_words(self) -> Self:
        for row in self.rows:
            kept_words = row.kept or ()
            if any(a >= b for a, b in pairwise(kept_words)):
                raise ValueError("the positions in `kept` must be in ascending order; sort them")
            positions = (*kept_words, *row.masked, *(position for position, _ in row.replaced))
            if positions and max(positions) >= len(self.words):
                raise ValueError(
                    f"word {max(positions)} does not exist; the example has "
                    f"{len(self.words)} words, counted from 0"
                )
        return self


class WordJudgements(Message):
    """Label probabilities of each variation, in order."""

    probabilities: tuple[tuple[float, ...] | None, ...] = Field(
        description="an array of shape (R, L) whose rows sum to 1; a row is null if it could not "
        "be read"
    )
    unread: Unread | None = Field(
        default=None, description="the reason why the first null row could not be read"
    )
    uncertainty: Share = Field(default=0, description="the largest uncertainty of any row")


class AttributionMethod(Message):
    """Selects the method that computes the importance of tokens."""

    name: Literal["attention", "gradient", "integrated_gradients", "lime"]
    attention: Literal["mean", "last", "rollout"] = Field(
        default="mean", description="how layers are combined; the heads of a layer are averaged"
    )
    gradient: Literal["l2", "input_x_gradient"] = "l2"
    steps: int = Field(default=32, ge=2, le=1_000, description="steps of integrated gradients")
    samples: int = Field(default=500, ge=10, le=10_000, description="perturbations of LIME")
    seed: int = Field(default=0, ge=0, le=2**63 - 1, description="seed of LIME's perturbations")
    calibrated: bool = Field(
        default=True,
        exclude_if=lambda calibrated: bool(calibrated),
        description="whether LIME explains the probability at the model's own temperature, or at 1",
    )


class Attributions(Message):
    """Importance of each token, in the model's own units."""

    values: tuple[float, ...] = Field(description="(T,), one a token")
    convergence_gap: float | None = Field(
        default=None,
        description="error of integrated gradients: the sum of the values minus the difference "
        "of the logits",
    )


class Sampling(Message):
    """Generation settings."""

    temperature: float = Field(default=0.6, ge=0, le=5, description="0: greedy")
    top_p: float = Field(default=0.8, gt=0, le=1)
    max_tokens: int = Field(default=256, ge=1, le=8_192)
    stop: tuple[Annotated[str, StringConstraints(min_length=1, max_length=100)], ...] = Field(
        default=(), max_length=8
    )
    seed: int = Field(default=0, ge=0, le=2**63 - 1)
    answer_schema: str | None = Field(
        default=None,
        max_length=20_000,
        exclude_if=lambda schema: schema is None,
        description="JSON Schema that the answer of a chat must match, if the model's server "
        "enforces schemas",
    )


class Turn(Message):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: Text


class Prompt(Message):
    """A prompt that a language model continues: raw text, or a conversation in its chat
    template."""

    text: Text | None = None
    turns: tuple[Turn, ...] | None = Field(default=None, min_length=1, max_length=64)
    draw: int | None = Field(
        default=None,
        ge=0,
        le=2**31 - 1,
        description="number that is combined with the seed in place of the prompt's position in "
        "the call, so that a prompt gets the same answer alone and among others; absent: the "
        "position",
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.text is None) == (self.turns is None):
            raise ValueError("give either `text` or `turns`")
        return self


class WrittenToken(Message):
    """A token of a completion."""

    id: TokenId | None = Field(description="null if the server does not report it")
    start: Count = Field(description="character offset into the completion's text")
    end: Count = Field(description="character offset, exclusive")
    logprob: float = Field(
        le=0,
        description="natural logarithm of the token's probability, before temperature is applied",
    )


class Completion(Message):
    """A text that a model generated after a prompt, or a given text that the model scored."""

    text: str
    tokens: tuple[WrittenToken, ...]
    finish: Literal["stop", "length", "given"] = Field(
        description="why the generation ended; `given`: the text was not generated but scored"
    )
    reasoning: str | None = Field(
        default=None,
        exclude_if=lambda reasoning: reasoning is None,
        description="reasoning that a chat server's model wrote first; kept if the model's "
        "entry says `keep_reasoning`, and never scored",
    )


class Pair(Message):
    """Two texts whose similarity is computed."""

    a: Text
    b: Text


Examples = Annotated[tuple[Example, ...], Field(min_length=1, max_length=MOST)]


Prompts = Annotated[tuple[Prompt, ...], Field(min_length=1, max_length=MOST)]


class Description(Message):
    """The properties of a loaded model."""

    kind: ModelKind
    use: ModelUse
    labels: tuple[str, ...] = Field(
        description="labels of a classifier, or of a causal model's own prompt; otherwise empty"
    )
    languages: tuple[str, ...]
    mask_text: str = Field(
        default=MASK_TEXT, description="the text that replaces a masked word in rows of words"
    )


class AnswerType:
    """The type of a request's answer. Used to check and describe it."""

    def __init__(self, hint: Any) -> None:
        self.hint = hint
        self._adapter: TypeAdapter[Any] = TypeAdapter(hint)

    def as_json(self, answer: Any) -> Any:
        return self._adapter.dump_python(answer, mode="json")

    def validated(self, answer: Any) -> Any:
        """Return the answer converted to this type. Raises ValidationError if it does not fit."""
        return self._adapter.validate_python(answer)


class Describe(Message):
    """A request for a model's properties. It loads the model."""

    answer: ClassVar[AnswerType] = AnswerType(Description)
    operation: Literal["describe"] = "describe"


class Tokenize(Message):
    """A request for the tokens of examples."""

    answer: ClassVar[AnswerType] = AnswerType(tuple[Tokens, ...])
    operation: Literal["tokens"] = "tokens"
    examples: Examples


class JudgeExamples(Message):
    """A request for label probabilities of examples."""

    answer: ClassVar[AnswerType] = AnswerType(Matrix)
    operation: Literal["judge"] = "judge"
    examples: Examples


class ReadLabels(Message):
    """A request for label probabilities, with their total, uncertainty and method."""

    answer: ClassVar[AnswerType] = AnswerType(tuple[Judgement, ...])
    operation: Literal["judgements"] = "judgements"
    examples: Examples


class JudgeRows(Message):
    """A request for label probabilities of examples' variations."""

    answer: ClassVar[AnswerType] = AnswerType(list[Matrix])
    operation: Literal["judge_rows"] = "judge_rows"
    asked: Annotated[tuple[ExampleRows, ...], Field(min_length=1, max_length=MOST)]


class JudgeWords(Message):
    """A request for label probabilities of variations whose words are changed."""

    answer: ClassVar[AnswerType] = AnswerType(tuple[WordJudgements, ...])
    operation: Literal["judge_words"] = "judge_words"
    asked: Annotated[tuple[WordRows, ...], Field(min_length=1, max_length=MOST)]


class Probabilities(Message):
    """A request for a classifier's label probabilities."""

    answer: ClassVar[AnswerType] = AnswerType(Matrix)
    operation: Literal["probabilities"] = "probabilities"
    texts: Texts


class Truncated(Message):
    """Asks which texts are too long for the classifier to read whole."""

    answer: ClassVar[AnswerType] = AnswerType(tuple[bool, ...])
    operation: Literal["truncated"] = "truncated"
    texts: Texts


class Attribute(Message):
    """A request for the importance of tokens for one label per example."""

    answer: ClassVar[AnswerType] = AnswerType(tuple[Attributions, ...])
    operation: Literal["attributions"] = "attributions"
    examples: Examples
    targets: Annotated[tuple[Label, ...], Field(min_length=1, max_length=MOST)]
    method: AttributionMethod

    @model_validator(mode="after")
    def _one_target_each(self) -> Self:
        if len(self.targets) != len(self.examples):
            raise ValueError("send one target for each example")
        return self


class Generate(Message):
    """A request to complete each prompt."""

    answer: ClassVar[AnswerType] = AnswerType(tuple[Completion, ...])
    operation: Literal["generate"] = "generate"
    prompts: Prompts
    sampling: Sampling = Field(
        default=Sampling(), description="leave out an absent field instead of sending null"
    )


class ScoreCompletions(Message):
    """A request for the log-probabilities of given completions."""

    answer: ClassVar[AnswerType] = AnswerType(tuple[Completion, ...])
    operation: Literal["score"] = "score"
    prompts: Prompts
    completions: Annotated[tuple[Text, ...], Field(min_length=1, max_length=MOST)]

    @model_validator(mode="after")
    def _one_completion_each(self) -> Self:
        if len(self.completions) != len(self.prompts):
            raise ValueError("send one completion for each prompt")
        return self


class Compare(Message):
    """A request for one similarity per pair."""

    answer: ClassVar[AnswerType] = AnswerType(Vector)
    operation: Literal["similarities"] = "similarities"
    pairs: Annotated[tuple[Pair, ...], Field(min_length=1, max_length=MOST)]


_Inference = (
    Describe
    | Tokenize
    | JudgeExamples
    | ReadLabels
    | JudgeRows
    | JudgeWords
    | Probabilities
    | Truncated
    | Attribute
    | Generate
    | ScoreCompletions
)
InferenceOperation = Annotated[_Inference, Field(discriminator="operation")]
Operation = Annotated[_Inference | Compare, Field(discriminator="operation")]
