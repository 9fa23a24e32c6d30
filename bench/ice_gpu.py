"""Compares ICE on a GPU with several examples per batch with one forward pass per draw, in
bfloat16.

Its models are random ones of given shapes behind the port, with a tokenizer of whole words.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from services.ice.contract import IceOptions, IceRequest
from services.ice.experiment import Experiment
from services.ice.metric import SERVICE
from services.ice.model_calls import run_experiments
from services.inference.causal import LocalLanguageModel
from services.inference.weights.loader import LoadedModel
from shared.contracts.calls import Template
from shared.contracts.messages import ModelKind, ModelUse
from shared.models import ports
from shared.models.ports import Models

score_batch = SERVICE.score_batch

WORDS = 1_000
READS = 1_024  # tokens
TEMPLATE = Template(verbalizers={"up": " w1", "down": " w2"})
LABEL_TOKENS = (1, 2)
LABEL_LOGIT = 12.0  # on top: labels that a model would never say have no P
QUIET: dict[str, Any] = {"bos_token_id": 0, "eos_token_id": 0}
TINY = GPT2Config(n_layer=2, n_embd=64, n_head=2, vocab_size=8_000, **QUIET)
GPT2 = GPT2Config(**QUIET)  # 124M
LLAMA_8B = LlamaConfig(
    vocab_size=128_256,
    hidden_size=4_096,
    intermediate_size=14_336,
    num_hidden_layers=32,
    num_attention_heads=32,
    num_key_value_heads=8,
    max_position_embeddings=8_192,
    rope_theta=500_000.0,
    **QUIET,
)
EXAMPLES, LENGTH, DRAWS, REPEATS = 32, 40, 50, 5
OPTIONS = IceOptions(template=TEMPLATE, draws=DRAWS, aspects=("sufficiency",))
LOOPED = 2  # examples that go through the loop: it is slow
SHAPES = {"gpt2": GPT2, "llama_8b": LLAMA_8B}
SQUARE = 8_192  # of the matrices that the peak is measured on


def measured() -> dict[str, Any] | None:
    if not torch.cuda.is_available():
        return None
    peak = peak_flops()
    found: dict[str, Any] = {"device": torch.cuda.get_device_name(), "peak_tflops": peak / 1e12}
    for name, config in SHAPES.items():
        found[name] = of_shape(config, peak)
        torch.cuda.empty_cache()
    return found


def of_shape(config: Any, peak: float) -> dict[str, float]:
    """Return the seconds per example, the ratio to the loop, and the share of the device's peak
    rate."""
    model, words = random_model(config, "cuda", "bfloat16"), tokenizer()
    ports.bind(behind_the_port(model, words, "cuda", "bfloat16"))
    requests = [request_of(number) for number in range(EXAMPLES)]
    rows = [
        [reading_ids(experiment.tokenized.tokens.ids, subset) for subset in subsets]
        for experiment, _ in run_experiments(requests[:LOOPED])
        if isinstance(experiment, Experiment)
        for trial in experiment.trials
        for subsets in [[trial.rationale, *experiment.null_subsets(trial)]]
    ]
    ours = median_seconds(lambda: score_batch(requests)) / EXAMPLES
    other = median_seconds(lambda: loop(model, rows)) / LOOPED
    body = sum(p.numel() for p in model.base_model.parameters())  # without the head: 2 of its rows
    parameters = body - config.vocab_size * width(config)  # embeddings are looked up
    kept = int(0.2 * LENGTH)
    work = 2 * parameters * ((DRAWS + 1) * kept + 2 * LENGTH)  # rows, the whole text, attention
    return {
        "our_seconds": ours,
        "loop_seconds": other,
        "loop_ratio": other / ours,
        "share_of_peak": work / ours / peak,
    }


def width(config: Any) -> int:
    return int(config.hidden_size)


def request_of(number: int) -> IceRequest:
    drawn = np.random.default_rng(number).integers(100, 1_000, LENGTH)
    text = " ".join(f"w{word}" for word in drawn)
    return IceRequest(text=text, attribution="attention", options=OPTIONS)


def reading_ids(ids: Sequence[int], subset: Sequence[int]) -> list[int]:
    return [ids[place] for place in subset]


@torch.no_grad()
def loop(model: Any, examples: Sequence[Sequence[Sequence[int]]]) -> list[float]:
    found = []
    for rows in examples:
        for row in rows:
            ids = torch.tensor([list(row)], device="cuda")
            logits = model(input_ids=ids).logits[0, -1, list(LABEL_TOKENS)]
            found.append(float(logits.float().softmax(dim=0)[0]))
    return found


def peak_flops() -> float:
    """Return the rate of one large bfloat16 matrix product on this device."""
    left = torch.randn(SQUARE, SQUARE, device="cuda", dtype=torch.bfloat16)
    seconds = median_seconds(lambda: left @ left)
    return 2 * SQUARE**3 / seconds


def median_seconds(way: Callable[[], object]) -> float:
    """Return the median of several runs after a warm-up."""
    taken = []
    for _ in range(REPEATS + 1):
        torch.cuda.synchronize()
        started = time.perf_counter()
        way()
        torch.cuda.synchronize()
        taken.append(time.perf_counter() - started)
    return float(np.median(taken[1:]))


class OneModel:
    """Implements `shared.models.ports.Models` with one causal model for every name."""

    def __init__(self, model: LocalLanguageModel) -> None:
        self._model = model

    def reader_of(self, _name: str) -> str | None:
        return None

    def kind(self, name: str) -> ModelKind:
        return "causal"

    def language_model(self, name: str) -> LocalLanguageModel:
        return self._model

    judge = classifier = writer = similarity = language_model


def tokenizer() -> Any:
    """Return a tokenizer of the words w0, w1, ... w999; w0 ends a text."""
    words = Tokenizer(models.WordLevel({f"w{n}": n for n in range(WORDS)}, unk_token="w0"))  # noqa: S106 - no password
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=words, eos_token="w0")  # noqa: S106


def random_model(config: Any, device: str = "cpu", dtype: str = "float32") -> Any:
    """Create the model on its device, since a large one does not fit in this machine's memory."""
    torch.manual_seed(0)
    kind: Any = LlamaForCausalLM if isinstance(config, LlamaConfig) else GPT2LMHeadModel
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        with torch.device(device):
            model = kind(config)
            model.lm_head.bias = torch.nn.Parameter(torch.zeros(config.vocab_size))
    finally:
        torch.set_default_dtype(before)
    with torch.no_grad():  # alike for all labels, so that P is what it was without
        model.lm_head.bias[list(LABEL_TOKENS)] = LABEL_LOGIT
    return model.eval()


def behind_the_port(model: Any, words: Any, device: str = "cpu", dtype: str = "float32") -> Models:
    use = ModelUse(name="random", revision="1", sha256="0" * 64, device=device, dtype=dtype)
    weights = LoadedModel(
        model=model.requires_grad_(requires_grad=False),
        tokenizer=words,
        longest=READS,
        mapping=None,
        languages=(),
        temperature=1.0,
        use=use,
    )
    return cast(Models, OneModel(LocalLanguageModel(weights)))
