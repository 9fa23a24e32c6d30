"""A tiny Llama that learned what to answer in each stage, in seconds, on the spot.

Its chat template makes one token of a stage's instruction, so that there is little to learn; the
rest of a conversation it does not read. Two answers a stage, so that generations differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

STAGES = {
    "<justify>": (
        "The text is toxic.\n\n1. It calls all the neighbours lazy.\n2. It wants them gone.",
        "Yes, the text is toxic.\n\n1. It mocks a whole street.\n2. It asks for a fight tonight.",
    ),
    "<internal>": (
        "Yes, an additional reason is required.\n\n1. It blames the old people too.",
        "Yes, additional reasons are required.\n\n1. It shouts at everybody in town.",
    ),
    "<external>": (
        "No, additional reasons are not required.",
        "No additional reason is required.",
    ),
    "<single>": (
        "No, the given reason is sufficient.",
        "Yes, an additional reason is required.\n\n1. It wants them all gone.",
    ),
}
CHAT = (
    "{% set asked = messages[0]['content'] %}"
    "{% if 'Is the below' in asked %}<justify>"
    "{% elif 'solely on' in asked %}<internal>"
    "{% elif 'information or contexts' in asked %}<external>"
    "{% else %}<single>{% endif %}"
)
SPECIAL = ("<pad>", "<s>", "</s>")
BEGINNINGS = ("", "<s>", "<s><s>")  # servers differ in how often they begin a text
READS = 4_096
STEPS = 180
LEARNING_RATE = 8e-3


def save(
    folder: Path,
    texts: Sequence[str] = (),
    answers: Mapping[str, Sequence[str]] = STAGES,
    chat: str = CHAT,
    beginnings: Sequence[str] = BEGINNINGS,
) -> Path:
    """Learn, and write the weights as safetensors. texts: more to make words of. answers: a token
    that the chat template makes of a conversation → what is said then, behind these beginnings."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(3)
    words = _words(answers, [*texts], chat)
    config = LlamaConfig(
        vocab_size=len(words),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=READS,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    model = LlamaForCausalLM(config)
    texts = [
        f"{beginning}{stage}{text}</s>"
        for stage, said in answers.items()
        for text in said
        for beginning in beginnings
    ]
    _learn(model, words, texts)
    model.generation_config.eos_token_id = 2
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def _words(answers: Mapping[str, Sequence[str]], texts: list[str], chat: str) -> Any:
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=2_000,
        special_tokens=[*SPECIAL, *answers],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    made.train_from_iterator(
        [one for said in answers.values() for one in said] * 4 + texts, trainer
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        model_max_length=READS,
        chat_template=chat,
    )


def _learn(model: Any, words: Any, texts: Sequence[str]) -> None:
    """Every answer after its stage's token, until the model says little else."""
    import torch

    rows = [words(text)["input_ids"] for text in texts]
    width = max(map(len, rows))
    ids = torch.tensor([row + [0] * (width - len(row)) for row in rows])
    labels = torch.tensor([row + [-100] * (width - len(row)) for row in rows])
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # so little work is slower with more
    for _ in range(STEPS):
        loss = model(input_ids=ids, labels=labels, attention_mask=(labels != -100).long()).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.set_num_threads(threads)
    model.eval()
