// Memory of the C library. It keeps a store of its own for each thread, and what one of them frees another can not use: with
// a thread for the service and some for the engine that is 15 to 20 MB that nobody needs. How many there are is read from
// the environment as a process starts, so the process starts once more, as itself: same number, same streams.

const ARENAS = 'MALLOC_ARENA_MAX';

type Process = Pick<NodeJS.Process, 'platform' | 'env' | 'execPath' | 'execArgv' | 'argv' | 'channel'> & {
  /** Replaces the program of this process; newer versions of Node.js have it. Never returns. */
  execve?: (file: string, args: string[], env: NodeJS.ProcessEnv) => void;
};

/**
 * For a process that is to run for long. Who has set the number keeps it; where processes have none, or may not start
 * programs, all stays as it is. A system that refuses a program to start itself ends it here: then set the number outside.
 */
export function useOneArena(self: Process): void {
  const { platform, env, execPath, execArgv, argv, channel } = self;
  if (platform !== 'linux' || env[ARENAS] !== undefined || channel) return;
  try {
    self.execve?.(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, [ARENAS]: '1' });
  } catch {
    // Without it the process is somewhat larger, and that is all.
  }
}
