// The official `openai` package of Node, as its users call it, against the server at PGDLM_URL. Runs on Node 18 and 20.
import assert from 'node:assert/strict';
import test from 'node:test';
import OpenAI from 'openai';

const url = process.env.PGDLM_URL;
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 0, timeout: 120_000 });
const small = { model: 'mdlm-nano', prompt: 'The movie', max_tokens: 16, seed: 1 };
const question = {
  model: 'llada-nano-math',
  max_tokens: 64,
  messages: [{ role: 'user', content: 'A store has 138 coins. Half of them are sold on Monday. On Tuesday 12 more are sold. ' +
    'The rest is sold for 5 dollars each. How much money is that?' }],
};
const long = { ...small, max_tokens: 64, its: { method: 'smc', particles: 64, reward: 'sentiment:positive' } };

async function all(stream) {
  const chunks = [];
  for await (const chunk of await stream) chunks.push(chunk);
  return chunks;
}

async function liveRuns() {
  return (await (await fetch(`${url}/runs`)).json()).live.map((run) => run.id);
}

/** Waits until a run is in the list of live ones, or is not. */
async function becomesLive(id, live) {
  for (const end = Date.now() + 10_000; Date.now() < end; await new Promise((wake) => setTimeout(wake, 20)))
    if ((await liveRuns()).includes(id) === live) return;
  assert.fail(live ? 'the run is not in /runs' : 'the run goes on');
}

test('a completion', async () => {
  const reply = await client.completions.create(small);
  assert.equal(reply.object, 'text_completion');
  assert.ok(reply.choices[0].text.trim());
  assert.equal(reply.usage.total_tokens, reply.usage.prompt_tokens + reply.usage.completion_tokens);
  assert.equal((await client.completions.create(small)).choices[0].text, reply.choices[0].text);
});

test('a chat', async () => {
  const reply = await client.chat.completions.create(question);
  assert.match(reply.choices[0].message.content, /#### 285$/);
  assert.equal(reply.choices[0].finish_reason, 'stop');
});

test('n texts', async () => {
  const reply = await client.completions.create({ ...small, n: 3 });
  assert.deepEqual(reply.choices.map((choice) => choice.index), [0, 1, 2]);
  assert.equal(new Set(reply.choices.map((choice) => choice.text)).size, 3);
});

test('the parts of a completion are the whole', async () => {
  const whole = await client.completions.create(small);
  const chunks = await all(client.completions.create({ ...small, stream: true, stream_options: { include_usage: true } }));
  assert.deepEqual(chunks.pop().usage, whole.usage);
  assert.equal(chunks.map((chunk) => chunk.choices[0].text).join(''), whole.choices[0].text);
  assert.equal(chunks.at(-1).choices[0].finish_reason, whole.choices[0].finish_reason);
});

test('the parts of a chat are the whole', async () => {
  const whole = await client.chat.completions.create(question);
  const chunks = await all(client.chat.completions.create({ ...question, stream: true }));
  assert.equal(chunks.map((chunk) => chunk.choices[0].delta.content ?? '').join(''), whole.choices[0].message.content);
});

test('the helper of the package', async () => {
  const stream = client.chat.completions.stream(question);
  const parts = [];
  stream.on('content', (part) => parts.push(part));
  assert.equal(await stream.finalContent(), parts.join(''));
  assert.match(parts.join(''), /#### 285$/);
});

test('frames look like chunks without choices', async () => {
  const chunks = await all(client.chat.completions.create({ ...question, stream: true, stream_mode: 'denoise' }));
  assert.ok(chunks.filter((chunk) => chunk.frame && chunk.choices.length === 0).length > 5);
});

test('steering and its metadata', async () => {
  const its = { method: 'smc', particles: 4, reward: 'sentiment:positive' };
  const body = { ...small, its, return_response_only: false };
  const { metadata, choices } = await client.completions.create(body, { headers: { 'X-ITS-Budget': '3' } });
  assert.equal(metadata.method, 'smc');
  assert.equal(metadata.responses.length, 3);
  assert.equal(metadata.responses[metadata.selected_index], choices[0].text);
});

test('a stream that is aborted cancels its run', async () => {
  const stream = await client.completions.create({ ...long, stream: true, stream_mode: 'denoise' });
  const { value } = await stream[Symbol.asyncIterator]().next();
  await becomesLive(value.id, true);
  stream.controller.abort();
  await becomesLive(value.id, false);
});

test('a request that is aborted cancels its run', async () => {
  const before = await liveRuns();
  const controller = new AbortController();
  const refused = assert.rejects(client.completions.create(long, { signal: controller.signal }), OpenAI.APIUserAbortError);
  let id;
  for (const end = Date.now() + 10_000; !id && Date.now() < end;) id = (await liveRuns()).find((run) => !before.includes(run));
  assert.ok(id, 'the run is not in /runs');
  controller.abort();
  await refused;
  await becomesLive(id, false);
});

test('mistakes', async () => {
  await assert.rejects(client.completions.create({ ...small, max_tokens: 'many' }), (error) => {
    assert.ok(error instanceof OpenAI.BadRequestError);
    assert.equal(error.param, 'max_tokens');
    return true;
  });
  await assert.rejects(client.completions.create({ ...small, model: 'gpt-4o' }), OpenAI.NotFoundError);
  await assert.rejects(client.chat.completions.create({ ...question, messages: [], stream: true }), OpenAI.BadRequestError);
});

test('models', async () => {
  const ids = (await all(client.models.list())).map((model) => model.id);
  assert.ok(ids.includes('mdlm-nano') && ids.includes('llada-nano-math'));
});
