// Tests the names of the model files that a folder contains.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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

test('two CSV files in different folders have the name of one table → the model is refused, and both files are named', () => {
  for (const folder of ['east', 'west']) {
    mkdirSync(join(parent, 'model', folder));
    writeFileSync(join(parent, 'model', folder, 'orders.csv'), 'id\n1\n');
  }
  expect(() => readModelFiles(join(parent, 'model'))).toThrow(
    `${join('west', 'orders.csv')}: ${join('east', 'orders.csv')} has the rows of the table orders too`,
  );
});

test('a file of the model cannot be read → the model is refused, and the file is named', () => {
  chmodSync(parent, 0o755);
  chmodSync(join(parent, 'model', 'cubes', 'orders.yml'), 0);
  // The superuser can read every file, so a test that runs as root reads as another user.
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65_534);
  try {
    expect(() => readModelFiles(join(parent, 'model'))).toThrow(
      `${join('cubes', 'orders.yml')}: cannot be read (EACCES)`,
    );
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
});
