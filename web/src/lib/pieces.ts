// Token ids as text.

import type { Canvas } from './record';

export class Pieces {
  private readonly texts = new Map<number, string>();
  private spaced = false; // does any piece bring its own blank along?

  add(pieces: Record<string, string>): void {
    for (const [id, text] of Object.entries(pieces)) {
      this.texts.set(Number(id), text);
      if (/^\s/.test(text)) this.spaced = true;
    }
  }

  text(token: number): string {
    return this.texts.get(token) ?? `⟨${token}⟩`;
  }

  /** Markers such as the end of the text: part of the canvas, not of what is read. */
  isSpecial(token: number): boolean {
    const text = this.texts.get(token);
    return text === '' || (text !== undefined && /^(<[^<>\s]+>|\[[A-Z]+\])$/.test(text));
  }

  /** What goes before a piece: whole-word vocabularies have no blanks of their own. */
  glue(token: number): string {
    return this.spaced || /^[.,!?;:]/.test(this.text(token)) ? '' : ' ';
  }

  /** The text of a canvas; a mask is a dot. */
  read(canvas: Canvas, mask: number, from = 0): string {
    let text = '';
    for (let i = from; i < canvas.tokens.length; ++i) {
      const token = canvas.tokens[i];
      if (token === mask) text += ' ·';
      else if (!this.isSpecial(token)) text += this.glue(token) + this.text(token);
    }
    return text.trimEnd();
  }
}
