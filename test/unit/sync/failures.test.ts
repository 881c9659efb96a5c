// Tests the verdict of a sync on a failed platform call: retry, pause of the target, or dead letter. ERR-09 is a row of
// docs/platform-coverage.md.
import {
  EndpointAbsent,
  PlatformAborted,
  PlatformConnection,
  PlatformDecode,
  PlatformIntermediary,
  PlatformResponse,
  PlatformTimeout,
} from '../../../src/platform/errors.ts';
import { isGone, isStatus, judgeFailure } from '../../../src/sync/calls/failures.ts';

const call = { method: 'PATCH', route: '/api/scim/v2/Users/{id}' };
const redact = (text: string): string => text;
const response = (status: number, retryAfterMs?: number, platformMessage = 'says no') =>
  new PlatformResponse({ status, platformMessage, retryAfterMs }, call);
/** Judges a failure with the shortest random wait. */
const verdict = (error: Parameters<typeof judgeFailure>[0], attempt = 1, transientRefusals = 0) =>
  judgeFailure(error, attempt, () => 0, transientRefusals);

describe('the verdict on a platform failure', () => {
  it.each([408, 425, 500, 501, 502, 503, 504, 599])(
    'ERR-09 the platform answers %i → the resource is tried again later, and other resources are not paused',
    (status) => {
      expect(verdict(response(status))).toMatchObject({ kind: 'later', afterMs: 250, pauseMs: 0 });
    },
  );

  it('the platform answers 429 or sends Retry-After → the whole target pauses, as long as Retry-After says', () => {
    expect(verdict(response(429))).toMatchObject({ kind: 'later', afterMs: 250, pauseMs: 250 });
    expect(verdict(response(429, 7000))).toMatchObject({ kind: 'later', afterMs: 7000, pauseMs: 7000 });
    expect(verdict(response(503, 9000))).toMatchObject({ kind: 'later', afterMs: 9000, pauseMs: 9000 });
  });

  it('a short Retry-After does not shorten the backoff of the resource', () => {
    // Retry-After of 10 ms, at the twentieth attempt.
    expect(verdict(response(503, 10), 20)).toMatchObject({ afterMs: 15_000, pauseMs: 10 });
  });

  it('the delay before the next attempt grows with each failure of a resource', () => {
    const waits = [1, 2, 3, 4, 20].map(
      (attempt) => (verdict(response(500), attempt) as { afterMs: number }).afterMs,
    );
    expect(waits).toEqual([250, 500, 1000, 2000, 15_000]);
  });

  it('the platform answers 401 → the target pauses for 15 s and no resource is refused', () => {
    expect(verdict(response(401))).toMatchObject({ kind: 'later', afterMs: 15_000, pauseMs: 15_000 });
  });

  it.each([
    [400, 'Refused'],
    [403, 'Forbidden'],
    [409, 'Conflict'],
    [413, 'Refused'],
    [422, 'Refused'],
  ])(
    "ERR-09 the platform answers %i → the resource is refused with the reason %s and the platform's message",
    (status, reason) => {
      expect(verdict(response(status))).toEqual({ kind: 'refused', reason, status, message: 'says no' });
    },
  );

  it.each([
    ['a redirect', new PlatformIntermediary({ status: 302, platformMessage: '' }, call)],
    ["a firewall's page", new PlatformIntermediary({ status: 403, platformMessage: '<html>' }, call)],
    ['a 404', response(404)],
  ])('after %s the resource is refused only after several attempts', (_what, error) => {
    // The arguments are the attempt and the number of transient refusals in a row; the eighth refusal is final.
    expect(verdict(error, 20, 7)).toMatchObject({ kind: 'later', pauseMs: 0 });
    expect(verdict(error, 20, 8)).toMatchObject({ kind: 'refused' });
  });

  it('Retry-After is capped at one hour', () => {
    expect(verdict(response(429, 1e23))).toMatchObject({ afterMs: 3_600_000, pauseMs: 3_600_000 });
  });

  it('a failure without a message of the platform gets a message with the status', () => {
    expect(verdict(response(400, undefined, ''))).toMatchObject({
      message: 'PATCH /api/scim/v2/Users/{id} answered 400',
    });
  });

  it.each([
    ['a timeout', new PlatformTimeout(1000, call)],
    ['a lost connection', new PlatformConnection('ECONNRESET', call, { redact })],
    ['an answer that cannot be read', new PlatformDecode('no JSON', call)],
  ])('after %s the resource is tried again later', (_what, error) => {
    expect(verdict(error)).toEqual({ kind: 'later', afterMs: 250, pauseMs: 0, message: error.message });
  });

  it('a call aborted by the stop of this process is tried again at once', () => {
    expect(verdict(new PlatformAborted(call, { redact }), 9)).toMatchObject({
      kind: 'later',
      afterMs: 0,
      pauseMs: 0,
    });
  });

  it('the platform answers with a web page → the call is retried with growing delay', () => {
    const page = new EndpointAbsent(200, call);
    expect(verdict(page)).toMatchObject({ kind: 'later', afterMs: 250 });
    expect(verdict(page, 20)).toMatchObject({ kind: 'later', afterMs: 15_000 });
  });
});

describe('questions about a failure', () => {
  it('only an answer 404 counts as absence at the platform', () => {
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
