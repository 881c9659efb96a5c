// Finds pushed users who have a name of a person who is no longer pushed, and tells whether one of them is the same person.
import type { DesiredState } from '../../directory/desired-state.ts';
import { refOf, type Ref, type StoredRecord } from '../../directory/records.ts';
import type { ForgettablePerson } from './forgettable-person.ts';

/** Stored names and accounts of a person who is no longer pushed, by which the person is compared with pushed users. */
type FormerIdentity = Pick<ForgettablePerson, 'desired' | 'names' | 'externalIds' | 'platformIds'>;

/** Pushed users who have a name of a former person. */
interface Namesakes {
  /** A user who is the same person, because the externalId is the same. */
  same: Ref | undefined;
  /** Users of whom nothing stored shows whether they are the same person. */
  unclear: Ref[];
  /** Names of the person that only other people have now. */
  taken: Set<string>;
}

/**
 * Compares a former person with every pushed user who has one of the names. A user with the same externalId is the same person, and
 * ends the search. A user with another externalId is somebody else, unless the user has, or may still take over, an account of
 * the former person. All others are `unclear`: the identity provider may have created the person anew, or given the name to
 * somebody else. If no externalId of the former person is stored, every user is unclear.
 * @param otherPeople users whom the operator named as somebody else, so they are not unclear
 */
export async function findNamesakes(former: FormerIdentity, otherPeople: readonly Ref[]): Promise<Namesakes> {
  const { desired, names } = former;
  const found: Namesakes = { same: undefined, unclear: [], taken: new Set() };
  for (const name of names) {
    for (const record of await pushedWith(desired, name)) {
      const ref = refOf('User', record.id);
      const externalId = externalIdOf(record);
      if (externalId !== undefined && former.externalIds.has(externalId)) return { ...found, same: ref };
      const isOther =
        otherPeople.includes(ref) ||
        (externalId !== undefined && former.externalIds.size > 0 && !(await mayShareAccount(former, ref)));
      if (isOther) found.taken.add(name);
      else if (!found.unclear.includes(ref)) found.unclear.push(ref);
    }
  }
  return found;
}

/** Returns the pushed users who have the name as userName, externalId or address. */
async function pushedWith({ directory }: DesiredState, name: string): Promise<StoredRecord[]> {
  const ids = new Set<string>();
  for (const attribute of ['username', 'externalid', 'emails.value'])
    for (const id of (await directory.lookup('User', attribute, name)) ?? []) ids.add(id);
  return directory.getMany('User', [...ids]);
}

/** Returns the externalId in a record; undefined when it has none, or is damaged and so has no text. */
function externalIdOf({ text }: StoredRecord): string | undefined {
  const { externalId } = JSON.parse(text || '{}') as { externalId?: string };
  return externalId || undefined;
}

/**
 * Returns whether a user is linked to an account that the former person has or had, or has no link yet at the target of that
 * account: the next sync there may link the user to the account. Nothing is synced to a target that left the settings.
 */
async function mayShareAccount({ desired, platformIds }: FormerIdentity, ref: Ref): Promise<boolean> {
  for (const [target, ids] of platformIds) {
    const { id } = await desired.links.get(target, ref);
    if (id === undefined ? desired.outboxes.has(target) : ids.has(id)) return true;
  }
  return false;
}
