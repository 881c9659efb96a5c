// Plans the handover of closed accounts, and writes nothing (ADR 0025): finds the closed accounts that may own items
// (`leaversOf`) and the people who are active again (`returnersOf`), reads the items at the platform (`readOwners`), and says for
// each person what is moved, when, and to which folder.
import { holdAdvice } from '../../directory/guard/operator-hold.ts';
import { itemKey, type HandoverHead } from '../../directory/outbox/handover-store.ts';
import type { Link } from '../../directory/outbox/link.ts';
import { fold, type Ref } from '../../directory/records.ts';
import { inPortions } from '../../directory/redis/portions.ts';
import { consoleAccountsOf, type ShownAccount } from '../../sync/user/user-list.ts';
import type { FindConsoleAccounts } from '../compare/console-list.ts';
import type { PlanEntry } from '../entry.ts';
import { findHandoverPlace, platformProblem, type HandoverPlace } from './handover-place.ts';
import { createItemChoice, ownedItems, type OwnedItem } from './owned-items.ts';
import type { ReconcileScope } from '../scope.ts';
import { isoTime } from '../../support/sources.ts';

export interface PlannedHandover {
  ref: Ref;
  /** userName at the platform. */
  name: string;
  /** Numeric id of the account in the platform's user list, as text. */
  account: string;
  /**
   * `due`: this run moves the items. `later`: a run after `at` moves them. `return`: the person is active again and gets
   * them back.
   */
  state: 'due' | 'later' | 'return';
  /** Time at which the account was closed, ISO 8601. */
  closedAt: string;
  /** Time from which the items are moved, ISO 8601; in the state `return` the same as `closedAt`. */
  at: string;
  /** Path `HANDOVER FOLDER/PERSON'S FOLDER`; in the state `return` only the name of the person's folder. */
  folder: string;
  /** The items to be moved; none in the state `return`. */
  items: OwnedItem[];
}

/** Handovers at a target that are due, come later, or are to be taken back, as a plan shows them. */
export interface HandoverSection {
  deployment: string;
  folder: string;
  /** Why nothing is moved, as a sentence; null: nothing prevents it. */
  problem: string | null;
  /** Why nothing is moved while the target is on hold, as a sentence; absent: it is not. A review of a saved plan tells it anew. */
  hold?: string;
  /** At most MOST_PEOPLE closed accounts, and as many people who are active again. */
  people: PlannedHandover[];
}

interface PlanHandoverOptions {
  signal: AbortSignal;
  /** Whether the lists of the platform were read completely. */
  isProven: boolean;
  /** Find accounts of the platform's user list by their userName, as in `ScanResult`. */
  findConsoleAccounts: FindConsoleAccounts;
  findListedAccounts: FindConsoleAccounts;
  /** The other entries of the same plan. A person with one of them gets no handover yet, because the account is still to change. */
  entries: PlanEntry[];
}

export const DAY_MS = 86_400_000;
/** Largest number of closed accounts whose owner is known, and of people who are active again. */
const MOST_PEOPLE = 1000;
/** Largest number of closed accounts whose owner is looked for: without a readable list of all accounts each takes a search. */
const MOST_LOOKED_UP = 5000;
/** Number of records that are read from Redis at once. */
const PORTION = 500;

/** A person whose account is closed (`isClosed`). */
interface Leaver {
  ref: Ref;
  link: Link & { closedAt: number };
  /** State of an earlier handover; undefined: there was none. */
  head: HandoverHead | undefined;
}

/** Returns the handover section of a plan; undefined: the setting is off, or no item is to be moved. */
export async function planHandover(
  scope: ReconcileScope,
  options: PlanHandoverOptions,
): Promise<HandoverSection | undefined> {
  const { signal, isProven, entries } = options;
  const setting = scope.target.policy.handover;
  if (!setting) return undefined;
  const differing = new Set(entries.flatMap(({ ref }) => ref ?? []));
  const isUnchanged = ({ ref }: { ref: Ref }): boolean => !differing.has(ref);
  const times = { now: scope.clock.now(), waitMs: setting.afterDays * DAY_MS };
  const leavers = (await leaversOf(scope, times)).filter(isUnchanged);
  const returning = (await returnersOf(scope)).filter(isUnchanged).slice(0, MOST_PEOPLE);
  if (leavers.length + returning.length === 0) return undefined;
  const { workspace } = scope.target.client;
  const section = { deployment: setting.deployment, folder: setting.folder, people: returning };
  const place = await findHandoverPlace(workspace, setting, { signal });
  if (place.kind === 'problem') return { ...section, problem: place.problem };
  let owners: Owner[];
  try {
    owners = await readOwners(scope, place, leavers, options);
  } catch (error) {
    return { ...section, problem: `the workspace was not read whole: ${platformProblem(error)}` };
  }
  const people = owners.flatMap((owner) => toHandover(owner, place, times));
  const problem = isProven ? null : 'the lists of the platform were not read whole, so nothing is moved';
  if (people.length + returning.length === 0) return undefined;
  const found = { ...section, folder: place.folder.name, problem, people: [...returning, ...people] };
  return withPresentHold(scope, found);
}

/** Returns a section with the hold of the target as it is now: it may have begun or ended since a plan was saved. */
export async function withPresentHold(
  { outbox, target }: ReconcileScope,
  { hold: _former, ...section }: HandoverSection,
): Promise<HandoverSection> {
  const hold = await outbox.guardStore.onHold();
  return hold ? { ...section, hold: onHoldText(target.name, hold) } : section;
}

/** Returns why nothing of a section is moved, as a sentence; null: nothing prevents it. */
export const whyNothingMoves = ({ hold, problem }: HandoverSection): string | null => hold ?? problem;

/** Returns why nothing is moved while the target is on hold, and how the hold ends. */
export const onHoldText = (target: string, hold: Parameters<typeof holdAdvice>[1]): string =>
  `all writes to ${target} are on hold: ${holdAdvice(target, hold)}`;

/** A leaver whose account number is known, and the items that are moved next. */
interface Owner extends Leaver {
  account: string;
  items: OwnedItem[];
}

/**
 * Finds the account numbers of the leavers, and reads the items of the first MOST_PEOPLE that have one. Leavers that the user list
 * lacks are passed over, because they would keep the others back for ever.
 * @throws errors of the platform client
 */
async function readOwners(
  scope: ReconcileScope,
  place: HandoverPlace,
  leavers: readonly Leaver[],
  { signal, findConsoleAccounts, findListedAccounts }: PlanHandoverOptions,
): Promise<Owner[]> {
  const { client } = scope.target;
  const found: (Leaver & { account: string })[] = [];
  for (const [index, leaver] of leavers.slice(0, MOST_LOOKED_UP).entries()) {
    // A search is one call, the list of all accounts many. The list is read only if most searches have named no owner.
    const find = index < MOST_PEOPLE ? findConsoleAccounts : findListedAccounts;
    const isEnough = index === MOST_PEOPLE && found.length > MOST_PEOPLE / 2;
    if (isEnough || found.length === MOST_PEOPLE) break;
    const { id = '', core: { userName = '', externalId } = {} } = leaver.link;
    const named = { id, userName: String(userName), ...(externalId && { externalId: String(externalId) }) };
    const account = await numberOf(client, named, find, signal);
    if (account !== undefined) found.push({ ...leaver, account });
  }
  if (found.length === 0) return [];
  const choices = new Map<string, ReturnType<typeof createItemChoice>>();
  for (const leaver of found) choices.set(leaver.account, createItemChoice(await refusedOf(scope, leaver)));
  const accounts = new Set(choices.keys());
  for await (const { account, item } of ownedItems(client.workspace, place, accounts, { signal }))
    choices.get(account)?.add(item);
  return found.map((leaver) => ({ ...leaver, items: choices.get(leaver.account)?.chosen() ?? [] }));
}

/** Returns the keys of the items whose move the platform refused in an earlier run after this closing. */
async function refusedOf({ handovers }: ReconcileScope, { ref, link, head }: Leaver): Promise<Set<string>> {
  if (head?.closedAt !== link.closedAt) return new Set();
  const { items = [] } = (await handovers.read(ref)) ?? {};
  return new Set(items.filter(({ state }) => state === 'refused').map(itemKey));
}

/** `waitMs`: time between the closing of an account and its handover. */
interface HandoverTimes {
  now: number;
  waitMs: number;
}

/** Returns the handover of a leaver in a list; an empty list if none is planned now. */
function toHandover(
  { ref, link, head, account, items }: Owner,
  place: HandoverPlace,
  { now, waitMs }: HandoverTimes,
): PlannedHandover[] {
  const at = link.closedAt + waitMs;
  // An account that owns nothing is left out until it is due; then the run stores that there is nothing to move.
  if (items.length === 0 && at > now) return [];
  const name = String(link.core?.userName ?? ref);
  return [
    {
      ref,
      name,
      account,
      items,
      state: at <= now ? 'due' : 'later',
      closedAt: isoTime(link.closedAt),
      at: isoTime(at),
      folder: `${place.folder.name}/${head?.folderName ?? name}`,
    },
  ];
}

/**
 * Returns the closed accounts that may have items to move, in this order: due accounts before later ones; accounts that no run has
 * tried, then the longest untried, so that refused moves do not keep others back; the earliest closed.
 */
async function leaversOf(
  { links, target, handovers }: ReconcileScope,
  { now, waitMs }: HandoverTimes,
): Promise<Leaver[]> {
  const isProtected = protectedNames(target.policy.users.protected);
  const closed: { ref: Ref; link: Leaver['link'] }[] = [];
  for await (const { ref, link } of links.all(target.name))
    if (ref.startsWith('User:') && isClosed(link) && !isProtected(link)) closed.push({ ref, link });
  const heads = await handovers.heads(closed.map(({ ref }) => ref));
  const leavers = closed.flatMap(({ ref, link }): Leaver[] => {
    const head = heads.get(ref);
    return hasItemsLeft(link, head) ? [{ ref, link, head }] : [];
  });
  const isLater = ({ link }: Leaver): number => Number(link.closedAt + waitMs > now);
  // `endedAt` of an earlier closing does not count.
  const triedAt = ({ link, head }: Leaver): number =>
    head?.closedAt === link.closedAt ? (head.endedAt ?? 0) : 0;
  return leavers.sort(
    (left, right) =>
      isLater(left) - isLater(right) ||
      triedAt(left) - triedAt(right) ||
      left.link.closedAt - right.link.closedAt,
  );
}

/**
 * Returns whether the bridge closed the account or found it closed (`Link.closedAt`), the platform confirmed it, and the
 * link has no condition.
 */
export const isClosed = (link: Link): link is Link & { closedAt: number; id: string } =>
  link.id !== undefined &&
  link.closedAt !== undefined &&
  link.core?.active === false &&
  !link.condition &&
  !link.unsure?.includes('active');

/** Returns whether items are still to be moved since the account was last closed. */
const hasItemsLeft = (link: Link, head: HandoverHead | undefined): boolean =>
  head === undefined ||
  head.state === 'moving' ||
  (head.state === 'moved' && (head.refused ?? 0) > 0) ||
  head.closedAt !== link.closedAt;

/** Returns a test of whether the userName in a link is one of the names, without regard to letter case. */
export function protectedNames(names: readonly string[]): (link: Link) => boolean {
  const folded = new Set(names.map(fold));
  return ({ core }) => folded.has(fold(String(core?.userName ?? '')));
}

/** Returns the people who are active again, and whose work is in a handover folder. */
async function returnersOf({ links, target, handovers }: ReconcileScope): Promise<PlannedHandover[]> {
  const found: PlannedHandover[] = [];
  for await (const refs of handovers.refs()) {
    const heads = await handovers.heads(refs);
    const out = refs.filter((ref) => heads.has(ref) && heads.get(ref)?.state !== 'returned');
    for (const portion of inPortions(out, PORTION)) {
      const known = await links.getMany(target.name, portion);
      for (const [index, ref] of portion.entries()) {
        const head = heads.get(ref);
        if (!head || !isOpenAgain(known[index] ?? {}, head)) continue;
        const closedAt = isoTime(head.closedAt);
        const { name, account, folderName: folder = '' } = head;
        found.push({ ref, name, account, state: 'return', closedAt, at: closedAt, folder, items: [] });
      }
    }
  }
  return found;
}

/** Returns whether the person of a handover has the same account and is active there again. */
export const isOpenAgain = (link: Link, { platformId }: HandoverHead): boolean =>
  link.id === platformId && link.core?.active === true && !link.unsure?.includes('active') && !link.departed;

/**
 * Returns the numeric id of a SCIM account in the platform's user list; undefined: the list has no single match. The id in the link
 * is not used: if it were wrong, the items of another person would be moved.
 */
export async function numberOf(
  client: ReconcileScope['target']['client'],
  account: ShownAccount,
  find: FindConsoleAccounts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const listed = await find(account.userName, { signal });
  const [match, another] = await consoleAccountsOf(client, account, listed, { signal });
  return another ? undefined : match?.id;
}

/** Returns whether items are to be moved or given back. */
export const hasWork = ({ state, items }: PlannedHandover): boolean => state === 'return' || items.length > 0;

/** Returns the people whose work a run moves or gives back now; none while something prevents it. */
export const peopleDue = (section: HandoverSection | undefined): PlannedHandover[] =>
  section && whyNothingMoves(section) === null
    ? section.people.filter((person) => person.state !== 'later' && hasWork(person))
    : [];
