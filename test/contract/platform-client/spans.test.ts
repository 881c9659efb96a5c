// Tests that the span of a call ends, whether the call is sent or not.
import { afterEach, expect, test } from '@jest/globals';
import { PlatformAborted, PlatformConfiguration } from '../../../src/platform/errors.ts';
import { createCoreDataClient, type CoreDataOptions } from '../../../src/platform/library.ts';
import type { TraceCall } from '../../../src/platform/request.ts';
import { answerJson, startFakePlatform, thrownBy, TOKEN, type FakePlatform } from './fake-platform.ts';

let platform: FakePlatform;
afterEach(() => platform.stop());

/** Spans that were opened, each with the status and the error of its end. */
function record() {
  const spans: { ended?: unknown[] }[] = [];
  const trace: TraceCall = () => {
    const span: (typeof spans)[number] = {};
    spans.push(span);
    return { traceparent: '00-1-1-01', end: (...ended) => void (span.ended = ended) };
  };
  return { trace, spans };
}

/** Returns the error of a read of the data API with these fetched tokens. */
async function metaWith(token: CoreDataOptions['token'], call: object): Promise<unknown> {
  const client = createCoreDataClient({ url: platform.url, token, allowLoopbackHttp: true });
  const fault = await thrownBy(client.meta(call));
  await client.close();
  return fault;
}

test('the trace span of a call ends with the status of the answer, and with the error if the call failed', async () => {
  platform = await startFakePlatform((asked, response) =>
    answerJson(response, { id: 'u1', userName: 'jane' }, asked.url.pathname.endsWith('u1') ? 200 : 500),
  );
  const { trace, spans } = record();
  await platform.client.users.get('u1', { trace });
  await thrownBy(platform.client.users.get('u2', { trace }));
  expect(spans.map(({ ended }) => ended)).toEqual([
    [200, undefined],
    [500, 'PlatformResponse'],
  ]);
});

test('a call with a rotated key that is no valid token sends no request and leaves no trace span open', async () => {
  platform = await startFakePlatform((_, response) => answerJson(response, {}));
  let token = TOKEN;
  const client = platform.clientWith({ token: () => token });
  token = 'a key';
  const { trace, spans } = record();
  expect(await thrownBy(client.accounts.me({ trace }))).toBeInstanceOf(PlatformConfiguration);
  expect([platform.asked, spans.filter(({ ended }) => !ended)]).toEqual([[], []]);
});

test('a call whose token cannot be fetched, or that is aborted during the fetch, leaves no trace span open', async () => {
  platform = await startFakePlatform((_, response) => answerJson(response, {}));
  const { trace, spans } = record();
  const refused = new Error('no token today');
  expect(await metaWith(() => Promise.reject(refused), { trace })).toBe(refused);
  const controller = new AbortController();
  const late = (): Promise<string> => Promise.resolve().then(() => (controller.abort(), TOKEN));
  expect(await metaWith(late, { trace, signal: controller.signal })).toBeInstanceOf(PlatformAborted);
  expect([platform.asked, spans.filter(({ ended }) => !ended)]).toEqual([[], []]);
});
