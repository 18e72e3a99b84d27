// The numbers of a run by weighing, all sweeps one after the other.

import type { Run, Sweep, Weighing } from './record';

export interface Curves {
  best: number[];
  mean: number[]; // by weight
  ess: number[];
  distinct: number[];
  ends: number[]; // index of the first weighing after each sweep
  particles: number;
}

export function curvesOf(run: Run): Curves {
  const curves: Curves = { best: [], mean: [], ess: [], distinct: [], ends: [], particles: 1 };
  for (const sweep of run.sweeps) {
    for (const w of sweep.weighings) {
      curves.best.push(Math.max(...w.values.filter((v) => !Number.isNaN(v))));
      curves.mean.push(mean(w));
      curves.ess.push(w.ess);
      curves.distinct.push(w.distinct);
      curves.particles = Math.max(curves.particles, w.values.length);
    }
    curves.ends.push(curves.best.length);
  }
  return curves;
}

function mean(w: Weighing): number {
  let sum = 0;
  w.values.forEach((value, slot) => {
    if (w.weights[slot] > 0) sum += w.weights[slot] * value;
  });
  return sum;
}

/** A sweep that has ended, in numbers. */
export function summary(sweep: Sweep) {
  const last = sweep.weighings.at(-1)!;
  return {
    particles: last.values.length,
    best: Math.max(...last.values.filter((v) => !Number.isNaN(v))),
    drawn: sweep.selected!.reward,
    kept: sweep.selected!.kept,
    lowestEss: Math.min(...sweep.weighings.map((w) => w.ess)),
    ess: last.ess,
    distinct: last.distinct,
  };
}
