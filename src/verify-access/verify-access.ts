// Checks which data a user can read at the platform: reads the account back, builds its security context, and queries a
// deployment with that context. It writes nothing.
import type { Link } from '../directory/outbox/links.ts';
import { findResources, type FoundResource } from '../ops/find.ts';
import { holdText } from '../ops/sync/sync-end.ts';
import { withPresentCondition } from '../ops/approvals/present-condition.ts';
import { createPlatformClient } from '../platform/library.ts';
import { messageWithPlatformText, PlatformError, PlatformResponse } from '../platform/errors.ts';
import { newKeyAdvice } from '../reconcile/breaker-words.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { AccessFault, AccessReport } from './report.ts';
import { readAccount, type Reading } from './account.ts';
import { nobody, pushedAt, toAccessReport } from './chain.ts';
import type { Facts } from './facts.ts';
import { differencesOf, desiredAccessOf } from './desired-access.ts';
import { connectionsOf } from '../explain/explain.ts';
import { removedTargetReasons } from '../explain/removed-targets.ts';
import { leftAloneOf } from './left-alone.ts';
import { surplusGroups } from './surplus-groups.ts';
import { lastWrites } from './last-write.ts';
import { notAskedText } from './not-asked.ts';
import { findUnlinked, type UnlinkedAccount } from './unlinked.ts';
import { toSecurityContext } from './security-context.ts';
import { UnclearQuestion } from './report.ts';
import { lookThrough, type DataChoice, type Visibility } from './visibility.ts';
import { timeLimit } from '../support/time-limit.ts';

/** Address and credentials of a target, from its settings. */
export interface TargetAddress {
  url: string;
  /** API key of the platform. */
  token: string;
  /** Key for SCIM calls; null: `token`. */
  scimToken: string | null;
  /** Whether http instead of https is accepted for an address of this machine. */
  allowLoopbackHttp: boolean;
  /** Time limit of one call, milliseconds. */
  timeoutMs: number;
}

export interface AccessDeps {
  /** Every connection with each of its targets. */
  scopes: readonly ReconcileScope[];
  /** Keyed by the name of the target. */
  addresses: Readonly<Record<string, TargetAddress>>;
}

export interface AccessQuestion extends DataChoice {
  /** Id, userName, externalId or e-mail address of a user. */
  user: string;
  /** Limits the search to this connection, and to this target. */
  connection?: string | undefined;
  target?: string | undefined;
  /** Time limit of all calls to the platform together, milliseconds; default 30,000. */
  timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** Status of an answer that refuses the API key. */
const REFUSED_KEY = 401;

/**
 * Returns the chain push → stored → applied → visible of one user at one target. If a call fails, the report has the steps of
 * the chain that were checked before, and its `fault` names the failure.
 * @throws UnclearQuestion if several users or targets match; errors that are no failure of the platform
 */
export async function verifyAccess(
  { scopes, addresses }: AccessDeps,
  question: AccessQuestion,
  signal: AbortSignal,
): Promise<AccessReport> {
  const candidates = scopes.filter(
    ({ connection, target }) =>
      connection === (question.connection ?? connection) && target.name === (question.target ?? target.name),
  );
  const found = await findResources(connectionsOf(candidates), question.user);
  const pairs = found
    .filter(({ kind }) => kind === 'User')
    .flatMap((person) =>
      candidates
        .filter(({ connection }) => connection === person.connection)
        .map((scope) => ({ person, scope })),
    );
  const [chosen, ...others] = pairs;
  if (!chosen) return nobody(question.user);
  if (others.length > 0) {
    const names = pairs.map(
      ({ person, scope }) => `${person.ref} ${person.connection} → ${scope.target.name}`,
    );
    throw new UnclearQuestion(
      `Several users or targets match: ${names.join('; ')}. Name the connection, the target or the ref.`,
    );
  }
  const address = addresses[chosen.scope.target.name];
  if (!address) throw new Error(`The settings have no target ${chosen.scope.target.name}.`);
  return checkAccess(chosen.scope, chosen.person, address, question, signal);
}

/** Runs the checks for one user at one target. */
async function checkAccess(
  scope: ReconcileScope,
  person: FoundResource,
  address: TargetAddress,
  question: AccessQuestion,
  signal: AbortSignal,
): Promise<AccessReport> {
  const { clock, links, outbox, target } = scope;
  const startedMs = clock.now();
  const [stored, { mark, suspectedDrift }, hold, writes, desired, removedTargets] = await Promise.all([
    links.get(target.name, person.ref),
    outbox.resourceStatus(person.ref),
    outbox.guardStore.onHold(),
    lastWrites(scope, person.ref, pushedAt({ person })),
    desiredAccessOf(scope, person),
    removedTargetReasons(scope, person),
  ]);
  const link = await withPresentCondition(outbox, person.ref, stored);
  const storedMs = clock.now();
  const timeoutMs = question.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const { wire, calls } = wireOf(scope, address, timeoutMs);
  const { scimToken } = address;
  const platform = createPlatformClient({
    ...wire,
    url: address.url,
    token: address.token,
    clock,
    ...(scimToken === null ? {} : { scimToken }),
  });
  const deadline = timeLimit(timeoutMs);
  const call = { signal: AbortSignal.any([signal, deadline]) };
  let fault: AccessFault | undefined;
  /**
   * Returns the result; if the platform fails, sets `fault` and returns undefined.
   * @throws other errors, and after an abort by the caller
   */
  const unlessFault = async <T>(work: Promise<T>): Promise<T | undefined> => {
    try {
      return await work;
    } catch (error) {
      fault = toFault(error, target.name, deadline.aborted ? timeoutMs : undefined);
      if (fault?.at === 'platform' && deadline.aborted && calls.sent < calls.begun)
        fault.message = notAskedText(target.name, await target.breaker.read(), {
          timeoutMs,
          isPartly: calls.sent > 0,
        });
      // Not a failure of the platform, or the caller does not wait for a report any more.
      if (!fault || signal.aborted) throw error;
      return undefined;
    }
  };
  // A platform need not name the groups of an account, so these are read by id: also the groups that the person left at the
  // source while the removal is not written (`leaving`), and those that the settings leave out (`leftOut`).
  const groups = [...desired.groups, ...desired.leaving, ...(desired.kind === 'open' ? desired.leftOut : [])];
  try {
    // Without a linked account, one is looked up by externalId and userName: one that no other user is linked to (`found`), or
    // that of the person's earlier record from before a re-hire (`former`).
    const linked: Reading | undefined = hasId(link)
      ? await unlessFault(readAccount(platform, link, groups, call))
      : undefined;
    const unlinked: UnlinkedAccount | undefined =
      linked || fault ? undefined : await unlessFault(findUnlinked(scope, person, link, platform, call));
    const reading: Reading | undefined =
      unlinked?.kind === 'found' || unlinked?.kind === 'former'
        ? await unlessFault(readAccount(platform, { id: unlinked.id }, groups, call))
        : linked;
    const readMs = clock.now();
    const surplus = linked ? await surplusGroups(scope, person, link, desired, linked) : [];
    const wanted = { ...desired, leaving: [...desired.leaving, ...surplus] };
    const differences = fault ? [] : differencesOf(wanted, reading, linked !== undefined);
    const leftAlone = reading ? await leftAloneOf(scope, wanted, link, reading) : [];
    const context =
      reading && toSecurityContext(reading.view.groups, reading.view.attributes, reading.definitions);
    const isOpen = reading?.view.active === true;
    const deps = { platform, clock, wire, timeoutMs };
    // A closed account gets no token, so nothing is visible to it.
    const visibility: Visibility | undefined =
      context && isOpen ? await unlessFault(lookThrough(deps, context, question, call, signal)) : undefined;
    const facts: Facts = {
      asked: question.user,
      target: target.name,
      person,
      wanted,
      link,
      isMarked: mark !== null,
      suspectedDrift,
      policy: target.policy.policy,
      hold: hold && holdText(scope, hold),
      removedTargets,
      writes,
      deletesLeavers: outbox.deletesLeavers,
      reading,
      unlinked,
      differences,
      leftAlone,
      context,
      visibility,
      fault: fault ?? visibility?.fault,
      storedTookMs: storedMs - startedMs,
      readTookMs: readMs - storedMs,
      isQueryAsked: question.query !== undefined,
    };
    return toAccessReport(facts);
  } finally {
    await platform.close();
  }
}

/**
 * Returns the fault for a failure of the platform or an unclear choice; undefined for any other error.
 * @param expiredMs the time limit, if it has passed
 */
function toFault(error: unknown, target: string, expiredMs: number | undefined): AccessFault | undefined {
  if (error instanceof UnclearQuestion) return { at: 'choice', message: error.message };
  if (!(error instanceof PlatformError)) return undefined;
  // After the time limit the message of the error names only the abort.
  if (expiredMs !== undefined)
    return {
      at: 'platform',
      message: `${error.method} ${error.route} did not answer within ${expiredMs / 1000} s`,
    };
  const advice =
    error instanceof PlatformResponse && error.status === REFUSED_KEY ? `; ${newKeyAdvice(target)}` : '';
  return { at: 'platform', message: `${messageWithPlatformText(error)}${advice}` };
}

const hasId = (link: Link): link is Link & { id: string } => link.id !== undefined;

/**
 * Returns the options of the platform clients (`wire`), and the numbers of their calls: `begun`, and `sent` of these. Each call takes
 * a token of the target's shared budget before it is sent.
 */
function wireOf({ target }: ReconcileScope, address: TargetAddress, limitMs: number) {
  const { allowLoopbackHttp } = address;
  const timeoutMs = Math.min(address.timeoutMs, limitMs);
  const calls = { begun: 0, sent: 0 };
  const admit = async (signal?: AbortSignal): Promise<void> => {
    calls.begun++;
    await target.budget.take(signal);
    calls.sent++;
  };
  return { wire: { allowLoopbackHttp, timeoutMs, admit }, calls };
}

export type AccessAnswer =
  | { kind: 'report'; report: AccessReport }
  /** No resource has this name. */
  | { kind: 'unknown' }
  /** Several resources match, or the deployment does not exist; the message says what to do. */
  | { kind: 'unclear'; message: string }
  /** The platform cannot be read. */
  | { kind: 'unread'; message: string };

/** Runs verifyAccess, and returns expected failures as values. @throws other errors */
export async function askAccess(
  deps: AccessDeps,
  question: AccessQuestion,
  signal: AbortSignal,
): Promise<AccessAnswer> {
  try {
    const report = await verifyAccess(deps, question, signal);
    const { fault, person } = report;
    if (fault?.at === 'choice') return { kind: 'unclear', message: fault.message };
    if (fault?.at === 'platform') return { kind: 'unread', message: fault.message };
    return person === null ? { kind: 'unknown' } : { kind: 'report', report };
  } catch (error) {
    if (error instanceof UnclearQuestion) return { kind: 'unclear', message: error.message };
    throw error;
  }
}
