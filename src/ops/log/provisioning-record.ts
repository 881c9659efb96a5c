// Converts entries of the provisioning log to the export format: records in the words of Entra's provisioning logs.
import type { LogAction, LogEntry, LogStatus } from '../../directory/logs/provisioning-log.ts';
import { adviceFor } from '../advice.ts';
import { initiatorOf, type InitiatorType } from './initiator.ts';
import { publicId } from './newest-first.ts';
import type { LocatedEntry } from './provisioning-log.ts';
import { isoTime } from '../../support/sources.ts';

/** One entry in the format of Entra's provisioning logs. */
export interface ProvisioningRecord {
  id: string;
  /** ISO 8601, by the clock of Redis. */
  activityDateTime: string;
  connection: string;
  target: string;
  /** Id of the reconcile run or applied plan that caused the change; null for every other cause. */
  cycleId: string | null;
  /** Correlation id across push, log lines and calls to the platform. */
  changeId: string;
  provisioningAction: 'create' | 'update' | 'delete' | 'disable' | 'other';
  /** Action of the bridge; `provisioningAction` has only the five values of Entra. */
  operation: LogAction;
  durationInMilliseconds: number | null;
  initiatedBy: { type: InitiatorType; id: string };
  sourceIdentity: { id: string; displayName: string; identityType: 'User' | 'Group' };
  targetIdentity: { id: string | null; displayName: string; identityType: 'User' | 'Group' };
  modifiedProperties: { displayName: string; oldValue: unknown; newValue: unknown }[];
  /** Ids of the users that were added to or removed from a group. */
  members: string[];
  provisioningSteps: { name: string; type: string; status: string; description: string }[];
  provisioningStatusInfo: {
    status: 'success' | 'failure' | 'skipped' | 'warning';
    errorInformation: {
      errorCode: string;
      errorCategory: 'failure' | 'nonServiceFailure' | 'guard';
      reason: string;
      additionalDetails: string | null;
      recommendedAction: string;
    } | null;
  };
  attempt: number;
  generation: string;
  priority: string;
  /** Time when the oldest change of the entry was accepted, ISO 8601. */
  acceptedDateTime: string;
  /** Time from `acceptedDateTime` to the entry. */
  lagMs: number;
  request: { method: string; route: string; status: number | null; requestId: string | null } | null;
}

const ENTRA_ACTIONS: Record<LogAction, ProvisioningRecord['provisioningAction']> = {
  create: 'create',
  adopt: 'other',
  update: 'update',
  setAttribute: 'update',
  activate: 'update',
  deactivate: 'disable',
  delete: 'delete',
  rename: 'update',
  addMembers: 'update',
  removeMembers: 'update',
  handOver: 'other',
  giveBack: 'other',
  none: 'other',
};

/** Each status in words for people; '': a success needs none. */
export const STATUS_WORDS: Record<LogStatus, string> = {
  success: '',
  failure: 'refused',
  retry: 'failed, tried again',
  held: 'held by the guard',
  skipped: 'left alone',
};

const ENTRA_STATUSES: Record<LogStatus, ProvisioningRecord['provisioningStatusInfo']['status']> = {
  success: 'success',
  failure: 'failure',
  retry: 'warning',
  held: 'warning',
  skipped: 'skipped',
};

/** Converts a log entry to the format of Entra's provisioning logs. */
export function toProvisioningRecord(entry: LocatedEntry): ProvisioningRecord {
  const { id, at, connection, target, action, request, ref, name, platformId, http } = entry;
  const identityType = ref.startsWith('User:') ? ('User' as const) : ('Group' as const);
  return {
    id: publicId(`${connection}.${target}`, id),
    activityDateTime: isoTime(at),
    connection,
    target,
    cycleId: request.startsWith('plan:') ? request : null,
    changeId: request,
    provisioningAction: ENTRA_ACTIONS[action],
    operation: action,
    durationInMilliseconds: entry.ms ?? null,
    initiatedBy: initiatorOf(request, connection),
    sourceIdentity: { id: ref.slice(identityType.length + 1), displayName: name, identityType },
    targetIdentity: { id: platformId ?? null, displayName: name, identityType },
    modifiedProperties: (entry.changes ?? []).map(([displayName, oldValue, newValue]) => ({
      displayName,
      oldValue,
      newValue,
    })),
    members: entry.members ?? [],
    provisioningSteps: stepsOf(entry),
    provisioningStatusInfo: { status: ENTRA_STATUSES[entry.status], errorInformation: errorOf(entry) },
    attempt: entry.attempt,
    generation: entry.generation,
    priority: entry.priority,
    acceptedDateTime: isoTime(entry.accepted),
    lagMs: Math.max(0, at - entry.accepted),
    request: http ? { ...http, status: http.status ?? null, requestId: http.requestId ?? null } : null,
  };
}

type Step = ProvisioningRecord['provisioningSteps'][number];

/** Type of the step at which each reason occurs. A reason that is not listed occurs at the write. */
const STEP_OF_REASON: Record<string, string> = {
  RecordDamaged: 'import',
  RecordLost: 'import',
  Protected: 'scoping',
  OutOfScope: 'scoping',
  LeftByPolicy: 'scoping',
  Conflict: 'matching',
  NotAdopted: 'matching',
  TakenByConnection: 'matching',
  AmbiguousAccount: 'matching',
  AccountNotFound: 'matching',
  Held: 'processing',
  LastAdministrator: 'processing',
  Rejected: 'processing',
};
/** Steps of a sync in their order, in the words of Entra. */
const STEPS: [name: string, type: string][] = [
  ['read the desired state', 'import'],
  ['decide whether this target gets it', 'scoping'],
  ['find the counterpart', 'matching'],
  ['ask the guard', 'processing'],
  ['write to the platform', 'export'],
];

/** Returns the steps of an entry up to the one that decided; the steps after it were not reached and are left out. */
function stepsOf({ status, reason, message = '' }: LocatedEntry): Step[] {
  const stoppedAt = status === 'success' || reason === undefined ? undefined : STEP_OF_REASON[reason];
  const last = STEPS.findIndex(([, type]) => type === (stoppedAt ?? 'export'));
  return STEPS.slice(0, last + 1).map(([name, type], index) => ({
    name,
    type,
    status: index < last || status === 'success' ? 'success' : ENTRA_STATUSES[status],
    description: index === last ? message : '',
  }));
}

/** Returns the error information of an entry; null after a success. */
function errorOf({ ref, target, action, status, reason, message, http }: LocatedEntry) {
  if (status === 'success') return null;
  const errorCode = reason ?? 'Unknown';
  const write = action === 'deactivate' || action === 'delete' ? action : undefined;
  return {
    errorCode,
    errorCategory: categoryOf(status, http),
    reason: message ?? '',
    additionalDetails: http ? `${http.method} ${http.route} ${http.status ?? 'no answer'}` : null,
    recommendedAction: adviceFor(errorCode, { ref, status, target, message, write }),
  };
}

/**
 * Returns why the change was not written: held by the guard, failed at the platform (a call was made), or stopped by the bridge.
 */
function categoryOf(status: LogStatus, call: LogEntry['http']): 'guard' | 'failure' | 'nonServiceFailure' {
  if (status === 'held') return 'guard';
  return call ? 'failure' : 'nonServiceFailure';
}
