// Tests since when a target counts as silent.
import { createAnswering } from '../../../src/sync/calls/answering.ts';

const LIST = { method: 'GET' as const, route: '/api/scim/v2/Users', durationMs: 100 };
const ABORTED = { ...LIST, status: 0, error: 'PlatformAborted' };

function createTarget() {
  let now = 0;
  const answering = createAnswering({ now: () => now, sleep: () => Promise.resolve() });
  return { answering, wait: (ms: number) => (now += ms) };
}

test('after a call that the bridge itself ended, the time without calls does not count as silence of the target', () => {
  const { answering, wait } = createTarget();
  answering.started();
  answering.ended(ABORTED);
  expect(answering.read()).toBeUndefined();
  wait(60_000);
  answering.started();
  expect(answering.read()).toMatchObject({ since: 60_000, failures: 0 });
});

test('while another call waits for an answer, the end of a call by the bridge leaves the silence as it is', () => {
  const { answering, wait } = createTarget();
  answering.started();
  wait(1000);
  answering.started();
  answering.ended(ABORTED);
  expect(answering.read()).toMatchObject({ since: 0, failures: 0 });
});

test('a silence with a failed call stays when the bridge ends a later call, until a call is answered', () => {
  const { answering, wait } = createTarget();
  answering.started();
  answering.ended({ ...LIST, status: 503 });
  wait(1000);
  answering.started();
  answering.ended(ABORTED);
  expect(answering.read()).toMatchObject({ since: 0, failures: 1 });
  answering.started();
  answering.ended({ ...LIST, status: 200 });
  expect(answering.read()).toBeUndefined();
});
