// Tests which failures of the data API prove that a user sees nothing.
import { PlatformArgument, PlatformResponse } from '../../../src/platform/errors.ts';
import { QueryRefused } from '../../../src/platform/refusals.ts';
import { provesAbsence, toFailedQuery } from '../../../src/verify-access/query-outcome.ts';

const CALL = { method: 'POST', route: '/v1/load' };

test.each([
  ['an error in place of rows', new QueryRefused('no such member', CALL), 'refused', true],
  ['status 400', new PlatformResponse({ status: 400, platformMessage: 'no' }, CALL), 'refused', true],
  ['status 500', new PlatformResponse({ status: 500, platformMessage: 'no' }, CALL), 'failed', false],
  ['a call that was not sent', new PlatformArgument('name', CALL), 'failed', false],
])(
  'a query that ends with %s is judged as proof or no proof that the user sees nothing',
  (_name, error, kind, proves) => {
    const failed = toFailedQuery(error, { query: null, groups: [], hasSecret: true, timeoutMs: 1000 });
    expect(failed.kind).toBe(kind);
    expect(provesAbsence(failed.kind)).toBe(proves);
  },
);
