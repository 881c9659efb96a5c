// Tests the names of the model files that a folder contains.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { readModelFiles } from '../../../../src/sandbox/core-data/yaml/model-files.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'model-files-'));
  mkdirSync(join(parent, 'model', 'cubes'), { recursive: true });
  writeFileSync(join(parent, 'model', 'cubes', 'orders.yml'), 'cubes: []\n');
});
afterEach(() => rmSync(parent, { recursive: true }));

const from = (path: string): string => relative(process.cwd(), join(parent, path));

test.each([
  ['an absolute path', () => join(parent, 'model')],
  ['a path with a slash at its end', () => `${join(parent, 'model')}/`],
  ['a path that begins with ./', () => `./${from('model')}`],
  ['a relative path', () => from('model')],
])('model files have their paths inside a folder that is given as %s', (_how, folder) => {
  expect(readModelFiles(folder()).models.map(({ name }) => name)).toEqual([join('cubes', 'orders.yml')]);
});
