// Converts records of the provisioning log to rows of the CSV export.
import type { ProvisioningRecord } from './provisioning-record.ts';

/** Columns of the CSV export. */
export const COLUMNS = [
  'id',
  'activityDateTime',
  'connection',
  'target',
  'status',
  'provisioningAction',
  'operation',
  'identityType',
  'sourceId',
  'displayName',
  'targetId',
  'modifiedProperties',
  'members',
  'errorCode',
  'reason',
  'recommendedAction',
  'requestStatus',
  'changeId',
  'cycleId',
  'initiatedBy',
  'attempt',
  'acceptedDateTime',
  'lagMs',
  'durationInMilliseconds',
] as const;

/** Returns a record as cells in the order of COLUMNS; the cell of a missing value is empty. */
export function flatten(record: ProvisioningRecord): string[] {
  const { sourceIdentity, targetIdentity, provisioningStatusInfo, request, initiatedBy } = record;
  const { status, errorInformation: error } = provisioningStatusInfo;
  // Lists become one cell each below; the steps have no column.
  const { modifiedProperties: _, members: __, provisioningSteps: ___, ...plain } = record;
  const cells: Record<(typeof COLUMNS)[number], string | number | null | undefined> = {
    ...plain,
    status,
    identityType: sourceIdentity.identityType,
    sourceId: sourceIdentity.id,
    displayName: sourceIdentity.displayName,
    targetId: targetIdentity.id,
    modifiedProperties: record.modifiedProperties
      .map(({ displayName, oldValue, newValue }) => writtenValueText(displayName, oldValue, newValue))
      .join('; '),
    members: record.members.join(' '),
    errorCode: error?.errorCode,
    reason: error?.reason,
    recommendedAction: error?.recommendedAction,
    requestStatus: request?.status,
    initiatedBy: `${initiatedBy.type} ${initiatedBy.id}`,
  };
  return COLUMNS.map((column) => String(cells[column] ?? ''));
}

/** Returns a written value in words. A write whose answer was lost is repeated, so that a value may be equal before and after. */
export function writtenValueText(name: string, before: unknown, after: unknown): string {
  const [old, written] = [JSON.stringify(before), JSON.stringify(after)];
  return old === written ? `${name}: ${written} written again` : `${name}: ${old} → ${written}`;
}
