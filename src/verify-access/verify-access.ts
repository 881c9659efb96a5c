// Checks which data a user can read at the platform (`verifyAccess`). Flow of `checkAccess`: reads what Redis has of the user
// (`readStored`), reads the account back (`findAccount`), compares it with the desired access, builds its security context, and
// queries a deployment with that context (`lookThrough`). chain.ts makes the report of these facts. It writes nothing.
import type { Link } from '../directory/outbox/link.ts';
import { findResources, type FoundResource } from '../ops/find.ts';
import { stopText } from '../ops/sync/sync-stops.ts';
import { workerMissing, type FleetFinding, type ReadFleet } from '../ops/status/fleet.ts';
import { withPresentCondition } from '../ops/approvals/present-condition.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { readRestored } from '../reconcile/tenant/restored.ts';
import { type AccessReport, UnclearQuestion } from './report.ts';
import { openCalls, type Calls, type TargetAddress } from './calls.ts';
import { readAccount, type Reading } from './account.ts';
import { nobody, pushedAt, toAccessReport } from './chain.ts';
import type { Facts } from './facts.ts';
import { differencesOf } from './access-differences.ts';
import { desiredAccessOf, type DesiredAccess } from './desired-access.ts';
import { connectionsOf } from '../explain/explain.ts';
import { removedTargetReasons } from '../explain/removed-targets.ts';
import { badAnswersText } from './not-asked.ts';
import { leftAloneOf } from './left-alone.ts';
import { surplusGroups } from './surplus-groups.ts';
import { lastWrites } from './last-write.ts';
import { findUnlinked, type UnlinkedAccount } from './unlinked.ts';
import { toSecurityContext } from './security-context.ts';
import { typeConflictsOf } from './type-conflicts.ts';
import { lookThrough, type DataChoice, type Visibility } from './visibility.ts';

interface AccessDeps {
  /** Called with a sentence when a call waits before it is sent, such as for the rate limit. */
  tell?: (text: string) => void;
  /** Every connection with each of its targets. */
  scopes: readonly ReconcileScope[];
  readFleet: ReadFleet;
  /** Keyed by the name of the target. */
  addresses: Readonly<Record<string, TargetAddress>>;
}

export interface AccessQuestion extends DataChoice {
  /** Id, userName, externalId or e-mail address of a user. */
  user: string;
  /** Limits the search to this connection. */
  connection?: string | undefined;
  /** Limits the search to this target. */
  target?: string | undefined;
  /** Time limit of all calls to the platform together, milliseconds; default 30,000. */
  timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 30_000;

/**
 * Returns the chain push → stored → applied → visible of one user at one target. If a call fails, the report has the steps of
 * the chain that were checked before, and its `fault` names the failure.
 * @throws UnclearQuestion if several users or targets match; errors that are no failure of the platform
 */
export async function verifyAccess(
  { scopes, addresses, readFleet, tell = () => undefined }: AccessDeps,
  question: AccessQuestion,
  signal: AbortSignal,
): Promise<AccessReport> {
  const chosen = await chooseUser(scopes, question);
  if (!chosen) return nobody(question.user);
  const address = addresses[chosen.scope.target.name];
  if (!address) throw new Error(`The settings have no target ${chosen.scope.target.name}.`);
  const { findings } = await readFleet();
  return checkAccess(chosen, { address, question, findings }, signal, tell);
}

/**
 * Returns the user that the question names, with one of the targets; undefined: no connection knows such a user.
 * @throws UnclearQuestion if several users or targets match
 */
async function chooseUser(
  scopes: readonly ReconcileScope[],
  question: AccessQuestion,
): Promise<{ person: FoundResource; scope: ReconcileScope } | undefined> {
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
  if (others.length > 0) {
    const names = pairs.map(
      ({ person, scope }) => `${person.ref} ${person.connection} → ${scope.target.name}`,
    );
    throw new UnclearQuestion(
      `Several users or targets match: ${names.join('; ')}. Name the connection, the target or the ref.`,
    );
  }
  return chosen;
}

/** Runs the checks for one user at one target. */
async function checkAccess(
  { scope, person }: { scope: ReconcileScope; person: FoundResource },
  {
    address,
    question,
    findings,
  }: { address: TargetAddress; question: AccessQuestion; findings: readonly FleetFinding[] },
  signal: AbortSignal,
  tell: (text: string) => void,
): Promise<AccessReport> {
  const { clock, outbox, target } = scope;
  const startedMs = clock.now();
  const stored = await readStored(scope, person);
  const storedMs = clock.now();
  const calls = openCalls(scope, address, question.timeoutMs ?? DEFAULT_TIMEOUT_MS, signal, tell);
  try {
    const { linked, unlinked, reading } = await findAccount(scope, person, stored, calls);
    const readMs = clock.now();
    const { desired, isBehindHeld, ...ofStored } = stored;
    const { link } = stored;
    const surplus = linked ? await surplusGroups(scope, person, link, desired, linked) : [];
    const wanted = { ...desired, leaving: [...desired.leaving, ...surplus] };
    const isUnread = stored.unrecognised !== undefined || calls.fault() !== undefined;
    const differences = isUnread ? [] : differencesOf(wanted, reading, linked !== undefined);
    const leftAlone = reading ? await leftAloneOf(scope, wanted, link, reading) : [];
    const context =
      reading && toSecurityContext(reading.view.groups, reading.view.attributes, reading.definitions);
    const isOpen = reading?.view.active === true;
    // A closed account gets no token, so nothing is visible to it.
    const visibility: Visibility | undefined =
      context && isOpen
        ? await calls.unlessFault(lookThrough(calls, context, question, calls.options, signal))
        : undefined;
    return toAccessReport({
      ...ofStored,
      asked: question.user,
      target: target.name,
      person,
      wanted,
      policy: target.policy.policy,
      deletesLeavers: outbox.deletesLeavers,
      lacksWorker: workerMissing(findings) !== undefined && !isBehindHeld,
      reading,
      unlinked,
      differences,
      typeConflicts: reading ? typeConflictsOf(differences, reading.definitions, target.mapping.types) : [],
      leftAlone,
      context,
      visibility,
      fault: calls.fault() ?? visibility?.fault,
      redisTookMs: storedMs - startedMs,
      accountTookMs: readMs - storedMs,
      isQueryAsked: question.query !== undefined,
    });
  } finally {
    await calls.platform.close();
  }
}

/** Content of Redis about one user at one target. */
type Stored = Pick<
  Facts,
  'link' | 'isMarked' | 'suspectedDrift' | 'stop' | 'unrecognised' | 'removedTargets' | 'restored' | 'writes'
> & {
  desired: DesiredAccess;
  /** The user has a mark that waits for a held change of another resource, or for a refused group: a person has to act first. */
  isBehindHeld: boolean;
};

/** Reads Redis, and not the platform. */
async function readStored(scope: ReconcileScope, person: FoundResource): Promise<Stored> {
  const { links, outbox, target } = scope;
  const [
    storedLink,
    { mark, suspectedDrift },
    stop,
    unrecognised,
    writes,
    desired,
    removedTargets,
    restored,
    breaker,
  ] = await Promise.all([
    links.get(target.name, person.ref),
    outbox.resourceStatus(person.ref),
    stopText(scope),
    outbox.whyUnrecognised(),
    lastWrites(scope, person.ref, pushedAt({ person })),
    desiredAccessOf(scope, person),
    removedTargetReasons(scope, person),
    readRestored(scope.acts),
    target.serviceBreaker.read(),
  ]);
  const link = await withPresentCondition(outbox, person.ref, storedLink);
  return {
    link,
    isMarked: mark !== null,
    isBehindHeld: mark?.isBehindHeld === true,
    suspectedDrift,
    // Bad answers come first: while they last, no linked account is found.
    stop:
      [unrecognised && badAnswersText(target.name, breaker), stop].filter(Boolean).join('; ') || undefined,
    unrecognised,
    removedTargets,
    restored: restored && pushedAt({ person }) < restored.at ? restored : undefined,
    writes,
    desired,
  };
}

/**
 * Reads the account of a user. If the link leads to no account, an account is looked up by externalId and userName: one that no
 * other user is linked to (`found`), or the account of the person's earlier record from before a re-hire (`former`).
 * @returns `linked`: the account that the link names. `unlinked`: the result of the look-up (`UnlinkedAccount`). `reading`: the
 *   account for the report, either linked or looked up; undefined if there is none, a call failed, or the target may be
 *   another tenant
 */
async function findAccount(
  scope: ReconcileScope,
  person: FoundResource,
  { desired, link, unrecognised }: Stored,
  { platform, options, unlessFault, fault }: Calls,
): Promise<{ linked?: Reading; unlinked?: UnlinkedAccount; reading?: Reading }> {
  // At another tenant the id of the link, and the names, may lead to the account of another person.
  if (unrecognised) return {};
  // A platform need not list the groups of an account, so the groups that may be among them are read by id. `leaving`: groups that
  // the person left at the source, whose removal is not written or not confirmed yet; `leftOut`: those that the settings leave out.
  const groups = [...desired.groups, ...desired.leaving, ...(desired.kind === 'open' ? desired.leftOut : [])];
  if (hasId(link)) {
    const linked = await unlessFault(readAccount(platform, link, groups, options));
    if (linked) return { linked, reading: linked };
    if (fault()) return {};
  }
  const unlinked = await unlessFault(findUnlinked(scope, person, link, platform, options));
  if (unlinked?.kind !== 'found' && unlinked?.kind !== 'former') return unlinked ? { unlinked } : {};
  const reading = await unlessFault(readAccount(platform, { id: unlinked.id }, groups, options));
  return reading ? { unlinked, reading } : { unlinked };
}

const hasId = (link: Link): link is Link & { id: string } => link.id !== undefined;

type AccessAnswer =
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
