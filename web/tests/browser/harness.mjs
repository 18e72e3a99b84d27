// What the browser tests stand on: a server, a door in front of it that can be slammed, and a browser that tells on us.

import { execFileSync, spawn } from 'node:child_process';
import { createReadStream, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const here = path.dirname(fileURLToPath(import.meta.url));
export const shots = path.join(here, 'shots');
const program = process.env.PGDLM ?? path.join(here, '../../../build/pgdlm');
const models = process.env.PGDLM_MODELS ?? path.join(here, '../../../models');
const env = { ...process.env, PGDLM_MODELS: models };

/** `pgdlm serve` on a free port. */
export async function startServer(...options) {
  const child = spawn(program, ['serve', '--port', '0', ...options], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  const url = await new Promise((resolve, reject) => {
    child.stderr.on('data', (text) => {
      said += text;
      const found = said.match(/listening on (http:\/\/\S+)/);
      if (found) resolve(found[1]);
    });
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
  });
  return {
    url,
    stop: () =>
      new Promise((resolve) => {
        child.removeAllListeners('exit');
        child.on('exit', resolve);
        child.kill('SIGTERM');
      }),
  };
}

/** A folder with traces that the program has written just now. */
export function writeTraces(traces) {
  const folder = mkdtempSync(path.join(tmpdir(), 'pgdlm-traces-'));
  for (const [name, args] of Object.entries(traces))
    execFileSync(program, ['generate', ...args, '--trace', path.join(folder, `${name}.jsonl`)], { env, stdio: 'ignore' });
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}

/**
 * A proxy whose connections can be cut. With the variable DIST it also hands out the view from that folder instead of the
 * binary's own, so that the view can be tested without building the program again.
 */
export async function openDoor(target) {
  const sockets = new Set();
  let shut = false;
  const door = http.createServer((request, response) => {
    const file = process.env.DIST && path.join(process.env.DIST, request.url === '/' ? 'index.html' : request.url);
    if (file && existsSync(file)) {
      const type = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' }[path.extname(file)];
      const policy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";
      response.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': policy });
      return createReadStream(file).pipe(response);
    }
    const { method, headers, url } = request;
    const onward = http.request(target + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  door.on('connection', (socket) => {
    if (shut) return socket.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise((resolve) => door.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${door.address().port}/`,
    /** Cuts all connections and lets nobody in for a while. */
    slam(ms) {
      shut = true;
      for (const socket of sockets) socket.destroy();
      setTimeout(() => (shut = false), ms);
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => door.close(resolve));
    },
  };
}

let browser;
export async function startBrowser() {
  mkdirSync(shots, { recursive: true });
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
}
export const stopBrowser = () => browser.close();

/** Opens a page, and fails afterwards if it asked another host for anything or complained in the console. */
export async function visit(url, { width = 1440, height = 900, tolerate = /^$/, ...options }, steps) {
  const context = await browser.newContext({ viewport: { width, height }, ...options });
  const page = await context.newPage();
  const complaints = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !tolerate.test(message.text())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (/^https?:/.test(request.url()) && new URL(request.url()).host !== new URL(url).host) complaints.push(`asked ${request.url()}`);
  });
  try {
    await page.goto(url);
    await steps(page);
    assert.deepEqual(complaints, []);
  } finally {
    await context.close();
  }
}

export const shot = (page, name) => page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });

/** The page's security policy forbids playwright's own waitForFunction. */
export async function until(what, condition, ms = 60_000) {
  const end = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > end) assert.fail(`waited in vain: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}

export const state = (page) => page.getByTestId('state').getAttribute('data-state');

/** Waits for the end of the run on the page; its text and reward. */
export async function finished(page, ms = 120_000) {
  await until('the run ends', async () => ['done', 'failed'].includes(await state(page)), ms);
  assert.equal(await state(page), 'done', await page.getByTestId('state').textContent());
  return { text: await page.getByTestId('answer').textContent(), reward: await page.getByTestId('reward').textContent() };
}
