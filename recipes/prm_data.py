"""What prm-nano learns from: solutions of the generator's problems, right and wrong, by their labels in solutions.py.

They come from three sources. The generator's own (`math_problems.py`), sometimes in another valid order. The same with
a fault put in (`solutions.spoil`): wrong operand, operator or result, a distractor, a skipped or repeated step, an
early end, bad format. And samples of llada-nano-math at several temperatures, which this file draws:

    python prm_data.py sample --model runs/llada-nano-math/best --out runs/prm-nano/samples.jsonl

Run the same command again to resume.
"""

import argparse
import hashlib
import json
import random
import time
from pathlib import Path

import torch
from tokenizers import Tokenizer

import math_tokenizer as mt
from common import choose_precision
from llada import LLaDA, load_hf, rotate
from math_problems import development_set, far_set, final_answer, hardest, test_set, training_templates
from train_llada_math import LENGTH, special_ids


@torch.no_grad()
def cached_decode(model: LLaDA, prompts: list[list[int]], special: dict, temperature: torch.Tensor, generator, *,
                  random_order=False, length=LENGTH, block=8, steps=8) -> list[list[int]]:
    """`llada.block_decode` for bulk: several times as fast, not quite the same law.

    The canvas ends behind the current block (training showed such canvases, too), and within a block keys and values of
    everything before it are kept from the block's first step. A temperature for each row; 0 is greedy. The most
    confident position is revealed first, or with `random_order` any (unless the row is greedy).
    """
    net, mask, stop = model.model["transformer"], special["mask"], special["eot"]
    rows = [list(p) for p in prompts]
    alive = list(range(len(prompts)))
    for _ in range(0, length, block):
        heat = temperature[alive].unsqueeze(1).unsqueeze(2)
        starts = torch.tensor([len(rows[i]) for i in alive])
        width = int(starts.max())
        # The text ends at `width` in every row, so that the block stands in the same columns: filling goes to the front.
        ids = torch.full((len(alive), width + block), mask)
        for at, i in enumerate(alive):
            ids[at, width - len(rows[i]):width] = torch.tensor(rows[i])
        columns = torch.arange(width + block)
        positions = (columns - (width - starts).unsqueeze(1)).clamp(min=0)
        visible = (columns >= (width - starts).unsqueeze(1))[:, None, None, :]
        kept = None
        for step in range(steps):
            at = 0 if kept is None else width
            hidden, kept = run(net, ids[:, at:], model.cos[positions[:, at:]].unsqueeze(1),
                               model.sin[positions[:, at:]].unsqueeze(1), visible, kept, width)
            logits = net["ff_out"](net["ln_f"](hidden[:, -block:])).float()
            logits[..., mask] = -float("inf")
            p = logits.softmax(-1)
            hot = (logits / heat.clamp(min=1e-4)).softmax(-1)
            drawn = torch.multinomial(hot.flatten(0, 1), 1, generator=generator).view(len(alive), block)
            drawn = torch.where(heat.squeeze(2) > 0, drawn, p.argmax(-1))
            canvas = ids[:, width:]
            sure = p.gather(2, drawn.unsqueeze(2)).squeeze(2)
            if random_order:
                sure = torch.where(heat.squeeze(2) > 0, torch.rand(sure.shape, generator=generator), sure)
            sure = sure.masked_fill(canvas != mask, -1.0)
            chosen = sure.topk(block // steps + (step < block % steps), dim=1).indices
            canvas.scatter_(1, chosen, drawn.gather(1, chosen))
        for at, i in enumerate(alive):
            rows[i] += ids[at, width:].tolist()
        alive = [i for i in alive if stop not in rows[i][len(prompts[i]):]]
        if not alive:
            break
    answers = [row[len(p):] for row, p in zip(rows, prompts)]
    return [a[:a.index(stop)] if stop in a else a for a in answers]


def run(net, ids, cos, sin, visible, kept, width):
    """The blocks over `ids`, which follow what `kept` holds of the first `width` columns; (hidden, what to keep)."""
    x, new = net["wte"](ids), []
    for number, layer in enumerate(net["blocks"]):
        batch, count, d = x.shape
        y = layer.attn_norm(x)
        q, k, v = (proj(y).view(batch, count, layer.heads, -1).transpose(1, 2)
                   for proj in (layer.q_proj, layer.k_proj, layer.v_proj))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        if kept is None:
            new.append((k[:, :, :width], v[:, :, :width]))
        else:
            k, v = (torch.cat(pair, dim=2) for pair in zip(kept[number], (k, v)))
        scores = (q @ k.transpose(2, 3) * q.shape[-1] ** -0.5).masked_fill(~visible, -1e4)
        x = x + layer.attn_out((scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, count, d))
        y = layer.ff_norm(x)
        x = x + layer.ff_out(torch.nn.functional.silu(layer.ff_proj(y)) * layer.up_proj(y))
    return x, kept or new


def unavailable() -> set[str]:
    """Questions that no training may see: the test sets and the development set of llada-nano-math."""
    return {p.question for p, _ in test_set() + far_set()} | {p.question for p in development_set(192)}


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def sample(args) -> None:
    """Groups of answers to the same question, one for each temperature. Chunk c depends on (seed, c) alone."""
    torch.set_num_threads(args.threads)
    bf16 = choose_precision(args.precision, args.threads) == "bf16"
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    special = special_ids(tokenizer)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    done = len({line["chunk"] for line in read_lines(args.out)})
    avoid, templates, start = unavailable(), training_templates(), time.time()
    for chunk in range(done, args.chunks):
        # The generator may have become better; its version is noted.
        weights = hashlib.sha1((args.model / "model.safetensors").read_bytes()).hexdigest()[:8]
        model = load_hf(args.model)
        rng = random.Random(f"{args.seed}:{chunk}")
        found = [hardest(rng, templates, rng.choice((1, 4, 20))) for _ in range(args.questions)]
        problems = [{"question": p.question, "answer": p.answer, "template": p.template, "part": "seen"}
                    for p in found if p.question not in avoid]
        cases = [(p, t) for p in problems for t in args.temperatures]
        # Similar lengths together; the order of lines stays that of the questions.
        order = sorted(range(len(cases)), key=lambda i: len(cases[i][0]["question"]))
        texts, generator = [""] * len(cases), torch.Generator().manual_seed(args.seed * 100_003 + chunk)
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            for at in range(0, len(order), args.batch):
                group = order[at:at + args.batch]
                prompts = [tokenizer.encode(mt.chat(cases[i][0]["question"])).ids for i in group]
                heats = torch.tensor([cases[i][1] for i in group])
                drawn = cached_decode(model, prompts, special, heats, generator, random_order=chunk % 2 == 1,
                                      steps=args.steps)
                for i, tokens in zip(group, drawn):
                    texts[i] = tokenizer.decode(tokens, skip_special_tokens=False)
        with open(args.out, "a") as out:  # one write, so that a chunk is there or not
            out.write("".join(json.dumps({"chunk": chunk, "model": weights, "temperature": t, **p, "text": text}) + "\n"
                              for (p, t), text in zip(cases, texts)))
        right = sum(final_answer(text) == final_answer(p["answer"]) for (p, _), text in zip(cases, texts))
        print(json.dumps({"chunk": chunk, "model": weights, "solutions": len(cases), "right": right,
                          "seconds": round(time.time() - start, 1), "cpu": round(time.process_time(), 1)}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=("sample",), help="draw solutions from llada-nano-math")
    parser.add_argument("--model", type=Path, required=True, help="folder of train_llada_math.py")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines")
    parser.add_argument("--chunks", type=int, default=40)
    parser.add_argument("--questions", type=int, default=256, help="per chunk")
    parser.add_argument("--temperatures", type=float, nargs="+", default=[0, 0.7, 1.0, 1.5],
                        help="one solution for each")
    parser.add_argument("--steps", type=int, default=8, help="denoising steps per block of eight")
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=("auto", "f32", "bf16"), default="auto")
    sample(parser.parse_args())


if __name__ == "__main__":
    main()
