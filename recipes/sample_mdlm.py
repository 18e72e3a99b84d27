"""Samples of an exported mdlm-nano, for the eye: ancestral sampling that reveals a few random positions per step.

    python sample_mdlm.py --model runs/mdlm-nano/best --length 40 --count 10 --prompt "The movie"
"""

import argparse
from pathlib import Path

import torch
from tokenizers import Tokenizer

from bert import load_hf
from mdlm_data import END, MASK


@torch.no_grad()
def sample(model, prompt: list[int], special: dict, count: int, length: int, temperature: float, generator) -> torch.Tensor:
    """One position at a time in random order: the exact law of the process with very many steps."""
    canvas = torch.full((count, length), special["mask"])
    canvas[:, :len(prompt)] = torch.tensor(prompt)
    order = torch.rand(count, length - len(prompt), generator=generator).argsort(1) + len(prompt)
    every = torch.arange(count)
    for position in order.T:
        row = torch.zeros_like(canvas, dtype=torch.bool)
        row[every, position] = True
        logits = model(canvas, rows=row)
        logits[:, special["mask"]] = -1e4
        canvas[every, position] = torch.multinomial((logits / temperature).softmax(-1), 1, generator=generator)[:, 0]
    return canvas


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="folder with config.json, tokenizer.json, weights")
    parser.add_argument("--prompt", default="", help="how the text begins")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--length", type=int, default=40, help="tokens, with the opening end token")
    parser.add_argument("--temperature", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = Tokenizer.from_file(str(args.model / "tokenizer.json"))
    special = {"end": tokenizer.token_to_id(END), "mask": tokenizer.token_to_id(MASK)}
    model = load_hf(args.model)
    prompt = [special["end"], *tokenizer.encode(args.prompt).ids]
    generator = torch.Generator().manual_seed(args.seed)
    for row in sample(model, prompt, special, args.count, args.length, args.temperature, generator):
        text = tokenizer.decode(row.tolist()[1:], skip_special_tokens=False)
        print("-", text.split(END)[0].strip())


if __name__ == "__main__":
    main()
