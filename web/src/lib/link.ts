// Settings in the URL: `#run?prompt=The+movie&method=pg...` opens the view as it was.

import { kDefaults, methodOf, type Method, type Settings } from './settings';

export type Place =
  | { page: 'run' | 'compare'; settings: Settings; given: boolean } // given: the link says more than the page
  | { page: 'saved'; trace: string | null };

export function toHash(place: Place): string {
  if (place.page === 'saved') return place.trace === null ? '#saved' : `#saved?${new URLSearchParams({ trace: place.trace })}`;
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(place.settings))
    if (String(value) !== '') query.set(key, String(value));
  return `#${place.page}?${query}`;
}

export function fromHash(hash: string): Place {
  const [page, query = ''] = hash.replace(/^#/, '').split(/\?(.*)/s);
  const given = new URLSearchParams(query);
  if (page === 'saved') return { page, trace: given.get('trace') };

  const any = query !== '';
  const settings: Settings = { ...kDefaults };
  const text = settings as unknown as Record<string, string | number>;
  for (const [key, fallback] of Object.entries(kDefaults)) {
    const value = given.get(key);
    if (value === null) {
      // A link without a prompt means an empty one, a link without anything means the defaults.
      if (any && typeof fallback === 'string') text[key] = '';
    } else if (typeof fallback !== 'number') text[key] = value;
    else if (/^\d+$/.test(value)) text[key] = Number(value);
  }
  if (!methodOf(settings.method)) settings.method = kDefaults.method as Method;
  return { page: page === 'compare' ? 'compare' : 'run', settings, given: any };
}
