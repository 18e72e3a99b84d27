"""The corpora of the data folder as text: whole documents to train on, and single texts that no training sees.

Needs nothing but Python and the program `zstd`.
"""

import re
import subprocess
from pathlib import Path

# The parts of mdlm-nano's corpus, and how many held-out texts of each are measured.
HELD_OUT = {"imdb3000": 1000, "imdb8000": 300, "imdb20000": 300, "stories": 300}
RANKS = {"imdb3000": (0, 3000), "imdb8000": (3000, 8000), "imdb20000": (8000, 20000)}  # of a sentence's rarest word


def read_text(path: Path) -> str:
    if path.suffix != ".zst":
        return path.read_bytes().decode()
    try:
        return subprocess.run(["zstd", "-dcq", str(path)], check=True, stdout=subprocess.PIPE).stdout.decode()
    except FileNotFoundError:
        raise SystemExit("the program zstd is missing; scripts/bootstrap eval installs it") from None


def imdb(path: Path, low: int, high: int) -> list[list[str]]:
    """Documents from sentences whose rarest word has a frequency rank in (low, high]; neighbours stay together."""
    documents, last = [], (None, 0)
    for line in read_text(path).splitlines():
        review, number, _, rank, sentence = line.split("\t")
        if not low < int(rank) <= high:
            continue
        if last == (review, int(number) - 1):
            documents[-1].append(sentence)
        else:
            documents.append([sentence])
        last = (review, int(number))
    return documents


def stories(path: Path) -> list[list[str]]:
    """Paragraphs of books, or whole short stories, cut into sentences."""
    cut = re.compile(r"(?<=[.!?])[\"']?\s+(?=[\"'A-Z])")
    return [cut.split(line) for line in read_text(path).splitlines() if len(line) > 20]


def corpora(data: Path) -> dict[str, list[list[str]]]:
    """A document is a list of consecutive sentences: of one review, of one paragraph."""
    corpus = data / "corpus"
    texts = {name: imdb(corpus / "imdb_sentences_train.tsv.zst", *ranks) for name, ranks in RANKS.items()}
    texts["stories"] = stories(corpus / "storybooks_ccby.txt") + stories(corpus / "kids_train.txt.zst")
    return texts


def held_out(data: Path, name: str) -> list[str]:
    """Sentences (IMDB) or paragraphs (stories) that training never sees, an even sample.

    The files are split by review, and reviewers repeat each other ("I love this movie."): one in fifteen of the
    simplest validation sentences also stands in the training file. Those are left out, or the figures would flatter.
    """
    corpus = data / "corpus"
    if name == "stories":
        texts = [line for line in read_text(corpus / "kids_valid.txt").splitlines() if 20 < len(line) < 400]
    else:
        train = {s for document in imdb(corpus / "imdb_sentences_train.tsv.zst", *RANKS[name]) for s in document}
        valid = imdb(corpus / "imdb_sentences_valid.tsv", *RANKS[name])
        texts = [s for document in valid for s in document if s not in train]
    return texts[::max(1, len(texts) // HELD_OUT[name])][:HELD_OUT[name]]
