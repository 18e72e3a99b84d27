"""What the three judges learn from and are measured on. No judge sees a labelled text of its classifier.

    sentiment      ratings of IMDB reviews (the classifier: SST-2, tweets, Reddit comments)
    toxicity       TweetEval offensive, Surge comments, word lists (the classifier: ParaDetox, Davidson)
    acceptability  spoiled IMDB and story sentences of the other half, JFLEG's corrections (the classifier: CoLA, BLiMP)
"""

import csv
import random
import re
from pathlib import Path
from typing import Callable, NamedTuple

import classifier_data
from classifier_data import SUBTLE, Example, corpus_sentences, even, rows, spoil, without_held_out

WORD = r"[a-z0-9]+(?:'[a-z]+)?|[*#@$&]+|[.,!?;:]"
HeldOut = dict[str, list[Example]]


def number(review: str) -> int:
    return int(re.sub(r"\D", "", review))


def rated(table: list[list[str]], stars: int, keep: Callable[[int], bool]) -> list[Example]:
    return [Example(r[-1], int(int(r[stars]) > 5)) for r in table if int(r[stars]) and keep(number(r[0]))]


def sentiment_held_out(data: Path) -> HeldOut:
    sst2 = classifier_data.HELD_OUT["sentiment"](data)
    corpus = data / "corpus"
    return {"imdb_reviews": rated(rows(corpus / "imdb_short.tsv.zst"), 1, lambda n: n % 50 == 7),
            "imdb_sentences": rated(rows(corpus / "imdb_sentences_valid.tsv"), 2, lambda n: True),
            **{name: [Example(e.text, e.label // 2) for e in sst2[name]] for name in ("sst2_dev_natural", "sst2_test")}}


def sentiment_train(data: Path, held_out: HeldOut) -> list[Example]:
    """Short reviews and single sentences of the even-numbered reviews, by the review's stars (weak for a sentence)."""
    reviews = rated(rows(data / "corpus" / "imdb_short.tsv.zst"), 1, even)
    sentences = rated(rows(data / "corpus" / "imdb_sentences_train.tsv.zst"), 2, even)
    return without_held_out({"all": 3 * reviews + sentences}, held_out)["all"]


def offensive_tweets(data: Path, part: str) -> list[Example]:
    return [Example(text, int(label)) for label, text in rows(data / "toxicity" / f"tweeteval_offensive_{part}.tsv")]


def toxicity_held_out(data: Path) -> HeldOut:
    return {"tweeteval_offensive_test": offensive_tweets(data, "test"), **classifier_data.HELD_OUT["toxicity"](data)}


def toxicity_train(data: Path, held_out: HeldOut) -> list[Example]:
    with open(data / "toxicity" / "surge_toxicity_en.csv", newline="") as file:
        surge = [Example(row["text"], int(row["is_toxic"] == "Toxic")) for row in csv.DictReader(file)]
    obscene = {word for word in (data / "lexicons" / "ldnoobw_en.txt").read_text().split("\n") if word}
    obscene |= {word for word, sure in rows(data / "lexicons" / "cuss_en.tsv") if sure == "2"}
    # Clean text of the kind our models write, from reviews the classifiers have not seen; and a listed word spoils it.
    rng = random.Random("judge")
    corpus = rng.sample(corpus_sentences(data, even), 20_000)
    clean = [s for s in corpus if not obscene.intersection(re.findall(WORD, s.lower()))][:12_000]
    listed = []
    for sentence in clean:
        w = sentence.split()
        w.insert(rng.randrange(len(w)), rng.choice(sorted(obscene)))
        listed.append(Example(" ".join(w), 1))
    tweets = offensive_tweets(data, "train") + offensive_tweets(data, "val")
    return without_held_out({"all": tweets + 3 * surge + listed + [Example(s, 0) for s in clean]}, held_out)["all"]


def jfleg(data: Path, part: str) -> list[Example]:
    """Pairs of a correction and the learner's sentence, where they differ."""
    columns = [read.split("\n") for read in ((data / "jfleg" / f"{part}.{name}").read_text()
                                             for name in ("src", "ref0", "ref1", "ref2", "ref3"))]
    pairs = ((good.strip(), bad.strip()) for bad, *references in zip(*columns) for good in references)
    return [e for good, bad in pairs if good and good != bad for e in (Example(good, 1), Example(bad, 0))]


def acceptability_held_out(data: Path) -> HeldOut:
    cola = classifier_data.HELD_OUT["cola"](data)
    return {"corpus": cola["corpus"], "jfleg_test": jfleg(data, "test"),
            **{name: cola[name] for name in ("in_domain_dev", "out_of_domain_dev", "blimp")}}


def clean_sentences(data: Path, rng: random.Random) -> list[str]:
    return rng.sample(corpus_sentences(data, even), 100_000)


def acceptability_train(data: Path, held_out: HeldOut) -> list[Example]:
    rng = random.Random("judge")
    kinds = ("shuffled", "dropped", *SUBTLE, "dropped", "function")
    spoiled = spoil(clean_sentences(data, rng), kinds, rng)
    return without_held_out({"all": spoiled + 2 * jfleg(data, "dev")}, held_out)["all"]


class JudgeData(NamedTuple):
    labels: list[str]
    held_out: Callable[[Path], HeldOut]
    train: Callable[[Path, HeldOut], list[Example]]


JUDGES = {"sentiment": JudgeData(["negative", "positive"], sentiment_held_out, sentiment_train),
          "toxicity": JudgeData(["neutral", "toxic"], toxicity_held_out, toxicity_train),
          "acceptability": JudgeData(["unacceptable", "acceptable"], acceptability_held_out, acceptability_train)}
