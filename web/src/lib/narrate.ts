// A frame in plain words, for those who see a genealogy for the first time, and for those who do not see it.

import { number, percent } from './format';
import type { Picture } from './picture';

export function narrate(picture: Picture, sweeps: number): string {
  const { frame, particles, weighing, steps } = picture;
  const k = particles.length;
  const where = `${sweeps > 1 || frame.sweep > 0 ? `Sweep ${frame.sweep + 1}, step` : 'Step'} ${frame.step} of ${steps}. `;
  switch (frame.kind) {
    case 'start':
      return `${k === 1 ? 'One text' : `${k} texts`}, all masks. Each mask will become a word.`;
    case 'denoise':
      return `${where}The model fills in masks${k > 1 ? `, in each of ${k} texts by itself` : ''}.`;
    case 'weigh': {
      if (k === 1) return `${where}The reward looks at the text: ${number(weighing!.values[0])}.`;
      const top = weighing!.weights.indexOf(Math.max(...weighing!.weights));
      return (
        `${where}The reward looks at every text. Particle ${top + 1} has ${percent(weighing!.weights[top])} of the weight; ` +
        `that is worth ${number(weighing!.ess, 2)} equal particles of ${k}.`
      );
    }
    case 'resample': {
      const copies = new Array<number>(k).fill(0);
      for (const parent of weighing!.parents!) ++copies[parent];
      const dropped = copies.filter((n) => n === 0).length;
      const most = copies.indexOf(Math.max(...copies));
      const reference = weighing!.referenceAfter >= 0 ? ' The reference stays.' : '';
      return `${where}Resampling: ${dropped} of ${k} are dropped, particle ${most + 1} lives on in ${copies[most]} places.${reference}`;
    }
    case 'select': {
      const chosen = particles.find((p) => p.chosen);
      if (k === 1 || !chosen) return `${where}The text is finished: reward ${number(chosen?.value)}.`;
      const next = frame.sweep + 1 < sweeps ? ` It is the reference of sweep ${frame.sweep + 2}.` : '';
      return `${where}The sweep ends. Particle ${chosen.slot + 1} is drawn by its weight, reward ${number(chosen.value)}.${next}`;
    }
  }
}
