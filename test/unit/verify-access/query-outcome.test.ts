// Tests which failures of the data API prove that a user sees nothing.
import { PlatformArgument, PlatformResponse } from '../../../src/platform/errors.ts';
import { QueryRefused } from '../../../src/platform/refusals.ts';
import { provesAbsence, toFailedQuery } from '../../../src/verify-access/query-outcome.ts';

const CALL = { method: 'POST', route: '/v1/load' };

test.each([
  ['an error in place of rows', 'refused', true, new QueryRefused('no such member', CALL)],
  ['status 400', 'refused', true, new PlatformResponse({ status: 400, platformMessage: 'no' }, CALL)],
  ['status 500', 'failed', false, new PlatformResponse({ status: 500, platformMessage: 'no' }, CALL)],
  ['a call that was not sent', 'failed', false, new PlatformArgument('name', CALL)],
])(
  'a query that ends with %s has the outcome %s; this proves that the user sees nothing: %s',
  (_name, kind, proves, error) => {
    const failed = toFailedQuery(error, { query: null, groups: [], hasSecret: true, timeoutMs: 1000 });
    expect(failed.kind).toBe(kind);
    expect(provesAbsence(failed.kind)).toBe(proves);
  },
);
