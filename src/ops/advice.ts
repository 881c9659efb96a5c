// Gives one sentence of advice for each reason why a resource is not as desired; the runbook has more.
import type { LogStatus } from '../directory/logs/provisioning-log.ts';

const ADVICE: Record<string, string> = {
  AttributesNotWritten:
    'Correct the value at the identity provider or the mapping, then scim-bridge dead-letters retry.',
  AmbiguousAccount:
    'Leave one account with this userName at the platform, then scim-bridge dead-letters retry.',
  AccountNotFound: 'Check that the platform key may read users.',
  Conflict:
    'Decide which account or group is meant, rename or delete the other, then scim-bridge dead-letters retry.',
  NotAdopted:
    'Set adopt to exact if it is not, or rename or delete one of the two, then scim-bridge dead-letters retry.',
  TakenByConnection:
    'Rename one of the two; or unassign it at the identity provider of the other connection, order scim-bridge links forget for it there, then scim-bridge dead-letters retry.',
  Forbidden:
    'Check the rights of the platform key and whether this is the last administrator, then scim-bridge dead-letters retry.',
  Refused: 'Correct the value at the identity provider: the platform does not accept it.',
  Held: 'See scim-bridge approvals list, then approve or reject.',
  LastAdministrator:
    'Make somebody else an administrator at the platform, then scim-bridge approvals approve.',
  Rejected: 'Nothing, unless the decision was wrong: scim-bridge approvals withdraw takes it back.',
  Protected: 'Nothing: users.protected or the ownership of the platform key protects this name.',
  OutOfScope: 'Nothing, if the scope is meant so; else correct users.scope or the group names.',
  RecordDamaged: 'Push it again at the identity provider, as a whole: its stored record cannot be read.',
  RecordLost: 'Push it again at the identity provider: nothing is taken away for want of its record.',
  NotApplied: 'It is tried again; if it stays, ask the operator of the platform.',
  PlatformFailed: 'Nothing: it is tried again until the platform answers.',
};

export function adviceFor(reason: string, status?: LogStatus): string {
  return ADVICE[reason] ?? (status === 'retry' ? 'Nothing: it is tried again.' : 'See the runbook.');
}
