// Records requests of identity providers as spans of a trace.
import type { Tracing } from '../support/tracing.ts';
import { operationOf, type OnAnswered } from './middleware/request-context.ts';

/** Returns an observer factory like `observe` whose observers also record each request as a span. */
export function traced(
  observe: (root: string) => OnAnswered,
  tracing: Pick<Tracing, 'answered'>,
): (root: string) => OnAnswered {
  return (root) => {
    const onAnswered = observe(root);
    return (answered) => {
      onAnswered(answered);
      // `caller` is the traceparent that the client sent.
      const { request, method, url, status, startedAt, endedAt, traceparent: caller } = answered;
      // '': the request is under no mount path of a connection.
      const operation = root === '' ? 'other' : operationOf(method, url.slice(root.length));
      // The span names the operation instead of the path, because paths contain personal data.
      const attributes = {
        'http.request.method': method,
        'http.response.status_code': status,
        'http.route': root,
        'bridge.operation': operation,
      };
      tracing.answered(`scim ${operation}`, {
        request,
        startedAt,
        endedAt,
        caller,
        attributes,
        failed: status >= 500,
      });
    };
  };
}
