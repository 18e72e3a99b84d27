"""Tokenizers of a few hundred tokens with the shape of the published ones: byte-level BPE with the family's splitting
rules and special tokens, and WordPiece. Deterministic; the text they are trained on is below."""

import json
from collections import Counter

from tokenizers import Tokenizer

TEXT = """the cat sat on the mat and the dog ate the rest of the cake in the garden. there are 12 apples and 345 oranges
in the basket; Anna gives 27 of them to Tom. how many are left? then they went to the market, where other things
weren't there, and so it's over. Let x be 10, then 2 x is 20. Step one: add them."""

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPLIT = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = SPLIT % r"\p{N}"
LLADA = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+")


def byte_symbols():
    """GPT-2's printable stand-ins for the 256 bytes, in GPT-2's order."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(others)}


def learn_merges(count):
    """Plain BPE on TEXT: the most frequent pair first, ties to the smaller pair."""
    symbol = byte_symbols()
    words = Counter(tuple(symbol[b] for b in (("" if i == 0 else " ") + word).encode())
                    for i, word in enumerate(TEXT.split()))
    merges = []
    while len(merges) < count:
        pairs = Counter()
        for word, n in words.items():
            for pair in zip(word, word[1:]):
                pairs[pair] += n
        best = min(pairs, key=lambda p: (-pairs[p], p))
        merges.append(best)
        merged = Counter()
        for word, n in words.items():
            out, i = [], 0
            while i < len(word):
                step = 2 if word[i:i + 2] == best else 1
                out.append("".join(word[i:i + step]))
                i += step
            merged[tuple(out)] += n
        words = merged
    return merges


def added(content, token_id, **more):
    return {"id": token_id, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": False, "special": True} | more


def byte_level_bpe(*, first=(), last=(), outside=(), merges=40, split=None, post=None, merges_as_pairs=False, options=None):
    """tokenizer.json as a dict. Special tokens: `first` and `last` are part of the vocabulary, `outside` follows it.
    split: None for GPT-2's own rule, else a regular expression as LLaDA and Qwen2 have it."""
    learned = learn_merges(merges)
    tokens = [*first, *byte_symbols().values(), *("".join(m) for m in learned), *last]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": split is None, "use_regex": split is None}
    steps = {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": split}, "behavior": "Isolated", "invert": False}, level]}
    specials = [*first, *last, *outside]
    ids = {t: i for i, t in enumerate([*tokens, *outside])}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [added(t, ids[t], **(options or {}).get(t, {})) for t in sorted(specials, key=ids.get)],
        "normalizer": {"type": "NFC"} if split == QWEN2 else None,
        "pre_tokenizer": steps if split else level,
        "post_processor": post(ids) if post else level,
        "decoder": level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": "",
                  "end_of_word_suffix": "", "fuse_unk": False, "vocab": {t: ids[t] for t in tokens},
                  "merges": [list(m) if merges_as_pairs else " ".join(m) for m in learned]},
    }


def word_piece():
    """tokenizer.json of a lower-casing BERT as a dict."""
    words = sorted({w.strip(".,;:?").lower() for w in TEXT.replace("'", " ").split()})
    characters = [chr(c) for c in [*range(33, 65), *range(91, 97), *range(97, 127)]]
    pieces = ["##" + c for c in "abcdefghijklmnopqrstuvwxyz0123456789"] + ["##ing", "##ed", "##er", "##s2"]
    ids = {}
    for token in ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *characters, *pieces, *words, "caf", "\u4e2d"]:
        ids.setdefault(token, len(ids))
    cls, sep = ids["[CLS]"], ids["[SEP]"]
    def special(name):
        return {"SpecialToken": {"id": name, "type_id": 0}}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [added(t, ids[t]) for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True,
                       "strip_accents": None, "lowercase": True},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [special("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]")],
            "pair": [special("[CLS]"), {"Sequence": {"id": "A", "type_id": 0}}, special("[SEP]"),
                     {"Sequence": {"id": "B", "type_id": 1}}, {"SpecialToken": {"id": "[SEP]", "type_id": 1}}],
            "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [cls], "tokens": ["[CLS]"]},
                               "[SEP]": {"id": "[SEP]", "ids": [sep], "tokens": ["[SEP]"]}}},
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                  "max_input_chars_per_word": 100, "vocab": ids},
    }


TEXTS = ["the cat sat on the mat", "Anna gives 27 of them to Tom, it's 1234567!", "  two  spaces\n\nand lines \t\r\n end ",
         "na\u00efve caf\u00e9 \u4e2d\u6587 \U0001f600 \u00bd", "I'LL they're we'd x=10*y; (a+b)\u00b2", "", " ", "baked THE",
         "cafe\u0301 A\u030a"]


def encodings(tokenizer):
    """What Hugging Face's own library makes of TEXTS and of a special token inside a text."""
    judge = Tokenizer.from_str(json.dumps(tokenizer))
    texts = [*TEXTS, f"so {tokenizer['added_tokens'][-1]['content']} the end"]
    return [{"text": t, "ids": judge.encode(t, add_special_tokens=False).ids, "with_special": judge.encode(t).ids}
            for t in texts]
