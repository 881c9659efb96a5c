// Finds a person who is no longer pushed: refs, names, and the accounts that stay at the platforms.
import { MEMBERSHIP_SIGN } from '../../directory/outbox/pending-memberships.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Link } from '../../directory/outbox/links.ts';
import { fold, parseRef, refOf, type Ref } from '../../directory/records.ts';
import { externalIdIn } from '../../sync/names/taken-by-connection.ts';
import { mayBeActive } from '../../sync/user/account-state.ts';
import { findForOrder, findResources, refIn, toSearched } from '../find.ts';
import type { LookAtAccount, SeenAccount } from './account-look.ts';
import { readLostHandover, type HandoverRulesOf, type LostHandover } from './lost-handover.ts';
import { findNamesakes } from './namesakes.ts';

/**
 * An account of the person. `active`: it is active at the platform, or may be at a target that left the settings, whatever is pending.
 * `pending`: it is closed or not linked, and a change of it is not written or not confirmed yet. `gone`: the platform has it no more.
 * `unread`: the platform did not show its state.
 */
export interface AccountState {
  connection: string;
  target: string;
  platformId: string | null;
  state: 'closed' | 'active' | 'pending' | 'gone' | 'unread';
  /** Names of the groups that the account may still be in, because its removal is pending, kept or unconfirmed. */
  groups: string[];
  /** The handover that forgetting the person ends; null: nothing of the account is, or is to be, handed over. */
  handover: LostHandover | null;
}

export interface ForgettablePerson {
  state: DesiredState;
  refs: Ref[];
  /** userNames, externalIds and addresses, present and former. */
  names: Set<string>;
  externalIds: Set<string>;
  /** Platform ids of the accounts by target, present and former, as far as links and log have them. */
  platformIds: Map<string, Set<string>>;
  /** Names of the person that pushed users who are other people have now. */
  taken: Set<string>;
  accounts: AccountState[];
}

/**
 * `pushed`: an identity provider still pushes the person, also under another ref; `former`: refs of persons who are no longer
 * pushed and had the given name. `unclear`: pushed users have a name of the person, and nothing stored shows whether they are the
 * same person. `unknown`: nothing is kept.
 */
type Found =
  | { kind: 'found'; person: ForgettablePerson }
  | { kind: 'pushed'; ref: Ref; former: Ref[] }
  | { kind: 'unclear'; refs: Ref[] }
  | { kind: 'unknown' };

/**
 * Settings of the targets, the look at an account there, and the users whom the operator named as somebody else although they have a
 * name of the person.
 */
export interface IdentifyOptions {
  lookAt: LookAtAccount;
  handoverRules: HandoverRulesOf;
  otherPeople: readonly Ref[];
}

/** Names that identify a person, in links and in changes of the log. */
const IDENTIFYING = new Set(['userName', 'externalId', 'emails']);

/**
 * Finds the person that the text names in one connection: by ref, id, userName, externalId or address, in the stored resources,
 * the log, or an order that was interrupted. Other words, and names of groups, find nothing.
 */
export async function identifyPerson(
  state: DesiredState,
  given: string,
  { lookAt, handoverRules, otherPeople }: IdentifyOptions,
): Promise<Found> {
  const text = given.trim();
  const found = (await findForOrder(toSearched([state]), text)).filter(({ kind }) => kind === 'User');
  const person: ForgettablePerson = {
    state,
    refs: [],
    names: new Set(),
    externalIds: new Set(),
    platformIds: new Map(),
    taken: new Set(),
    accounts: [],
  };
  const refs = new Set(found.map(({ ref }) => ref));
  for (const ref of await refsInLogs(state, text)) refs.add(ref);
  for (const { ref, names, externalIds = [] } of await state.forgetOrders.incomplete()) {
    if (!isCalled(text, ref, names)) continue;
    refs.add(ref);
    for (const name of names) person.names.add(name);
    for (const externalId of externalIds) addName(person, ['externalId', externalId]);
  }
  if (refs.size === 0) return { kind: 'unknown' };
  const stored = await state.directory.getMany(
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

/** Returns refs of users whose log entries have the text as ref, id, name, userName, externalId or address. */
async function refsInLogs({ personData }: DesiredState, text: string): Promise<Set<Ref>> {
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

/** Returns the state of an account. @param seen at the platform; undefined: there is no account, or no such target in the settings */
function accountState(seen: SeenAccount | undefined, link: Link, isPending: boolean): AccountState['state'] {
  const mayBeOpen = mayHaveAccount(link) && mayBeActive(link);
  const state = seen ?? (mayBeOpen ? 'active' : 'closed');
  return isPending && state !== 'active' ? 'pending' : state;
}

/** Returns whether the person has an account by the link, or may have one: the link was dropped, or the answer to a create was lost. */
const mayHaveAccount = ({ id, mayExist, tried }: Link): boolean => (id ?? mayExist ?? tried) !== undefined;

/** Returns the platform id of the account that the link has, or had before an operator ordered to forget the link. */
const accountIdOf = ({ id, mayExist }: Link): string | undefined => id ?? mayExist?.id;

/** Adds a name of the person. @param attribute that had the name as its value */
function addName({ names, externalIds }: ForgettablePerson, [attribute, name]: LoggedName): void {
  names.add(name);
  if (attribute === 'externalId') externalIds.add(name);
}

function addPlatformId({ platformIds }: ForgettablePerson, target: string, id: string): void {
  const known = platformIds.get(target) ?? new Set();
  platformIds.set(target, known.add(id));
}

/** Adds the accounts of a ref, and the names in its links, to the person. */
async function addLinks(
  person: ForgettablePerson,
  ref: Ref,
  { lookAt, handoverRules }: Pick<IdentifyOptions, 'lookAt' | 'handoverRules'>,
): Promise<void> {
  const { state, accounts } = person;
  const { connection } = state;
  const read = async (target: string): Promise<Link> => {
    const link = await state.links.get(target, ref);
    const values = [link.core, link.tried?.core].flatMap((core) => Object.entries(core ?? {}));
    for (const [name, value] of values) {
      if (IDENTIFYING.has(name) && typeof value === 'string' && value !== '') addName(person, [name, value]);
    }
    const id = accountIdOf(link);
    if (id !== undefined) addPlatformId(person, target, id);
    return link;
  };
  for (const [target, outbox] of state.outboxes) {
    const link = await read(target);
    const id = accountIdOf(link);
    const { mark, pendingMemberships, unconfirmedRemovals } = await outbox.resourceStatus(ref);
    // A kept removal (`r`) does not count as pending, because nothing writes it. An unconfirmed one (`u`) counts until a read
    // shows that the account left the group.
    const hasPending = [...pendingMemberships.values()].some((sign) => sign !== MEMBERSHIP_SIGN.keptRemoval);
    const isPending = mark !== null || hasPending || unconfirmedRemovals.length > 0;
    if (!mayHaveAccount(link) && !isPending) continue;
    const handovers = state.handovers.get(target);
    accounts.push({
      connection,
      target,
      platformId: id ?? null,
      state: accountState(
        await lookAt(target, { ...link, ...(id !== undefined && { id }) }),
        link,
        isPending,
      ),
      groups:
        link.id === undefined
          ? []
          : await namesOf(state, [
              // Only an addition (`+`) says that the account is not in the group.
              ...[...pendingMemberships].flatMap(([id, sign]) => (sign === '+' ? [] : [id])),
              ...unconfirmedRemovals,
            ]),
      handover: handovers ? await readLostHandover(handovers, { ref, link }, handoverRules(target)) : null,
    });
  }
  // Nothing is written at a target that left the settings, so nothing of it is pending.
  for (const target of await state.formerTargets()) {
    const link = await read(target);
    if (link.id === undefined) continue;
    const account = { connection, target, platformId: link.id, groups: [], handover: null };
    accounts.push({ ...account, state: accountState(undefined, link, false) });
  }
}

/**
 * Adds the accounts that the log names and no resource is linked to, as after `links forget`. Nothing closes them, so they count only
 * while the platform has them.
 */
async function addUnlinkedAccounts(person: ForgettablePerson, lookAt: LookAtAccount): Promise<void> {
  const { state, accounts, platformIds } = person;
  for (const [target, ids] of platformIds)
    for (const id of ids) {
      const { holderOf, elsewhere } = state.links;
      const isLinked = (await holderOf(target, 'User', id)) ?? (await elsewhere.holderOf(target, 'User', id));
      const isListed = accounts.some((account) => account.target === target && account.platformId === id);
      if (isLinked || isListed) continue;
      const seen = await lookAt(target, { id });
      if (seen === undefined || seen === 'gone') continue;
      const account = { connection: state.connection, target, platformId: id, groups: [], handover: null };
      accounts.push({ ...account, state: seen });
    }
}

/** Returns the names of groups; of a deleted group its id. */
async function namesOf(state: DesiredState, groups: readonly string[]): Promise<string[]> {
  const names: string[] = [];
  for (const id of groups) {
    const [group] = await findResources(toSearched([state]), `Group:${id}`);
    names.push(group?.name ?? id);
  }
  return names;
}

/** Adds the names and platform ids in the log entries of the person. */
async function addLogged(person: ForgettablePerson): Promise<void> {
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

/** A name in a log entry, with the attribute that had it as its value; `name`: the name of the entry, a userName. */
type LoggedName = [attribute: string, name: string];

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
