"""What all training recipes share: choosing a precision, the optimizer, moving averages, checkpoints, logs."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import torch

# A timing run in a child process. On processors without bf16 units autocast can be a hundred times slower, and on some
# virtual machines it even dies of an illegal instruction, which must not take the training with it. Time is processor
# time, because the training shares its machine with other work.
PROBE = """
import resource, sys, time, torch
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
torch.set_num_threads(int(sys.argv[1]))
layers = torch.nn.Sequential(*[torch.nn.Linear(384, 384, bias=False) for _ in range(4)])
x = torch.randn(4096, 384)
def once():
    with torch.autocast("cpu", torch.bfloat16, enabled=sys.argv[2] == "bf16"):
        loss = layers(x).float().square().mean()
    loss.backward()
once()
start = time.process_time()
for _ in range(5): once()
print((time.process_time() - start) / 5)
"""


def choose_precision(wanted: str, threads: int) -> str:
    """"f32" or "bf16". With "auto" both are timed, and bf16 is taken only if it is clearly faster."""
    if wanted != "auto":
        return wanted
    seconds = {}
    for name in ("f32", "bf16"):
        try:
            run = subprocess.run([sys.executable, "-c", PROBE, str(threads), name], capture_output=True, text=True,
                                 env={**os.environ, "LD_PRELOAD": PRELOAD})
            seconds[name] = float(run.stdout)
        except ValueError:
            seconds[name] = float("inf")  # it crashed, or is too slow to be of use
    choice = "bf16" if seconds["bf16"] < 0.8 * seconds["f32"] else "f32"
    print(f"precision probe: f32 {seconds['f32']:.4f} s, bf16 {seconds['bf16']:.4f} s -> {choice}", flush=True)
    return choice


# A preloaded library may remove itself from the environment; PGDLM_PRELOAD lets the probe run as this process does.
PRELOAD = os.environ.get("PGDLM_PRELOAD", os.environ.get("LD_PRELOAD", ""))


class Muon(torch.optim.Optimizer):
    """Momentum whose update is orthogonalised (Jordan et al. 2024), for the weight matrices inside the blocks.

    Scaled as in Moonlight (Liu et al. 2025), so that a step has the size of an AdamW step and both can share one
    learning rate.
    """

    def __init__(self, parameters, lr, momentum=0.95, weight_decay=0.05, dtype=torch.float32):
        super().__init__(parameters, dict(lr=lr, momentum=momentum, weight_decay=weight_decay))
        self.dtype = dtype  # of the orthogonalisation only, which is not sensitive to rounding

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            shapes = {}
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state["momentum"] = torch.zeros_like(p)
                m = state["momentum"].lerp_(p.grad, 1 - group["momentum"])
                shapes.setdefault(p.shape, []).append((p, p.grad.lerp(m, group["momentum"])))
            for shape, pairs in shapes.items():
                updates = orthogonalise(torch.stack([g for _, g in pairs]).to(self.dtype))
                for (p, _), update in zip(pairs, updates):
                    p.mul_(1 - group["lr"] * group["weight_decay"])
                    p.add_(update, alpha=-group["lr"] * 0.2 * max(shape) ** 0.5)


def orthogonalise(g: torch.Tensor) -> torch.Tensor:
    """Newton-Schulz iteration towards the nearest semi-orthogonal matrices (singular values land near 1)."""
    x = g / (g.norm(dim=(1, 2), keepdim=True) + 1e-7)
    tall = x.shape[1] > x.shape[2]
    x = x.mT if tall else x
    for _ in range(5):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.mT if tall else x


class Average:
    """Exponential moving average of the weights; smoother than the last step, so it is what gets evaluated and saved."""

    def __init__(self, model: torch.nn.Module, decay: float):
        self.decay = decay
        self.weights = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self, model: torch.nn.Module, step: int) -> None:
        decay = min(self.decay, (1 + step) / (10 + step))  # short memory at first
        with torch.no_grad():
            torch._foreach_lerp_(list(self.weights.values()), [p.detach() for p in model.parameters()], 1 - decay)

    def swap(self, model: torch.nn.Module) -> None:
        """Exchange the model's weights with the averages; call twice to get back."""
        with torch.no_grad():
            for name, p in model.named_parameters():
                mine = self.weights[name].clone()
                self.weights[name].copy_(p)
                p.copy_(mine)


def learning_rate(step: int, peak: float, warmup: int, total: int, decay_share: float = 0.25) -> float:
    """Warm up, hold, then fall linearly to 2 % over the last part (extend `total` to train on before the fall)."""
    up = min(1.0, (step + 1) / warmup)
    down = min(1.0, max(0.02, (total - step) / (decay_share * total)))
    return peak * up * down


def save_checkpoint(path: Path, **state) -> None:
    """Write beside, then rename: an interrupted save never destroys the last good checkpoint."""
    temporary = path.with_suffix(".tmp")
    torch.save(state, temporary)
    temporary.replace(path)


def load_checkpoint(path: Path, model: torch.nn.Module, average: Average, optimizers: list) -> dict:
    """Everything is put back into its place; what else was saved is returned: nothing if there is no checkpoint."""
    if not path.exists():
        return {}
    state = torch.load(path, weights_only=True)
    model.load_state_dict(state.pop("model"))
    average.weights = state.pop("average")
    for optimizer, saved in zip(optimizers, state.pop("optimizers")):
        optimizer.load_state_dict(saved)
    return state


def muon_and_adam(model: torch.nn.Module, layers: str, lr: float, bf16: bool) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of the layers, whose names have `layers` in them, AdamW for the rest."""
    inside = lambda name, p: p.ndim == 2 and layers in name
    matrices = [p for name, p in model.named_parameters() if inside(name, p)]
    others = [p for name, p in model.named_parameters() if not inside(name, p)]
    return [Muon(matrices, lr=lr, dtype=torch.bfloat16 if bf16 else torch.float32),
            torch.optim.AdamW(others, lr=lr, betas=(0.9, 0.98), weight_decay=0.0, fused=True)]


def take_step(loss: torch.Tensor, model: torch.nn.Module, optimizers: list, lr: float) -> None:
    """One update with clipped gradients."""
    for optimizer in optimizers:
        optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for optimizer in optimizers:
        for group in optimizer.param_groups:
            group["lr"] = lr
        optimizer.step()


class Log:
    """One JSON object per line, with the seconds (of the clock and of the processor) since this process started."""

    def __init__(self, path: Path):
        self.file = open(path, "a", buffering=1)
        self.start = time.time()

    def write(self, **fields) -> None:
        line = json.dumps({**fields, "seconds": round(time.time() - self.start, 1),
                           "cpu": round(time.process_time(), 1)})
        self.file.write(line + "\n")
        print(line, flush=True)
