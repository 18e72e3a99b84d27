"""The tokenizer of llada-nano-math: byte-level BPE with GPT-2's pre-tokenizer, as a Hugging Face tokenizer.json.

Two things make it a good tokenizer for arithmetic. Every number from 0 to 300 with a space before it is one token:
merges for digits only ever extend a piece that starts with the space, so " 123" is built as " 1", " 12", " 123" and
nothing else can happen. And every word of the stories is one token, because the word merges are trained until they are.

The special tokens are LLaDA's, so that the chat template and the decoding code of LLaDA-8B-Instruct apply unchanged.

    python math_tokenizer.py --out tokenizer.json
"""

import argparse
import json
import random
import re

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from math_chat import BOS, CHAT_TEMPLATE, EOS, EOT, HEADER_END, HEADER_START, MASK, SPECIAL, chat  # noqa: F401
from math_problems import LARGEST, generate, training_templates

SPACE = "\u0120"  # how byte-level BPE writes a space


def number_merges() -> list[tuple[str, str]]:
    """Merges that make " 0" ... " 300" single tokens, shorter prefixes first."""
    merges = []
    for length in (1, 2, 3):
        for n in range(LARGEST + 1):
            digits = str(n)
            if len(digits) == length:
                merges.append((SPACE + digits[:-1], digits[-1]))
    return merges


def word_merges(seed: int, problems: int) -> list[tuple[str, str]]:
    """Train BPE on the text without its digits until every word is one piece."""
    rng = random.Random(seed)
    templates = training_templates()
    texts = ["user", "assistant"] * 10
    for _ in range(problems):
        problem = generate(rng, templates)
        texts.append(re.sub(r" ?\d+", "", f"{problem.question}\n{problem.answer}"))
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    # Names at the start of a line must be whole as well, hence the low threshold; the space of words is small anyway.
    bpe.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=100_000, min_frequency=2, show_progress=False,
                                                       initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return [tuple(merge) for merge in json.loads(bpe.to_str())["model"]["merges"]]


def build(seed: int = 0, problems: int = 40_000) -> dict:
    merges = number_merges() + word_merges(seed, problems)
    pieces = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces += dict.fromkeys(left + right for left, right in merges)
    vocabulary = {piece: i for i, piece in enumerate(pieces)}
    added = [{"id": len(pieces) + i, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for i, token in enumerate(SPECIAL)]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                  "vocab": vocabulary, "merges": [list(merge) for merge in merges]},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", required=True, help="where to write tokenizer.json")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with open(args.out, "w") as out:
        json.dump(build(args.seed), out, ensure_ascii=False, indent=1)


if __name__ == "__main__":
    main()
