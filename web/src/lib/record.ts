// A run as its events tell it, for live runs and saved traces alike. Nothing here knows of the screen.
//
// Canvases are not stored: a particle is the end of a chain of moments, each with the edits that led to it, and a canvas
// is made by walking the chain. A reference that lives on in the next sweep is its old chain, so the tokens it brings
// along still know the sweep and the step that revealed them.

import { toNumber, type Drafted, type Edit, type EngineEvent, type Resampled, type RunFinished, type RunStarted, type Selected, type Spent, type Weighed } from './events';

export interface Moment {
  before: Moment | null;
  sweep: number;
  step: number; // denoising steps done
  edits: Edit[]; // since the moment before
}

export interface Weighing {
  step: number;
  moments: Moment[];
  values: number[];
  logWeights: number[];
  weights: number[]; // normalised
  ess: number;
  logZ: number;
  reference: number; // its slot, -1 without one
  ancestors: number[]; // of each slot: its slot at the sweep's first weighing
  distinct: number; // how many of those are left
  parents: number[] | null; // null: not resampled
  referenceAfter: number; // the reference's slot after resampling
}

export interface Sweep {
  weighings: Weighing[];
  selected: { slot: number; reward: number; kept: boolean } | null;
}

/** What can be looked at: a step of denoising between two weighings, a weighing, a resampling, the end of a sweep. */
export interface Frame {
  kind: 'start' | 'denoise' | 'weigh' | 'resample' | 'select';
  sweep: number;
  weighing: number; // the one it leads to, or is
  step: number; // denoising steps done
}

export interface Canvas {
  tokens: Int32Array;
  step: Int32Array; // that revealed the token; -1: given, or masked
  sweep: Int32Array;
  taken: Int32Array; // step that last took a token back; -1: none did
  lost: Int32Array; // the token that was taken back
}

export interface Answer {
  moment: Moment;
  reward: number;
}

export interface Run {
  started: RunStarted | null;
  mask: number;
  sweeps: Sweep[];
  frames: Frame[];
  drafts: Map<number, { step: number; canvas: Canvas }>; // of the stage under way, by slot
  spent: Spent | null;
  finished: RunFinished | null;

  // The stage under way.
  particles: Moment[];
  ancestors: number[];
  pending: Map<number, Edit[]>;
  reference: Map<number, Moment>; // the reference's moments, by step
  drawn: Answer | null;
  bestLast: Answer | null;
  bestAll: Answer | null;
}

const kRoot: Moment = { before: null, sweep: -1, step: 0, edits: [] };

export function newRun(mask = -1): Run {
  return {
    started: null, mask, sweeps: [], frames: [], drafts: new Map(), spent: null, finished: null,
    particles: [], ancestors: [], pending: new Map(), reference: new Map(), drawn: null, bestLast: null, bestAll: null,
  };
}

export function replayed(events: Iterable<EngineEvent>, mask: number): Run {
  const run = newRun(mask);
  for (const event of events) apply(run, event);
  return run;
}

export function apply(run: Run, event: EngineEvent): void {
  switch (event.type) {
    case 'run_started':
      run.started = event;
      run.frames.push({ kind: 'start', sweep: 0, weighing: 0, step: 0 });
      return;
    case 'edited':
      beginSweep(run, event.sweep);
      run.pending.set(event.slot, event.edits);
      return;
    case 'drafted':
      beginSweep(run, event.sweep);
      return draft(run, event);
    case 'weighed':
      beginSweep(run, event.sweep);
      return weigh(run, event);
    case 'resampled':
      return resample(run, event);
    case 'selected':
      return select(run, event);
    case 'spent':
      run.spent = event;
      return;
    case 'run_finished':
      run.finished = event;
      return;
  }
}

function beginSweep(run: Run, sweep: number): void {
  if (sweep < run.sweeps.length) return;
  run.sweeps.push({ weighings: [], selected: null });
  run.particles = [];
  run.ancestors = [];
  run.drafts.clear();
}

function draft(run: Run, event: Drafted): void {
  const last = run.drafts.get(event.slot);
  const canvas = last?.canvas ?? canvasOf(run, run.particles[event.slot] ?? kRoot);
  const sweep = run.sweeps.length - 1;
  event.canvas.forEach((token, position) => {
    if (token !== canvas.tokens[position]) put(canvas, [event.step - 1, position, token], sweep, run.mask);
  });
  run.drafts.set(event.slot, { step: event.step, canvas });
}

function weigh(run: Run, event: Weighed): void {
  const index = run.sweeps.length - 1;
  const sweep = run.sweeps[index];
  const k = event.values.length;
  const steps = new Set<number>();
  const moments: Moment[] = [];
  for (let slot = 0; slot < k; ++slot) {
    // The reference walks its old path and reports no edits of its own.
    const kept = slot === event.reference ? run.reference.get(event.step) : undefined;
    const edits = run.pending.get(slot) ?? [];
    moments.push(kept ?? { before: run.particles[slot] ?? kRoot, sweep: index, step: event.step, edits });
    for (const edit of edits) steps.add(edit[0]);
  }
  if (sweep.weighings.length === 0) run.ancestors = moments.map((_, slot) => slot);

  const weighing = sweep.weighings.length;
  for (const step of [...steps].sort((a, b) => a - b))
    run.frames.push({ kind: 'denoise', sweep: index, weighing, step: step + 1 });
  run.frames.push({ kind: 'weigh', sweep: index, weighing, step: event.step });

  const logWeights = event.log_weights.map(toNumber);
  sweep.weighings.push({
    step: event.step,
    moments,
    values: event.values.map(toNumber),
    logWeights,
    weights: normalised(logWeights),
    ess: toNumber(event.ess),
    logZ: toNumber(event.log_z),
    reference: event.reference,
    ancestors: run.ancestors,
    distinct: new Set(run.ancestors).size,
    parents: null,
    referenceAfter: event.reference,
  });
  run.particles = moments;
  run.pending.clear();
  run.drafts.clear();
}

function resample(run: Run, event: Resampled): void {
  const weighing = run.sweeps[run.sweeps.length - 1].weighings.at(-1)!;
  weighing.parents = event.parents;
  weighing.referenceAfter = event.reference;
  run.particles = event.parents.map((parent) => run.particles[parent]);
  run.ancestors = event.parents.map((parent) => run.ancestors[parent]);
  const { sweep, weighing: at } = run.frames.at(-1)!;
  run.frames.push({ kind: 'resample', sweep, weighing: at, step: event.step });
  run.drafts.clear();
}

function select(run: Run, event: Selected): void {
  const index = run.sweeps.length - 1;
  const sweep = run.sweeps[index];
  const last = sweep.weighings.length - 1;
  sweep.selected = { slot: event.slot, reward: toNumber(event.reward), kept: event.reference };
  run.frames.push({ kind: 'select', sweep: index, weighing: last, step: sweep.weighings[last].step });

  const chosen = run.particles[event.slot];
  run.reference = new Map();
  for (let m: Moment | null = chosen; m; m = m.before) run.reference.set(m.step, m);

  const { values, parents } = sweep.weighings[last];
  const now = parents ? parents.map((parent) => values[parent]) : values;
  const best = bestSlot(now);
  run.drawn = { moment: chosen, reward: sweep.selected.reward };
  run.bestLast = { moment: run.particles[best], reward: now[best] };
  if (!run.bestAll || run.bestLast.reward > run.bestAll.reward) run.bestAll = run.bestLast;
}

/** The slot with the highest value, the lowest slot among equals; nan loses. */
export function bestSlot(values: number[]): number {
  let best = 0;
  values.forEach((value, slot) => {
    if (value > values[best] || (Number.isNaN(values[best]) && !Number.isNaN(value))) best = slot;
  });
  return best;
}

/** What the run returns if it ends now; null before the first sweep has ended. */
export function answer(run: Run): Answer | null {
  switch (run.started?.config.selection) {
    case 'argmax-last': return run.bestLast;
    case 'argmax-all': return run.bestAll;
    default: return run.drawn;
  }
}

function normalised(logWeights: number[]): number[] {
  const top = Math.max(...logWeights.filter((x) => !Number.isNaN(x)));
  if (!Number.isFinite(top)) return logWeights.map(() => 1 / logWeights.length);
  const raw = logWeights.map((x) => (Number.isNaN(x) ? 0 : Math.exp(x - top)));
  const sum = raw.reduce((a, b) => a + b, 0);
  return raw.map((x) => x / sum);
}

/** A particle's canvas; of the last moment's edits only those before `step`. */
export function canvasOf(run: Run, moment: Moment, step = Infinity): Canvas {
  const given = run.started?.canvas ?? [];
  const none = () => new Int32Array(given.length).fill(-1);
  const canvas: Canvas = { tokens: Int32Array.from(given), step: none(), sweep: none(), taken: none(), lost: none() };
  const path: Moment[] = [];
  for (let m: Moment | null = moment; m; m = m.before) path.push(m);
  for (let i = path.length - 1; i >= 0; --i) {
    const until = i === 0 ? step : Infinity;
    for (const edit of path[i].edits) if (edit[0] < until) put(canvas, edit, path[i].sweep, run.mask);
  }
  return canvas;
}

function put(canvas: Canvas, [step, position, token]: Edit, sweep: number, mask: number): void {
  if (token === mask) {
    canvas.taken[position] = step;
    canvas.lost[position] = canvas.tokens[position];
    canvas.step[position] = canvas.sweep[position] = -1;
  } else {
    canvas.step[position] = step;
    canvas.sweep[position] = sweep;
  }
  canvas.tokens[position] = token;
}
