// Shows a test the commands that Redis receives from all clients, as MONITOR tells them.
import type { Redis } from 'ioredis';

/**
 * Calls `onCommand` with the name and the arguments of each command, those of scripts too, and resolves once Redis tells
 * them; the returned function ends it. `redis.monitor()` is not used: it rejects when a command of another client arrives
 * in the same packet as the reply of MONITOR, because ioredis takes it for a reply without a request.
 */
export async function watchCommands(redis: Redis, onCommand: (args: string[]) => void): Promise<() => void> {
  const monitor = redis.duplicate({ monitor: true, lazyConnect: false });
  monitor.on('error', () => undefined);
  monitor.on('monitor', (_time: string, args: string[]) => onCommand(args));
  await new Promise<void>((resolve) => monitor.once('monitoring', () => resolve()));
  return () => monitor.disconnect();
}
