// Waits for a read of the platform that several syncs share: the signal of one ends its own wait, and not the read.
import { PlatformAborted, type CallContext } from '../../platform/errors.ts';

/** Waits for a shared read. @param call context of the error @throws PlatformAborted when the signal aborts first */
export async function untilAborted<T>(
  shared: Promise<T>,
  signal: AbortSignal,
  call: CallContext,
): Promise<T> {
  const left = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const abort = (): void =>
      reject(new PlatformAborted(call, { cause: signal.reason, redact: (text) => text }));
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { signal: left.signal });
  });
  try {
    return await Promise.race([shared, aborted]);
  } finally {
    left.abort();
  }
}
