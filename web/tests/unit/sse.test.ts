import { describe, expect, it } from 'vitest';
import { SseParser } from '../../src/lib/sse';

const stream = 'id: 0\ndata: {"a":1}\n\n: ping\n\nid: 1\nevent: pgdlm\ndata: x\ndata: y\n\r\ndata:[DONE]\r\n\r\n';
const messages = [
  { id: 0, event: '', data: '{"a":1}' },
  { id: 1, event: 'pgdlm', data: 'x\ny' },
  { id: null, event: '', data: '[DONE]' },
];

describe('SseParser', () => {
  it('reads a stream that comes at once', () => {
    expect(new SseParser().push(stream)).toEqual(messages);
  });

  it('reads a stream that is cut anywhere', () => {
    for (let size = 1; size < 8; ++size) {
      const parser = new SseParser();
      const found = [];
      for (let i = 0; i < stream.length; i += size) found.push(...parser.push(stream.slice(i, i + size)));
      expect(found).toEqual(messages);
    }
  });

  it('keeps what is not complete', () => {
    const parser = new SseParser();
    expect(parser.push('data: half')).toEqual([]);
    expect(parser.push(' a line\n')).toEqual([]);
    expect(parser.push('\n')).toEqual([{ id: null, event: '', data: 'half a line' }]);
  });
});
