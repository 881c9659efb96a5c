/**
 * Polls until `probe` returns something other than undefined or false, or fails with the last value after `limitMs`.
 * @param what the awaited condition in words, for the message of a failure
 */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 30_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  let last: unknown;
  let waitMs = 20;
  for (;;) {
    try {
      const found = await probe();
      if (found !== undefined && found !== false) return found;
      last = found;
    } catch (error) {
      last = error;
    }
    if (Date.now() > deadline) throw new Error(`Not within ${limitMs} ms: ${what} (last: ${String(last)})`);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    // Longer waits poll less often, because the bridge runs on the same processors.
    waitMs = Math.min(100, waitMs * 1.3);
  }
}
