import {
  EndpointAbsent,
  PlatformAborted,
  PlatformConnection,
  PlatformDecode,
  PlatformIntermediary,
  PlatformResponse,
  PlatformTimeout,
} from '../../../src/platform/errors.ts';
import { isGone, isStatus, judgeFailure } from '../../../src/sync/failures.ts';

const call = { method: 'PATCH', route: '/api/scim/v2/Users/{id}' };
const redact = (text: string): string => text;
const response = (status: number, retryAfterMs?: number, platformMessage = 'says no') =>
  new PlatformResponse({ status, platformMessage, retryAfterMs }, call);
const verdict = (error: Parameters<typeof judgeFailure>[0], attempt = 1, transientRefusals = 0) =>
  judgeFailure(error, attempt, () => 0, transientRefusals);

describe('the verdict on a platform failure', () => {
  it.each([408, 425, 500, 501, 502, 503, 504, 599])(
    'ERR-09 tries again later after %i, without stopping the others',
    (status) => {
      expect(verdict(response(status))).toMatchObject({ kind: 'later', afterMs: 250, pauseMs: 0 });
    },
  );

  it('keeps everybody away after 429, and as long as Retry-After says', () => {
    expect(verdict(response(429))).toMatchObject({ kind: 'later', afterMs: 250, pauseMs: 250 });
    expect(verdict(response(429, 7000))).toMatchObject({ kind: 'later', afterMs: 7000, pauseMs: 7000 });
    expect(verdict(response(503, 9000))).toMatchObject({ kind: 'later', afterMs: 9000, pauseMs: 9000 });
  });

  it('never comes back before its own backoff, however short Retry-After is', () => {
    expect(verdict(response(503, 10), 20)).toMatchObject({ afterMs: 15_000, pauseMs: 10 });
  });

  it('waits longer with every failure', () => {
    const waits = [1, 2, 3, 4, 20].map(
      (attempt) => (verdict(response(500), attempt) as { afterMs: number }).afterMs,
    );
    expect(waits).toEqual([250, 500, 1000, 2000, 15_000]);
  });

  it('blames no resource for a refused credential', () => {
    expect(verdict(response(401))).toMatchObject({ kind: 'later', afterMs: 15_000, pauseMs: 15_000 });
  });

  it.each([
    [400, 'Refused'],
    [403, 'Forbidden'],
    [409, 'Conflict'],
    [413, 'Refused'],
    [422, 'Refused'],
  ])('ERR-09 leaves %i to a person, as %s, in the words of the platform', (status, reason) => {
    expect(verdict(response(status))).toEqual({ kind: 'refused', reason, status, message: 'says no' });
  });

  it.each([
    ['a redirect', new PlatformIntermediary({ status: 302, platformMessage: '' }, call)],
    ["a firewall's page", new PlatformIntermediary({ status: 403, platformMessage: '<html>' }, call)],
    ['a 404', response(404)],
  ])('believes %s only when it stays', (_what, error) => {
    expect(verdict(error, 20, 7)).toMatchObject({ kind: 'later', pauseMs: 0 });
    expect(verdict(error, 20, 8)).toMatchObject({ kind: 'refused' });
  });

  it('hears a wish for days of silence as one for an hour', () => {
    expect(verdict(response(429, 1e23))).toMatchObject({ afterMs: 3_600_000, pauseMs: 3_600_000 });
  });

  it('a failure without message of the platform gets a message with its status', () => {
    expect(verdict(response(400, undefined, ''))).toMatchObject({
      message: 'PATCH /api/scim/v2/Users/{id} answered 400',
    });
  });

  it.each([
    ['a timeout', new PlatformTimeout(1000, call)],
    ['a lost connection', new PlatformConnection('ECONNRESET', call, { redact })],
    ['an answer that cannot be read', new PlatformDecode('no JSON', call)],
  ])('tries again later after %s', (_what, error) => {
    expect(verdict(error)).toEqual({ kind: 'later', afterMs: 250, pauseMs: 0, message: error.message });
  });

  it('comes back at once, elsewhere, when this process is stopping', () => {
    expect(verdict(new PlatformAborted(call, { redact }), 9)).toMatchObject({
      kind: 'later',
      afterMs: 0,
      pauseMs: 0,
    });
  });

  it('a web page as answer is retried with growing delay', () => {
    const page = new EndpointAbsent(200, call);
    expect(verdict(page)).toMatchObject({ kind: 'later', afterMs: 250 });
    expect(verdict(page, 20)).toMatchObject({ kind: 'later', afterMs: 15_000 });
  });
});

describe('questions about a failure', () => {
  it('only 404 means gone', () => {
    expect([response(404), response(410), new PlatformTimeout(1, call), undefined].map(isGone)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('isStatus is true for the given statuses only', () => {
    expect([
      isStatus(response(409), 400, 409),
      isStatus(response(500), 400),
      isStatus(new Error('409'), 409),
    ]).toEqual([true, false, false]);
  });
});
