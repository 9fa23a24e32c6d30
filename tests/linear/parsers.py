"""The functions of every metric that read the caller's text, before any model is asked.

A metric's whole reading is called, by its own messages, so that a parser that is added to it is
measured too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from services.cot2el.segmentation.language import detected
from services.cot2el.segmentation.units import Rules
from services.cot2el.structuring import label_of, validated
from services.ftc import prompting, reading
from services.ftc.contract import FtcRequest
from services.haf import reference as haf_reference
from services.haf import stages, transcript
from services.haf.brought import of_response
from services.haf.contract import METRIC as HAF_METRIC
from services.haf.contract import HafRequest
from services.haf.responses import MOST_TOKENS, Response
from services.hatexscore.contract import HatexscoreRequest
from services.hatexscore.score import READERS
from services.hlv import parsing as answers
from shared.choices import Option

Parser = Callable[[str], Any]

SHORT = "Those women are a 'plague' on our town, say the black muslims of 中国 and 한국 여성."
QUOTING = (
    'It says "a plague on our town" and “black muslims”. It attacks women. Conclusion: hateful.'
)
OPTIONS = (Option(key="A", text="Entailment"), Option(key="B", text="Neutral"))
HAF = HafRequest.model_validate(HAF_METRIC.examples["your own responses"])
KEYS = ("A", "B", "C")


def parsers() -> dict[str, Parser]:
    """By name."""
    return {
        **{f"cot2el units {one}": units(one) for one in ("en", "zh")},
        "cot2el language": detected,
        "cot2el parse": validated,
        "cot2el key": lambda text: label_of(text, OPTIONS),
        **{f"haf {one}": haf(one) for one in ("justify", "internal", "sufficiency")},
        "haf reference": lambda text: haf_reference.parse(text, "justify"),
        "haf tokens": tokens,
        "hlv ranking": lambda text: answers.mentioned(text, KEYS),
        "hlv released ranking": lambda text: answers.mentioned_as_released(text, KEYS),
        "hlv rating": answers.rating,
        "hlv released rating": answers.rating_as_released,
        **{f"ftc {one}": ftc(one) for one in ("entailment", "contradiction", "neutral")},
        "ftc hypothesis": lambda text: reading.edited(text, SHORT),
        "ftc spans of a model": prompting.parsed_spans,
        **hatexscore(),
    }


def units(language: Any) -> Parser:
    return lambda text: Rules("both")(text, language)


def haf(stage: Any) -> Parser:
    return lambda text: stages.parse(text, stage)


def without_halves(text: str) -> str:
    """No message holds half a surrogate pair."""
    return text.replace("\ud800", "?")


def tokens(text: str) -> Any:
    """A response whose tokens are its characters, read."""
    few = without_halves(text)[:MOST_TOKENS]
    logprobs = {"tokens": list(few), "token_logprobs": [-0.1] * len(few)}
    written = of_response(Response(text=few, logprobs=logprobs), "/responses/justify")
    return transcript.read(HAF, "justify", written)


def ftc(label: Any) -> Parser:
    def read(text: str) -> Any:
        request = FtcRequest(
            premise=SHORT, hypothesis=SHORT[:40], explanation=without_halves(text), draws=0
        )
        return reading.read([request], [label])

    return read


def hatexscore() -> dict[str, Parser]:
    """All variants in all languages: the text as the explanation, as the moderated text, as both.

    The quotations of an explanation are compared with a short text, or are few: the search for
    near quotations grows with both.
    """
    found: dict[str, Parser] = {}
    for variant, read in READERS.items():
        for language in ("en", "zh", "ko"):
            name = f"hatexscore {variant} {language}"
            found[f"{name} explanation"] = hatexscore_of(read, variant, language, text=SHORT)
            found[f"{name} text"] = hatexscore_of(read, variant, language, explanation=QUOTING)
    return found


def hatexscore_of(read: Any, variant: str, language: str, **fixed: str) -> Parser:
    def parse(text: str) -> Any:
        whole = without_halves(text)
        given = {"text": whole, "explanation": whole, **fixed}
        body = {"variant": variant, "language": language, "policy": "un", **given}
        return read(HatexscoreRequest.model_validate(body))

    return parse
