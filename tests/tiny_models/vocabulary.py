"""Tokenizers of three families, trained on the spot: WordPiece, byte-level BPE, Unigram."""

from __future__ import annotations

from typing import Any

from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

SENTENCES = [
    "The garden was green after the rain, and the neighbours came out to look.",
    "People walk slowly under the old windows of the town hall.",
    "Is the weather good or bad today? It is good, they say.",
    "We lost the match again, but nobody minded very much.",
    "A small café by the river sells warm bread and strong tea.",
    "Those tourists are a nuisance and should stay at home.",
]
SIZE = 300


def wordpiece() -> Any:
    """As BERT's, uncased: [CLS] a [SEP] b [SEP], segments 0 and 1."""
    words = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    words.normalizer = normalizers.BertNormalizer(lowercase=True)
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    words.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=SIZE, special_tokens=special, show_progress=False
    )
    words.train_from_iterator(SENTENCES * 4, trainer)
    words.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = dict(zip(("pad", "unk", "cls", "sep", "mask"), special, strict=True))
    return _fast(words, names, segments=True)


def byte_level(*, stated_limit: int | None = 512) -> Any:
    """As RoBERTa's: <s> a </s></s> b </s>, no segments; the padding id is 1."""
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    words.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE + 256,
        special_tokens=special,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    words.train_from_iterator(SENTENCES * 4, trainer)
    return _as_roberta(words, stated_limit)


def unigram() -> Any:
    """As XLM-R's: the same frame over a Unigram vocabulary."""
    words = Tokenizer(models.Unigram())
    words.normalizer = normalizers.NFKC()
    words.pre_tokenizer = pre_tokenizers.Metaspace()
    words.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=SIZE,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        unk_token="<unk>",
        show_progress=False,
    )
    words.train_from_iterator(SENTENCES * 4, trainer)
    return _as_roberta(words, 512)


def _as_roberta(words: Tokenizer, stated_limit: int | None) -> Any:
    words.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    names = {"pad": "<pad>", "unk": "<unk>", "cls": "<s>", "sep": "</s>", "mask": "<mask>"}
    names |= {"bos": "<s>", "eos": "</s>"}
    return _fast(words, names, segments=False, stated_limit=stated_limit)


def _fast(
    words: Tokenizer, names: dict[str, str], *, segments: bool, stated_limit: int | None = 512
) -> Any:
    from transformers import PreTrainedTokenizerFast

    limit = {} if stated_limit is None else {"model_max_length": stated_limit}
    inputs = ["input_ids", *(["token_type_ids"] if segments else []), "attention_mask"]
    return PreTrainedTokenizerFast(
        tokenizer_object=words,
        model_input_names=inputs,
        **{f"{name}_token": token for name, token in names.items()},
        **limit,
    )
