// Notes whether a write has left the process. A write that never left it cannot have been applied.
import type { Dispatcher } from 'undici';

/** One write in progress, passed to undici as the option `opaque` of the request. */
export interface Flight {
  /** Becomes true just before the first byte is written. */
  sent: boolean;
}

function isFlight(value: unknown): value is Flight {
  return typeof value === 'object' && value !== null && 'sent' in value;
}

/** undici interceptor that sets `sent` when a connected socket takes the request. */
export const noteSent: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const flight: unknown = 'opaque' in options ? options.opaque : undefined;
  if (!isFlight(flight)) return dispatch(options, handler);
  return dispatch(options, {
    onRequestStart(controller, context) {
      handler.onRequestStart?.(controller, context);
      // undici drops a request that was aborted while it waited for a socket: nothing of it is written.
      if (!controller.aborted) flight.sent = true;
    },
    onResponseStart: (...start) => handler.onResponseStart?.(...start),
    onResponseData: (...data) => handler.onResponseData?.(...data),
    onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
    onResponseError: (...fault) => handler.onResponseError?.(...fault),
  });
};
