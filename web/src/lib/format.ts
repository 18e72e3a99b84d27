// Numbers for people.

export function number(x: number | null | undefined, digits = 3): string {
  if (x === null || x === undefined || Number.isNaN(x)) return '–';
  if (x === Infinity) return '∞';
  if (x === -Infinity) return '−∞';
  if (x !== 0 && Math.abs(x) < 1e-4) return x < 0 ? '−0.0000' : '0.0000';
  const text = Math.abs(x) >= 1000 ? x.toFixed(0) : x.toPrecision(digits);
  const plain = text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  return plain.replace('-', '−');
}

export const count = (x: number) => x.toLocaleString('en-GB').replaceAll(',', '\u202f');
export const percent = (x: number) => `${x > 0 && x < 0.005 ? '<1' : Math.round(100 * x)} %`;
export const seconds = (x: number) => `${x < 10 ? x.toFixed(1) : Math.round(x)} s`;
export function bytes(x: number): string {
  return x < 1e6 ? `${Math.max(1, Math.round(x / 1e3))} kB` : `${(x / 1e6).toFixed(1)} MB`;
}
