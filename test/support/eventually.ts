/** Polls until `probe` answers something other than undefined/false, or fails with the last answer after `limitMs`. */
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
    // A long wait asks less often: the bridge works on the same cores.
    waitMs = Math.min(100, waitMs * 1.3);
  }
}
