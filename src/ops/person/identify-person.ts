// Identifies a person who is no longer pushed by one of the names that the person has or had.
import type { DesiredState } from '../../directory/desired-state.ts';
import { fold, parseRef, refOf, type Ref } from '../../directory/records.ts';
import { findForOrder, refIn, toSearched } from '../find.ts';
import type { LookAtAccount } from './account-look.ts';
import { addName, type ForgettablePerson } from './forgettable-person.ts';
import type { HandoverRulesOf } from './lost-handover.ts';
import { findNamesakes } from './namesakes.ts';
import { addLinks, addUnlinkedAccounts } from './person-accounts.ts';
import { addLogged, refsInLogs } from './person-log.ts';

/**
 * `pushed`: an identity provider still pushes the person, perhaps under another ref than before. `former`: refs of persons who had
 * the given name and are no longer pushed; an order with such a ref means that person. It is empty if the pushed user was
 * recognised by the externalId of the former refs, because an order with these refs is refused too. `unclear`: pushed users have a
 * name of the person, and nothing stored shows whether they are the same person. `unknown`: nothing is kept.
 */
type Found =
  | { kind: 'found'; person: ForgettablePerson }
  | { kind: 'pushed'; ref: Ref; former: Ref[] }
  | { kind: 'unclear'; refs: Ref[] }
  | { kind: 'unknown' };

export interface IdentifyOptions {
  /** Looks at an account at a target of the settings. */
  lookAt: LookAtAccount;
  /** Returns the settings of a target for the handover of closed accounts. */
  handoverRules: HandoverRulesOf;
  /** Users with a name of the person whom the operator named as other people. */
  otherPeople: readonly Ref[];
}

/**
 * Finds the person that the text names in one connection: by ref, id, userName, externalId or address, in the stored resources,
 * the log, or an order that was interrupted. Other words, and names of groups, find nothing.
 */
export async function identifyPerson(
  desired: DesiredState,
  given: string,
  { lookAt, handoverRules, otherPeople }: IdentifyOptions,
): Promise<Found> {
  const text = given.trim();
  const found = (await findForOrder(toSearched([desired]), text)).filter(({ kind }) => kind === 'User');
  const person: ForgettablePerson = {
    desired,
    refs: [],
    names: new Set(),
    externalIds: new Set(),
    platformIds: new Map(),
    taken: new Set(),
    accounts: [],
  };
  const refs = new Set(found.map(({ ref }) => ref));
  for (const ref of await refsInLogs(desired, (each, names) => isCalled(text, each, names))) refs.add(ref);
  for (const { ref, names, externalIds } of await desired.forgetOrders.incomplete()) {
    if (!isCalled(text, ref, names)) continue;
    refs.add(ref);
    for (const name of names) person.names.add(name);
    for (const externalId of externalIds) addName(person, ['externalId', externalId]);
  }
  if (refs.size === 0) return { kind: 'unknown' };
  const stored = await desired.directory.getMany(
    'User',
    [...refs].map((ref) => parseRef(ref).id),
  );
  const pushed = new Set(stored.map(({ id }) => refOf('User', id)));
  const [first] = pushed;
  if (first !== undefined)
    return { kind: 'pushed', ref: first, former: [...refs].filter((ref) => !pushed.has(ref)) };
  person.refs.push(...refs);
  for (const ref of refs) await addLinks(person, ref, { lookAt, handoverRules });
  await addLogged(person);
  await addUnlinkedAccounts(person, lookAt);
  // The same person may be pushed again under another ref.
  const { same, unclear, taken } = await findNamesakes(person, otherPeople);
  if (same !== undefined) return { kind: 'pushed', ref: same, former: [] };
  if (unclear.length > 0) return { kind: 'unclear', refs: unclear };
  return { kind: 'found', person: { ...person, taken } };
}

/** Returns whether the text is the ref, the id, or one of the names. A text in the form of a ref is no name. */
const isCalled = (text: string, ref: Ref, names: readonly string[]): boolean =>
  ref === text ||
  (!refIn(text) && (parseRef(ref).id === text || names.some((name) => fold(name) === fold(text))));
