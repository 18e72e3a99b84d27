"""What PyTorch makes of a trained model, for tests/parity/trained_test.cpp to compare the engine with.

    python reference_outputs.py sentiment-nano --model RUNS/sentiment-nano/final    # tests/data/trained/NAME.json

The model is the Hugging Face folder that the recipe saved and `pgdlm convert` read. It runs in float64, so what differs
is the engine's. Rows are real text: sentences for the classifiers, partly masked ones for mdlm-nano, problems with a
partly masked block for llada-nano-math, pages with right and wrong solutions for prm-nano.
"""

import argparse
import hashlib
import json
import random
from pathlib import Path

import torch
from tokenizers import Tokenizer

import bert
import llada
import math_tokenizer as mt
import mdlm_data
import qwen2
from solutions import spoil
from train_prm import Pages

HERE = Path(__file__).resolve().parent
TOP = 40  # logits of each position that are written
TEXTS = [
    "Great!",
    "The movie was not what I expected, but the ending is wonderful.",
    "I can't believe how boring this was; two hours of my life that I will never get back.",
    "She walked slowly to the old house, opened the door and looked into the dark room.",
    "What an idiot. Nobody wants to hear your stupid opinion, so shut up and go away!",
    "Him house the quickly of were going to dog an.",
    "The café in Zürich sells 3.50 € coffee (it's naïve to think it's cheap) -- see www.example.org/menu?x=1 & @you.",
    "Once upon a time there was a little girl who lived near the forest with her grandmother. Every morning she went to "
    "the well, and every evening she sat by the fire and listened to the stories of the long winters, of wolves and of "
    "kings, until one day a letter came from the city, and nothing was ever the same again, although the well, the "
    "fire and the stories all stayed where they had always been.",
]


def rounded(values) -> list[float]:
    return [round(v, 5) for v in values]


def positions(logits: torch.Tensor, at: list[int]) -> list[dict]:
    """Of each wanted position the largest logits, and the logarithm of the sum of all their exponentials."""
    out = []
    for i in at:
        best = logits[i].topk(TOP)
        out.append({"at": i, "logsumexp": round(logits[i].logsumexp(0).item(), 5), "ids": best.indices.tolist(),
                    "logits": rounded(best.values.tolist())})
    return out


# Each of these gives the rows, and texts with their tokens: alone, and with what the model expects around a text.
# (llada-nano-math and prm-nano expect a template instead.)

def classifier(folder: Path) -> tuple[list, list]:
    tokenizer, model = load_tokenizer(folder), bert.load_classifier(folder).eval().double()
    cases = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        logits = model(torch.tensor([ids]), torch.ones(1, len(ids), dtype=torch.bool))
        cases.append({"tokens": ids, "logits": rounded(logits[0].tolist())})
    return cases, [{**plain(tokenizer, text), "framed": tokenizer.encode(text).ids} for text in TEXTS]


def mdlm(folder: Path) -> tuple[list, list]:
    tokenizer, model = load_tokenizer(folder), bert.load_hf(folder).double()
    end, mask = tokenizer.token_to_id(mdlm_data.END), tokenizer.token_to_id(mdlm_data.MASK)
    rng, cases = random.Random(0), []
    for number, text in enumerate(TEXTS):
        ids = [end, *tokenizer.encode(text).ids[:mdlm_data.LONGEST - 2], end]
        hidden = sorted(rng.sample(range(1, len(ids)), max(1, round((len(ids) - 1) * (number + 1) / (len(TEXTS) + 1)))))
        ids = [mask if i in hidden else token for i, token in enumerate(ids)]
        asked = sorted(rng.sample(hidden, min(4, len(hidden))) + [0])
        cases.append({"tokens": ids, "positions": positions(model(torch.tensor([ids]))[0], asked)})
    return cases, [{**plain(tokenizer, text), "framed": [end, *tokenizer.encode(text).ids]} for text in TEXTS]


def math_problems(count: int) -> list[dict]:
    lines = (HERE.parent / "models" / "tasks" / "math.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[::len(lines) // count][:count]]


def llada_math(folder: Path) -> tuple[list, list]:
    """Canvases as block decoding meets them: earlier blocks are there, one is half there, the rest is masked."""
    tokenizer, model = load_tokenizer(folder), llada.load_hf(folder).double()
    mask, end = tokenizer.token_to_id(mt.MASK), tokenizer.token_to_id(mt.EOT)
    rng, cases, problems = random.Random(0), [], math_problems(8)
    for number, problem in enumerate(problems):
        prompt = tokenizer.encode(mt.chat(problem["question"])).ids
        answer = [*tokenizer.encode(problem["answer"]).ids, end]
        block = 8 * (number % (len(answer) // 8))
        hidden = sorted(rng.sample(range(block, block + 8), 1 + number % 8))
        canvas = [mask if i in hidden or i >= block + 8 else (answer + [mask] * 64)[i] for i in range(64)]
        asked = [len(prompt) + i for i in sorted({*hidden[:3], block, 63})]
        ids = prompt + canvas
        cases.append({"tokens": ids, "question": problem["question"], "prompt": len(prompt),
                      "positions": positions(model(torch.tensor([ids]))[0], asked)})
    return cases, [plain(tokenizer, text) for p in problems[:4] for text in (p["question"], p["answer"])]


def prm(folder: Path) -> tuple[list, list]:
    pages, model = Pages(load_tokenizer(folder)), qwen2.load_hf(folder).double()
    rng, cases, problems = random.Random(0), [], math_problems(8)
    for number, problem in enumerate(problems):
        answer = spoil(rng, problem["question"], problem["answer"]) if number % 2 else problem["answer"]
        ids = pages.prompt(problem["question"]) + pages.solution(answer)[0]
        row = torch.tensor([ids])
        order = torch.arange(len(ids))
        p = model.score(model(row, order[None], (order[None] <= order[:, None])[None])).softmax(-1)[0, :, 1]
        cases.append({"tokens": ids, "question": problem["question"], "answer": answer,
                      "steps": rounded(p[row[0] == pages.special["mark"]].tolist())})
    return cases, [plain(pages.tokenizer, text) for p in problems[:4] for text in (p["question"], p["answer"])]


def plain(tokenizer: Tokenizer, text: str) -> dict:
    return {"text": text, "ids": tokenizer.encode(text, add_special_tokens=False).ids}


def load_tokenizer(folder: Path) -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


MODELS = {"mdlm-nano": mdlm, "llada-nano-math": llada_math, "prm-nano": prm,
          **{f"{task}-nano": classifier for task in ("sentiment", "toxicity", "cola")}}


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", choices=MODELS)
    parser.add_argument("--model", type=Path, required=True, help="the Hugging Face folder")
    parser.add_argument("--out", type=Path, default=HERE.parent / "tests" / "data" / "trained", help="folder")
    args = parser.parse_args()
    torch.set_num_threads(1)
    cases, texts = MODELS[args.name](args.model)
    weights = hashlib.sha256((args.model / "model.safetensors").read_bytes()).hexdigest()
    said = {"model": args.name, "weights_sha256": weights, "cases": cases, "texts": texts}
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / f"{args.name}.json").write_text(json.dumps(said, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{args.name}: {len(cases)} rows, {(args.out / f'{args.name}.json').stat().st_size} bytes")


if __name__ == "__main__":
    main()
