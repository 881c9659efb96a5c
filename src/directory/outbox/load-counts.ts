// Reads the counters of a load: a backlog far larger than that of normal operation (lua/load.lua).

export interface LoadCounts {
  /** When a worker saw the load first, Unix milliseconds of Redis; null: no worker has seen it. */
  startedAt: number | null;
  /** Number of resources that left the backlog since the start, by all processes. */
  done: number;
  /** How far the load was at moments of the last minute, newest first. */
  samples: { at: number; done: number }[];
}

/** Returns the counters of a reply of backlog.lua; null while nothing loads. */
export function toLoadCounts(
  reply: [] | [startedAt: string, done: string, samples: string[]],
): LoadCounts | null {
  if (reply.length === 0) return null;
  const [startedAt, done, samples] = reply;
  return {
    startedAt: startedAt === '' ? null : Number(startedAt),
    done: Number(done),
    samples: samples.map((text) => {
      const [at = 0, sampled = 0] = text.split(' ').map(Number);
      return { at, done: sampled };
    }),
  };
}
