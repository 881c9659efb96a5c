// Handles `POST /api/v1/users/bulk`: one action on several users, each applied separately (contract 3.3).
import { requireAdmin } from '../auth.ts';
import { audit, bodyOf, type Call, type HandlerReply } from '../call.ts';
import { own } from '../json.ts';
import { SandboxProblem } from '../problem.ts';
import { refuseOwnDeactivation, deleteAccount, requireUser } from './accounts.ts';
import { changePerson } from './people.ts';

type Action = 'DEACTIVATE' | 'ACTIVATE' | 'DELETE';
const ACTIONS: readonly Action[] = ['DEACTIVATE', 'ACTIVATE', 'DELETE'];

/** Applies the action to one user. @throws SandboxProblem when it is refused for this user */
function applyAction(call: Call, action: Action, id: number): void {
  const user = requireUser(call, id);
  if (action === 'DELETE') {
    deleteAccount(call, user);
    return;
  }
  const isDeactivated = action === 'DEACTIVATE';
  if (user.isDeactivated === isDeactivated) return;
  refuseOwnDeactivation(call, user, isDeactivated);
  changePerson(call, user, { isDeactivated });
  audit(call, 'Updated user profile', { username: user.userName, userId: id });
}

/** Returns 200 with `succeeded` and `failed`; 400 for an unknown action, for no ids and for more than `bulkLimit`. */
export function bulkAction(call: Call): HandlerReply {
  const body = bodyOf(call);
  const named = own(body, 'action');
  const action = ACTIONS.find((known) => known === named);
  if (!action) throw new SandboxProblem(400, `action must be one of ${ACTIONS.join(', ')}`);
  const ids = own(body, 'userIds');
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > call.settings.bulkLimit) {
    throw new SandboxProblem(400, `userIds must hold 1 to ${call.settings.bulkLimit} ids`);
  }
  if (!ids.every((id: unknown): id is number => Number.isInteger(id))) {
    throw new SandboxProblem(400, 'userIds must be whole numbers');
  }
  requireAdmin(call.caller);
  const succeeded: number[] = [];
  const failed: { userId: number; error: { status: number; message: string } }[] = [];
  for (const userId of new Set(ids)) {
    try {
      applyAction(call, action, userId);
      succeeded.push(userId);
    } catch (error) {
      if (!(error instanceof SandboxProblem)) throw error;
      failed.push({ userId, error: { status: error.status, message: error.message } });
    }
  }
  return { status: 200, body: { action, succeeded, failed } };
}
