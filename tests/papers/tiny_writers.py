"""Two tiny causal models, made on the spot: each says what it learned about either kind of post."""

from __future__ import annotations

from pathlib import Path

from tests.haf.tiny_llama import save

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
CHAT = (
    "{% set asked = messages[-1]['content'] %}"
    "{% if 'ruining our town' in asked %}<attack>{% else %}<other>{% endif %}"
)
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
        save(folder / name, answers=ANSWERS[name], chat=CHAT)
    file = folder / "models.toml"
    entries = "".join(ENTRY.format(name=name) for name in MODELS)
    file.write_text(f"schema = 2\n{entries}{JUDGE}", "utf-8")
    return file
