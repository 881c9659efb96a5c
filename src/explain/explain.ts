// Explains why a user or group is, or is not, as desired at each target. The facts come from Redis and from a read of the
// platform.
import { isKeyRefused, type BreakerState } from '../directory/outbox/breaker.ts';
import { isBySettingsOfThen, type Link } from '../directory/outbox/links.ts';
import { fold } from '../directory/records.ts';
import type { ResourceStatus } from '../directory/outbox/resource-status.ts';
import { adviceFor } from '../ops/advice.ts';
import { readApprovalIds } from '../ops/approval-ids.ts';
import { findResources, type FoundResource, type Searched } from '../ops/find.ts';
import type { FleetFinding, ReadFleet } from '../ops/fleet.ts';
import { withPresentCondition } from '../ops/present-condition.ts';
import { searchLog, type LocatedEntry } from '../ops/provisioning-log.ts';
import { awaitsDecision } from '../reconcile/done-changes.ts';
import { backupText, readRestored } from '../reconcile/restored.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { Resource } from '../scim/index.ts';
import { keptAttributes, type DesiredUser, type Mapping } from '../sync/mapping.ts';
import { sameValue } from '../sync/values.ts';
import { isEmpty } from '../sync/diff.ts';
import type { Explanation, AttributeState, MembershipState } from './explanation.ts';
import { membershipsOfGroup, membershipsOfUser } from './memberships.ts';
import { firstApprovalsOf, rejectionsOf } from './decided.ts';
import { groupsLeftByHand, lookAtPlatform } from './platform-look.ts';
import { toTimeline } from './timeline.ts';
import { formerRecordText } from './former-record.ts';
import { handoverOf } from './handover.ts';
import { toVerdict } from './verdict.ts';

const LOG_ENTRIES = 50;
/** Longest search of the log, milliseconds. The log may have a million entries of other resources. */
const LOG_MS = 10_000;

export interface ExplainOptions {
  /**
   * Whether the platform is read. Default: only if no change or condition of the resource is known, because each of these
   * already explains a difference. A resource with a held or rejected change is read too.
   */
  readPlatform?: boolean | undefined;
  /** Time to look for entries of the provisioning log, milliseconds. */
  logMs?: number | undefined;
}

/** Returns an explanation for each resource that `text` may identify, at every target; empty when there are none. */
export async function explain(
  scopes: readonly ReconcileScope[],
  text: string,
  readFleet: ReadFleet,
  options: ExplainOptions = {},
): Promise<Explanation[]> {
  const found = await findResources(connectionsOf(scopes), text);
  const { findings } = await readFleet();
  return Promise.all(
    found.flatMap((each) =>
      scopes
        .filter(({ connection }) => connection === each.connection)
        .map((scope) => explainAt(scope, each, findings, options)),
    ),
  );
}

/** Returns the distinct connections of the scopes. */
export function connectionsOf(scopes: readonly ReconcileScope[]): Searched[] {
  const byConnection = new Map<string, Searched>();
  for (const { connection, directory, links, target } of scopes) {
    const known = byConnection.get(connection) ?? { connection, directory, links, targets: [] };
    known.targets.push(target.name);
    byConnection.set(connection, known);
  }
  return [...byConnection.values()];
}

/** Formats Unix milliseconds as ISO 8601. */
export const iso = (ms: number): string => new Date(ms).toISOString();

/** Reads the facts about a resource at one target, and explains them. */
async function explainAt(
  scope: ReconcileScope,
  found: FoundResource,
  fleet: FleetFinding[],
  { readPlatform, logMs = LOG_MS }: ExplainOptions,
): Promise<Explanation> {
  const { outbox, links, target, runs } = scope;
  const [stored, where, hold, { last }, log, exception, restored] = await Promise.all([
    links.get(target.name, found.ref),
    outbox.resourceStatus(found.ref),
    outbox.guardStore.onHold(),
    runs.read(),
    newestEntries(scope, found, logMs),
    outbox.exceptionOf(found.ref),
    readRestored(scope.acts),
  ]);
  const link = await withPresentCondition(outbox, found.ref, stored, where);
  const detail =
    found.kind === 'User' ? await userDetail(scope, found, link) : groupDetail(scope, found, link);
  const related =
    found.kind === 'User'
      ? { memberships: await membershipsOfUser(scope, found, where), members: null }
      : await membershipsOfGroup(scope, found, where);
  const isHeld =
    where.guard.some(({ state }) => state === 'held') ||
    related.memberships.some(({ condition }) => condition === 'Held');
  const approval = isHeld ? await outbox.guardStore.open() : undefined;
  // No comparison reads a group that the settings leave out.
  const isLeftOut = found.kind === 'Group' && detail.inScope === false;
  // A pending change or a condition explains the status already, so the platform is not read.
  const isQuiet = !link.condition && where.guard.length === 0;
  const isSettled = !where.mark && where.blockedSince === null && (isQuiet || awaitsDecision(link));
  const look =
    (readPlatform ?? isSettled) && !isLeftOut && link.id !== undefined
      ? await lookAtPlatform(scope, found.ref, {
          members: related.members?.desired ?? 0,
          values: detail.values,
        })
      : null;
  const left =
    look && found.kind === 'User' ? await groupsLeftByHand(scope, found.ref, related.memberships) : [];
  const isLeft = ({ ref }: MembershipState): boolean => left.some((each) => each === ref);
  const memberships = related.memberships.filter((each) => !isLeft(each));
  // The decision is taken, and the list of exceptions follows with the next sync.
  const isDecided = stored.condition !== undefined && link.condition === undefined && !isHeld;
  // Read last, because the read of the platform may close the breaker.
  const breaker = await target.breaker.read();
  const facts = {
    connection: scope.connection,
    target: target.name,
    ref: found.ref,
    kind: found.kind,
    id: found.id,
    name: found.name,
    stored: storedOf(found),
    deletedAt: found.deleted ? iso(found.deleted.deletedAt) : null,
    ...detail,
    values: look?.values ?? detail.values,
    ...related,
    memberships,
    leftByHand: related.memberships.filter(isLeft).map(({ name }) => name),
    link: linkOf(link),
    platform: look?.platform ?? null,
    condition: await conditionOf(scope, found, link),
    exception: exception && !isDecided ? { reason: exception.reason, since: iso(exception.since) } : null,
    deadLetterSince: where.blockedSince === null ? null : iso(where.blockedSince),
    mark: markOf(where),
    lookAgainAt: where.alarmAt === null || isDecided ? null : iso(where.alarmAt),
    guard: where.guard,
    approval: approval ? `${scope.connection}.${approval.id}` : null,
    rejections: await rejectionsOf(scope, found, where.guard, memberships),
    firstApprovals: approval ? await firstApprovalsOf(scope, found, where.guard, memberships) : [],
    suspectedDrift: where.suspectedDrift,
    hold: hold ? { since: iso(hold.since), by: hold.by, note: hold.note ?? null } : null,
    ...obstacleOf(breaker),
    fleet,
    policy: policyOf(scope, found.name),
    handover: found.kind === 'User' ? await handoverOf(scope, found.ref, link, readPlatform ?? true) : null,
    lastReconcile: last ? { at: iso(last.endedAt), outcome: last.outcome } : null,
    restored: restored ? { at: iso(restored.at), backup: backupText(restored) } : null,
    ...log,
  };
  const verdict = toVerdict(facts);
  const former =
    link.id === undefined
      ? await formerRecordText(scope, found, facts.nameAtTarget ?? found.name)
      : undefined;
  const reasons = [
    ...verdict.reasons,
    ...(former === undefined ? [] : [former]),
    ...(facts.handover ? [facts.handover.text] : []),
  ];
  return { ...facts, ...verdict, reasons, timeline: toTimeline(facts) };
}

/** Returns the newest log entries of the resource; the search ends after `logMs` or LOG_ENTRIES. */
async function newestEntries(
  scope: ReconcileScope,
  { connection, ref }: FoundResource,
  logMs: number,
): Promise<Pick<Explanation, 'log' | 'isLogCut'>> {
  const end = scope.clock.now() + logMs;
  const log: LocatedEntry[] = [];
  const source = { connection, outboxes: new Map([[scope.target.name, scope.outbox]]) };
  for await (const { entry } of searchLog([source], { refs: [ref] })) {
    if (entry) log.push(entry);
    if (log.length >= LOG_ENTRIES || scope.clock.now() >= end) return { log, isLogCut: true };
  }
  return { log, isLogCut: false };
}

function storedOf({ record }: FoundResource): Explanation['stored'] {
  if (!record) return null;
  const { active, externalId } = JSON.parse(record.text || '{}') as { active?: boolean; externalId?: string };
  return {
    version: record.version,
    created: iso(record.created),
    lastModified: iso(record.lastModified),
    active: active ?? null,
    externalId: externalId ?? null,
  };
}

type Detail = Pick<Explanation, 'inScope' | 'nameAtTarget' | 'values'>;

async function userDetail(scope: ReconcileScope, found: FoundResource, link: Link): Promise<Detail> {
  if (!found.record?.text) return { inScope: null, nameAtTarget: null, values: [] };
  const [groups = []] = await scope.directory.groupsOf([found.id]);
  const resource = JSON.parse(found.record.text) as Resource;
  const desired: DesiredUser = await scope.target.mapping.user(resource, found.id, groups);
  const { inScope, core } = desired;
  return {
    inScope,
    nameAtTarget: inScope ? String(core.userName) : null,
    values: [
      ...toValues(desired, appliedIn(link)),
      ...valuesThatStay(desired, appliedIn(link), scope.target.mapping.types),
    ],
  };
}

/** Returns the link, or an empty one before the create is confirmed: its values may not be at the platform. */
const appliedIn = (link: Link): Link => (link.id === undefined ? {} : link);

function groupDetail({ target }: ReconcileScope, { record, name }: FoundResource, link: Link): Detail {
  if (!record) return { inScope: null, nameAtTarget: null, values: [] };
  const nameAtTarget = target.mapping.groupName(name) ?? null;
  const applied = appliedIn(link).core?.displayName ?? null;
  const unsure = link.unsure?.includes('displayName') ?? false;
  const state: AttributeState['state'] = unsure ? 'unsure' : applied === nameAtTarget ? 'equal' : 'differs';
  return {
    inScope: nameAtTarget !== null,
    nameAtTarget,
    values: nameAtTarget === null ? [] : [{ name: 'displayName', desired: nameAtTarget, applied, state }],
  };
}

/** Returns the breaker and the pause, if changes wait for them. */
function obstacleOf(state: BreakerState): Pick<Explanation, 'breaker' | 'pause'> {
  const { open, since = 0, status = 0, only = null, ofOtherKey = false, pause } = state;
  return {
    breaker: open || isKeyRefused(state) ? { open, since: iso(since), status, only, ofOtherKey } : null,
    pause: pause ? { ...pause, until: iso(pause.until) } : null,
  };
}

const linkOf = (link: Link): Explanation['link'] => ({
  platformId: link.id ?? null,
  account: link.account ?? null,
  origin: link.origin ?? null,
  active: typeof link.core?.active === 'boolean' ? link.core.active : null,
  departed: link.departed === true,
  creating: link.creating === true,
  attempts: link.attempts ?? 0,
  lastWrite: link.writtenAt === undefined ? null : iso(link.writtenAt),
});

async function conditionOf(
  { connection, outbox, target }: ReconcileScope,
  { ref }: FoundResource,
  link: Link,
): Promise<Explanation['condition']> {
  const { condition } = link;
  if (!condition) return null;
  const { settings } = outbox;
  const { reason, message, since, status, write } = condition;
  const approvals = awaitsDecision(link) ? await readApprovalIds(connection, outbox) : undefined;
  const advice = isBySettingsOfThen(condition, settings)
    ? `The settings have changed since ${iso(since)}: scim-bridge dead-letters retry ${ref} tries it again, or scim-bridge sync ${ref}.`
    : adviceFor(reason, { ref, approvals, target: target.name, message, write });
  return { reason, message, since: iso(since), status: status ?? null, advice };
}

function markOf({ mark }: ResourceStatus): Explanation['mark'] {
  if (!mark) return null;
  const { generation, since, request, priority, state, dueAt } = mark;
  return {
    generation,
    since: iso(since),
    request,
    priority,
    state,
    nextTry: dueAt === null ? null : iso(dueAt),
  };
}

function policyOf({ target }: ReconcileScope, name: string): Explanation['policy'] {
  const { policy, adopt, users } = target.policy;
  const isProtected = users.protected.some((each) => fold(each) === fold(name));
  return {
    policy,
    adopt,
    deprovision: users.deprovision,
    activation: users.activation,
    protected: isProtected,
  };
}

/** Returns every managed value that is set on at least one side. */
function toValues({ active, core, attributes, faults, inScope }: DesiredUser, link: Link): AttributeState[] {
  const unsure = new Set(link.unsure ?? []);
  const state = (name: string, desired: unknown, applied: unknown): AttributeState['state'] =>
    unsure.has(name) ? 'unsure' : sameValue(desired, applied) ? 'equal' : 'differs';
  const values: AttributeState[] = [];
  const add = (name: string, desired: unknown, applied: unknown): void => {
    if (desired === null && applied === null) return;
    values.push({ name, desired, applied, state: state(name, desired, applied) });
  };
  add('active', inScope && active, link.core?.active ?? null);
  for (const [path, desired] of Object.entries(core)) add(path, desired, link.core?.[path] ?? null);
  for (const [name, desired] of Object.entries(attributes))
    add(`attributes.${name}`, desired, link.attributes?.[name] ?? null);
  for (const { attribute, reason } of faults) {
    const applied = link.attributes?.[attribute] ?? null;
    values.push({ name: `attributes.${attribute}`, desired: null, applied, state: 'unmappable', reason });
  }
  return values;
}

/** Returns the applied values of attributes that have left the settings, and of those that the source leaves empty. */
function valuesThatStay(
  desired: DesiredUser,
  { attributes = {} }: Link,
  types: Mapping['types'],
): AttributeState[] {
  const kept = new Set(keptAttributes(desired, types));
  return Object.entries(attributes)
    .filter(([name, applied]) => (types[name] === undefined || kept.has(name)) && !isEmpty(applied))
    .map(([name, applied]) => ({
      ...{ name: `attributes.${name}`, desired: null, applied },
      state: kept.has(name) ? 'kept' : 'unmapped',
    }));
}
