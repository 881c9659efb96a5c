// Tests the time limit of exports.
import { jest } from '@jest/globals';
import { createLogExports } from '../../../src/http/admin/log-export.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

async function* none() {}

test('an export of links that its client does not read within ten minutes is broken off, as one of a log', () => {
  const exports = createLogExports();
  const exported = { name: 'log', steps: none(), columns: [], toCells: () => [], toRecord: () => ({}) };
  const signals = [
    exports.file('links.ndjson', 'application/x-ndjson', none()).signal,
    exports.answer(exported, { format: 'ndjson' }, new AbortController().signal).signal,
  ];
  jest.advanceTimersByTime(599_000);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
  jest.advanceTimersByTime(1000);
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});
