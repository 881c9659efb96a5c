// Decides rights on items: owners and administrators manage, grants give further rights, and a right on a
// folder applies to everything in it (contract 4.7, ASSUMED-76).
import type { Caller } from '../auth.ts';
import { SandboxProblem } from '../problem.ts';
import type { UserRecord } from '../records.ts';
import type { State } from '../state.ts';
import { ACTION_KINDS, grantKey, type WorkspaceAction, type ItemRecord } from './records.ts';
import { chainTo } from './tree.ts';

/** Permission needed in addition to the edit right to move a report (contract 4.7). */
const REPORT_MANAGE = 'ReportManage';

/** Returns 0 for `read`, 1 for `edit`, 2 for `manage`. */
const rank = (action: WorkspaceAction): number => ACTION_KINDS.indexOf(action);

/** Returns the rank of the user's right on the item itself, without the folders above it; -1 without a right. */
function ownRight(state: State, user: UserRecord, item: ItemRecord): number {
  if (item.ownerId === user.id) return rank('manage');
  const grants = state.grants.find('subject', grantKey(user.id, item.type, item.id));
  return Math.max(-1, ...grants.map((grant) => rank(grant.action)));
}

/** Returns true for administrators and users with the right on the item or a folder above it. */
export function mayDo(state: State, user: UserRecord, action: WorkspaceAction, item: ItemRecord): boolean {
  if (user.isAdmin) return true;
  const needed = rank(action);
  return [item, ...chainTo(state, item.deploymentId, item.folderId)].some(
    (holder) => ownRight(state, user, holder) >= needed,
  );
}

/** Throws 403 unless the caller has the right on the item. */
export function requireRight(state: State, caller: Caller, action: WorkspaceAction, item: ItemRecord): void {
  if (!mayDo(state, caller.user, action, item)) {
    throw new SandboxProblem(403, `The right to ${action} this ${item.type.toLowerCase()} is missing`);
  }
}

/** Throws 403 unless the caller has the report-manage permission; administrators have every permission. */
export function requireReportManage(caller: Caller): void {
  if (!caller.user.isAdmin && !caller.user.permissions.has(REPORT_MANAGE)) {
    throw new SandboxProblem(403, `The permission ${REPORT_MANAGE} is missing`);
  }
}
