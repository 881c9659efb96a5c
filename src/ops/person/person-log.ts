// Reads the provisioning logs for a person: refs of users with a name, and the names and platform ids of known refs.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Ref } from '../../directory/records.ts';
import { externalIdIn } from '../../sync/names/taken-by-connection.ts';
import {
  addName,
  addPlatformId,
  IDENTIFYING,
  type ForgettablePerson,
  type NameOfPerson,
} from './forgettable-person.ts';

/**
 * Returns the refs of users whose log entries are about the wanted person.
 * @param isWanted decides by the ref, and by the names of an entry: the name, userNames, externalIds and addresses
 */
export async function refsInLogs(
  { personData }: DesiredState,
  isWanted: (ref: Ref, names: readonly string[]) => boolean,
): Promise<Set<Ref>> {
  const refs = new Set<Ref>();
  for (const target of await personData.targetsOf()) {
    // The entry and its personal data are JSON texts.
    for await (const { entry, personal } of personData.entriesOf({ name: 'log', target })) {
      const { ref } = JSON.parse(entry) as { ref: Ref };
      if (!ref.startsWith('User:')) continue;
      const names = namesIn(personal).map(([, name]) => name);
      if (isWanted(ref, names)) refs.add(ref);
    }
  }
  return refs;
}

/** Adds the names and platform ids in the log entries of the person. */
export async function addLogged(person: ForgettablePerson): Promise<void> {
  const { personData } = person.desired;
  const ofPerson = new Set<string>(person.refs);
  for (const target of await personData.targetsOf())
    for await (const { entry, personal } of personData.entriesOf({ name: 'log', target })) {
      const { ref, platformId } = JSON.parse(entry) as { ref: Ref; platformId?: string };
      if (!ofPerson.has(ref)) continue;
      if (platformId !== undefined) addPlatformId(person, target, platformId);
      for (const name of namesIn(personal)) addName(person, name);
    }
}

/**
 * Returns the name of a log entry, the identifying values before and after its changes, and the externalId in its message. For a
 * person who never got an account, only the message of a conflict has the externalId.
 * @param personal personal data as stored
 */
function namesIn(personal: string): NameOfPerson[] {
  const {
    name,
    message = '',
    changes = [],
  } = JSON.parse(personal) as {
    name?: string;
    message?: string;
    changes?: [string, unknown, unknown][];
  };
  const values = changes.flatMap(([attribute, before, after]) =>
    IDENTIFYING.has(attribute) ? [before, after].map((value) => [attribute, value] as const) : [],
  );
  return ([['name', name], ['externalId', externalIdIn(message)], ...values] as const).filter(
    (each): each is NameOfPerson => typeof each[1] === 'string' && each[1] !== '',
  );
}
