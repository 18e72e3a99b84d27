// The server's API: docs/serve.md.

import type { EngineEvent } from './events';
import { SseParser, type Message } from './sse';

export interface ModelInfo {
  id: string;
  meta?: { loaded?: boolean; process?: string; chat?: boolean; context?: number };
}
export interface Props {
  version: string;
  model: string;
  models: ModelInfo[];
  rewards: { name: string; labels?: string[] }[];
  methods: string[];
  presets: string[];
  defaults: Record<string, unknown>;
  limits: { tokens?: number; particles?: number; forwards?: number; seconds?: number };
}
export interface RunsList {
  live: { id: string; model: string; method: string; state: string; seconds: number }[];
  traces: { name: string; bytes: number }[];
  studies: { id: string; name: string; done: number; items: number; begun: string; what: string }[];
}
export interface SavedTrace {
  name: string;
  pieces: Record<string, string>;
  mask: number;
  events: EngineEvent[];
}
export interface Metadata {
  method: string;
  status: string;
  reward: number | null;
  [key: string]: unknown;
}
/** What the unnamed messages of a stream carry, as far as the view reads it. */
interface Chunk {
  id?: string;
  choices?: { text?: string; delta?: { content?: string } }[];
  metadata?: Metadata;
  warnings?: string[];
  error?: { message: string };
}

export class ApiError extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

const kKey = 'pgdlm-key';
let askForKey: () => Promise<string | null> = async () => null;

/** Who is asked when the server wants a key. */
export function onKeyNeeded(ask: () => Promise<string | null>): void {
  askForKey = ask;
}

export const hasKey = () => sessionStorage.getItem(kKey) !== null;

async function request(path: string, init: RequestInit = {}): Promise<Response> {
  for (;;) {
    const key = sessionStorage.getItem(kKey);
    const headers: Record<string, string> = init.body ? { 'Content-Type': 'application/json' } : {};
    if (key) headers.Authorization = `Bearer ${key}`;
    const response = await fetch(path, { ...init, headers });
    if (response.ok) return response;
    if (response.status === 401) {
      const given = await askForKey();
      if (given) {
        sessionStorage.setItem(kKey, given);
        continue;
      }
    }
    throw new ApiError(response.status, await errorText(response));
  }
}

async function errorText(response: Response): Promise<string> {
  try {
    return (await response.json()).error.message;
  } catch {
    return `the server answered ${response.status} ${response.statusText}`;
  }
}

export const getProps = async (): Promise<Props> => (await request('props')).json();
export const getRuns = async (): Promise<RunsList> => (await request('runs')).json();
export const getTrace = async (name: string): Promise<SavedTrace> =>
  (await request(`runs/traces/${encodeURIComponent(name)}`)).json();
/** The report is behind the key, too, so it is fetched and opened as a document of its own. */
export const getReport = async (): Promise<Blob> => (await request('runs/report')).blob();

export async function finishRun(id: string): Promise<void> {
  await request('v1/chat/completions/control', { method: 'POST', body: JSON.stringify({ id, action: 'finish' }) });
}

export type Connection = 'connecting' | 'streaming' | 'reconnecting';

export interface StreamHandlers {
  connection(state: Connection): void;
  id(id: string): void;
  pieces(pieces: Record<string, string>, mask: number | undefined): void;
  event(event: EngineEvent): void;
  text(delta: string): void;
  metadata(metadata: Metadata): void;
  warning(text: string): void;
}

/** How long a run goes on without us, and so how long it is worth calling back. */
export const kReconnectSeconds = 60;

/** Starts a run. Resolves when its stream has ended with [DONE]. */
export async function streamRun(path: string, body: object, on: StreamHandlers, signal: AbortSignal): Promise<void> {
  on.connection('connecting');
  const response = await request(path, { method: 'POST', body: JSON.stringify(body), signal });
  return follow(response, response.headers.get('X-Request-Id'), on, signal);
}

/** Looks over the shoulder of a run that somebody started. */
export async function watchRun(id: string, on: StreamHandlers, signal: AbortSignal): Promise<void> {
  on.connection('connecting');
  return follow(await request(`runs/${encodeURIComponent(id)}/events`, { signal }), id, on, signal);
}

/** Reads a stream to its end; a connection that breaks is taken up again where it broke. */
async function follow(first: Response, id: string | null, on: StreamHandlers, signal: AbortSignal): Promise<void> {
  let seen = -1;
  if (id) on.id(id);
  const take = (message: Message): boolean => {
    if (message.id !== null) seen = message.id;
    if (message.data === '[DONE]') return true;
    const data = JSON.parse(message.data);
    if (typeof data.id === 'string' && !id) on.id((id = data.id as string));
    dispatch(message.event, data, on);
    return false;
  };
  on.connection('streaming');
  if (await readStream(first, take)) return;

  let until = Date.now() + kReconnectSeconds * 1000;
  for (let pause = 250; ; pause = Math.min(2 * pause, 5000)) {
    if (signal.aborted) throw new DOMException('aborted', 'AbortError');
    if (!id || Date.now() > until) throw new Error('the connection broke, and the run is gone');
    on.connection('reconnecting');
    await sleep(pause, signal);
    const before = seen;
    try {
      const again = await request(`runs/${encodeURIComponent(id)}/events?after=${seen}`, { signal });
      on.connection('streaming');
      if (await readStream(again, take)) return;
    } catch (error) {
      // fetch itself says TypeError if there is no connection; anything else is an answer.
      if (!(error instanceof TypeError) || signal.aborted) throw error;
    }
    if (seen > before) {
      pause = 250;
      until = Date.now() + kReconnectSeconds * 1000;
    }
  }
}

/** True if `take` saw the end, false if the body ended or broke before. */
async function readStream(response: Response, take: (message: Message) => boolean): Promise<boolean> {
  const parser = new SseParser();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const piece = await reader.read().catch(() => ({ done: true, value: undefined }));
    if (piece.done) return false;
    for (const message of parser.push(piece.value!)) if (take(message)) return true;
  }
}

function dispatch(event: string, data: Chunk & Record<string, unknown>, on: StreamHandlers): void {
  if (event === 'pieces') return on.pieces(data.pieces as Record<string, string>, data.mask as number | undefined);
  if (event === 'pgdlm') return on.event(data.event as EngineEvent);
  if (data.error) throw new Error(data.error.message);
  for (const choice of data.choices ?? []) {
    const delta = choice.text ?? choice.delta?.content;
    if (delta) on.text(delta);
  }
  for (const warning of data.warnings ?? []) on.warning(warning);
  if (data.metadata) on.metadata(data.metadata);
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}
