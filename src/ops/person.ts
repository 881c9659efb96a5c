// Finds a person who is no longer pushed: refs, names, and the accounts that stay at the platforms.
import type { DesiredState } from '../directory/desired-state.ts';
import type { Link } from '../directory/outbox/links.ts';
import { fold, parseRef, type Ref } from '../directory/records.ts';
import { findResources, toSearched } from './find.ts';
import { readLostHandover, type HandoverRulesOf, type LostHandover } from './lost-handover.ts';
import { createMentions } from './mentions.ts';

/** An account of the person. `active`: it may be active. `pending`: a change of it is not written yet. */
export interface AccountState {
  connection: string;
  target: string;
  platformId: string | null;
  state: 'closed' | 'active' | 'pending';
  /** The handover that forgetting the person ends; null: nothing of the account is, or is to be, handed over. */
  handover: LostHandover | null;
}

export interface ForgettablePerson {
  state: DesiredState;
  refs: Ref[];
  /** userNames, externalIds and addresses, present and former. */
  names: Set<string>;
  /** Other names, which are searched for in notes of operators only. */
  freeNames: Set<string>;
  accounts: AccountState[];
}

type Found =
  | { kind: 'found'; person: ForgettablePerson }
  | { kind: 'pushed'; ref: Ref; name: string }
  | { kind: 'unknown' };

/** Names that identify a person, in links and in changes of the log. */
const IDENTIFYING = new Set(['userName', 'externalId', 'emails']);

/** Finds the person that the text names in one connection. */
export async function identifyPerson(
  state: DesiredState,
  text: string,
  handoverRules: HandoverRulesOf,
): Promise<Found> {
  const found = (await findResources(toSearched([state]), text)).filter(({ kind }) => kind === 'User');
  const pushed = found.find(({ record }) => record !== undefined);
  if (pushed) return { kind: 'pushed', ref: pushed.ref, name: pushed.name };
  const refs = new Set(found.map(({ ref }) => ref));
  for (const ref of await refsInLogs(state, text)) refs.add(ref);
  const person: ForgettablePerson = {
    ...{ state, refs: [...refs], accounts: [] },
    ...{ names: new Set<string>(), freeNames: new Set<string>() },
  };
  if (!/^User:/.test(text) && refs.size === 0) person.names.add(text);
  for (const ref of refs) {
    await addLinks(person, ref, handoverRules);
  }
  await addNamesInLogs(person);
  const holder = await pushedHolder(person);
  if (holder) return { kind: 'pushed', ...holder };
  if (refs.size === 0 && !(await isMentioned(person))) return { kind: 'unknown' };
  return { kind: 'found', person };
}

/** Returns refs of users whose log entries have the text as ref, name, userName, externalId or address. */
async function refsInLogs({ personData }: DesiredState, text: string): Promise<Set<Ref>> {
  const refs = new Set<Ref>();
  for (const target of await personData.targetsOf()) {
    for await (const [, entry, personal] of personData.entriesOf({ name: 'log', target })) {
      const { ref } = JSON.parse(entry) as { ref: Ref };
      if (!ref.startsWith('User:')) continue;
      if (ref === text || namesIn(personal).some((name) => fold(name) === fold(text))) refs.add(ref);
    }
  }
  return refs;
}

async function addLinks(
  { state, names, freeNames, accounts }: ForgettablePerson,
  ref: Ref,
  handoverRules: HandoverRulesOf,
): Promise<void> {
  const { connection } = state;
  const read = async (target: string): Promise<{ link: Link; isOpen: boolean }> => {
    const link = await state.links.get(target, ref);
    for (const [name, value] of Object.entries(link.core ?? {})) {
      if (typeof value !== 'string' || value === '') continue;
      if (IDENTIFYING.has(name)) names.add(value);
      else if (name === 'displayName') freeNames.add(value);
    }
    const isOpen =
      link.id !== undefined && (link.core?.active !== false || link.unsure?.includes('active') === true);
    return { link, isOpen };
  };
  for (const [target, outbox] of state.outboxes) {
    const { link, isOpen } = await read(target);
    const { mark, pendingGroups } = await outbox.resourceStatus(ref);
    const isPending = mark !== null || [...pendingGroups.values()].some((sign) => sign !== 'r');
    if (link.id === undefined && !isPending) continue;
    const handovers = state.handovers.get(target);
    accounts.push({
      ...{ connection, target, platformId: link.id ?? null },
      state: isOpen ? 'active' : isPending ? 'pending' : 'closed',
      handover: handovers ? await readLostHandover(handovers, { ref, link }, handoverRules(target)) : null,
    });
  }
  for (const target of await state.formerTargets()) {
    const { link, isOpen } = await read(target);
    if (link.id === undefined) continue;
    const account = { connection, target, platformId: link.id, handover: null };
    accounts.push({ ...account, state: isOpen ? 'active' : 'closed' });
  }
}

async function addNamesInLogs({ state, refs, names }: ForgettablePerson): Promise<void> {
  const theirs = new Set<string>(refs);
  for (const target of await state.personData.targetsOf())
    for await (const [, entry, personal] of state.personData.entriesOf({ name: 'log', target }))
      if (theirs.has((JSON.parse(entry) as { ref: Ref }).ref))
        for (const name of namesIn(personal)) names.add(name);
}

/** Returns the name of a log entry, and the identifying values before and after. */
function namesIn(personal: string): string[] {
  const { name, changes = [] } = JSON.parse(personal) as {
    name?: string;
    changes?: [string, unknown, unknown][];
  };
  const values = changes.flatMap(([each, ...both]) => (IDENTIFYING.has(each) ? both : []));
  return [name, ...values].filter((value): value is string => typeof value === 'string' && value !== '');
}

/** Returns a user who is pushed and has one of the refs or names. */
async function pushedHolder({
  state,
  refs,
  names,
}: ForgettablePerson): Promise<{ ref: Ref; name: string } | undefined> {
  for (const ref of refs) if (await state.directory.get('User', parseRef(ref).id)) return { ref, name: ref };
  for (const name of names) {
    for (const attribute of ['username', 'externalid', 'emails.value']) {
      const [id] = (await state.directory.lookup('User', attribute, name)) ?? [];
      if (id !== undefined && (await state.directory.get('User', id))) return { ref: `User:${id}`, name };
    }
  }
  return undefined;
}

async function isMentioned({ state, names }: ForgettablePerson): Promise<boolean> {
  const { personData } = state;
  const mentions = createMentions(names);
  const test = (_entry: string, personal: string): boolean => mentions.isIn(personal);
  if ((await personData.countEntries({ name: 'acts' }, test)) > 0) return true;
  for (const target of await personData.targetsOf())
    if ((await personData.countEntries({ name: 'log', target }, test)) > 0) return true;
  return false;
}
