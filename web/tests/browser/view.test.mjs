// The view in Debian's Chromium against the real server. `PGDLM=path/to/pgdlm npm run test:browser`

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { finished, openDoor, shot, startBrowser, startServer, state, stopBrowser, until, visit, writeTraces } from './harness.mjs';

let traces, server, door, home;

before(async () => {
  traces = writeTraces({
    review: ['The movie', '-n', '20', '--reward', 'sentiment:positive', '--method', 'pg', '-k', '8', '--iterations', '3', '--diffusion-steps', '128', '--seed', '1'],
    toy: ['The movie', '-m', 'toy', '--reward', 'positive', '--method', 'smc', '-k', '4'],
  });
  server = await startServer('--traces', traces.folder);
  door = await openDoor(server.url);
  home = door.url;
  await startBrowser();
});
after(async () => {
  await stopBrowser();
  await door?.close();
  await server?.stop();
  traces?.remove();
});

const link = (settings) => `${home}#run?${new URLSearchParams(settings)}`;
const review = { prompt: 'The movie', model: 'mdlm-nano', reward: 'sentiment:positive', method: 'smc', budget: '8', length: '20', seed: '11', steps: '128' };
const run = (page) => page.getByRole('button', { name: 'Run', exact: true }).click();
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

test('an example runs to its end, and its frames arrive on the way', async () => {
  await visit(home, {}, async (page) => {
    await page.getByRole('button', { name: 'A positive review' }).waitFor();
    await shot(page, 'welcome');
    await page.getByRole('button', { name: 'A positive review' }).click();
    const seen = new Set();
    await page.getByTestId('particles').waitFor();
    await until('several pictures', async () => {
      seen.add(await page.getByTestId('particles').textContent());
      return seen.size > 5 && (await state(page)) === 'streaming';
    });
    await until('half of it', async () => (await page.getByTestId('trees').locator('canvas').count()) >= 3, 120_000);
    if ((await state(page)) === 'streaming') await shot(page, 'live');
    const { text, reward } = await finished(page);
    assert.match(text, /^The movie.{40}/s);
    assert.ok(Number(reward.replace('−', '-')) > -0.2, reward);
    assert.equal(await page.getByTestId('trees').locator('canvas').count(), 4);
    assert.match(await page.getByTestId('cost').textContent(), /asked.*run/s);
    assert.match(await page.getByTestId('story').textContent(), /The sweep ends/);
    await shot(page, 'done');

    // For the documentation: a moment in the middle of the third sweep.
    if (!process.env.SHOT) return;
    const slider = page.getByRole('slider', { name: 'Time' });
    await slider.fill(String(Math.round(0.66 * Number(await slider.getAttribute('max')))));
    await page.setViewportSize({ width: 1440, height: 1420 });
    await page.getByTestId('trees').locator('canvas').nth(1).hover({ position: { x: 60, y: 200 } });
    await page.evaluate(() => scrollTo(0, 0));
    await page.screenshot({ path: process.env.SHOT });
  });
});

test('the other examples run, too', async () => {
  await visit(home, {}, async (page) => {
    for (const name of ['Clean of toxicity', 'A word problem', 'A toy, in a second']) {
      await page.getByRole('button', { name }).click();
      await until('it begins', async () => (await page.getByTestId('state').count()) === 1);
      const { text } = await finished(page);
      assert.ok(text.length > 10, text);
      await shot(page, name.toLowerCase().replaceAll(/\W+/g, '-'));
      if (name === 'A word problem') assert.match(text, /#### 251/);
    }
  });
});

test('a saved trace is replayed with slider, keyboard and buttons', async () => {
  await visit(`${home}#saved`, {}, async (page) => {
    await page.getByTestId('traces').getByRole('button', { name: /review/ }).click();
    const slider = page.getByRole('slider', { name: 'Time' });
    const at = async () => Number(await slider.inputValue());
    const rows = page.getByTestId('particles');
    await until('it plays by itself', async () => (await at()) > 3);
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Play' }).waitFor();

    await slider.fill('0');
    assert.match(await page.getByTestId('story').textContent(), /all masks/);
    const masked = await rows.textContent();
    await slider.focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(await at(), 1);
    await page.keyboard.press('Shift+ArrowRight');
    assert.match(await page.getByTestId('story').textContent(), /The reward looks/);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('End');
    const end = await at();
    assert.equal(end, Number(await slider.getAttribute('max')));
    assert.match(await page.getByTestId('story').textContent(), /Sweep 3.*The sweep ends/);
    assert.notEqual(await rows.textContent(), masked);
    await page.getByRole('button', { name: 'One frame back' }).click();
    assert.equal(await at(), end - 1);
    await page.keyboard.press('Home');
    assert.equal(await rows.textContent(), masked);

    // To a moment in the third sweep, where there is a reference.
    await slider.fill(String(Math.floor(end * 0.8)));
    assert.match(await page.getByTestId('story').textContent(), /Sweep 3/);
    assert.equal(await page.getByRole('button', { name: /the reference/ }).count(), 1);
    await shot(page, 'replay');

    // The link goes to the trace.
    await page.reload();
    await until('the trace is there again', async () => (await page.getByTestId('state').textContent()).includes('review'));
  });
});

test('particles and genealogy answer to keyboard and pointer', async () => {
  await visit(`${home}#saved?trace=review`, { reducedMotion: 'reduce' }, async (page) => {
    await page.getByTestId('particles').waitFor();
    await page.keyboard.press('End');
    const focus = page.getByTestId('focus');
    await page.getByRole('button', { name: /^Particle 3/ }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    assert.match(await focus.textContent(), /Particle 4.*pinned/s);

    const tree = page.getByTestId('trees').locator('canvas').nth(1);
    await tree.focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowRight');
    const told = page.getByTestId('node');
    assert.match(await told.textContent(), /Sweep 2, step \d+, particle \d.*value.*weight.*ESS/s);
    await tree.hover({ position: { x: 40, y: 100 } });
    assert.match(await told.textContent(), /Sweep 2.*The movie/s);
    await shot(page, 'genealogy');
    await tree.click({ position: { x: 40, y: 100 } });
    assert.match(await page.getByTestId('story').textContent(), /Sweep 2.*The reward looks/);
  });
});

test('a broken connection is taken up again and the text is the same', async () => {
  let broken, straight;
  // The broken one first: the server remembers what it has computed, and the second run is over at once.
  await visit(link(review), { tolerate: /ERR_|Failed to load/ }, async (page) => {
    await run(page);
    await page.getByTestId('trees').locator('canvas').first().waitFor();
    assert.equal(await state(page), 'streaming');
    door.slam(700);
    await until('it is noticed', async () => (await state(page)) === 'reconnecting', 5000);
    await shot(page, 'reconnecting');
    broken = await finished(page);
  });
  await visit(link(review), {}, async (page) => {
    await run(page);
    straight = await finished(page);
  });
  assert.deepEqual(broken, straight);
});

test('a link reproduces a run', async () => {
  const texts = [];
  let copied;
  await visit(link({ ...review, method: 'bon', seed: '5' }), {}, async (page) => {
    await page.getByText('The settings come from a link').waitFor();
    await run(page);
    texts.push(await finished(page));
    copied = page.url();
  });
  await visit(copied, {}, async (page) => {
    await run(page);
    texts.push(await finished(page));
  });
  assert.deepEqual(texts[0], texts[1]);
});

test('a run can be finished early', async () => {
  await visit(link({ ...review, method: 'pg', budget: '64', sweeps: '8', steps: '256' }), {}, async (page) => {
    await run(page);
    await until('a sweep is over', async () => (await page.getByTestId('trees').locator('canvas').count()) >= 2);
    await page.getByRole('button', { name: 'Finish now' }).click();
    const { text } = await finished(page, 20_000);
    assert.match(text, /^The movie./);
    assert.ok((await page.getByTestId('trees').locator('canvas').count()) < 8);
  });
});

test('methods are compared at the same budget', async () => {
  await visit(`${home}#compare?${new URLSearchParams({ ...review, budget: '16', steps: '64' })}`, {}, async (page) => {
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    const rows = page.getByTestId('comparison').locator('li');
    await until('all are done', async () => (await rows.locator('[data-state=done]').count()) === 4, 180_000);
    for (const row of await rows.all()) assert.match(await row.textContent(), /reward.*forwards asked\s*\d+.*run\s*\d+.*time\s*[\d.]+ s/s);
    await shot(page, 'compare');
    await rows.nth(2).getByRole('button', { name: 'Watch' }).click();
    await page.getByTestId('particles').waitFor();
  });
});

test('64 particles are readable', async () => {
  await visit(link({ ...review, budget: '64', length: '28', steps: '64' }), {}, async (page) => {
    await run(page);
    await finished(page);
    const rows = page.getByTestId('particles').locator('li');
    assert.equal(await rows.count(), 64);
    const size = await rows.first().locator('.line').evaluate((e) => parseFloat(getComputedStyle(e).fontSize));
    assert.ok(size >= 11, `${size} px`);
    await rows.nth(40).hover();
    assert.match(await page.getByTestId('focus').textContent(), /Particle 41/);
    await shot(page, '64-particles');

    // Scrubbing through all of it must not stall: a frame is drawn well within the blink of an eye.
    const slider = page.getByRole('slider', { name: 'Time' });
    const last = Number(await slider.getAttribute('max'));
    const begun = Date.now();
    for (let i = 0; i <= 20; ++i) await slider.fill(String(Math.round((last * i) / 20)));
    assert.ok(Date.now() - begun < 6000, `${Date.now() - begun} ms for 21 frames`);
  });
});

test('a narrow screen is enough', async () => {
  await visit(home, { width: 360, height: 740 }, async (page) => {
    await page.getByRole('button', { name: 'A toy, in a second' }).waitFor();
    assert.equal(await overflow(page), 0);
    await shot(page, 'narrow-welcome');
    await page.getByRole('button', { name: 'A toy, in a second' }).click();
    await until('it begins', async () => (await page.getByTestId('state').count()) === 1);
    await finished(page);
    assert.equal(await overflow(page), 0);
    await shot(page, 'narrow-run');
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByText('Side by side').waitFor();
    assert.equal(await overflow(page), 0);
    await page.getByRole('link', { name: 'Saved' }).click();
    await page.getByTestId('traces').getByRole('button', { name: /review/ }).click();
    await page.getByTestId('particles').waitFor();
    assert.equal(await overflow(page), 0);
    await shot(page, 'narrow-replay');
  });
});

test('light and dark are both readable', async () => {
  for (const colorScheme of ['light', 'dark']) {
    await visit(`${home}#saved?trace=review`, { colorScheme, reducedMotion: 'reduce' }, async (page) => {
      await page.getByTestId('particles').waitFor();
      await page.keyboard.press('End');
      assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
      await shot(page, colorScheme);
      const worst = await page.evaluate(worstContrast);
      assert.ok(worst.ratio >= 4.5, `${JSON.stringify(worst)} in ${colorScheme}`);
      await page.getByRole('button', { name: /colours/ }).click();
      assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme);
      await page.reload();
      assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), colorScheme, 'the choice is kept');
    });
  }
});

/** In the page: the lowest contrast of a text with the nearest background behind it. */
function worstContrast() {
  const g = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => {
    g.clearRect(0, 0, 1, 1);
    g.fillStyle = colour;
    g.fillRect(0, 0, 1, 1);
    return [...g.getImageData(0, 0, 1, 1).data];
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  let worst = { ratio: 21 };
  for (const e of document.querySelectorAll('p, b, span, h1, h2, h3, button, td, th, dt, dd, a')) {
    const text = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join('').trim();
    if (!text || e.closest('.taken, .seen-by-readers, :disabled') || e.getClientRects().length === 0) continue;
    let behind = e;
    while (behind && rgb(getComputedStyle(behind).backgroundColor)[3] < 255) behind = behind.parentElement;
    if (!behind) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(rgb(getComputedStyle(behind).backgroundColor))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < worst.ratio) worst = { ratio, text, classes: e.className };
  }
  return worst;
}

test('a server with a key is asked with the key', async () => {
  const guarded = await startServer('--api-key', 'open sesame', '-m', 'toy');
  const gate = await openDoor(guarded.url);
  try {
    await visit(gate.url, { tolerate: /401/ }, async (page) => {
      await page.getByLabel('Key', { exact: true }).fill('open sesame');
      await page.getByRole('button', { name: 'Go on' }).click();
      await page.getByRole('button', { name: 'A toy, in a second' }).click();
      await until('it begins', async () => (await page.getByTestId('state').count()) === 1);
      await finished(page);
      await page.reload();
      await page.getByRole('button', { name: 'A toy, in a second' }).waitFor();
    });
  } finally {
    await gate.close();
    await guarded.stop();
  }
});
