// Starts the neighbour process and reports its measurements for each attack.
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export interface BystanderReport {
  /** Milliseconds from the time when a request was due to its complete answer. */
  neighbour: { answered: number; refused: number; p50: number; p99: number; max: number };
  /** Milliseconds until /livez answered on a separate connection. */
  probes: { answered: number; max: number };
  /** Resident memory of the bridge in MB; NaN if the system does not report it. */
  memory: { endMb: number; peakMb: number };
  /** Answers other than 2xx and 503 with Retry-After, and requests without an answer. */
  faults: string[];
}

export interface Bystanders {
  /** @returns the records of the neighbour, the probe and the memory measurement during `work` */
  during<T>(work: () => Promise<T>): Promise<{ result: T; report: BystanderReport }>;
  stop(): Promise<void>;
}

export interface Watched {
  port: number;
  pid: number;
  /** SCIM root of the neighbour, such as /connections/neighbour/scim/v2. */
  path: string;
  token: string;
}

export async function startBystanders(watched: Watched): Promise<Bystanders> {
  const child = fork(join(import.meta.dirname, 'bystander.mjs'), [JSON.stringify(watched)], {
    execArgv: [],
    serialization: 'advanced',
  });
  await nextMessage(child);
  return {
    during: async (work) => {
      child.send('begin');
      await nextMessage(child);
      let result;
      try {
        result = await work();
      } finally {
        child.send('end');
      }
      return { result, report: (await nextMessage(child)) as BystanderReport };
    },
    stop: async () => {
      if (child.exitCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function nextMessage(child: ChildProcess): Promise<unknown> {
  const ended = new AbortController();
  const exited = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
    throw new Error(`the bystander process ended with ${code}`);
  });
  exited.catch(() => undefined);
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal: ended.signal }), exited])) as [
      unknown,
    ];
    return message;
  } finally {
    ended.abort();
  }
}
