// What a frame of a run shows: every particle's canvas, value and weight at that time.

import { bestSlot, canvasOf, type Canvas, type Frame, type Moment, type Run, type Weighing } from './record';

export interface ParticleView {
  slot: number;
  canvas: Canvas;
  value: number | null; // null: not valued yet
  weight: number; // normalised
  reference: boolean;
  parent: number | null; // whom it continues, in a frame of resampling
  chosen: boolean;
}

export interface Picture {
  frame: Frame;
  particles: ParticleView[];
  weighing: Weighing | null; // the last one that was seen
  steps: number; // of the whole sweep
}

export function stepsOf(run: Run): number {
  const asked = Number(run.started?.config.diffusion_steps);
  const seen = run.sweeps[0]?.weighings.at(-1)?.step ?? 0;
  return Math.max(Number.isFinite(asked) ? asked : 0, seen, 1);
}

const kNothing: Moment = { before: null, sweep: -1, step: 0, edits: [] };

export function pictureAt(run: Run, index: number): Picture | null {
  const frame = run.frames[index];
  if (!frame) return null;
  const steps = stepsOf(run);
  const sweep = run.sweeps[frame.sweep];
  const weighing = sweep?.weighings[frame.weighing];
  if (!weighing) return { frame, particles: blank(run), weighing: null, steps };

  const k = weighing.values.length;
  const before = frame.weighing > 0 ? sweep.weighings[frame.weighing - 1] : null;
  const particles = Array.from({ length: k }, (_, slot): ParticleView => {
    const view = { slot, parent: null, chosen: false };
    switch (frame.kind) {
      case 'start':
        return { ...view, canvas: canvasOf(run, kNothing), value: null, weight: 1 / k, reference: weighing.reference === slot };
      case 'denoise': {
        const from = before?.parents ? before.parents[slot] : slot;
        return {
          ...view,
          canvas: canvasOf(run, weighing.moments[slot], frame.step),
          value: before ? before.values[from] : null,
          weight: before && !before.parents ? before.weights[slot] : 1 / k,
          reference: weighing.reference === slot,
        };
      }
      case 'weigh':
        return {
          ...view,
          canvas: canvasOf(run, weighing.moments[slot]),
          value: weighing.values[slot],
          weight: weighing.weights[slot],
          reference: weighing.reference === slot,
        };
      case 'resample':
      case 'select': {
        const parent = weighing.parents ? weighing.parents[slot] : slot;
        return {
          slot,
          canvas: canvasOf(run, weighing.moments[parent]),
          value: weighing.values[parent],
          weight: weighing.parents ? 1 / k : weighing.weights[slot],
          reference: weighing.referenceAfter === slot,
          parent: frame.kind === 'resample' ? parent : null,
          chosen: frame.kind === 'select' && sweep.selected?.slot === slot,
        };
      }
    }
  });
  return { frame, particles, weighing: frame.kind === 'denoise' || frame.kind === 'start' ? before : weighing, steps };
}

/** The picture of a run under way: its last frame with what its particles drafted since. */
export function pictureNow(run: Run): Picture | null {
  const last = run.frames.length - 1;
  if (run.drafts.size === 0) return pictureAt(run, last);
  const index = run.sweeps.length - 1;
  const sweep = run.sweeps[index];
  const weighing = sweep.weighings.at(-1) ?? null;
  const step = Math.max(...[...run.drafts.values()].map((d) => d.step));
  const k = weighing?.values.length ?? Math.max(...run.drafts.keys()) + 1;
  const reference = weighing?.referenceAfter ?? -1;
  const particles = Array.from({ length: k }, (_, slot): ParticleView => {
    const from = weighing?.parents ? weighing.parents[slot] : slot;
    return {
      slot,
      canvas: run.drafts.get(slot)?.canvas ?? canvasOf(run, run.particles[slot] ?? kNothing),
      value: weighing ? weighing.values[from] : null,
      weight: weighing && !weighing.parents ? weighing.weights[slot] : 1 / k,
      reference: slot === reference,
      parent: null,
      chosen: false,
    };
  });
  const frame: Frame = { kind: 'denoise', sweep: index, weighing: sweep.weighings.length, step };
  return { frame, particles, weighing, steps: stepsOf(run) };
}

function blank(run: Run): ParticleView[] {
  const k = Math.max(1, Number(run.started?.config.particles) || 1);
  return Array.from({ length: k }, (_, slot) => ({
    slot, canvas: canvasOf(run, kNothing), value: null, weight: 1 / k, reference: false, parent: null, chosen: false,
  }));
}

/** The most promising particle: the one a reader should look at if they look at one only. */
export function leader(picture: Picture): number {
  const chosen = picture.particles.find((p) => p.chosen);
  return chosen ? chosen.slot : bestSlot(picture.particles.map((p) => p.value ?? NaN));
}

/** Slots that lead to `slot` at weighing `from`, back to the sweep's beginning: one for each weighing. */
export function lineage(weighings: Weighing[], from: number, slot: number): number[] {
  const path = [slot];
  for (let w = from - 1; w >= 0; --w) path.unshift(weighings[w].parents ? weighings[w].parents![path[0]] : path[0]);
  return path;
}
