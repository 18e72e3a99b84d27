// The colour of a denoising step: early is pale blue, late is strong orange. Lightness falls (or rises, in the dark) all
// the way, so that the order is seen without the hue; text stays readable on all of it.

const mix = (a: number, b: number, f: number) => a + (b - a) * f;

export function stepColour(fraction: number, dark: boolean): string {
  const f = Math.max(0, Math.min(1, fraction));
  const hue = mix(250, 410, f) % 360;
  const lightness = dark ? mix(0.32, 0.53, f) : mix(0.95, 0.8, f);
  const chroma = dark ? mix(0.06, 0.12, f) : mix(0.035, 0.12, f);
  return `oklch(${lightness.toFixed(3)} ${chroma.toFixed(3)} ${hue.toFixed(1)})`;
}
