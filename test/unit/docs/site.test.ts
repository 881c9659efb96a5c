// Tests the documentation site: every page is on it, links and anchors resolve, and pages load no file of another server.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-site-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Builds the site. @returns the exit code and the faults, without the timings that Eleventy prints on a slow machine */
function build(...options: string[]): { status: number | null; faults: string[] } {
  const script = join(ROOT, '.ci/site/build.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, ...options], { encoding: 'utf8' });
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('[11ty] Benchmark'));
  return { status, faults: lines };
}

const below = (path: string, end: string): string[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith(end));

const output = join(folder, 'site');
const built = build('--output', output);
const pages = new Map(below(output, '.html').map((page) => [page, readFileSync(join(output, page), 'utf8')]));
const start = pages.get('index.html') ?? '';

test('the build of the documentation site succeeds', () => {
  expect(built).toEqual({ status: 0, faults: [] });
});

test('every page of docs is on the documentation site, and the start page links to it', () => {
  const sources = below(join(ROOT, 'docs'), '.md');
  expect(sources.length).toBeGreaterThan(60);
  for (const source of sources) {
    const page = source.replace(/README\.md$/, 'index.md').replace(/md$/, 'html');
    expect([source, pages.has(page), start.includes(`<li><a href="${page}"`)]).toEqual([source, true, true]);
  }
});

test('the start page of the documentation site has the sections Start, Concepts, Guides, Reference, Runbook and Decisions', () => {
  const sections = [...start.matchAll(/<summary>(.+)<\/summary>/g)].map(([, title]) => title);
  expect(sections).toEqual(
    expect.arrayContaining(['Start', 'Concepts', 'Guides', 'Reference', 'Runbook', 'Decisions']),
  );
});

/** Returns one line for each address of a page that has no target in the built site. */
function deadLinks(page: string, html: string): string[] {
  const addresses = [...html.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, address = '']) => address);
  return addresses.flatMap((address) => {
    if (/^(?:https?|mailto|data):/.test(address)) return [];
    const [path = '', anchor] = address.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), decodeURI(path)));
    const isThere = existsSync(join(output, target));
    const hasAnchor = anchor === undefined || pages.get(target)?.includes(` id="${decodeURI(anchor)}"`);
    return isThere && hasAnchor ? [] : [`${page}: ${address}`];
  });
}

test('every link, anchor and image of the site has a target on it', () => {
  expect([...pages].flatMap(([page, html]) => deadLinks(page, html))).toEqual([]);
});

test.each([...pages])(
  'the page %s has a language, one heading of level 1, and no script or foreign resource',
  (_page, html) => {
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(html.match(/<h1[ >]/g)).toHaveLength(1);
    expect(html).toMatch(/<title>[^<]+<\/title>/);
    expect(html).not.toMatch(/<(?:script|iframe|object|embed)\b|\son\w+="/);
    const loaded = [...html.matchAll(/<(?:link|img)\b[^>]*?(?:href|src)="([^"]*)"/g)].map(
      ([, from = '']) => from,
    );
    expect(loaded.filter((from) => /^(?!data:,)(?:\w+:|\/)/.test(from))).toEqual([]);
    for (const [image] of html.matchAll(/<img\b[^>]*>/g)) expect(image).toMatch(/ alt="[^"]+"/);
    const ids = [...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  },
);

test('every picture of docs is on a page, and together they have at most 600 kB', () => {
  const pictures = below(join(ROOT, 'docs'), '.png');
  const sizes = pictures.map((picture) => statSync(join(ROOT, 'docs', picture)).size);
  expect(pictures.filter((picture) => !existsSync(join(output, picture)))).toEqual([]);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(600_000);
});

test('the stylesheet of the documentation site loads no other file', () => {
  expect(readFileSync(join(output, 'style.css'), 'utf8')).not.toMatch(/@import|url\(/);
});

test('a link without a target, an unknown heading, a foreign image and a page without a section each fail the build of the site', () => {
  const root = join(folder, 'root');
  for (const path of [
    'docs',
    'config',
    'helm',
    'SECURITY.md',
    'CHANGELOG.md',
    'THIRD-PARTY-LICENSES',
    'LICENSE',
  ])
    cpSync(join(ROOT, path), join(root, path), { recursive: true });
  const page = join(root, 'docs/limits.md');
  const added = '[a](none.md) [b](deploy.md#none) [c](../src) ![d](https://example.com/d.png)';
  writeFileSync(page, `${readFileSync(page, 'utf8')}\n${added}\n`);
  writeFileSync(join(root, 'docs/lonely.md'), '# Lonely\n');
  const { status, faults } = build('--root', root, '--output', join(folder, 'faulty'));
  expect(status).toBe(1);
  expect(faults.sort()).toEqual([
    'docs/limits.md: ../src leads nowhere',
    'docs/limits.md: deploy.md#none leads to no heading',
    'docs/limits.md: none.md leads nowhere',
    'docs/limits.md: the image https://example.com/d.png is not in the repository',
    'docs/lonely.md is in no section of .ci/site/navigation.mjs',
  ]);
});

test('a build of the documentation site into a folder with other files fails and leaves them', () => {
  const other = mkdtempSync(join(tmpdir(), 'scim-bridge-site-'));
  writeFileSync(join(other, 'notes.txt'), 'kept');
  expect(build('--output', other)).toMatchObject({ status: 1, faults: [expect.stringContaining(other)] });
  expect(readdirSync(other)).toEqual(['notes.txt']);
  rmSync(other, { recursive: true });
});
