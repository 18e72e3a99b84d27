"""Makes tiny.json and pairs.json beside this file, with the Judge of recipes/train_judges.py (run it in recipes/)."""
import json
import sys
from pathlib import Path

sys.path.insert(0, ".")
from train_judges import Example, Judge  # noqa: E402

GOOD = ["A great film, I loved it.", "Great acting and a lovely story!", "It's the best film I have seen.",
        "I loved the music; lovely.", "The best story. Don't miss it!", "A lovely, moving film: great."]
BAD = ["A boring film, I hated it.", "Bad acting and a dull story!", "It's the worst film I've seen.",
       "I hated the music; it's bad.", "The worst story. Don't watch it!", "A dull, boring film: bad."]
TEXTS = GOOD[:2] + BAD[:2] + [
    "", "\u212a \u0130", "film", "FILM FILM film", "I don't love it", "rock'n'roll 'tis it's' a'1 b''c", "@user #tag $$$ & **",
    "\u212aelvin loved \u0130stanbul and \u0130'm", "na\u00efve caf\u00e9 \u65e5\u672c great\U0001f642great", "\u0391\u03a3 \u00df \u017f \ufb01lm",
    "it...was?!bad;:", "80's film, 100% great", "a\tdull\u00a0story\u2028the worst", "I'\u0130 the 'best'", "great" * 40, "bad " * 60]

here = Path(__file__).parent
judge = Judge(["bad", "good"], [1, 2, 3], 0.5, ["a", "film", "great", "i", "it", "the", ",", ".", "80's", "@"])
examples = [Example(text, label) for label, texts in ((0, BAD), (1, GOOD)) for text in texts]
judge.choose(examples, 60, 1)
judge.train(examples, 40, 1e-4, 1)
judge.save(here / "tiny.json")
judge.weights = judge.weights.double()
pairs = [[text, float(score)] for text, score in zip(TEXTS, judge.judge([Example(text, 0) for text in TEXTS]))]
(here / "pairs.json").write_text(json.dumps(pairs, indent=0) + "\n")
