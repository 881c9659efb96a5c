// Opens the desired state in Redis for one command.
import type * as App from '../app.ts';
import type { Config } from '../config/schema.ts';
import type { DesiredState } from '../directory/desired-state.ts';

type OpenStore = Omit<ReturnType<typeof App.openDesiredStates>, 'redis' | 'reach' | 'states'>;

/**
 * Opens the store, runs `use`, and closes the store.
 * @param options.forRestore the command is a restore, so a restore that was not finished is no error
 * @throws Error with what to do when Redis does not answer
 */
export async function withStore<T>(
  config: Config,
  use: (states: DesiredState[], store: OpenStore) => Promise<T>,
  options: { forRestore?: boolean } = {},
): Promise<T> {
  const { openDesiredStates } = await import('../app.ts');
  const { redis, reach, states, ...store } = openDesiredStates(config);
  try {
    await reach(undefined, options); // no signal: the wait has its own limit
    return await use(states, store);
  } finally {
    redis.disconnect();
  }
}
