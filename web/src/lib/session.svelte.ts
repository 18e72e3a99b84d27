// One run on the screen: where its events come from, what became of it, and the moment that is looked at.

import { finishRun, streamRun, watchRun, type Connection, type Metadata, type SavedTrace, type StreamHandlers } from './api';
import { toNumber, type EngineEvent } from './events';
import { Pieces } from './pieces';
import { pictureAt, pictureNow } from './picture';
import { answer, apply, canvasOf, newRun, type Run } from './record';
import type { CompletionRequest } from './settings';

export type State = 'idle' | Connection | 'done' | 'failed';

const kPause = 60; // milliseconds between two pictures

export class Session {
  private readonly record: Run = newRun();
  readonly pieces = new Pieces();
  readonly events: EngineEvent[] = []; // as a trace has them
  readonly live: boolean;
  name: string;

  // The record is too large to be watched itself; these count its changes, with and without drafts.
  private version = $state(0);
  private settled = $state(0);
  state = $state<State>('idle');
  error = $state('');
  warnings = $state<string[]>([]);
  text = $state('');
  metadata = $state<Metadata | null>(null);
  seconds = $state(0);
  id = $state('');

  // Time travel. While it follows, the end of the run is shown as it comes.
  position = $state(0);
  following = $state(true);
  playing = $state(false);
  speed = $state(1);

  private readonly abort = new AbortController();
  private due = false;
  private unsettled = true;
  private timer = 0;

  constructor(name: string, live: boolean) {
    this.name = name;
    this.live = live;
  }

  static ofTrace(trace: SavedTrace): Session {
    const session = new Session(trace.name, false);
    session.pieces.add(trace.pieces);
    session.record.mask = trace.mask;
    for (const event of trace.events) session.take(event);
    session.state = 'done';
    session.following = false;
    return session;
  }

  /** What is known of the run; whoever reads it is told when there is more. */
  get run(): Run {
    void this.settled;
    return this.record;
  }

  get busy(): boolean {
    return this.state === 'connecting' || this.state === 'streaming' || this.state === 'reconnecting';
  }

  start(request: CompletionRequest): Promise<void> {
    return this.stream((on, signal) => streamRun(request.path, request.body, on, signal));
  }

  watch(id: string): Promise<void> {
    return this.stream((on, signal) => watchRun(id, on, signal));
  }

  /** Asks for the best text so far; it comes through the stream as any other. */
  async finish(): Promise<void> {
    if (this.id) await finishRun(this.id).catch((error) => this.warnings.push(String(error.message)));
  }

  /** Ends the run and stops listening. */
  async stop(): Promise<void> {
    if (!this.busy) return;
    await this.finish();
    this.abort.abort();
  }

  private async stream(open: (on: StreamHandlers, signal: AbortSignal) => Promise<void>): Promise<void> {
    const begun = performance.now();
    this.state = 'connecting';
    this.timer = window.setInterval(() => (this.seconds = (performance.now() - begun) / 1000), 100);
    try {
      await open(
        {
          connection: (state) => (this.state = state),
          id: (id) => (this.id = id),
          pieces: (pieces, mask) => {
            this.pieces.add(pieces);
            if (mask !== undefined) this.record.mask = mask;
          },
          event: (event) => this.take(event),
          text: (delta) => (this.text += delta),
          metadata: (metadata) => (this.metadata = metadata),
          warning: (text) => this.warnings.push(text),
        },
        this.abort.signal,
      );
      this.state = 'done';
    } catch (error) {
      this.state = 'failed';
      this.error = this.abort.signal.aborted ? 'Stopped.' : (error as Error).message;
    } finally {
      clearInterval(this.timer);
      this.seconds = (performance.now() - begun) / 1000;
      this.tell();
    }
  }

  private take(event: EngineEvent): void {
    apply(this.record, event);
    if (event.type !== 'drafted') this.events.push(event);
    if (event.type !== 'drafted') this.unsettled = true;
    // Hundreds of events may come between two pictures, and the machine that draws them may be the one that computes.
    if (this.due) return;
    this.due = true;
    setTimeout(() => requestAnimationFrame(() => this.tell()), kPause);
  }

  private tell(): void {
    this.due = false;
    ++this.version;
    if (this.unsettled) ++this.settled;
    this.unsettled = false;
  }

  get frames(): number {
    return this.run.frames.length;
  }

  get index(): number {
    return this.following ? Math.max(0, this.frames - 1) : Math.min(this.position, this.frames - 1);
  }

  picture() {
    void this.version;
    return this.following ? pictureNow(this.run) : pictureAt(this.run, this.index);
  }

  seek(index: number): void {
    this.position = Math.max(0, Math.min(index, this.frames - 1));
    // At the end of a run that goes on, the reader wants to see it go on.
    this.following = this.busy && this.position === this.frames - 1;
  }

  /** To the next (or the last) frame of a weighing, a resampling or a selection. */
  leap(direction: 1 | -1): void {
    let index = this.index + direction;
    while (index > 0 && index < this.frames - 1 && this.run.frames[index].kind === 'denoise') index += direction;
    this.seek(index);
  }

  /** What the run returned, or would return now. */
  result(): { text: string; reward: number | null } {
    const best = answer(this.run);
    const reward = this.run.finished ? toNumber(this.run.finished.reward) : (best?.reward ?? null);
    if (this.live && this.state === 'done') return { text: this.text, reward };
    return { text: best ? this.pieces.read(canvasOf(this.run, best.moment), this.run.mask, this.given()) : '', reward };
  }

  /** How many positions of the canvas come before the first mask. */
  given(): number {
    const first = (this.run.started?.canvas ?? []).indexOf(this.run.mask);
    return first < 0 ? 0 : first;
  }

  /** The run as a trace file, as `pgdlm replay` reads it. */
  traceFile(): Blob {
    return new Blob(this.events.map((event) => JSON.stringify(event) + '\n'), { type: 'application/jsonl' });
  }
}
