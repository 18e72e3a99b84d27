// The genealogy of one sweep as shapes: a ribbon for every particle between two rows, as wide as its weight. A row is a
// weighing; of very many only some are drawn, and what happened in between is told by one ribbon.

import type { Weighing } from './record';

export interface Ribbon {
  row: number; // the one it leads to
  slot: number; // there
  x0: number;
  x1: number;
  width0: number;
  width1: number;
  alive: boolean; // has descendants at the last row that is shown
  reference: boolean;
}

/** Which weighings to draw: those after which was resampled first of all, and the last. */
export function rowsOf(weighings: Weighing[], most: number): number[] {
  const all = weighings.map((_, w) => w);
  if (all.length <= most) return all;
  const told = all.filter((w) => weighings[w].parents || w === all.length - 1);
  if (told.length >= most) return evenly(told, most);
  const others = all.filter((w) => !told.includes(w));
  return [...told, ...evenly(others, most - told.length)].sort((a, b) => a - b);
}

/** `n` of these, the last among them. */
function evenly(list: number[], n: number): number[] {
  return Array.from({ length: n }, (_, i) => list[Math.ceil(((i + 1) * list.length) / n) - 1]);
}

/** For each slot at weighing `to` the slot it comes from at weighing `from`. */
export function origins(weighings: Weighing[], from: number, to: number): number[] {
  let slots = weighings[to].values.map((_, slot) => slot);
  for (let w = to - 1; w >= from; --w) {
    const { parents } = weighings[w];
    if (parents) slots = slots.map((slot) => parents[slot]);
  }
  return slots;
}

/** Uniform weights fill half a column, one particle with all the weight at most three columns. */
function ribbonWidth(weight: number, k: number, column: number): number {
  return Math.max(0.75, 0.5 * column * Math.min(Math.sqrt(weight * k), 6));
}

export function ribbonsOf(weighings: Weighing[], rows: number[], column: number): Ribbon[] {
  const from = rows.map((w, row) => (row > 0 ? origins(weighings, rows[row - 1], w) : weighings[w].values.map((_, slot) => slot)));
  const ribbons: Ribbon[] = [];
  let alive = new Set(from.at(-1)?.keys());
  for (let row = rows.length - 1; row >= 0; --row) {
    const here = weighings[rows[row]];
    const before = row > 0 ? weighings[rows[row - 1]] : null;
    const k = here.values.length;
    for (let slot = 0; slot < k; ++slot) {
      const parent = from[row][slot];
      ribbons.push({
        row,
        slot,
        x0: (parent + 0.5) * column,
        x1: (slot + 0.5) * column,
        width0: ribbonWidth(before && !before.parents ? before.weights[parent] : 1 / k, k, column),
        width1: ribbonWidth(here.weights[slot], k, column),
        alive: alive.has(slot),
        reference: here.reference === slot,
      });
    }
    alive = new Set([...alive].map((slot) => from[row][slot]));
  }
  return ribbons;
}
