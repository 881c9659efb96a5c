// Opens the desired state in Redis for one command.
import { openDesiredStates } from '../app/open.ts';
import type { Config } from '../config/schema.ts';
import type { DesiredState } from '../directory/desired-state.ts';

/** Parts that a command may use beside the desired states, such as the breakers and the reader of the fleet. */
type OpenStore = Omit<ReturnType<typeof openDesiredStates>, 'redis' | 'reach' | 'states'>;

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
  const { redis, reach, states, ...store } = openDesiredStates(config);
  try {
    await reach(options);
    return await use(states, store);
  } finally {
    redis.disconnect();
  }
}
