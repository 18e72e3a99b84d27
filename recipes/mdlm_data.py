"""Tokens for mdlm-nano: its tokenizer, and rows of the corpora to train on.

A row of the training set is the end
token, a run of sentences of one document, and end tokens up to the row's length; so the network learns single
sentences, short passages, and to stop.
"""

import random
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from corpus import HELD_OUT, corpora

END, MASK = "<|endoftext|>", "[MASK]"
LONGEST = 128


def train_tokenizer(texts: dict[str, list[list[str]]], size: int, seed: int) -> str:
    """Cased byte-level BPE with GPT-2's pre-tokenizer; the common IMDB sentences count most."""
    rng = random.Random(seed)
    sample = [" ".join(document) for document in texts["imdb3000"]]
    for name in ("imdb8000", "stories"):
        sample += [" ".join(document) for document in rng.sample(texts[name], min(60_000, len(texts[name])))]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(sample, trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END, MASK], show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return tokenizer.to_str(pretty=True)


def minilm_pieces(tokenizer: Tokenizer, wordpiece: Tokenizer) -> list[list[int]]:
    """For each of our tokens the WordPiece ids that spell it, to start its embedding from."""
    spellings = []
    for token in range(tokenizer.get_vocab_size()):
        text = tokenizer.decode([token])
        if text.strip() and not text.startswith(" ") and text.isalpha() and text.islower():
            # The inside or end of a word: WordPiece marks those with ##.
            known = wordpiece.token_to_id("##" + text)
            spellings.append([known] if known is not None else wordpiece.encode(text, add_special_tokens=False).ids)
        else:
            spellings.append(wordpiece.encode(text.strip(), add_special_tokens=False).ids)
    spellings[tokenizer.token_to_id(MASK)] = [wordpiece.token_to_id("[MASK]")]
    spellings[tokenizer.token_to_id(END)] = [wordpiece.token_to_id("[SEP]")]
    return spellings


class Documents:
    """Tokenised documents in three flat arrays, quick to load and to cut rows from."""

    def __init__(self, tokens: np.ndarray, sentences: np.ndarray, documents: np.ndarray):
        self.tokens, self.sentences, self.documents = tokens, sentences, documents  # the last two are offsets

    @staticmethod
    def encode(texts: list[list[str]], tokenizer: Tokenizer) -> "Documents":
        tokens, sentences, documents = [], [0], [0]
        for at in range(0, len(texts), 2000):
            group = texts[at:at + 2000]
            flat = [s if i == 0 else " " + s for document in group for i, s in enumerate(document)]
            for encoding in tokenizer.encode_batch(flat):
                tokens.extend(encoding.ids)
                sentences.append(len(tokens))
            for document in group:
                documents.append(documents[-1] + len(document))
        return Documents(np.array(tokens, np.uint16), np.array(sentences, np.int32), np.array(documents, np.int32))

    def draw(self, rng: random.Random) -> np.ndarray:
        """A random run of sentences: just one, or as many as fit into a random length."""
        limit = LONGEST - 2
        while True:
            document = rng.randrange(len(self.documents) - 1)
            first, stop = int(self.documents[document]), int(self.documents[document + 1])
            first = rng.randrange(first, stop)
            budget = 0 if rng.random() < 0.4 else rng.randint(24, limit)
            last = first + 1
            while last < stop and self.sentences[last + 1] - self.sentences[first] <= budget:
                last += 1
            row = self.tokens[self.sentences[first]:self.sentences[last]]
            if 2 <= len(row) <= limit:
                return row


def load_documents(data: Path, cache: Path, size: int, seed: int) -> tuple[Tokenizer, dict[str, Documents]]:
    """Tokenizer and token arrays, made once and kept in `cache`."""
    tokenizer_path = cache / "tokenizer.json"
    if not all((cache / f"{name}.npz").exists() for name in HELD_OUT):
        texts = corpora(data)
        tokenizer_path.write_text(train_tokenizer(texts, size, seed))
        tokenizer = Tokenizer.from_file(str(tokenizer_path))
        for name in texts:
            d = Documents.encode(texts[name], tokenizer)
            np.savez(cache / f"{name}.npz", tokens=d.tokens, sentences=d.sentences, documents=d.documents)
    loaded = {name: Documents(**np.load(cache / f"{name}.npz")) for name in HELD_OUT}
    return Tokenizer.from_file(str(tokenizer_path)), loaded
