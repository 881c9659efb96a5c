// Tests the errors of the platform client for every kind of failed call, over real sockets.
import { afterEach, describe, expect, test } from '@jest/globals';
import { createServer, type AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import {
  EndpointAbsent,
  PlatformAborted,
  PlatformConnection,
  PlatformDecode,
  PlatformError,
  PlatformResponse,
  PlatformTimeout,
} from '../../../src/platform/errors.ts';
import {
  answerJson,
  SCIM_TOKEN,
  startFakePlatform,
  thrownBy,
  TOKEN,
  type FakePlatform,
  type Script,
} from './fake-platform.ts';

const PERSON = 'jane.doe@example.com';
let platform: FakePlatform;
const start = async (script: Script, options = {}): Promise<FakePlatform> =>
  (platform = await startFakePlatform(script, options));
afterEach(() => platform.stop());

/** Expects that no property that a log line prints contains a token or a user. */
function expectRedacted(fault: unknown): void {
  expect(fault).toBeInstanceOf(PlatformError);
  const { stack, message } = fault as Error;
  const printed = [
    JSON.stringify(fault),
    inspect(fault, { depth: 9, showHidden: true }),
    stack,
    message,
  ].join();
  for (const secret of [TOKEN, SCIM_TOKEN, PERSON]) expect(printed).not.toContain(secret);
}

/** Returns the error that a call throws. Expects that it has this class and contains no secret. */
async function failure<T>(call: Promise<unknown>, kind: abstract new (...args: never[]) => T): Promise<T> {
  const fault = await thrownBy(call);
  expect(fault).toBeInstanceOf(kind);
  expectRedacted(fault);
  return fault as T;
}

const create = (options = {}): Promise<unknown> =>
  platform.client.users.create({ userName: PERSON }, options);

describe('time-outs of calls', () => {
  test('a time-out given to one call replaces the longer time-out of the client', async () => {
    await start(() => undefined, { timeoutMs: 20_000 });
    const hurried = platform.client.accounts.search(PERSON, { timeoutMs: 80 });
    expect(await failure(hurried, PlatformTimeout)).toMatchObject({ timeoutMs: 80 });
  });

  test('the error after a time-out says mayHaveCommitted false for a read and true for a write', async () => {
    await start(() => undefined, { timeoutMs: 80 });
    const read = await failure(platform.client.users.get(PERSON, { correlationId: 'c9' }), PlatformTimeout);
    expect(read).toMatchObject({
      mayHaveCommitted: false,
      correlationId: 'c9',
      timeoutMs: 80,
      method: 'GET',
    });
    expect(await failure(create(), PlatformTimeout)).toMatchObject({ mayHaveCommitted: true });
    expect(platform.calls.map(({ status, error }) => [status, error])).toEqual([
      [0, 'PlatformTimeout'],
      [0, 'PlatformTimeout'],
    ]);
  });

  test('a body that arrives slowly does not extend the time-out of a call', async () => {
    let timer: NodeJS.Timeout | undefined;
    await start(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).write('[');
        timer = setInterval(() => response.write(' '), 20);
      },
      { timeoutMs: 150 },
    );
    const began = Date.now();
    await failure(platform.client.values.list('5'), PlatformTimeout);
    expect(Date.now() - began).toBeLessThan(10_000);
    clearInterval(timer);
  });

  test('an aborted write that waits for a free connection rejects at once and is not sent', async () => {
    await start(() => undefined, { timeoutMs: 2000, connections: 1 });
    const first = failure(create(), PlatformTimeout);
    const began = Date.now();
    const second = await failure(create({ signal: AbortSignal.timeout(60) }), PlatformAborted);
    expect(Date.now() - began).toBeLessThan(1500);
    expect(second.mayHaveCommitted).toBe(false);
    expect((second.cause as Error).name).toBe('TimeoutError');
    expect((await first).mayHaveCommitted).toBe(true);
    expect(platform.asked).toHaveLength(1);
  });
});

describe('failed connections', () => {
  test('a write to a port that refuses connections throws with mayHaveCommitted false', async () => {
    await start(() => undefined);
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const client = platform.clientWith({ url: `http://127.0.0.1:${port}` });
    const fault = await failure(client.users.create({ userName: PERSON }), PlatformConnection);
    expect(fault).toMatchObject({ code: 'ECONNREFUSED', mayHaveCommitted: false });
    expect((fault.cause as Error).message).toContain('ECONNREFUSED');
  });

  test('when the socket closes after the request, a write throws with mayHaveCommitted true and a read with false', async () => {
    await start((_, response) => response.socket?.destroy());
    expect(await failure(create(), PlatformConnection)).toMatchObject({ mayHaveCommitted: true });
    const read = await failure(platform.client.users.get('u1'), PlatformConnection);
    expect(read.mayHaveCommitted).toBe(false);
  });

  test('when the socket closes within the answer to a write, the call throws PlatformConnection with mayHaveCommitted true', async () => {
    await start((_, response) => {
      response.writeHead(201, { 'content-length': '500' }).write(`{"id":"${PERSON}"`);
      setTimeout(() => response.socket?.destroy(), 20);
    });
    expect(await failure(create(), PlatformConnection)).toMatchObject({ mayHaveCommitted: true });
  });

  test('the error about an answer that is not HTTP does not quote the answer', async () => {
    await start(() => undefined);
    const odd = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(`NONSENSE ${PERSON} ${TOKEN}\r\n\r\n`));
    });
    await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
    const client = platform.clientWith({ url: `http://127.0.0.1:${(odd.address() as AddressInfo).port}` });
    const fault = await failure(client.users.get('u1'), PlatformConnection);
    expect(fault.cause).toBeInstanceOf(Error);
    await new Promise((resolve) => odd.close(resolve));
  });

  test('a call of a closed client throws PlatformConnection, and closing the client twice does not throw', async () => {
    await start((_, response) => answerJson(response, []));
    await platform.client.values.list('5');
    await platform.client.close();
    await platform.client.close();
    expect(await failure(create(), PlatformConnection)).toMatchObject({ mayHaveCommitted: false });
  });
});

describe('calls that the caller aborts', () => {
  test('a call with an already aborted signal sends no request', async () => {
    await start(() => undefined);
    const fault = await failure(
      create({ signal: AbortSignal.abort(new Error('stopping')) }),
      PlatformAborted,
    );
    expect(fault.mayHaveCommitted).toBe(false);
    expect((fault.cause as Error).message).toBe('stopping');
    expect(platform.asked).toEqual([]);
  });

  test('a call that is aborted while its function `admit` waits throws with mayHaveCommitted false', async () => {
    await start(() => undefined, {
      admit: (signal?: AbortSignal) =>
        new Promise<void>((_, reject) => signal?.addEventListener('abort', () => reject(new Error('left')))),
    });
    const controller = new AbortController();
    const call = failure(create({ signal: controller.signal }), PlatformAborted);
    controller.abort();
    expect((await call).mayHaveCommitted).toBe(false);
  });

  test('an abort ends a call that waits for its answer, and a call whose body has begun', async () => {
    const controller = new AbortController();
    await start((asked, response) => {
      if (asked.method === 'GET') response.writeHead(200).write('[');
      setTimeout(() => controller.abort(), 30);
    });
    expect(await failure(create({ signal: controller.signal }), PlatformAborted)).toMatchObject({
      mayHaveCommitted: true,
    });
    const later = new AbortController();
    setTimeout(() => later.abort(), 60);
    await failure(platform.client.values.list('5', { signal: later.signal }), PlatformAborted);
  });

  test('finished calls leave no listeners on a long-lived abort signal', async () => {
    await start((_, response) => answerJson(response, []));
    const { signal } = new AbortController();
    let listeners = 0;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: unknown[]) => (
      (listeners += 1),
      add(...(args as Parameters<typeof add>))
    );
    signal.removeEventListener = (...args: unknown[]) => (
      (listeners -= 1),
      remove(...(args as Parameters<typeof remove>))
    );
    for (let i = 0; i < 5; i += 1) await platform.client.values.list('5', { signal });
    expect(listeners).toBe(0);
  });
});

describe('answers with an error status', () => {
  const scim = { schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '409', detail: 'taken' };
  test.each([
    ['a SCIM detail', JSON.stringify({ ...scim, scimType: 'uniqueness' }), 'taken'],
    ['a text in error', '{"error":"no such thing","message":"other"}', 'no such thing'],
    ['an object in error', '{"error":{"message":"nested"},"message":"other"}', 'nested'],
    ['a text in message', '{"error":"","message":"plain","statusCode":409}', 'plain'],
    ['a list in message', '{"message":["one",2,"two"]}', 'one; two'],
    ['other JSON', '{"code":7}', '{"code":7}'],
    ['no JSON', 'x'.repeat(300), 'x'.repeat(200)],
    ['no content', '', ''],
  ])('ERR-07 the platform message of an error is read from a body with %s', async (_, body, expected) => {
    await start((_asked, response) => response.writeHead(409, { 'x-request-id': 'r-1' }).end(body));
    const fault = await failure(create(), PlatformResponse);
    expect(fault).toMatchObject({
      status: 409,
      platformMessage: expected,
      requestId: 'r-1',
      mayHaveCommitted: false,
    });
    expect(fault.scimType).toBe(body.includes('uniqueness') ? 'uniqueness' : undefined);
    expect(fault.message).toBe('POST /api/scim/v2/Users answered 409');
  });

  test('tokens that the platform repeats in an error answer are redacted, also in truncated text', async () => {
    await start((asked, response) =>
      response
        .writeHead(401, { 'x-request-id': `r ${TOKEN}` })
        .end(
          asked.method === 'GET'
            ? `${'y'.repeat(190)}${SCIM_TOKEN}`
            : JSON.stringify({ error: `bad ${TOKEN}` }),
        ),
    );
    const fault = await failure(create(), PlatformResponse);
    expect([fault.platformMessage, fault.requestId]).toEqual(['bad [redacted]', 'r [redacted]']);
    const short = await failure(platform.client.users.get('u1'), PlatformResponse);
    expect(short.platformMessage).toBe(`${'y'.repeat(190)}[redacted]`);
  });

  test.each([
    ['2', 2000],
    ['Wed, 21 Oct 2026 07:28:30 GMT', 30_000],
    ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
    ['soon', undefined],
  ])('the answer header Retry-After %s with a Date header gives a wait of %p ms', async (value, expected) => {
    await start((_, response) =>
      answerJson(response, { error: 'slow down' }, 429, {
        'retry-after': value,
        date: 'Wed, 21 Oct 2026 07:28:00 GMT',
      }),
    );
    expect((await failure(platform.client.users.get('u1'), PlatformResponse)).retryAfterMs).toBe(expected);
  });

  test('a write answered with 503 throws with mayHaveCommitted true', async () => {
    await start((_, response) => answerJson(response, {}, 503));
    expect((await failure(create(), PlatformResponse)).mayHaveCommitted).toBe(true);
  });

  test('a web page with status 404 throws PlatformResponse', async () => {
    await start((_, response) => response.writeHead(404).end('<html>'));
    expect((await failure(platform.client.accounts.search(PERSON), PlatformResponse)).status).toBe(404);
  });

  test.each([301, 302, 303, 307, 308])(
    'a redirect with status %i is not followed and throws PlatformResponse',
    async (status) => {
      await start((_, response) =>
        response.writeHead(status, { location: `${platform.url}/elsewhere` }).end(),
      );
      const fault = await failure(create(), PlatformResponse);
      expect(fault.message).toContain('redirects are not followed');
      expect(platform.asked).toHaveLength(1);
    },
  );
});

describe('answers with a success that cannot be used', () => {
  test('a web page with status 200 throws EndpointAbsent', async () => {
    await start((_, response) => response.writeHead(200).end(`\n <!doctype html><p>${PERSON}`));
    await failure(platform.client.accounts.search(PERSON), EndpointAbsent);
    await failure(platform.client.users.delete('u1'), EndpointAbsent);
  });

  test.each([
    ['cut JSON', `{"id":"${PERSON}`],
    ['no body', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['no id', `{"userName":"${PERSON}"}`],
    ['an id that no number can hold', `{"id":9007199254740993,"userName":"${PERSON}"}`],
    ['no userName', '{"id":"1"}'],
  ])(
    'an answer with %s in place of a SCIM user throws PlatformDecode without a quotation of the answer',
    async (_, body) => {
      await start((_asked, response) => response.writeHead(200).end(body));
      expect((await failure(create(), PlatformDecode)).mayHaveCommitted).toBe(true);
      await failure(platform.client.users.get('u1'), PlatformDecode);
    },
  );

  test('an answer of 9 MB throws PlatformDecode, because the limit is 8 MB', async () => {
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    await start(
      (_, response) => {
        response.writeHead(200);
        response.on('error', () => undefined);
        const more = (left: number): void => {
          if (left > 0 && !response.destroyed) response.write(chunk, () => more(left - 1));
          else response.end();
        };
        more(9);
      },
      { timeoutMs: 20_000 },
    );
    await failure(platform.client.values.list('5'), PlatformDecode);
  });
});
