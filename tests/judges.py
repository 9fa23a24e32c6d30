"""Judges of every kind over tiny weights, for the metrics: one catalogue, one name a way to run it.

`encoder` and `causal` are in this process; `scored` and `chat` are doubles of language-model
servers over the same weights as `causal`, `served-head` one of a classification server over those
of `encoder`; `silent` is a server that returns no log-probabilities.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from shared.models.catalogue.catalogue import load_catalogue
from tests.fakes import bound_models
from tests.shared.models.openai.computing import ClassifierDouble, LanguageModelDouble, Style
from tests.shared.models.openai.stub import listening

if TYPE_CHECKING:
    from services.inference.local_models import LocalModels


STYLES: dict[str, Style] = {"scored": "vllm-prompt", "chat": "chat", "silent": "silent"}
STRINGS = 5  # for a label: so many that they have some mass together
NAMES = ("no", "perhaps", "yes")
HEAD = """
[[models]]
name = "{name}"
kind = "classifier"
source = "{source}"
languages = ["en"]
{more}
"""
CAUSAL = """
[[models]]
name = "{name}"
kind = "causal"
source = "{source}"
task = "{task}"
languages = ["en"]
{more}
[models.prompt]
style = "raw"
user = {user}
verbalizers = {{ {verbalizers} }}
"""


@dataclass(frozen=True)
class TinyPrompt:
    """How the causal ones are asked. verbalizers: label → strings of one token each."""

    task: str
    user: str
    verbalizers: dict[str, list[str]]

    def entry(self, name: str, source: str, more: str = "") -> str:
        words = ", ".join(f'"{k}" = {json.dumps(v)}' for k, v in self.verbalizers.items())
        return CAUSAL.format(
            name=name, source=source, task=self.task, user=json.dumps(self.user),
            verbalizers=words, more=more,
        )  # fmt: skip


@dataclass(frozen=True)
class TinyJudges:
    """network: the causal weights, raw; prompt: how they are asked."""

    models: LocalModels
    network: LanguageModelDouble
    prompt: TinyPrompt

    @contextmanager
    def bound(self) -> Iterator[TinyJudges]:
        """Bind them for a while."""
        with bound_models(self.models):
            yield self

    def shares(self, prompt: str) -> list[float]:
        """(L,) P of each label: its verbalizers' next-token probabilities, from the raw network."""
        table = self.network.logprobs(self.network.ids(prompt))[-1].exp()
        sums = [
            sum(float(table[self.network.ids(prompt + word)[-1]]) for word in words)
            for words in self.prompt.verbalizers.values()
        ]
        return [one / sum(sums) for one in sums]


def likely_words(network: LanguageModelDouble, prompts: Sequence[str], count: int) -> list[str]:
    """Tokens that are likely after all of these, of which none begins another."""
    import torch

    shares = torch.stack([network.logprobs(network.ids(one))[-1].exp() for one in prompts])
    found: list[str] = []
    for token in shares.log().mean(dim=0).argsort(descending=True).tolist():
        word = network.words.decode([token])
        clear = word.isascii() and word.isprintable() and len(word.strip()) > 1
        alone = not any(
            one.strip().startswith(word.strip()) or word.strip().startswith(one.strip())
            for one in found
        )
        if clear and alone and network.ids(prompts[0] + word)[:-1] == network.ids(prompts[0]):
            found.append(word)
        if len(found) == count:
            return found
    raise AssertionError("too few tokens are clear")


@contextmanager
def tiny_judges(
    folder: Path, task: str, user: str, texts: Sequence[str], labels: Sequence[str], head: str
) -> Iterator[TinyJudges]:
    """While the block runs. texts: some filled prompts, after which labels shall be likely;
    head: the keys of the encoder's labels."""
    from services.inference.local_models import LocalModels
    from tests.inference.shapes import byte_tokenizer, save_bert, save_llama

    save_bert(folder / "bert", byte_tokenizer(begins=False, reads=64))
    network = LanguageModelDouble(save_llama(folder / "llama", reads=512), "chat", listed=400)
    words = likely_words(network, texts, STRINGS * len(labels))
    by_label = {label: words[place :: len(labels)] for place, label in enumerate(labels)}
    prompt = TinyPrompt(task, user, by_label)
    here = 'device = "cpu"\ndtype = "float32"'
    written = [
        "schema = 2",
        HEAD.format(name="encoder", source="path:bert", more=f"{here}\n{head}"),
        prompt.entry("causal", "path:llama", here),
    ]
    file = folder / "models.toml"
    with ExitStack() as stack:
        for name, style in STYLES.items():
            double = LanguageModelDouble(folder / "llama", style, listed=400)
            url = stack.enter_context(listening(double))
            written.append(prompt.entry(name, f"openai:{url}", 'served_name = "m"'))
        file.write_text("\n".join(written), "utf-8")
        own = LocalModels(load_catalogue(file)).local_classifier("encoder")
        url = stack.enter_context(listening(ClassifierDouble("vllm", own.logits, NAMES)))
        more = f'{head}\nserved_name = "m"\noutputs = ["no", "perhaps", "yes"]'
        source = f"classify:{url.removesuffix('/v1')}"
        written.append(HEAD.format(name="served-head", source=source, more=more))
        file.write_text("\n".join(written), "utf-8")
        yield TinyJudges(LocalModels(load_catalogue(file)), network, prompt)
