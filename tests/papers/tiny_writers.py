"""Two tiny causal models, made on the spot: each says what it learned about either kind of post."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.haf.tiny_llama import SPECIAL, save
from tests.shared.models.openai import gguf_model
from tests.shared.models.openai.conftest import llama_serving
from tests.shared.models.openai.gguf_model import write_gguf

MODELS = ("thorough", "shy")
ANSWERS = {
    "thorough": {
        "<attack>": (
            'The post says "immigrants are ruining our town" and blames immigrants as a group. '
            "Conclusion: hateful.",
        ),
        "<other>": ("Nobody is attacked here. Conclusion: non-hateful.",),
    },
    "shy": {
        "<attack>": ("I'm sorry, but I can't help with that request.",),
        "<other>": ("It is a friendly text. Conclusion: non-hateful.",),
    },
}
PAD = "<s>" * 12  # a prompt has at least as many tokens as words: who serves one is held to that
KIND = "{% if 'ruining our town' in asked %}<attack>{% else %}<other>{% endif %}"
CHAT = "{% set asked = messages[-1]['content'] %}" + PAD + KIND
ENTRY = """
[[models]]
name = "{name}"
kind = "causal"
source = "path:{name}"
device = "cpu"
"""
JUDGE = """
[[models]]
name = "embedded-hate"
source = "embedded:hate"
device = "cpu"
"""


def save_models(folder: Path) -> Path:
    """Their weights, and the models.toml that names them."""
    for name in MODELS:
        beginnings = (PAD, f"{PAD}<s>", f"{PAD}<s><s>")  # servers differ in how they begin a text
        save(folder / name, answers=ANSWERS[name], chat=CHAT, beginnings=beginnings)
    file = folder / "models.toml"
    entries = "".join(ENTRY.format(name=name) for name in MODELS)
    file.write_text(f"schema = 2\n{entries}{JUDGE}", "utf-8")
    return file


@contextmanager
def served_model(folder: Path) -> Iterator[str]:
    """llama.cpp's server over the first model's weights: the entry of its model, `served`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gguf_model, "SPECIAL", len(SPECIAL) + len(ANSWERS[MODELS[0]]))
        file = write_gguf(folder / MODELS[0], folder / "served.gguf")
    with llama_serving(file) as entry:
        yield entry
