// Starts a sandbox and provides functions for Core Data: deployment tokens, queries and streamed lines.
import { createHmac } from 'node:crypto';
import { request } from 'undici';
import type { SandboxOptions } from '../../../src/sandbox/server.ts';
import { startRig } from './rig.ts';

/** Parts of a request to the data API; default: a token that sees all rows of deployment 1. */
export interface DataExtras {
  /** Claims of a token of `deployment`, or the token as text; null: no token. */
  token?: object | string | null;
  deployment?: string;
  headers?: Record<string, string>;
  body?: unknown;
  raw?: string;
}

/** Returns the security context of members of these groups, as tokens contain it. */
export function inGroups(groups: string[], userAttributes: object = {}): object {
  return { cubeCloud: { groups, userAttributes } };
}

/** Sees all rows of the seed's models; an analyst sees those of the own country. */
export const EVERYTHING = inGroups(['everything']);
export const GERMAN_ANALYST = inGroups(['analysts'], { country: 'DE' });

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a JWT (HS256) that is valid for an hour from `nowMs` unless the claims differ. */
export function makeToken(secret: string, claims: object, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  const head = encode({ alg: 'HS256', typ: 'JWT' });
  const text = `${head}.${encode({ iat: seconds, exp: seconds + 3600, ...claims })}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

export async function startDataRig(options: SandboxOptions = {}) {
  const rig = await startRig(options);
  const base = rig.ready.dataApiUrl.slice(rig.ready.platformUrl.length);

  function secretOf(id: string): string {
    return rig.ready.fixtures.deployments.find((one) => one.id === id)?.apiSecret ?? '';
  }
  function token(claims: object, deployment = '1'): string {
    return makeToken(secretOf(deployment), claims, Date.now());
  }
  function headerOf({ token: sent = EVERYTHING, deployment }: DataExtras): Record<string, string> {
    if (sent === null) return {};
    return { authorization: typeof sent === 'string' ? sent : token(sent, deployment) };
  }
  function ask(method: string, path: string, extras: DataExtras = {}, prefix = base) {
    const headers = { ...headerOf(extras), ...extras.headers };
    const { body, raw } = extras;
    return rig.call(method, `${prefix}${path}`, {
      key: null,
      headers,
      ...(body === undefined ? {} : { body }),
      ...(raw === undefined ? {} : { raw }),
    });
  }
  /** Returns all lines of a SQL answer as parsed JSON, also a line with an error; `rows` returns the rows only. */
  async function lines(
    query: string,
    extras: DataExtras = {},
    prefix = base,
  ): Promise<Record<string, any>[]> {
    const response = await request(`${rig.ready.platformUrl}${prefix}/v1/cubesql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headerOf(extras), ...extras.headers },
      body: JSON.stringify({ query, ...(extras.body as object | undefined) }),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}: ${text}`);
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }
  return {
    ...rig,
    base,
    secretOf,
    token,
    ask,
    lines,
    load: (query: unknown, extras: DataExtras = {}) =>
      ask('POST', '/v1/load', { ...extras, body: { query } }),
    /** Returns all rows of a SQL query. @throws Error of the query */
    rows: async (query: string, extras: DataExtras = {}, prefix = base): Promise<(string | null)[][]> => {
      const all = await lines(query, extras, prefix);
      const failed = all.find((line) => 'error' in line);
      if (failed) throw new Error(String(failed['error']));
      return all.flatMap((line) => (line['data'] as (string | null)[][] | undefined) ?? []);
    },
    /** Returns the error in the last line of a SQL answer, or undefined. */
    sqlError: async (query: string, extras: DataExtras = {}): Promise<string | undefined> =>
      (await lines(query, extras)).at(-1)?.['error'] as string | undefined,
  };
}

export type DataRig = Awaited<ReturnType<typeof startDataRig>>;
