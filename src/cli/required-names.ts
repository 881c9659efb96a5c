// Refuses the names of connections and targets that the settings do not have.
import type { Config } from '../config/schema.ts';
import type { DesiredState } from '../directory/desired-state.ts';

/** @throws Error when the settings have no such connection or target, or the connection does not feed the target */
export function requireKnown(
  { connections, targets }: Pick<Config, 'connections' | 'targets'>,
  { connection, target }: { connection?: string | undefined; target?: string | undefined },
): void {
  refuseUnless('connection', connection, Object.keys(connections));
  refuseUnless('target', target, Object.keys(targets));
  const fed = connection === undefined ? undefined : connections[connection]?.targets;
  if (fed && target !== undefined && !fed.includes(target))
    throw new Error(
      `The connection ${connection} does not feed the target ${target}. It feeds: ${fed.join(', ')}.`,
    );
}

/**
 * Refuses names as `requireKnown` does. A target that a connection of the settings once fed is allowed, because its log is kept.
 */
export async function requireLogged(
  config: Pick<Config, 'connections' | 'targets'>,
  names: { connection?: string | undefined; target?: string | undefined },
  states: readonly Pick<DesiredState, 'connection' | 'formerTargets'>[],
): Promise<void> {
  const { connection, target } = names;
  for (const state of states.filter((each) => each.connection === (connection ?? each.connection)))
    if (target !== undefined && (await state.formerTargets()).includes(target)) return;
  refuseUnless('connection', connection, Object.keys(config.connections), KEPT);
  requireKnown(config, names);
}

/** Sentence about log and acts in the refusal of an unknown connection. */
const KEPT = ' Of one that left them, log and acts are kept, and are shown when it is back.';

function refuseUnless(noun: string, name: string | undefined, known: string[], more = ''): void {
  if (name !== undefined && !known.includes(name))
    throw new Error(`There is no ${noun} ${name}. The settings have: ${known.join(', ')}.${more}`);
}
