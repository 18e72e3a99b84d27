"""Train llada-nano-math from scratch on generated word problems.

Two kinds of batches. *Exact* ones show the network what block decoding will show it: the prompt, the answer's earlier
blocks, one partly masked block, and nothing but masks behind it. Only that block carries loss, so the signal is thin.
*Parallel* ones train all blocks of an answer at once: a clean copy of the answer, and a noised copy whose every block
sees the prompt, the clean blocks before it, and itself. They carry several times as much loss per token, though their
attention pattern is not quite that of decoding; so training begins with mostly parallel batches and ends with
exact ones only. Problems start with two steps and grow to six.

    python train_llada_math.py --out runs/llada-nano-math

Run the same command again to resume. The best weights so far (moving average, by accuracy on a development set) are
kept in OUT/best as a Hugging Face folder.
"""

import argparse
import json
import random
from pathlib import Path

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import math_tokenizer as mt
from common import (Average, Log, choose_precision, learning_rate, load_checkpoint, muon_and_adam, save_checkpoint,
                    take_step)
from llada import CONFIG, LLaDA, block_decode, save_hf
from math_problems import (LARGEST, development_set, far_set, final_answer, generate, test_set, training_templates,
                           well_formed)

LENGTH = 64  # tokens of an answer's canvas
BLOCKS = (8, 8, 8, 4, 16, 32)  # block lengths seen in training; 8 is one step of a solution
DECODING = {"process": "llada", "steps": LENGTH, "block_length": 8, "temperature": 0.0}


def special_ids(tokenizer: Tokenizer) -> dict:
    return {"bos": tokenizer.token_to_id(mt.BOS), "eos": tokenizer.token_to_id(mt.EOS),
            "mask": tokenizer.token_to_id(mt.MASK), "eot": tokenizer.token_to_id(mt.EOT)}


def number_features(d: int) -> torch.Tensor:
    """Waves of several periods for every number: what networks that add end up learning (Nanda et al. 2023)."""
    n = torch.arange(LARGEST + 1).float().unsqueeze(1)
    periods = torch.tensor([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 20, 25, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256,
                            320, 400, 500, 640, 800, 1000, 1200])
    waves = torch.cat([(2 * torch.pi * n / periods).cos(), (2 * torch.pi * n / periods).sin()], dim=1)
    features = torch.zeros(LARGEST + 1, d)
    features[:, :waves.shape[1]] = waves[:, :d]
    return features


def begin_with_waves(model: LLaDA, tokenizer: Tokenizer) -> None:
    net = model.model["transformer"]
    ids = torch.tensor([tokenizer.token_to_id(f"{mt.SPACE}{n}") for n in range(LARGEST + 1)])
    features = number_features(model.config["d_model"])
    with torch.no_grad():
        net["wte"].weight[ids] += 0.2 * features
        net["ff_out"].weight[ids] += 0.07 * features


class Data:
    """Problems as tokens. What update number u sees depends on (seed, u) alone, so resuming changes nothing."""

    def __init__(self, tokenizer: Tokenizer, special: dict, avoid: set[str]):
        self.tokenizer, self.special, self.avoid = tokenizer, special, avoid
        self.templates = training_templates()

    def problems(self, rng: random.Random, count: int, max_steps: int):
        """Problems of about the same length: one of four buckets of a larger draw."""
        found = []
        while len(found) < 4 * count:
            problem = generate(rng, self.templates, max_steps=max_steps)
            if problem.question not in self.avoid:
                found.append(problem)
        prompts = self.tokenizer.encode_batch([mt.chat(p.question) for p in found])
        answers = self.tokenizer.encode_batch([p.answer for p in found])
        eot, eos = self.special["eot"], self.special["eos"]
        cases = [(p.ids, (a.ids + [eot] + [eos] * LENGTH)[:LENGTH], len(a.ids) + 1) for p, a in zip(prompts, answers)]
        cases.sort(key=lambda case: len(case[0]) + case[2])
        bucket = rng.randrange(4) * count
        return cases[bucket:bucket + count]

    def exact(self, rng: random.Random, count: int, max_steps: int):
        """(ids, targets, weights): canvases as block decoding meets them, all equally long by their tail of masks."""
        mask = self.special["mask"]
        block = rng.choice(BLOCKS)
        cases = []
        for prompt, answer, used in self.problems(rng, count, max_steps):
            last = (used - 1) // block
            at = rng.randint(0, last) if rng.random() < 0.97 else rng.randint(0, LENGTH // block - 1)
            cases.append((prompt, answer, at * block))
        # A full canvas is what decoding starts from; a cut one costs less and teaches the same.
        tail = LENGTH if rng.random() < 0.3 else 0
        width = max(len(prompt) + max(tail, first + block) for prompt, _, first in cases)
        ids, targets = torch.full((count, width), mask), torch.full((count, width), -1)
        weights = torch.zeros(count, width)
        for row, (prompt, answer, first) in enumerate(cases):
            known = prompt + answer[:first + block]
            ids[row, :len(known)] = torch.tensor(known)
            hide = [len(prompt) + first + i for i in rng.sample(range(block), rng.randint(1, block))]
            targets[row, hide] = ids[row, hide]
            ids[row, hide] = mask
            weights[row, hide] = 1 / len(hide)
        return ids, targets, weights, None, None

    def parallel(self, rng: random.Random, count: int, max_steps: int):
        """All blocks at once: [prompt | clean answer | noised answer], see the head of this file."""
        mask = self.special["mask"]
        block = rng.choice(BLOCKS)
        cases = []
        for prompt, answer, used in self.problems(rng, count, max_steps):
            cases.append((prompt, answer[:-(-used // block) * block]))
        width = max(len(prompt) + 2 * len(answer) for prompt, answer in cases)
        ids, targets = torch.full((count, width), mask), torch.full((count, width), -1)
        weights, positions = torch.zeros(count, width), torch.zeros(count, width, dtype=torch.long)
        # Each token has a rank: prompt 0, clean block b is b + 1, filling is out of reach. A noised token of block b
        # sees the clean ranks up to b and its own block.
        rank, group = torch.full((count, width), 99), torch.full((count, width), -1)
        sees = torch.zeros(count, width, dtype=torch.long)
        for row, (prompt, answer) in enumerate(cases):
            p, a = len(prompt), len(answer)
            number = torch.arange(a) // block
            ids[row, :p + 2 * a] = torch.tensor(prompt + answer + answer)
            positions[row, :p + a] = torch.arange(p + a)
            positions[row, p + a:p + 2 * a] = torch.arange(p, p + a)
            rank[row, :p] = 0
            rank[row, p:p + a] = sees[row, p:p + a] = number + 1
            sees[row, p + a:p + 2 * a] = number
            group[row, p + a:p + 2 * a] = number
            for b in range(a // block):
                hide = [p + a + b * block + i for i in rng.sample(range(block), rng.randint(1, block))]
                targets[row, hide] = ids[row, hide]
                ids[row, hide] = mask
                weights[row, hide] = 1 / len(hide)
        visible = (rank.unsqueeze(1) <= sees.unsqueeze(2)) | (
            (group.unsqueeze(1) == group.unsqueeze(2)) & (group.unsqueeze(1) >= 0))
        return ids, targets, weights, positions, visible.unsqueeze(1)


def evaluate(model: LLaDA, tokenizer: Tokenizer, special: dict, problems: list, batch: int = 64) -> dict:
    """Greedy block decoding, one token per step."""
    right = formed = 0
    problems = sorted(problems, key=lambda p: len(p.question))
    for at in range(0, len(problems), batch):
        group = problems[at:at + batch]
        prompts = [e.ids for e in tokenizer.encode_batch([mt.chat(p.question) for p in group])]
        for problem, tokens in zip(group, block_decode(model, prompts, special, length=LENGTH)):
            text = tokenizer.decode(tokens, skip_special_tokens=False)
            formed += well_formed(text)
            right += final_answer(text) == problem.result
    return {"accuracy": right / len(problems), "well_formed": formed / len(problems)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoint, log and exported weights")
    parser.add_argument("--updates", type=int, default=30_000)
    parser.add_argument("--tokens", type=int, default=4096, help="tokens per update, roughly")
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--warmup", type=int, default=200)
    parser.add_argument("--easy", type=int, default=2000, help="updates until six-step problems appear")
    parser.add_argument("--parallel", type=float, default=0.9, help="share of parallel batches at the beginning")
    parser.add_argument("--parallel-until", type=float, default=0.6, help="part of training after which all are exact")
    parser.add_argument("--d-model", type=int, default=CONFIG["d_model"])
    parser.add_argument("--layers", type=int, default=CONFIG["n_layers"])
    parser.add_argument("--heads", type=int, default=CONFIG["n_heads"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--precision", choices=("auto", "f32", "bf16"), default="auto")
    parser.add_argument("--compile", action=argparse.BooleanOptionalAction, default=True,
                        help="fuse the small operations (needs a C++ compiler; about twice as fast)")
    parser.add_argument("--checkpoint-every", type=int, default=200)
    parser.add_argument("--evaluate-every", type=int, default=1000)
    parser.add_argument("--development", type=int, default=192, help="problems in the development set")
    args = parser.parse_args()

    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    bf16 = choose_precision(args.precision, args.threads) == "bf16"

    tokenizer_path = args.out / "tokenizer.json"
    if not tokenizer_path.exists():
        tokenizer_path.write_text(json.dumps(mt.build(), ensure_ascii=False, indent=1))
    tokenizer = Tokenizer.from_file(str(tokenizer_path))
    special = special_ids(tokenizer)
    development = development_set(args.development)
    avoid = {p.question for p in development} | {p.question for p, _ in test_set() + far_set()}
    data = Data(tokenizer, special, avoid)

    vocabulary = -(-tokenizer.get_vocab_size() // 64) * 64
    model = LLaDA({**CONFIG, "d_model": args.d_model, "n_layers": args.layers, "n_heads": args.heads,
                   "mlp_hidden_size": 3 * args.d_model, "vocab_size": vocabulary})
    begin_with_waves(model, tokenizer)
    optimizers = muon_and_adam(model, ".blocks.", args.lr, bf16)
    average = Average(model, decay=0.999)

    checkpoint = args.out / "checkpoint.pt"
    state = load_checkpoint(checkpoint, model, average, optimizers)
    start, best = state.get("update", 0), state.get("best", -1.0)

    network = torch.compile(model, dynamic=True) if args.compile else model
    log = Log(args.out / "log.jsonl")
    log.write(event="start", update=start, parameters=sum(p.numel() for p in model.parameters()), bf16=bf16,
              **{k: str(v) for k, v in vars(args).items()})
    sums = {"exact": [0.0, 0], "parallel": [0.0, 0]}
    seen_tokens = 0
    for update in range(start, args.updates):
        rng = random.Random(f"{args.seed}:{update}")
        max_steps = min(6, 2 + 4 * update // max(1, args.easy))
        share = args.parallel * max(0.0, 1 - update / (args.parallel_until * args.updates))
        kind = "parallel" if rng.random() < share else "exact"
        count = args.tokens // (128 if kind == "parallel" else 96)
        ids, targets, weights, positions, visible = getattr(data, kind)(rng, count, max_steps)
        rows = targets >= 0
        with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
            logits = network(ids, rows=rows, positions=positions, visible=visible)
        losses = F.cross_entropy(logits, targets[rows], reduction="none")
        loss = (losses * weights[rows]).sum() / weights.sum()

        lr = learning_rate(update, args.lr, args.warmup, args.updates)
        take_step(loss, model, optimizers, lr)
        average.update(model, update)

        sums[kind][0] += loss.item()
        sums[kind][1] += 1
        seen_tokens += ids.numel()
        done = update + 1
        if done % 100 == 0:
            log.write(update=done, max_steps=max_steps, lr=round(lr, 6), tokens=seen_tokens,
                      **{f"loss_{k}": round(total / n, 4) for k, (total, n) in sums.items() if n})
            sums = {"exact": [0.0, 0], "parallel": [0.0, 0]}
        if done % args.evaluate_every == 0 or done == args.updates:
            average.swap(model)
            with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
                scores = evaluate(model, tokenizer, special, development)
            if scores["accuracy"] > best:
                best = scores["accuracy"]
                save_hf(model, args.out / "best", tokenizer_path.read_text(), special, DECODING, mt.CHAT_TEMPLATE)
            average.swap(model)
            log.write(update=done, event="development", best=best, **scores)
        if done % args.checkpoint_every == 0 or done == args.updates:
            save_checkpoint(checkpoint, model=model.state_dict(), average=average.weights, update=done, best=best,
                            optimizers=[optimizer.state_dict() for optimizer in optimizers])


if __name__ == "__main__":
    main()
