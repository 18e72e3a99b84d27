"""What the three classifiers learn from and are measured on: one place for both, so that nothing can stand on both sides.

A held-out example's text never occurs in training: neither as it is (but for case and punctuation), nor, from four words
on, as a piece of it. Everything is deterministic; random choices have fixed seeds, random splits go by a hash of the text.

    python classifier_data.py --data DATA --out FOLDER      # writes the held-out sets, FOLDER/TASK/SET.jsonl

The independent judges (train_judges.py) learn from other corpora, and from IMDB reviews of even number where the
classifiers use sentences of odd ones.
"""

import argparse
import hashlib
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterable, NamedTuple

from corpus import read_text


class Example(NamedTuple):
    text: str
    label: int
    group: str = ""  # of a held-out example: what it is reported under


@dataclass
class Task:
    labels: list[str]
    stages: list[dict[str, int]]  # how many examples of each source are seen, stage by stage
    train: dict[str, list[Example]]
    held_out: dict[str, list[Example]]


HeldOut = dict[str, list[Example]]
LABELS = {"sentiment": ["negative", "neutral", "positive"], "toxicity": ["neutral", "toxic"],
          "cola": ["unacceptable", "acceptable"]}


# ---- text ----

def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def normalised(text: str) -> str:
    """What duplicates are found by: case, spaces and punctuation do not matter."""
    return " ".join(words(text))


def in_hold_out(text: str) -> bool:
    """One text in ten, by its hash."""
    return hashlib.sha1(normalised(text).encode()).digest()[0] % 10 == 0


def without_held_out(sources: dict[str, list[Example]], held_out: dict[str, list[Example]]) -> dict[str, list[Example]]:
    """The sources without texts that are a held-out text, or four or more words in a row of one."""
    pieces = set()
    for example in (e for examples in held_out.values() for e in examples):
        w = words(example.text)
        pieces.add(" ".join(w))
        pieces.update(" ".join(w[i:j]) for i in range(len(w)) for j in range(i + 4, len(w) + 1))
    return {name: [e for e in examples if normalised(e.text) not in pieces] for name, examples in sources.items()}


def rows(path: Path, skip: int = 0) -> list[list[str]]:
    return [line.split("\t") for line in read_text(path).split("\n")[skip:] if line]


def natural(text: str) -> str:
    """Undo the spacing of the Stanford treebank ("it 's n't good , but"), as people and our models do not write it."""
    text = text.replace("-lrb-", "(").replace("-rrb-", ")").replace("`` ", '"').replace(" ''", '"')
    text = re.sub(r" (n't|'(?:s|re|ve|ll|d|m))\b", r"\1", text)
    text = re.sub(r" ([.,!?;:)%])", r"\1", text)
    return re.sub(r"([(]) ", r"\1", text).strip()


def imdb_sentences(data: Path, name: str, keep: Callable[[int], bool], rank: int = 8000) -> list[str]:
    """Distinct IMDB sentences of common words from the reviews whose number `keep` accepts."""
    found = (r for r in rows(data / "corpus" / name) if int(r[3]) <= rank and keep(int(re.sub(r"\D", "", r[0]))))
    return list(dict.fromkeys(r[4] for r in found))


def odd(number: int) -> bool:
    return number % 2 == 1


def even(number: int) -> bool:
    return number % 2 == 0


def story_sentences(path: Path) -> list[str]:
    cut = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
    found = (s for line in read_text(path).splitlines() if '"' not in line for s in cut.split(line))
    return list(dict.fromkeys(s for s in found if 4 <= len(s.split()) <= 30))


def lexicon(data: Path, *names: str) -> set[str]:
    """The words of one or more lists in lexicons/, whatever stands behind them."""
    lines = (line for name in names for line in (data / "lexicons" / name).read_text("latin-1").splitlines())
    return {line.split("\t")[0].strip().lower() for line in lines if line and line[0] != ";"}


# ---- sentiment ----

POSITIVE = {"admiration", "amusement", "approval", "caring", "desire", "excitement", "gratitude", "joy", "love",
            "optimism", "pride", "relief"}
UNCLEAR = {"confusion", "curiosity", "realization", "surprise"}


def goemotions(data: Path, part: str) -> list[Example]:
    """Comments whose emotions agree in polarity."""
    names = (data / "sentiment" / "goemotions_labels.txt").read_text().split()
    examples = []
    for text, ids in rows(data / "sentiment" / f"goemotions_{part}.tsv"):
        found = {names[int(i)] for i in ids.split(",")}
        polarity = {1 if e == "neutral" else 2 if e in POSITIVE else 0 for e in found - UNCLEAR}
        if len(polarity) == 1 and not found & UNCLEAR:
            examples.append(Example(text, *polarity))
    return examples


def facts(data: Path, count: int) -> list[Example]:
    """Neutral text: sentences without any opinion word, every other one cut to a fragment as generation may leave it."""
    opinion = lexicon(data, "vader_lexicon.txt", "afinn165.tsv", "huliu_positive.txt", "huliu_negative.txt")
    rng = random.Random("facts")
    sentences = imdb_sentences(data, "imdb_sentences_train.tsv.zst", odd)
    sentences += story_sentences(data / "corpus" / "kids_train.txt.zst")[:len(sentences) // 3]
    plain = [s for s in sentences if not opinion.intersection(s.lower().replace("n't", " not").split() + words(s))]
    examples = []
    for i, sentence in enumerate(rng.sample(plain, count)):
        w = sentence.split()
        if i % 2:
            length = rng.randint(1, len(w) - 1)
            first = rng.randint(0, len(w) - length)
            w = w[first:first + length]
        examples.append(Example(" ".join(w), 1))
    return examples


def sst2(data: Path, part: str) -> list[Example]:
    table = rows(data / "sentiment" / f"sst2_{part}.tsv", skip=1)
    return [Example(text.strip(), 2 * int(label)) for text, label in table]


def tweets(data: Path, part: str) -> list[Example]:
    table = rows(data / "sentiment" / f"tweeteval_sentiment_{part}.tsv")
    return [Example(text.strip(), int(label)) for label, text in table]


def respaced(examples: list[Example]) -> list[Example]:
    return [e._replace(text=natural(e.text)) for e in examples]


def sentiment_held_out(data: Path) -> HeldOut:
    # TweetEval's training text is not in the data folder: its test part trains, its validation part is held out.
    dev = sst2(data, "dev")
    return {"sst2_dev": dev, "sst2_dev_natural": respaced(dev), "sst2_test": sst2(data, "test_labeled"),
            "tweets": tweets(data, "val"), "goemotions": goemotions(data, "test")}


def sentiment(data: Path) -> Task:
    held_out, phrases = sentiment_held_out(data), sst2(data, "train")
    train = without_held_out({"sst2": phrases, "sst2_natural": respaced(phrases), "tweets": tweets(data, "test"),
                              "goemotions": goemotions(data, "train"), "facts": facts(data, 12_000)}, held_out)
    stages = [{"sst2": 100_000, "sst2_natural": 100_000, "tweets": 12_000, "goemotions": 34_000, "facts": 12_000}]
    return Task(LABELS["sentiment"], stages, train, held_out)


# ---- toxicity ----

def split_toxicity(data: Path) -> tuple[HeldOut, HeldOut]:
    """Training and held-out sets. ParaDetox goes by its toxic sentence, which takes its rewrites along."""
    train = {"paradetox": [], "davidson_toxic": [], "davidson_clean": []}
    held_out = {"paradetox": [], "davidson": []}
    for toxic, *neutral in rows(data / "toxicity" / "paradetox.tsv", skip=1):
        examples = [Example(toxic, 1), *(Example(text, 0) for text in neutral if text.strip())]
        (held_out if in_hold_out(toxic) else train)["paradetox"] += examples
    for row in rows(data / "toxicity" / "davidson_labeled.tsv", skip=1):
        example = Example(row[5], int(row[0] != "2"))  # 0 hate speech, 1 offensive language, 2 neither
        if in_hold_out(example.text):
            held_out["davidson"].append(example)
        else:
            train["davidson_toxic" if example.label else "davidson_clean"].append(example)
    # A rewrite may have been given to several sentences; one text counts once, and with one label.
    for name, examples in held_out.items():
        held_out[name] = list({normalised(e.text): e for e in examples}.values())
    return train, held_out


def toxicity(data: Path) -> Task:
    train, held_out = split_toxicity(data)
    obscene = lexicon(data, "ldnoobw_en.txt", "cuss_en.tsv")
    corpus = imdb_sentences(data, "imdb_sentences_train.tsv.zst", odd)
    corpus = [s for s in random.Random("clean").sample(corpus, 20_000) if not obscene.intersection(words(s))]
    train["corpus"] = [Example(s, 0) for s in corpus[:8000]]
    stages = [{"paradetox": 56_000, "davidson_toxic": 18_000, "davidson_clean": 9000, "corpus": 6000}]
    return Task(LABELS["toxicity"], stages, without_held_out(train, held_out), held_out)


# ---- acceptability ----

FUNCTION_WORDS = ("a an the of to in on at by for with from is are was were be been has have had do does did will would "
                  "can could that which who what this these those it he she they him her them his their and but or not "
                  "as than if when while there").split()


def corrupt(sentence: str, kind: str, rng: random.Random, others: list[str]) -> str | None:
    """The sentence spoiled in one way, its closing mark kept; None where that is not possible.

    The marks inside it go first, in `bare`, lest a comma before the full stop give a shuffled sentence away.
    """
    body, mark = bare(sentence)
    w = body.split()
    if len(w) < 5:
        return None
    at = rng.randrange(len(w))
    functional = [i for i, word in enumerate(w) if word.lower() in FUNCTION_WORDS]
    if kind == "shuffled":
        rng.shuffle(w)
    elif kind == "dropped":  # three words in ten, at least two: dropping one word often leaves a good sentence
        gone = set(rng.sample(range(len(w)), max(2, round(0.3 * len(w)))))
        w = [word for i, word in enumerate(w) if i not in gone]
    elif kind == "swapped":
        at = max(1, at)
        w[at - 1], w[at] = w[at], w[at - 1]
    elif kind == "repeated":
        w.insert(at, w[at])
    elif kind == "replaced":
        w[at] = rng.choice(rng.choice(others).split()).strip(".,!?;:")
    elif kind == "function" and functional:
        at = rng.choice(functional)
        w[at:at + 1] = [] if rng.random() < 0.5 else [rng.choice(FUNCTION_WORDS)]
    spoiled = " ".join(w) + mark
    return None if normalised(spoiled) == normalised(sentence) else spoiled


def bare(sentence: str) -> tuple[str, str]:
    """A sentence without the marks between its words, and its closing mark."""
    mark = sentence[-1] if sentence[-1] in ".!?" else ""
    return " ".join(re.sub(r"[^\w' -]|(?<!\w)['-]|['-](?!\w)", " ", sentence).split()), mark


SUBTLE = ("swapped", "repeated", "replaced", "function")


def spoil(sentences: Iterable[str], kinds: tuple[str, ...], rng: random.Random) -> list[Example]:
    """Pairs of a sentence (label 1, `clean`) and a spoiled one (label 0, its kind). Half the good ones lose their marks."""
    sentences = list(sentences)
    examples = []
    for i, sentence in enumerate(sentences):
        kind = kinds[i % len(kinds)]
        bad = corrupt(sentence, kind, rng, sentences)
        if bad:
            good = "".join(bare(sentence)) if rng.random() < 0.5 else sentence
            examples += [Example(good, 1, "clean"), Example(bad, 0, kind)]
    return examples


def corpus_sentences(data: Path, keep: Callable[[int], bool]) -> list[str]:
    sentences = imdb_sentences(data, "imdb_sentences_train.tsv.zst", keep)
    stories = story_sentences(data / "corpus" / "kids_train.txt.zst")[int(keep(1))::2]
    return sentences + stories[:len(sentences) // 2]


def held_out_sentences(data: Path) -> list[str]:
    sentences = imdb_sentences(data, "imdb_sentences_valid.tsv", lambda number: True)
    return sentences[::3][:1500] + story_sentences(data / "corpus" / "kids_valid.txt")[::5][:500]


def blimp(data: Path) -> tuple[list[Example], list[Example]]:
    """Training and held-out pairs: of each linguistic term, the last paradigm in the alphabet is held out."""
    table = rows(data / "blimp" / "blimp.tsv.zst", skip=1)
    last: dict[str, str] = {}
    for paradigm, _, term, *_ in table:
        last[term] = max(last.get(term, ""), paradigm)
    train, held_out = [], []
    for paradigm, _, _, good, bad in table:
        side = held_out if paradigm in last.values() else train
        side += [Example(good, 1, paradigm), Example(bad, 0, paradigm)]
    return train, held_out


def read_cola(data: Path, name: str) -> list[Example]:
    return [Example(row[3], int(row[1])) for row in rows(data / "cola" / name)]


def cola_held_out(data: Path) -> HeldOut:
    return {"in_domain_dev": read_cola(data, "in_domain_dev.tsv"),
            "out_of_domain_dev": read_cola(data, "out_of_domain_dev.tsv"),
            "corpus": spoil(held_out_sentences(data), ("shuffled", "dropped"), random.Random("held out")),
            "blimp": blimp(data)[1]}


def cola(data: Path) -> Task:
    held_out, rng = cola_held_out(data), random.Random("corpus")
    sentences = rng.sample(corpus_sentences(data, odd), 60_000)
    train = without_held_out({"cola": read_cola(data, "in_domain_train.tsv"), "blimp": blimp(data)[0],
                              "corpus": spoil(sentences, ("shuffled", "dropped", *SUBTLE, "dropped", "function"), rng)},
                             held_out)
    stages = [{"cola": 17_000, "blimp": 60_000, "corpus": 70_000}, {"cola": 34_000, "blimp": 14_000, "corpus": 24_000}]
    return Task(LABELS["cola"], stages, train, held_out)


TASKS: dict[str, Callable[[Path], Task]] = {"sentiment": sentiment, "toxicity": toxicity, "cola": cola}
HELD_OUT: dict[str, Callable[[Path], HeldOut]] = {
    "sentiment": sentiment_held_out, "toxicity": lambda data: split_toxicity(data)[1], "cola": cola_held_out}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the data folder")
    parser.add_argument("--out", type=Path, required=True, help="where the held-out sets go (offensive text among them)")
    args = parser.parse_args()
    for name, read in HELD_OUT.items():
        (args.out / name).mkdir(parents=True, exist_ok=True)
        for part, examples in read(args.data).items():
            with open(args.out / name / f"{part}.jsonl", "w") as file:
                for e in examples:
                    file.write(json.dumps({"text": e.text, "label": LABELS[name][e.label], "group": e.group}) + "\n")
            print(name, part, len(examples), flush=True)


if __name__ == "__main__":
    main()
