// Tells a write that never left from one whose answer was lost: only the second may have taken effect.
import type { Dispatcher } from 'undici';

/** One write under way; travels as the request's `opaque`. `sent` turns true just before the first byte. */
export interface Flight {
  sent: boolean;
}

function isFlight(value: unknown): value is Flight {
  return typeof value === 'object' && value !== null && 'sent' in value;
}

/** Interceptor that marks the flight of a request when a connected socket takes it. */
export const noteSent: Dispatcher.DispatcherComposeInterceptor = (dispatch) => (options, handler) => {
  const flight: unknown = 'opaque' in options ? options.opaque : undefined;
  if (!isFlight(flight)) return dispatch(options, handler);
  return dispatch(options, {
    onRequestStart(controller, context) {
      handler.onRequestStart?.(controller, context);
      // a call that was ended while it queued is dropped here and never written
      if (!controller.aborted) flight.sent = true;
    },
    onResponseStart: (...start) => handler.onResponseStart?.(...start),
    onResponseData: (...data) => handler.onResponseData?.(...data),
    onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
    onResponseError: (...fault) => handler.onResponseError?.(...fault),
  });
};
