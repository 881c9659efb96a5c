// Reads every string of the code and checks that each command in a message exists, with its options and full name.
import {
  readdirSync,
  readFileSync,
  mkdtempSync,
  mkdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import ts from 'typescript';
import { commandNameOf, COMMAND_NAMES, withCommandName } from '../../../src/cli/command-name.ts';
import { createProgram } from '../../../src/cli/index.ts';

const SRC = join(import.meta.dirname, '../../../src');
const program = await createProgram({ env: {}, cwd: '/', exit: () => undefined });

/** Returns every string and template of a file; an inserted value is `…`. */
function* textsOf(file: string): Generator<string> {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) found.push(node.text);
    if (ts.isTemplateExpression(node))
      found.push([node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('…'));
    ts.forEachChild(node, visit);
  };
  visit(source);
  yield* found;
}

const texts = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) => [...textsOf(join(SRC, file))].map((text) => ({ file, text })));

const find = (parent: Command, name: string | undefined): Command | undefined =>
  parent.commands.find((each) => each.name() === name);

test('every subcommand and option that a message in src/ names after an existing command exists', () => {
  const faults: string[] = [];
  let seen = 0;
  for (const { file, text } of texts) {
    for (const [, words = ''] of text.matchAll(
      /scim-bridge ((?:[a-z][a-z-]*|--[a-z-]+|…|[A-Z]+)(?: (?:[a-z][a-z-]*|--[a-z-]+|…|[A-Z]+))*)/g,
    )) {
      const [first, second, ...rest] = words.split(' ');
      const command = find(program, first);
      if (!command) continue;
      seen++;
      const sub = find(command, second);
      if (command.commands.length > 0 && !sub && !/^(--help|and|again)?$/.test(second ?? ''))
        faults.push(`${file}: ${first} has no command ${second}`);
      const known = (sub ?? command).options.map(({ long }) => long);
      for (const option of [second, ...rest].filter((each) => each?.startsWith('--')))
        if (!known.includes(option)) faults.push(`${file}: ${words}: no option ${option}`);
    }
  }
  expect(faults).toEqual([]);
  expect(seen).toBeGreaterThan(40);
});

test('every message in src/ names a command of the CLI with `scim-bridge` before it', () => {
  const subcommands = program.commands.flatMap((command) =>
    command.commands.map((sub) => `${command.name()} ${sub.name()}`),
  );
  const short = new RegExp(
    `(?<!scim-bridge )\\b(?:${[...subcommands, 'doctor --deep', 'doctor --repair', 'plan --out', 'reconcile --'].join('|')})|(?:run|see|Run|See|then) (?:${COMMAND_NAMES.join('|')})\\b(?!-)`,
  );
  // Routes of the admin API name their command; the demo names npm scripts.
  const others = texts.filter(
    ({ file, text }) => !/^(http\/admin|demo)\//.test(file) && text.includes(' ') && short.test(text),
  );
  expect(others).toEqual([]);
});

describe('the program name in messages', () => {
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-name-'));
  const program = join(folder, 'app/dist/main.js');
  beforeAll(() => {
    mkdirSync(join(folder, 'app/dist'), { recursive: true });
    mkdirSync(join(folder, 'bin'));
    mkdirSync(join(folder, 'empty'));
    writeFileSync(program, '');
    symlinkSync(program, join(folder, 'bin/scim-bridge'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ['an image: PATH leads to this program', 'bin', 'app', 'scim-bridge'],
    ['a checkout: the file as seen from the working folder', 'empty', 'app', 'node dist/main.js'],
    ['a checkout, called from elsewhere: the whole path', 'empty', 'bin', `node ${program}`],
  ])('messages name the program as it was started (%s)', (_name, path, cwd, expected) => {
    const place = { program, path: join(folder, path), cwd: join(folder, cwd) };
    expect(commandNameOf(place)).toBe(expected);
    expect(withCommandName('see scim-bridge approvals list; scim-bridge --help', place)).toBe(
      `see ${expected} approvals list; ${expected} --help`,
    );
    expect(withCommandName('a newer scim-bridge wrote a scim-bridge backup-set', place)).toBe(
      'a newer scim-bridge wrote a scim-bridge backup-set',
    );
  });

  test('the program is started through a symbolic link → messages use the name of the link', () => {
    const place = { program: join(folder, 'bin/scim-bridge'), path: join(folder, 'bin'), cwd: folder };
    expect(commandNameOf(place)).toBe('scim-bridge');
  });
});
