// Tests the sentence and exit code of a command that fails.
import { jest } from '@jest/globals';
import { reportFailure } from '../../../src/cli/cli.ts';
import { EndpointAbsent, PlatformResponse } from '../../../src/platform/errors.ts';

const call = { method: 'GET', route: '/api/v1/users' };

function written(error: Error): string {
  const lines: string[] = [];
  const spy = jest.spyOn(console, 'error').mockImplementation((text) => void lines.push(String(text)));
  try {
    expect(reportFailure(error)).toBe(1);
  } finally {
    spy.mockRestore();
  }
  return lines.join('');
}

test("a command shows a refusal of the platform with the platform's text, control characters escaped", () => {
  const refusal = new PlatformResponse({ status: 403, platformMessage: 'SCIM is \u001b[2Joff' }, call);
  const text = written(refusal);
  expect(text).toMatch(/^GET \/api\/v1\/users answered 403: SCIM is .*off$/);
  expect(text).not.toContain('\u001b');
});

test('the platform answers a command with a web page → the command does not print the text of this page', () => {
  const absent = new EndpointAbsent(404, call, '<!DOCTYPE html><pre>Cannot GET</pre>');
  expect(written(absent)).not.toContain('<');
});
