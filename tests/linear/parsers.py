"""The functions of every metric that read the caller's text, before any model is asked.

A metric's whole reading is called, by its own messages, so that a parser that is added to it is
measured too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from services.consistency.words import citations, text_words
from services.cot2el.model_calls import tags
from services.cot2el.segmentation import detect_language as language_of_reasoning
from services.cot2el.segmentation import segment
from services.cot2el.stages import first_valid_json, label_of
from services.explanations.answer import answer_of, own_length
from services.explanations.prompts import get_prompt
from services.explanations.reading import explanation_in, is_asked_if_hateful, read_decision
from services.ftc import hypotheses, llm_extraction
from services.ftc.contract import FtcRequest
from services.gateway.http_requests import decode
from services.gateway.refusals import InvalidBody
from services.haf import parsing
from services.haf.contract import CONTRACT as HAF_METRIC
from services.haf.contract import MOST_TOKENS, HafRequest, HafResponse
from services.haf.parsing_reference import parse_as_released
from services.haf.transcript import from_response, make_exchange
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.groups import names_target
from services.hatexscore.quote_search import fold, locate
from services.hatexscore.quotes import count_units, plain_format, quotations
from services.hatexscore.variant_paper import common_runs
from services.hatexscore.variants import VARIANTS
from services.hatexscore.vocabulary import built_in
from services.hatexscore.words import detect_language
from services.hlv import prompts as answers
from services.ice.contract import IceRequest
from services.ice.explanations import unusable_rationale
from services.sor import likeness
from services.sor.contract import SorRequest
from services.sor.parsing import parse_statements
from services.sor.post_facts import PostWords
from services.sor.words import quotations as quoted_in_statement
from shared.contracts.calls import Completion, Example, WordRow, WordRows, WordSpan
from shared.contracts.problems import parse_strict
from shared.contracts.questions import Option
from shared.contracts.redaction import repeats
from shared.models.openai.text import spans
from shared.models.word_rows import render_rows
from shared.readers.structured import read_structured as structured
from shared.reports.pages.word_changes import changes
from shared.text.language import find_language
from shared.text.normalized import as_sent
from shared.text.sentences import sentences
from shared.text.word_segmentation import word_spans
from tests.flat_requests import flat_request
from tests.hatexscore.fake import FakeClassifier, bound
from tests.sor.fake import reading_words

Parser = Callable[[str], Any]

SHORT = "Those women are a 'plague' on our town, say the black muslims of 中国 and 한국 여성."
QUOTING = (
    'It says "a plague on our town" and “black muslims”. It attacks women. Conclusion: hateful.'
)
SECTION = "We removed it. Section 4.2 of our Rules on spam forbids such posts."
OPTIONS = (Option(key="A", text="Entailment"), Option(key="B", text="Neutral"))
HAF = HafRequest.model_validate(HAF_METRIC.examples["your own responses"])
KEYS = ("A", "B", "C")
PROMPT = "Decide.\n\n### Text:\n\n{text}"


def parsers() -> dict[str, Parser]:
    """Without an analyser of language, by name: quick enough for every family."""
    return {
        "cot2el units": lambda text: segment(text, "en", "both"),
        "cot2el language": language_of_reasoning,
        "cot2el parse": first_valid_json,
        "cot2el key": lambda text: label_of(text, OPTIONS),
        "haf outline": parsing.outline,
        "haf reference": lambda text: parse_as_released(text, "justify"),
        "hlv ranking": lambda text: answers.parse_ranking(text, KEYS),
        "hlv released ranking": lambda text: answers.parse_ranking_as_released(text, KEYS),
        "hlv rating": answers.parse_rating,
        "hlv released rating": answers.parse_rating_as_released,
        "elicited question": is_asked_if_hateful,
        "elicited answer": elicited,
        "ftc spans of a model": llm_extraction.parse_spans,
        "hatexscore languages": detect_language,
        "hatexscore marks": lambda text: [built_in(one).marks(text) for one in ("hate", "policy")],
        "hatexscore fields of the target": lambda text: names_target(text, len(text)),
        "structured": lambda text: structured(text, built_in("default").label_of_phrase),
        "sentences": sentences,
        "hatexscore quotations": quotations,
        "hatexscore notation": plain_format,
        "hatexscore found quotations": lambda text: locate(text, quotations(QUOTING)),
        "hatexscore folding": lambda text: fold(as_sent(text)),
        "hatexscore units": count_units,
        "hatexscore runs": lambda text: common_runs(text, text[::-1]),
        "language identified": find_language,
        "page changes": lambda text: changes(text, text[::-1]),
        "request repeated in a warning": lambda text: repeats(text, [text[::-1] + "x"]),
        "server tokens": server_tokens,
        "request JSON": json_of_a_request,
        "ice quotations": quoting,
        "consistency explanation": lambda text: citations(text_words(QUOTING, "en"), text),
        "consistency text": lambda text: citations(text_words(text, "en"), QUOTING),
        "consistency both": lambda text: citations(text_words(text, "en"), f'"{text}"'),
        "sor statement": lambda text: sor(SHORT, text),
        "sor statement of its post": lambda text: sor(text, text),
        "sor german statement": lambda text: sor(SHORT, text, language="de"),
        "sor post": lambda text: sor(text, QUOTING),
        "sor policy": lambda text: sor(SHORT, SECTION, text),
        "sor quotations": quoted_in_statement,
        "sor likeness": lambda text: likeness.shingles(text, SHORT),
        "words": lambda text: word_spans(text, "en"),
        "rows of words": rows_of_words,
    }


def readings() -> dict[str, Parser]:
    """A metric's whole reading, with analysers of language, by name."""
    return {
        **{f"ftc {one}": ftc(one) for one in ("entailment", "contradiction", "neutral")},
        "ftc hypothesis": lambda text: hypotheses.changed_slot(text, SHORT),
        "haf tokens": tokens,
        "cot2el tags": lambda text: tags([text]),
        **hatexscore(),
    }


def elicited(text: str) -> Any:
    """An answer of a model, its end and its label, but for prose."""
    answer = answer_of(Completion(text=text, tokens=(), finish="length"))
    own = answer.text[: own_length(answer.text, PROMPT, [SHORT])]
    prompts = map(get_prompt, ("hatexscore-table8", "ftc-label"))
    labels = [read_decision(own, prompt, lambda _: None) for prompt in prompts]
    return labels, explanation_in(own, "Explanation:")


def server_tokens(text: str) -> Any:
    """Characters as a server spells them, and another text that they hold nearly."""
    spelled = [character.encode("utf-8", "replace") for character in text]
    return spans(spelled, text), spans(spelled[1:], without_halves(text[1:]))


def json_of_a_request(text: str) -> Any:
    """Refused or read, but never more than that."""
    try:
        return parse_strict(HatexscoreRequest, text, decode(text.encode("utf-8", "replace")))
    except (InvalidBody, ValidationError) as error:
        return error


def quoting(text: str) -> Any:
    """Quotations of the text, as it stands and in other letters."""
    half = text[len(text) // 2 :]
    rationale = (half, half.swapcase(), text[:9] * 9)
    return unusable_rationale(
        IceRequest.model_construct(text=without_halves(text), rationale=rationale)
    )


def sor(post: str, statement: str, policy: str | None = None, language: str = "auto") -> Any:
    """The whole reading of a statement, beside its post and beside another one."""
    request = SorRequest(
        text="x" + without_halves(post),
        statement="x" + without_halves(statement),  # a text of marks alone is refused as blank
        policy=None if policy is None else without_halves(policy),
        language=language,
    )
    with reading_words():
        [read] = parse_statements([request], [PostWords.of(post)])
    return read.match_post(PostWords.of(SHORT))


def rows_of_words(text: str) -> Any:
    """Every other word deleted, all masked, none left."""
    spans = tuple(WordSpan(start=a, end=b) for a, b in word_spans(text, "en"))
    every = tuple(range(len(spans)))
    rows = (WordRow(kept=every[::2]), WordRow(masked=every), WordRow(kept=()))
    example = Example(text=without_halves(text))
    return render_rows(WordRows(example=example, words=spans, rows=rows), "[MASK]")


def without_halves(text: str) -> str:
    """No message holds half a surrogate pair."""
    return text.replace("\ud800", "?")


def tokens(text: str) -> Any:
    """A response whose tokens are its characters, read."""
    few = without_halves(text)[:MOST_TOKENS]
    logprobs = {"tokens": list(few), "token_logprobs": [-0.1] * len(few)}
    written = from_response(HafResponse(text=few, logprobs=logprobs), "/responses/justify")
    parsed = parse_as_released(few, "justify")
    return make_exchange(HAF, "justify", written, parsed)


def ftc(label: Any) -> Parser:
    def read(text: str) -> Any:
        request = FtcRequest(
            premise=SHORT, hypothesis=SHORT[:40], explanation=without_halves(text), draws=0
        )
        return hypotheses.derive_hypotheses([request], [label])

    return read


def hatexscore() -> dict[str, Parser]:
    """The variants in all languages: the text as the explanation, as the moderated text, as both.
    The paper's reads Chinese and Korean with what the robust one reads them with.

    The quotations of an explanation are compared with a short text, or are few: the search for
    near quotations grows with both.
    """
    found: dict[str, Parser] = {}
    for variant, row in VARIANTS.items():
        for language in ("en",) if variant == "paper" else ("en", "zh", "ko"):
            name = f"hatexscore {variant} {language}"
            found[f"{name} explanation"] = hatexscore_of(row.read, variant, language, text=SHORT)
            found[f"{name} text"] = hatexscore_of(row.read, variant, language, explanation=QUOTING)
    return found


def hatexscore_of(read: Any, variant: str, language: str, **fixed: str) -> Parser:
    def parse(text: str) -> Any:
        whole = without_halves(text)
        given = {"text": whole, "explanation": whole, **fixed}
        body = {"variant": variant, "language": language, "policy": "un", **given}
        with bound(FakeClassifier()):
            return read([flat_request(HatexscoreRequest, body)])

    return parse
