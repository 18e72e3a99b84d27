// The record against what the program itself said: each fixture is a trace of `pgdlm generate --trace`, the pieces of its
// tokens, and under `said` what `--json` printed of the same run.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { EngineEvent } from '../../src/lib/events';
import { Pieces } from '../../src/lib/pieces';
import { lineage, pictureAt, pictureNow } from '../../src/lib/picture';
import { answer, apply, canvasOf, newRun, replayed, type Canvas } from '../../src/lib/record';

interface Fixture {
  name: string;
  pieces: Record<string, string>;
  mask: number;
  said: { text: string; reward: number; candidates: { text: string; reward: number; log_weight: number }[] };
  events: EngineEvent[];
}
const load = (name: string): Fixture => JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'));
const fixtures = ['remdm-pg', 'remdm-adapt', 'llada-smc'].map(load);

describe.each(fixtures)('the trace $name', ({ pieces: texts, mask, said, events }) => {
  const pieces = new Pieces();
  pieces.add(texts);
  const run = replayed(events, mask);
  const chat = run.started!.config.chat === true;
  const read = (canvas: Canvas) => pieces.read(canvas, mask, chat ? run.started!.canvas.indexOf(mask) : 0);

  it('ends with the candidates and the answer the program printed', () => {
    expect(run.particles.map((m) => read(canvasOf(run, m)))).toEqual(said.candidates.map((c) => c.text));
    const last = run.sweeps.at(-1)!.weighings.at(-1)!;
    const now = <T>(xs: T[]) => (last.parents ? last.parents.map((p) => xs[p]) : xs);
    expect(now(last.values)).toEqual(said.candidates.map((c) => c.reward));
    expect(read(canvasOf(run, answer(run)!.moment))).toBe(said.text);
    expect(answer(run)!.reward).toBe(said.reward);
  });

  it('has weights that add up, and the ESS they have', () => {
    for (const sweep of run.sweeps)
      for (const w of sweep.weighings) {
        expect(w.weights.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
        expect(1 / w.weights.reduce((a, b) => a + b * b, 0)).toBeCloseTo(w.ess, 9);
      }
  });

  it('loses ancestors and never gains any', () => {
    for (const { weighings } of run.sweeps) {
      weighings.forEach((w, i) => {
        if (i > 0) expect(w.distinct).toBeLessThanOrEqual(weighings[i - 1].distinct);
        w.ancestors.forEach((ancestor, slot) => expect(lineage(weighings, i, slot)[0]).toBe(ancestor));
      });
    }
  });

  it('carries the drawn trajectory over as the reference, tokens with their sweep', () => {
    run.sweeps.forEach((sweep, s) => {
      if (s === 0) return;
      const before = run.sweeps[s - 1];
      const last = before.weighings.at(-1)!;
      const drawn = last.moments[last.parents?.[before.selected!.slot] ?? before.selected!.slot];
      const end = sweep.weighings.at(-1)!;
      expect(canvasOf(run, end.moments[end.reference])).toEqual(canvasOf(run, drawn));
      expect(end.values[end.reference]).toBe(before.selected!.reward);
    });
  });

  it('shows a token on each frame from the step that revealed it', () => {
    let masked = 0;
    run.frames.forEach((frame, index) => {
      const picture = pictureAt(run, index)!;
      for (const { canvas, weight } of picture.particles) {
        expect(weight).toBeGreaterThanOrEqual(0);
        canvas.tokens.forEach((token, i) => {
          if (token === mask) ++masked;
          if (token !== mask && canvas.sweep[i] === frame.sweep) expect(canvas.step[i]).toBeLessThan(frame.step);
        });
      }
    });
    expect(masked).toBeGreaterThan(0);
    expect(pictureAt(run, run.frames.length - 1)).toEqual(pictureNow(run));
  });

  it('is the same when it is built event by event and looked at on the way', () => {
    const slow = newRun(mask);
    for (const event of events) {
      apply(slow, event);
      pictureNow(slow);
    }
    expect(slow).toEqual(run);
  });
});

it('sees tokens being taken back', () => {
  const { events, mask } = fixtures[0];
  const run = replayed(events, mask);
  const taken = run.sweeps.flatMap((s) => s.weighings).flatMap((w) => w.moments).map((m) => canvasOf(run, m));
  expect(taken.some((c) => c.tokens.some((token, i) => token === mask && c.taken[i] >= 0 && c.lost[i] !== mask))).toBe(true);
});

describe('drafts', () => {
  const start: EngineEvent[] = [{ type: 'run_started', seed: 1, config: { particles: 2, diffusion_steps: 8 }, canvas: [7, 9, 9] }];

  it('show a particle on its way and make room for its edits', () => {
    const run = replayed(start, 9);
    apply(run, { type: 'drafted', sweep: 0, step: 2, slot: 1, canvas: [7, 3, 9] });
    apply(run, { type: 'drafted', sweep: 0, step: 5, slot: 1, canvas: [7, 9, 4] });
    const { canvas } = pictureNow(run)!.particles[1];
    expect([...canvas.tokens]).toEqual([7, 9, 4]);
    expect([...canvas.step]).toEqual([-1, -1, 4]);
    expect([...canvas.taken]).toEqual([-1, 4, -1]);

    apply(run, { type: 'edited', sweep: 0, step: 0, slot: 1, edits: [[3, 1, 5]], fresh: true, value: 0 });
    apply(run, { type: 'weighed', sweep: 0, step: 8, values: ['-inf', 0], log_weights: ['-inf', 0], ess: 1, log_z: 0, reference: -1 });
    const picture = pictureNow(run)!;
    expect([...picture.particles[1].canvas.tokens]).toEqual([7, 5, 9]);
    expect(picture.particles.map((p) => p.weight)).toEqual([0, 1]);
    expect(run.drafts.size).toBe(0);
  });

  it('leave an empty run alone', () => {
    expect(pictureNow(newRun())).toBeNull();
    expect(pictureNow(replayed(start, 9))!.particles.length).toBe(2);
  });
});
