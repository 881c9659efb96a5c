// Tests the lines about the progress of long work where standard error is no terminal.
import { jest } from '@jest/globals';
import { createProgressLine } from '../../../src/cli/progress.ts';

const lines: string[] = [];
let now = 0;
beforeEach(() => {
  lines.length = 0;
  jest.spyOn(console, 'error').mockImplementation((line: unknown) => void lines.push(String(line)));
  jest.spyOn(Date, 'now').mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

const members = (done: number) => ({ phase: 'members', done, total: 3 });

test('work ends soon after a progress line → one more line shows the final state', () => {
  const progress = createProgressLine('default → main');
  now += 4000;
  progress.show(members(1));
  now += 100;
  progress.show(members(2));
  progress.show(members(3));
  expect(lines).toEqual(['default → main: members 1 of 3']);
  progress.end();
  progress.end();
  expect(lines).toEqual(['default → main: members 1 of 3', 'default → main: members 3 of 3']);
});

test('work ends before its first progress line, or in the state last printed → no further line is printed', () => {
  const short = createProgressLine('short');
  short.show(members(3));
  short.end();
  const long = createProgressLine('long');
  now += 4000;
  long.show(members(3));
  long.end();
  expect(lines).toEqual(['long: members 3 of 3']);
});
