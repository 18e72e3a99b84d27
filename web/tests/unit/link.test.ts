import { describe, expect, it } from 'vitest';
import { fromHash, toHash } from '../../src/lib/link';
import { kDefaults, kExamples, kMethods, particlesOf, requestOf, type Settings } from '../../src/lib/settings';
import type { Props } from '../../src/lib/api';

const props: Props = {
  version: '0', model: 'mdlm-nano', models: [{ id: 'mdlm-nano', meta: { chat: false } }, { id: 'llada', meta: { chat: true } }],
  rewards: [], methods: [], presets: [], defaults: {}, limits: {},
};

describe('links', () => {
  it('bring every setting back', () => {
    const odd: Settings = {
      ...kDefaults, prompt: 'a "b" & c?\n#d=é 100%', model: 'llada', reward: '0.7*sentiment:positive + 0.3*cola', method: 'pg-adapt',
      budget: 64, sweeps: 3, seed: 7, length: 12, beta: '0.05', threshold: '-0.1', process: 'remdm', steps: '64', temperature: '1', algorithm: 'random',
    };
    for (const settings of [odd, kDefaults, { ...kDefaults, prompt: '', reward: '' }, ...kExamples.map((e) => ({ ...kDefaults, ...e.settings }))])
      for (const page of ['run', 'compare'] as const) expect(fromHash(toHash({ page, settings, given: true }))).toEqual({ page, settings, given: true });
  });

  it('name traces', () => {
    for (const trace of [null, 'a b/c?.jsonl']) expect(fromHash(toHash({ page: 'saved', trace }))).toEqual({ page: 'saved', trace });
  });

  it('survive nonsense', () => {
    expect(fromHash('')).toEqual({ page: 'run', settings: kDefaults, given: false });
    const place = fromHash('#run?method=magic&budget=many&seed=-1&other=1');
    expect(place).toMatchObject({ page: 'run', settings: { method: kDefaults.method, budget: kDefaults.budget, seed: kDefaults.seed } });
  });
});

describe('requests', () => {
  it('spend the budget', () => {
    for (const { id } of kMethods) {
      const settings: Settings = { ...kDefaults, method: id, budget: 32, sweeps: 4 };
      const its = requestOf(settings, props).body.its as Record<string, number>;
      if (id === 'greedy') expect(its.particles).toBeUndefined();
      else if (id === 'pg') expect(its.particles * its.iterations).toBe(32);
      else if (id === 'pg-adapt') expect([its.particles, its.budget]).toEqual([8, 32]);
      else expect(its.particles).toBe(32);
    }
    expect(particlesOf({ ...kDefaults, method: 'pg', budget: 2, sweeps: 4 })).toBe(1);
  });

  it('speak the way the model does', () => {
    expect(requestOf(kDefaults, props)).toMatchObject({ path: 'v1/completions', body: { prompt: 'The movie', model: 'mdlm-nano' } });
    expect(requestOf({ ...kDefaults, model: 'llada' }, props)).toMatchObject({
      path: 'v1/chat/completions',
      body: { messages: [{ role: 'user', content: 'The movie' }] },
    });
  });
});
