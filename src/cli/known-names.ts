// Refuses names of connections and targets that the settings do not have.
import type { Config } from '../config/schema.ts';
import type { DesiredState } from '../directory/desired-state.ts';

/** @throws Error with the names in the settings when they have no such connection or target, or it does not feed the target */
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

/** Refuses names as `requireKnown` does, but not a target that a connection of the settings fed before: its log is kept. */
export async function requireLogged(
  config: Pick<Config, 'connections' | 'targets'>,
  names: { connection?: string | undefined; target?: string | undefined },
  states: readonly Pick<DesiredState, 'connection' | 'formerTargets'>[],
): Promise<void> {
  const { connection, target } = names;
  for (const state of states.filter((each) => each.connection === (connection ?? each.connection)))
    if (target !== undefined && (await state.formerTargets()).includes(target)) return;
  requireKnown(config, names);
}

function refuseUnless(noun: string, name: string | undefined, known: string[]): void {
  if (name !== undefined && !known.includes(name))
    throw new Error(`There is no ${noun} ${name}. The settings have: ${known.join(', ')}.`);
}
