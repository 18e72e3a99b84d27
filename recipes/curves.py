"""Draw training curves from the logs, one SVG per model: losses above, held-out figures below. Print what training took.

    python curves.py --runs RUNS --out ../models/curves
"""

import argparse
import json
from pathlib import Path

# What is drawn: name of the run, losses, event of the log that measures, its figures.
CURVES = {
    "mdlm-nano": (("loss",), "bits_per_character", ("imdb3000", "imdb8000", "imdb20000", "stories")),
    "llada-nano-math": (("loss_exact", "loss_parallel"), "development", ("accuracy", "well_formed")),
    "prm-nano": (("story_verdict", "drill_verdict"), "development", ("auc", "auc_to_first")),
    "sentiment-nano": (("loss",), "held_out", ("sst2_dev_accuracy", "sst2_test_accuracy")),
    "toxicity-nano": (("loss",), "held_out", ("paradetox_balanced_accuracy", "davidson_balanced_accuracy")),
    "cola-nano": (("loss",), "held_out", ("in_domain_dev_mcc", "corpus_accuracy", "blimp_pairs")),
}
COLORS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700")
WIDTH, HEIGHT, LEFT, TOP = 640, 180, 46, 24


def read(path: Path) -> list[dict]:
    """The lines of a log, in the order of updates. A resumed run repeats some: the later ones count."""
    lines = {}
    for text in path.read_text().splitlines():
        line = json.loads(text)
        if "update" in line and line.get("event") != "start":
            lines[line["update"], line.get("event", "")] = line
    return [lines[key] for key in sorted(lines)]


def cost(path: Path) -> str:
    """Updates, tokens and processor hours of all processes that wrote the log; each counts from its own start."""
    sums, now = {"tokens": 0, "cpu": 0}, {}
    lines = [json.loads(text) for text in path.read_text().splitlines()] + [{"event": "start"}]
    for line in lines:
        if line.get("event") == "start":
            sums = {key: sums[key] + now.get(key, 0) for key in sums}
            now = {}
        else:
            now.update({key: line[key] for key in sums if key in line})
    update = max(line.get("update", 0) for line in lines)
    return f"{update} updates, {sums['tokens'] / 1e6:.1f} M tokens, {sums['cpu'] / 3600:.1f} processor hours"


def ticks(low: float, high: float, count: int) -> list[float]:
    return [low + (high - low) * i / count for i in range(count + 1)]


def panel(series: dict[str, list[tuple[float, float]]], last: float, top: int) -> list[str]:
    """One diagram; each series is points (update, value)."""
    values = [y for points in series.values() for _, y in points]
    low, high = min(values), max(values)
    high = high if high > low else low + 1
    x_of = lambda x: LEFT + (WIDTH - LEFT - 10) * x / last
    y_of = lambda y: top + HEIGHT - (HEIGHT - TOP) * (y - low) / (high - low)
    out = [f'<rect x="{LEFT}" y="{top + TOP}" width="{WIDTH - LEFT - 10}" height="{HEIGHT - TOP}" fill="none" stroke="#8888"/>']
    for y in ticks(low, high, 4):
        out.append(f'<text x="{LEFT - 4}" y="{y_of(y) + 4:.1f}" text-anchor="end">{y:.2f}</text>')
    for x in ticks(0, last, 4):
        out.append(f'<text x="{x_of(x):.1f}" y="{top + HEIGHT + 14}" text-anchor="middle">{x:.0f}</text>')
    for i, (name, points) in enumerate(series.items()):
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{COLORS[i]}" stroke-width="1.5"/>')
        out.append(f'<text x="{LEFT + 150 * i}" y="{top + TOP - 8}" fill="{COLORS[i]}">{name}</text>')
    return out


def draw(log: list[dict], losses: tuple, event: str, figures: tuple) -> str:
    series = [{name: [(line["update"], line[name]) for line in log if line.get("event", "") == kind and name in line]
               for name in names} for kind, names in (("", losses), (event, figures))]
    series = [{name: points for name, points in panel_.items() if points} for panel_ in series]
    last = max(line["update"] for line in log)
    parts = [text for i, panel_ in enumerate(series) if panel_ for text in panel(panel_, last, i * (HEIGHT + 30))]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {2 * (HEIGHT + 30)}" font-family="sans-serif" '
            'font-size="11" fill="#888">\n' + "\n".join(parts) + "\n</svg>\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=Path, required=True, help="folder with one folder per model")
    parser.add_argument("--out", type=Path, required=True, help="folder for the SVG files")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, wanted in CURVES.items():
        log = args.runs / name / "log.jsonl"
        if log.exists():
            (args.out / f"{name}.svg").write_text(draw(read(log), *wanted))
            print(f"{name}: {cost(log)}")


if __name__ == "__main__":
    main()
