// The engine's events as they are on the wire: docs/events.md.

/** JSON has no infinities; the engine writes them, and nan, as strings. */
export type Double = number | 'inf' | '-inf' | 'nan';

/** `[step, position, token]`, with a fourth number where the process remembers something of the position. */
export type Edit = [step: number, position: number, token: number, note?: number];

export interface RunStarted {
  type: 'run_started';
  seed: number;
  config: Record<string, unknown>;
  canvas: number[];
}
export interface Weighed {
  type: 'weighed';
  sweep: number;
  step: number;
  values: Double[];
  log_weights: Double[];
  ess: Double;
  log_z: Double;
  reference: number;
}
export interface Resampled {
  type: 'resampled';
  sweep: number;
  step: number;
  parents: number[];
  reference: number;
}
export interface Edited {
  type: 'edited';
  sweep: number;
  step: number;
  slot: number;
  edits: Edit[];
  fresh: boolean;
  value: Double;
}
export interface Drafted {
  type: 'drafted';
  sweep: number;
  step: number;
  slot: number;
  canvas: number[];
}
export interface Selected {
  type: 'selected';
  sweep: number;
  slot: number;
  reward: Double;
  reference: boolean;
}
export interface Spent {
  type: 'spent';
  forwards_asked: number;
  forwards_run: number;
  tokens_run: number;
  rewards_asked: number;
  rewards_run: number;
  seconds: number;
}
export interface RunFinished {
  type: 'run_finished';
  status: 'done' | 'degenerate' | 'budget_spent' | 'cancelled' | 'failed';
  reward: Double;
}

export type EngineEvent = { seq?: number } & (
  | RunStarted
  | Weighed
  | Resampled
  | Edited
  | Drafted
  | Selected
  | Spent
  | RunFinished
);

export function toNumber(x: Double): number {
  if (typeof x === 'number') return x;
  return x === 'inf' ? Infinity : x === '-inf' ? -Infinity : NaN;
}
