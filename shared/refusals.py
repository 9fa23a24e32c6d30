"""Sentences in which a model refuses its task instead of doing it.

The English ones are those that HAF's variant `robust` tells apart (Mothilal et al.,
arXiv:2506.19113, Table 5); the Chinese and Korean ones are our own, of the same form.
"""

from __future__ import annotations

import re

from shared.english import straighten_apostrophes

REFUSAL = re.compile(
    r"\bI(?:'m| am) (?:sorry(?! to say)|unable to (?:assist|help|provide|generate|create|fulfil))|"
    r"\bI (?:cannot|can't|can not|won't|will not|am not able to|must decline to) "
    r"(?:\w+ )?(?:generate|provide|assist|help|create|fulfil\w*|comply|engage|write|produce|answer|"
    r"discuss|respond|continue|complete|support|participate|satisfy|offer|explain|say|do that)\b|"
    r"\banything else I can help\b",
    re.IGNORECASE,
)
OTHER_LANGUAGES = re.compile(
    r"(?:抱歉|对不起|很遗憾)[^。！？\n]{0,40}(?:无法|不能|不便)"
    r"|我(?:无法|不能)(?:协助|帮助|回答|提供|满足|完成|处理|讨论)"
    r"|(?:죄송|미안)[^.!?\n]{0,60}(?:수\s?없|어렵)"
    r"|(?:도와\s?드릴|답변(?:해\s?드릴|할)|제공(?:해\s?드릴|할))\s?수\s?없"
)
# What HAF's paper does not list: our own. "I cannot classify it as hateful" is a verdict.
FURTHER = re.compile(
    r"\bas an ai\b[^.!?\n]{0,40}\bI (?:cannot|can't|am unable|am not able|do not|don't|won't|must not)\b"
    r"|\bI(?:'m| am) (?:not (?:comfortable|willing|allowed|permitted|going)|unwilling|uncomfortable)\b"
    r"|\bI(?:'d| would) (?:rather|prefer) not\b|\bI prefer not to\b|\bI (?:must|have to) decline\b"
    r"|\bI (?:refuse|decline) to\b"
    r"|\bI (?:cannot|can't|won't|will not) (?:classify|judge|analy[sz]e|evaluate|assess|rate|label|process)"
    r" (?!(?:it|this|that|the \w+) as\b)[^.!?\n]{0,80}",
    re.IGNORECASE,
)
REFUSES_WITHIN = 2  # sentences: later ones quote or qualify


def is_refusal(sentence: str) -> bool:
    """In English, Chinese or Korean."""
    plain = straighten_apostrophes(sentence)
    return any(one.search(plain) for one in (REFUSAL, OTHER_LANGUAGES, FURTHER))
