// Starts the sandbox at the moment of the recorded Cube answers, and provides queries and signed tokens.
import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { systemClock } from '../../../src/support/sources.ts';
import { EVERYTHING, startDataRig, type DataRig } from './data-rig.ts';

/** Time of the recorded answers, Unix milliseconds. */
export const NOW = Date.parse('2026-11-23T01:25:00Z');
/** Time dimension of the queries below. */
export const CREATED_AT = 'orders.created_at';
// Queries over `orders` and `customers` of the seed's model, and parts of such queries.
export const count = { measures: ['orders.count'] };
export const time = (more: object) => ({ timeDimensions: [{ dimension: CREATED_AT, ...more }] });
export const range = (dateRange: unknown) => ({ ...count, ...time({ dateRange }) });
/** Counts the orders that match one filter; `customers` below counts the customers. */
export const filter = (member: string, operator: string, values?: unknown) => ({
  ...count,
  filters: [{ member, operator, ...(values === undefined ? {} : { values }) }],
});
export const customers = (member: string, operator: string, values: unknown) => ({
  measures: ['customers.count'],
  filters: [{ member, operator, values }],
});

/** Returns the query string of a GET; `more` is appended to it. */
export const address = (query: unknown, more = ''): string =>
  `?query=${encodeURIComponent(JSON.stringify(query))}${more}`;
/** Returns the first value of the first row. */
export const firstValue = (body: any): unknown => Object.values(body.data?.[0] ?? {})[0];

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Starts the sandbox before the tests of the file and stops it afterwards. */
export function useReference() {
  let rig: DataRig;
  const startedMs = performance.now();
  beforeAll(async () => {
    rig = await startDataRig({
      clock: {
        now: () => NOW + performance.now() - startedMs,
        sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(ms, signal),
      },
    });
  });
  afterAll(() => rig.stop());

  /** Returns a JWT of exactly these claims, signed with an HMAC algorithm. */
  function sign(claims: object, algorithm = 'HS256'): string {
    const text = `${encode({ alg: algorithm, typ: 'JWT' })}.${encode(claims)}`;
    const hash = algorithm.replace('HS', 'sha');
    return `${text}.${createHmac(hash, rig.secretOf('1')).update(text).digest('base64url')}`;
  }
  const bearer = (context: object = EVERYTHING): string =>
    sign({ ...context, iat: NOW / 1000, exp: NOW / 1000 + 3600 });

  /** Sends a request to the data API; `text` of the media type `type` is sent in place of `body`. */
  async function call(
    method: string,
    path: string,
    {
      body,
      text,
      type = 'application/json',
      headers,
    }: { body?: unknown; text?: string; type?: string; headers?: Record<string, string> } = {},
  ) {
    const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const answer = await request(`${rig.ready.dataApiUrl}${path}`, {
      method: method as 'GET',
      headers: {
        authorization: bearer(),
        ...(sent === undefined ? {} : { 'content-type': type }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const content = await answer.body.text();
    const isJson = String(answer.headers['content-type']).includes('json');
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: isJson ? JSON.parse(content) : content,
    };
  }
  const load = (query: unknown, context: object = EVERYTHING, more: object = {}) =>
    call('POST', '/v1/load', { body: { query, ...more }, headers: { authorization: bearer(context) } });
  return { sign, bearer, call, load, rig: () => rig };
}
