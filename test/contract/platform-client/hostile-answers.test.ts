// Tests hostile answers of a platform: each becomes an error in bounded memory and time.
import { afterEach, describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import {
  AnswerTooLarge,
  PlatformConnection,
  PlatformDecode,
  PlatformError,
  PlatformResponse,
  PlatformTimeout,
} from '../../../src/platform/errors.ts';
import type { WireUser } from '../../../src/platform/wire.ts';
import { createListProof } from '../../../src/reconcile/scan/list-proof.ts';
import { scanList } from '../../../src/reconcile/scan/scan.ts';
import { systemClock } from '../../../src/support/sources.ts';
import { answerJson, startFakePlatform, thrownBy, type FakePlatform, type Script } from './fake-platform.ts';

let platform: FakePlatform;
const start = async (script: Script, options = {}): Promise<FakePlatform> =>
  (platform = await startFakePlatform(script, options));
afterEach(() => platform.stop());

const answerText = (response: ServerResponse, text: string): void => {
  response.writeHead(200, { 'content-type': 'application/scim+json' });
  response.end(text);
};
const listed = (resources: unknown, totalResults: unknown = 1): string =>
  JSON.stringify({ totalResults, Resources: resources });
const user = (more: object = {}): object => ({ id: 'u1', userName: 'jane', ...more });

describe('answers of hostile size and structure', () => {
  test.each([
    ['9.9 MB of empty objects', `[${'{},'.repeat(3_300_000)}{}]`, /more than 8388608 bytes/],
    [
      '5 MB of empty objects',
      `{"totalResults":1,"Resources":[${'{},'.repeat(1_600_000)}{}]}`,
      /brackets and commas/,
    ],
    [
      'a million numbers',
      `{"totalResults":1,"Resources":[${'1,'.repeat(1_000_000)}1]}`,
      /brackets and commas/,
    ],
    ['100,000 levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, /nested deeper than 32 levels/],
    [
      'a name of 1 MB',
      listed([user({ displayName: 'x'.repeat(1_000_000) })]),
      /text of more than 262144 bytes/,
    ],
    ['an id of 1 MB', listed([user({ id: 'x'.repeat(1_000_000) })]), /text of more than 262144 bytes/],
  ])('an answer with %s throws AnswerTooLarge', async (_, text, reason) => {
    await start((_asked, response) => answerText(response, text));
    const fault = await thrownBy(platform.client.users.list({ count: 500 }));
    expect(fault).toBeInstanceOf(AnswerTooLarge);
    expect((fault as PlatformError).message).toMatch(reason);
    expect((fault as PlatformError).message.length).toBeLessThan(200);
  });

  test('an answer that never ends throws AnswerTooLarge, and its connection is closed', async () => {
    let sent = 0;
    let closed: () => void = () => undefined;
    const end = new Promise<void>((resolve) => (closed = resolve));
    await start((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.on('close', closed);
      const more = (): void => {
        if (response.destroyed) return;
        sent += 65_536;
        if (response.write(' '.repeat(65_536))) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    });
    const fault = await thrownBy(platform.client.users.get('u1'));
    expect(fault).toBeInstanceOf(AnswerTooLarge);
    await end;
    expect(sent).toBeLessThan(40 * 1024 * 1024);
  });

  test('an error body that never ends throws PlatformResponse with its first 200 characters', async () => {
    await start((_, response) => {
      response.writeHead(500, { 'content-type': 'text/plain' });
      const more = (): void =>
        void (response.destroyed || (response.write('x'.repeat(65_536)), setImmediate(more)));
      more();
    });
    const fault = await thrownBy(platform.client.users.get('u1'));
    expect(fault).toBeInstanceOf(PlatformResponse);
    expect((fault as PlatformResponse).platformMessage).toBe('x'.repeat(200));
  });

  test('a write whose answer is too large throws with mayHaveCommitted true', async () => {
    await start((_, response) =>
      answerText(response, JSON.stringify(user({ displayName: 'x'.repeat(9e6) }))),
    );
    const fault = await thrownBy(platform.client.users.create({ userName: 'jane' }));
    expect(fault).toBeInstanceOf(AnswerTooLarge);
    expect(fault).toMatchObject({ mayHaveCommitted: true });
  });

  test('a read of a group with 100,000 members returns all members', async () => {
    const members = Array.from({ length: 100_000 }, (_, at) => ({
      value: `5c1a2b3c-0000-4000-8000-${String(at).padStart(12, '0')}`,
      display: `Person Number ${at}`,
      type: 'User',
    }));
    await start(
      (_, response) => answerText(response, JSON.stringify({ id: 'g1', displayName: 'All', members })),
      { timeoutMs: 30_000 },
    );
    expect((await platform.client.groups.get('g1')).members).toHaveLength(100_000);
  });
});

describe('unusual numbers and ids', () => {
  test.each([
    ['1e15 resources', listed([user()], 1e15)],
    ['-1 resources', listed([user()], -1)],
    ['half a resource', listed([user()], 1.5)],
    ['a count as a list', listed([user()], [1])],
    ['an id with a line break', listed([user({ id: 'u\n1' })])],
    ['an id with an escape character', listed([user({ id: 'u\u001b[2J' })])],
    ['the id __proto__', listed([user({ id: '__proto__' })])],
    ['an id of 2,000 characters', listed([user({ id: 'x'.repeat(2000) })])],
    ['an id that is an object', listed([user({ id: {} })])],
    ['resources that are a text', listed('all')],
    ['a resource that is a list', listed([[]])],
  ])('a list answer with %s throws PlatformDecode', async (_, text) => {
    await start((_asked, response) => answerText(response, text));
    expect(await thrownBy(platform.client.users.list({ count: 1 }))).toBeInstanceOf(PlatformDecode);
  });
});

describe('endless headers and slow answers', () => {
  test('an answer whose headers never end throws PlatformConnection', async () => {
    await start((_, response) => {
      const { socket } = response;
      socket?.write('HTTP/1.1 200 OK\r\n');
      const more = (): void => {
        if (!socket || socket.destroyed) return;
        socket.write(`x-${Math.random()}: ${'y'.repeat(1000)}\r\n`);
        setImmediate(more);
      };
      more();
    });
    expect(await thrownBy(platform.client.users.get('u1'))).toBeInstanceOf(PlatformConnection);
  });

  test('interim answers without end do not extend the time-out of a call', async () => {
    await start(
      (_, response) => {
        const timer = setInterval(() => response.socket?.write('HTTP/1.1 102 Processing\r\n\r\n'), 10);
        response.on('close', () => clearInterval(timer));
      },
      { timeoutMs: 200 },
    );
    expect(await thrownBy(platform.client.users.get('u1'))).toBeInstanceOf(PlatformError);
  });

  test('a body sent byte by byte does not extend the time-out of a call', async () => {
    await start(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const timer = setInterval(() => response.write('['), 10);
        response.on('close', () => clearInterval(timer));
      },
      { timeoutMs: 200 },
    );
    expect(await thrownBy(platform.client.users.get('u1'))).toBeInstanceOf(PlatformTimeout);
  });

  test('a compressed answer that was not requested throws PlatformDecode', async () => {
    await start((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(Buffer.from([0x1f, 0x8b, 8, 0]));
    });
    expect(await thrownBy(platform.client.users.get('u1'))).toBeInstanceOf(PlatformDecode);
  });
});

describe('hostile lists', () => {
  /** Scans all users, as a reconcile does. @returns their ids, and whether the list was proven complete */
  async function walk(): Promise<{
    ids: string[];
    verdict: ReturnType<ReturnType<typeof createListProof>['verdict']>;
  }> {
    const proof = createListProof<WireUser>();
    const ids: string[] = [];
    const { signal } = new AbortController();
    const options = { clock: { ...systemClock, sleep: () => Promise.resolve() }, signal, random: () => 0 };
    const pages = scanList(
      (startIndex, count, pageSignal) =>
        platform.client.users.list({ startIndex, count }, { signal: pageSignal }),
      proof,
      { ...options, count: 500, inFlight: 4 },
    );
    for await (const page of pages) ids.push(...page.map(({ id }) => id));
    return { ids, verdict: proof.verdict() };
  }

  /** Answers `total` users, the one at `index` with a displayName of `size(index)` characters. */
  const directory =
    (total: number, size: (index: number) => number): Script =>
    ({ url }, response) => {
      const from = Number(url.searchParams.get('startIndex')) - 1;
      const count = Math.min(Number(url.searchParams.get('count')), total - from);
      const resources = Array.from({ length: Math.max(0, count) }, (_, at) => ({
        id: `u${from + at}`,
        userName: `user${from + at}`,
        displayName: 'x'.repeat(size(from + at)),
      }));
      answerJson(response, { totalResults: total, Resources: resources });
    };
  const inOrder = (total: number): string[] => Array.from({ length: total }, (_, at) => `u${at}`);

  test('a list whose first page is too large is read in smaller pages', async () => {
    await start(directory(300, () => 40_000));
    const { ids, verdict } = await walk();
    expect(ids).toEqual(inOrder(300));
    expect(verdict).toMatchObject({ complete: true, total: 300 });
  });

  test('a later page that is too large is read in smaller pages, and the list is complete and in order', async () => {
    await start(directory(1600, (index) => (index >= 1000 && index < 1300 ? 60_000 : 5)));
    const { ids, verdict } = await walk();
    expect(ids).toEqual(inOrder(1600));
    expect(verdict).toMatchObject({ complete: true });
  });

  test('a list with one resource that is too large returns all others and counts as incomplete', async () => {
    await start(directory(1200, (index) => (index === 700 ? 1_000_000 : 5)));
    const { ids, verdict } = await walk();
    expect(ids).toEqual(inOrder(1200).filter((id) => id !== 'u700'));
    expect(verdict).toMatchObject({ complete: false });
    expect(verdict.reason).toContain('too large');
  });

  test('a list with one page and a totalResults of two million ends after fewer than 200 requests and counts as incomplete', async () => {
    await start(({ url }, response) =>
      answerJson(response, {
        totalResults: 2_000_000,
        Resources: url.searchParams.get('startIndex') === '1' ? [user()] : [],
      }),
    );
    const { verdict } = await walk();
    expect(verdict).toMatchObject({ complete: false });
    expect(platform.asked.length).toBeLessThan(200);
  });
});
