// Server-sent events, read from a body that may be cut anywhere. EventSource cannot POST, so this is done by hand.

export interface Message {
  id: number | null;
  event: string; // '' for unnamed ones
  data: string;
}

export class SseParser {
  private rest = '';
  private id: number | null = null;
  private event = '';
  private data: string[] = [];

  /** The messages that are complete with this piece of text. */
  push(chunk: string): Message[] {
    const messages: Message[] = [];
    const lines = (this.rest + chunk).split('\n');
    this.rest = lines.pop()!;
    for (const line of lines) {
      const message = this.line(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (message) messages.push(message);
    }
    return messages;
  }

  private line(line: string): Message | null {
    if (line === '') return this.dispatch();
    const colon = line.indexOf(':');
    if (colon === 0) return null; // a comment: the server's sign of life
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    if (field === 'data') this.data.push(value);
    else if (field === 'event') this.event = value;
    else if (field === 'id') this.id = Number(value);
    return null;
  }

  private dispatch(): Message | null {
    const message = this.data.length > 0 ? { id: this.id, event: this.event, data: this.data.join('\n') } : null;
    this.id = null;
    this.event = '';
    this.data = [];
    return message;
  }
}
