// Reads the provisioning logs for the refs and names of a person who is no longer pushed.
import type { DesiredState } from '../../directory/desired-state.ts';
import { fold, parseRef, type Ref } from '../../directory/records.ts';
import { externalIdIn } from '../../sync/names/taken-by-connection.ts';
import { refIn } from '../find.ts';
import {
  addName,
  addPlatformId,
  IDENTIFYING,
  type ForgettablePerson,
  type LoggedName,
} from './forgettable-person.ts';

/** Returns refs of users whose log entries have the text as ref, id, name, userName, externalId or address. */
export async function refsInLogs({ personData }: DesiredState, text: string): Promise<Set<Ref>> {
  const refs = new Set<Ref>();
  for (const target of await personData.targetsOf()) {
    // The entry and its personal data are JSON texts.
    for await (const { entry, personal } of personData.entriesOf({ name: 'log', target })) {
      const { ref } = JSON.parse(entry) as { ref: Ref };
      if (
        ref.startsWith('User:') &&
        isCalled(
          text,
          ref,
          namesIn(personal).map(([, name]) => name),
        )
      )
        refs.add(ref);
    }
  }
  return refs;
}

/** Adds the names and platform ids in the log entries of the person. */
export async function addLogged(person: ForgettablePerson): Promise<void> {
  const { personData } = person.state;
  const ofPerson = new Set<string>(person.refs);
  for (const target of await personData.targetsOf())
    for await (const { entry, personal } of personData.entriesOf({ name: 'log', target })) {
      const { ref, platformId } = JSON.parse(entry) as { ref: Ref; platformId?: string };
      if (!ofPerson.has(ref)) continue;
      if (platformId !== undefined) addPlatformId(person, target, platformId);
      for (const name of namesIn(personal)) addName(person, name);
    }
}

/** Returns whether the text is the ref, the id, or one of the names. A text in the form of a ref is no name. */
export const isCalled = (text: string, ref: Ref, names: readonly string[]): boolean =>
  ref === text ||
  (!refIn(text) && (parseRef(ref).id === text || names.some((name) => fold(name) === fold(text))));

/**
 * Returns the name of a log entry, the identifying values before and after its changes, and the externalId in its message: of a
 * person who never got an account, no other entry has this externalId.
 * @param personal personal data as stored
 */
function namesIn(personal: string): LoggedName[] {
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
    (each): each is LoggedName => typeof each[1] === 'string' && each[1] !== '',
  );
}
