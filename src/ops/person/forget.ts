// Removes the stored data of a person who is no longer pushed (docs/privacy.md): finds what is kept and refuses the order while the
// person is pushed or an account may be open (`checkForget`), stores the order, and removes the data connection by connection
// (`forgetIn`). The order is an audit entry; the hash chains of the logs stay whole.
import type { Act, Actor } from '../../directory/logs/acts.ts';
import type { OperationStore } from '../../directory/logs/operations.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import { fold, parseRef, type Ref } from '../../directory/records.ts';
import type { EntryTest, RemovedItems } from '../../directory/person/person-data.ts';
import type { Clock, Ids } from '../../support/sources.ts';
import { idToRef, toSearched } from '../find.ts';
import { isUnderWay } from './lost-handover.ts';
import { createMentions } from './mentions.ts';
import type { AccountState, ForgettablePerson } from './forgettable-person.ts';
import { identifyPerson, type IdentifyOptions } from './identify-person.ts';

/** Removed data of one connection. */
export interface ForgetReport {
  connection: string;
  /** Resource keys of the person, as the audit entry names them. */
  refs: Ref[];
  /** Id of the order, which the entries of the logs name in place of the data. */
  order: string;
  removed: RemovedItems & {
    /** Entries of the provisioning log and of the audit log whose personal data was removed, and removed security events. */
    logEntries: number;
    acts: number;
    events: number;
    /** Notes of operators that named the person. */
    mentions: number;
  };
  /** Accounts that stay at the platforms; nothing closes or deletes them any more. */
  accounts: AccountState[];
}

/**
 * `unknown`: nothing is kept. `pushed`: an identity provider still pushes the person; `former`: refs of persons who had the given
 * name and are no longer pushed. `unclear`: pushed users (`refs`) have a name of the person and may be the same. `open`: an account
 * is active or was not seen, a change of it is pending, or its work is still to be handed over. `busy`: a sync of the person runs;
 * `pushedAgain`: the person was pushed again after the check; the order stays stored, and connections before this one are done.
 */
export type ForgetOutcome =
  | { kind: 'forgotten'; reports: ForgetReport[] }
  | { kind: 'unknown' }
  | { kind: 'pushed'; connection: string; ref: Ref; former: Ref[] }
  | { kind: 'unclear'; connection: string; refs: Ref[] }
  | { kind: 'open'; accounts: AccountState[] }
  | { kind: 'busy'; connection: string }
  | { kind: 'pushedAgain'; connection: string; ref: Ref };

interface ForgetOptions extends IdentifyOptions {
  /** Undefined: all connections. */
  connection?: string | undefined;
  /** Forgets although an account may still be active, or its work is still to be handed over. */
  leaveAccounts: boolean;
  actor: Actor;
  /** Time of an order that was interrupted, Unix milliseconds. Undefined: the order is new. */
  since?: number;
}

export type ForgetDeps = { clock: Clock; ids: Ids; operations: Pick<OperationStore, 'dropResults'> };

/** Forgets a person in all connections, or in `options.connection` only. A repeated order continues an interrupted one. */
export async function forgetPerson(
  deps: ForgetDeps,
  states: readonly DesiredState[],
  text: string,
  options: ForgetOptions,
): Promise<ForgetOutcome> {
  const checked = await checkForget(states, text, options);
  if (checked.kind !== 'ready') return checked;
  const { actor, leaveAccounts, otherPeople } = options;
  const now = deps.clock.now();
  const order = { actor, leaveAccounts, otherPeople, since: options.since ?? now, triedAt: now };
  // All orders are stored before the first removal, so that none is missing after a kill.
  for (const { desired, refs, names, externalIds } of checked.persons)
    await desired.forgetOrders.start(refs, { names: [...names], externalIds: [...externalIds], ...order });
  const reports: ForgetReport[] = [];
  for (const person of checked.persons) {
    const report = await forgetIn(deps, person, actor);
    // The order does not cover newer data, so the service must not complete it once the person has left again.
    if ('kind' in report && report.kind === 'pushedAgain')
      await person.desired.forgetOrders.start(person.refs, {
        names: [...person.names],
        externalIds: [...person.externalIds],
        ...order,
        wasPushedAgain: true,
      });
    if ('kind' in report) return report;
    reports.push(report);
  }
  await deps.operations.dropResults();
  for (const { desired, refs } of checked.persons) await desired.forgetOrders.end(refs);
  return { kind: 'forgotten', reports };
}

/** Returns why a person cannot be forgotten now, or the persons of each connection; changes nothing. */
export async function checkForget(
  states: readonly DesiredState[],
  text: string,
  {
    connection,
    leaveAccounts,
    ...identify
  }: Pick<ForgetOptions, 'connection' | 'leaveAccounts'> & IdentifyOptions,
): Promise<Exclude<ForgetOutcome, { kind: 'forgotten' }> | { kind: 'ready'; persons: ForgettablePerson[] }> {
  const persons: ForgettablePerson[] = [];
  const chosen = states.filter((state) => state.connection === (connection ?? state.connection));
  const wanted = await idToRef(toSearched(chosen), text);
  for (const state of chosen) {
    const found = await identifyPerson(state, wanted, identify);
    if (found.kind === 'pushed' || found.kind === 'unclear')
      return { ...found, connection: state.connection };
    if (found.kind === 'found') persons.push(found.person);
  }
  if (persons.length === 0) return { kind: 'unknown' };
  const accounts = persons.flatMap((person) => person.accounts);
  const open = accounts.filter(
    ({ state, handover }) => (state !== 'closed' && state !== 'gone') || isUnderWay(handover),
  );
  if (open.length > 0 && !leaveAccounts) return { kind: 'open', accounts: open };
  // Each connection is searched for the names that any of them knows: one that never linked the person may know fewer. A name that
  // a pushed person has now is left out, because in a note it means that other person.
  const taken = new Set(persons.flatMap((person) => [...person.taken].map(fold)));
  const names = new Set(
    persons.flatMap((person) => [...person.names]).filter((name) => !taken.has(fold(name))),
  );
  return { kind: 'ready', persons: persons.map((person) => ({ ...person, names })) };
}

/** Forgets a person in one connection. */
async function forgetIn(
  { ids }: ForgetDeps,
  { desired, refs, names, accounts }: ForgettablePerson,
  actor: Actor,
): Promise<ForgetReport | Extract<ForgetOutcome, { kind: 'busy' | 'pushedAgain' }>> {
  const { connection, acts, personData } = desired;
  const order = ids.request();
  const mentions = createMentions(names);
  const note = actor.note === undefined ? {} : { note: mentions.replaceIn(actor.note) };
  await acts.record({ act: 'forget', ...actor, ...note, subject: refs.join(' '), order });
  const removed = { tombstones: 0, links: 0, heldChanges: 0, deadLetters: 0 };
  for (const ref of refs) {
    const outcome = await personData.forgetUser(ref, `forget:${order}`);
    if (outcome.kind === 'busy') return { kind: 'busy', connection };
    if (outcome.kind === 'pushed') return { kind: 'pushedAgain', connection, ref };
    for (const name of Object.keys(removed) as (keyof RemovedItems)[]) removed[name] += outcome[name];
  }
  let logEntries = 0;
  for (const target of await personData.targetsOf())
    logEntries += await personData.forgetEntries({ name: 'log', target }, isAbout(refs), order);
  const others = {
    acts: await personData.forgetEntries({ name: 'acts' }, namesPerson(refs, mentions.isIn), order),
    events: await personData.forgetEvents(new Set(refs.map((ref) => parseRef(ref).id))),
    mentions: await personData.replaceInNotes(mentions.replaceIn),
  };
  return { connection, refs, order, removed: { ...removed, logEntries, ...others }, accounts };
}

/** Selects log entries about the person's own resources. Entries about other resources stay, as evidence about these. */
const isAbout =
  (refs: readonly Ref[]): EntryTest =>
  (entry) =>
    refs.includes((JSON.parse(entry) as { ref: Ref }).ref);

/**
 * Selects audit entries whose subject begins with the ref of the person and a space, or whose subject or note has a name of the
 * person. Orders to forget stay, because a restore obeys them.
 */
const namesPerson =
  (refs: readonly Ref[], isIn: (text: string) => boolean): EntryTest =>
  (entry, personal) => {
    if ((JSON.parse(entry) as Act).act === 'forget') return false;
    const { subject = '', note = '' } = JSON.parse(personal) as Partial<Act>;
    return refs.some((ref) => subject.startsWith(`${ref} `)) || isIn(subject) || isIn(note);
  };
