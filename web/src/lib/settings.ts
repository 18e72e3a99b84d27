// What a run is asked for, in the words of the form, and the request it becomes.

import { kReconnectSeconds, type Props } from './api';

export type Method = 'greedy' | 'bon' | 'smc' | 'pg' | 'pg-adapt';

export interface Settings {
  prompt: string;
  model: string;
  reward: string;
  method: Method;
  budget: number; // particles in all
  sweeps: number; // particle Gibbs: so many share the budget
  seed: number;
  length: number;
  // '' leaves it to the model and the server
  beta: string;
  threshold: string; // pg-adapt: the reward that is good enough
  process: string;
  steps: string;
  temperature: string;
  algorithm: string;
}

export const kDefaults: Settings = {
  prompt: 'The movie', model: '', reward: 'sentiment:positive', method: 'pg', budget: 32, sweeps: 4, seed: 1, length: 28,
  beta: '', threshold: '', process: '', steps: '', temperature: '', algorithm: '',
};

export const kMethods: { id: Method; name: string; short: string; means: string }[] = [
  { id: 'greedy', name: 'Greedy', short: 'greedy', means: 'One text, always the surest words first. Nothing is steered: this is the model by itself.' },
  { id: 'bon', name: 'Best of n', short: 'best of n', means: 'Writes n texts independently and keeps the one with the highest reward.' },
  { id: 'smc', name: 'SMC', short: 'SMC', means: 'Writes n texts side by side; on the way, promising ones are copied and hopeless ones dropped.' },
  { id: 'pg', name: 'Particle Gibbs', short: 'PG', means: 'Several sweeps of SMC; each keeps the text the last one chose as its reference, and tries to beat it.' },
  { id: 'pg-adapt', name: 'Adaptive PG', short: 'PG adapt', means: 'Begins greedily, then sweeps only until the reward is good enough or the budget is spent.' },
];

export const methodOf = (id: string) => kMethods.find((m) => m.id === id);

/** Particles of one sweep. */
export function particlesOf(s: Settings): number {
  if (s.method === 'greedy') return 1;
  if (s.method === 'bon' || s.method === 'smc') return s.budget;
  return Math.max(1, Math.floor(s.budget / s.sweeps));
}

function its(s: Settings): Record<string, unknown> {
  const its: Record<string, unknown> = { method: s.method };
  if (s.reward.trim()) its.reward = s.reward.trim();
  if (s.method !== 'greedy') its.particles = particlesOf(s);
  if (s.method === 'pg') its.iterations = s.sweeps;
  if (s.method === 'pg-adapt') {
    its.iterations = Math.max(1, s.budget); // the budget ends it, not the number of sweeps
    its.budget = s.budget;
    if (s.threshold !== '') its.threshold = Number(s.threshold);
  }
  if (s.beta !== '') its.beta = Number(s.beta);
  return its;
}

export interface CompletionRequest {
  path: string;
  body: Record<string, unknown>;
}

export function requestOf(s: Settings, props: Props): CompletionRequest {
  const model = s.model || props.model;
  const chat = props.models.find((m) => m.id === model)?.meta?.chat === true;
  const diffusion: Record<string, unknown> = {};
  if (s.process) diffusion.process = s.process;
  if (s.steps !== '') diffusion.steps = Number(s.steps);
  if (s.temperature !== '') diffusion.temperature = Number(s.temperature);
  if (s.algorithm) diffusion.algorithm = s.algorithm;
  return {
    path: chat ? 'v1/chat/completions' : 'v1/completions',
    body: {
      model,
      ...(chat ? { messages: [{ role: 'user', content: s.prompt }] } : { prompt: s.prompt }),
      max_tokens: s.length,
      seed: s.seed,
      its: its(s),
      ...(Object.keys(diffusion).length > 0 ? { diffusion } : {}),
      stream: true,
      stream_events: true,
      stream_options: { include_usage: true },
      return_response_only: false,
      reconnect_seconds: kReconnectSeconds,
    },
  };
}

export interface Example {
  title: string;
  what: string;
  settings: Partial<Settings>;
}

export const kExamples: Example[] = [
  {
    title: 'A positive review',
    what: 'Steer a film review towards what a sentiment classifier calls positive.',
    settings: { prompt: 'The movie', model: 'mdlm-nano', reward: 'sentiment:positive', method: 'pg', budget: 32, sweeps: 4, length: 28, seed: 1 },
  },
  {
    title: 'Clean of toxicity',
    what: 'A rude beginning, continued so that a toxicity classifier has little to complain about.',
    settings: { prompt: 'What a stupid', model: 'mdlm-nano', reward: 'toxicity:neutral', method: 'smc', budget: 16, length: 20, seed: 1 },
  },
  {
    title: 'A word problem',
    what: 'Arithmetic in steps; a process reward judges every finished line.',
    settings: { prompt: 'Eric collects 116 eggs. Zoe has half of what Eric has. Mia has 19 more eggs than Zoe. How many eggs do the three of them have in all?', model: 'llada-nano-math', reward: 'prm', method: 'pg', budget: 32, sweeps: 4, length: 64, seed: 1, temperature: '1', algorithm: 'random' },
  },
  {
    title: 'A toy, in a second',
    what: 'A tiny model of 61 words. Good for looking at the genealogy.',
    settings: { prompt: 'The movie', model: 'toy', reward: 'positive', method: 'pg', budget: 32, sweeps: 4, length: 24, seed: 1 },
  },
];
