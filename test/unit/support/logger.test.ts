// Tests which parts of an error the log contains.
import { createLogger } from '../../../src/support/logger.ts';

function logged(error: unknown): any {
  const lines: string[] = [];
  createLogger('info', { write: (line) => void lines.push(line) }).error({ err: error }, 'failed');
  return JSON.parse(lines[0] ?? '');
}

test('a logged error holds type, message, code, status and causes, and no other property', () => {
  const cause = Object.assign(new TypeError('refused'), { code: 'ECONNREFUSED', args: ['jo@acme.example'] });
  const error = Object.assign(new Error('a script failed', { cause }), {
    status: 400,
    command: { name: 'evalsha', args: ['{"userName":"jo@acme.example"}'] },
    platformMessage: 'jo@acme.example exists',
  });
  const line = logged(error);
  expect(JSON.stringify(line)).not.toContain('jo@acme');
  expect(line.err).toEqual({
    type: 'Error',
    message: 'a script failed',
    status: 400,
    stack: error.stack,
    cause: { type: 'TypeError', message: 'refused', code: 'ECONNREFUSED', stack: cause.stack },
  });
});

test('a circular chain of causes is logged to a bounded depth', () => {
  const error = new Error('round');
  error.cause = error;
  expect(JSON.stringify(logged(error)).split('"cause"').length - 1).toBe(3);
});

test('a thrown string is logged unchanged', () => {
  expect(logged('only words').err).toBe('only words');
});
