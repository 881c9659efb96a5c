// Requests of identity providers as the first step of a trace.
import type { Tracing } from '../support/tracing.ts';
import type { OnAnswered } from './middleware/request-context.ts';
import { operationOf } from './scim/router.ts';

/** Wraps whoever else wants to know of the requests below a mount path. */
export function traced(
  observe: (root: string) => OnAnswered,
  tracing: Pick<Tracing, 'answered'>,
): (root: string) => OnAnswered {
  return (root) => {
    const then = observe(root);
    return (answered) => {
      then(answered);
      const { request, method, url, status, startedAt, endedAt, traceparent: caller } = answered;
      const operation = root === '' ? 'other' : operationOf(method, url.slice(root.length));
      // The path names people; the operation does not.
      const attributes = {
        ...{ 'http.request.method': method, 'http.response.status_code': status, 'http.route': root },
        'bridge.operation': operation,
      };
      tracing.answered(`scim ${operation}`, {
        ...{ request, startedAt, endedAt, caller, attributes },
        failed: status >= 500,
      });
    };
  };
}
