// Tells of an account or group that keeps the temporary name of an exchange (taken-name.ts), because the source or the settings
// no longer want it.
import { forgetObserved } from '../directory/outbox/links.ts';
import { isAbsent } from './absence.ts';
import { condition } from './condition.ts';
import type { SyncContext } from './context.ts';
import { isGone } from './failures.ts';
import type { SyncOutcome } from './outcome.ts';
import { nameBehind, namePathOf } from './taken-name.ts';

/**
 * Returns the outcome of a group whose temporary name no sync ends; undefined: its name is none, or an operator renamed it.
 * A person decides about the name, because the settings or the source no longer want the access of any name that the bridge
 * could give.
 * @param why the reason that no sync ends it
 */
export async function temporaryNameLeft(context: SyncContext, why: string): Promise<SyncOutcome | undefined> {
  const { outbox, work, writes } = context;
  const temporaryName = await keptTemporaryName(context);
  if (temporaryName === undefined) return undefined;
  // Nothing else of the group is wanted, so no held change of it is.
  if (work.held) await outbox.guardStore.endSync(work.ref, [], { isGone: false, unasked: [] });
  return {
    kind: 'blocked',
    writes,
    condition: condition(context, 'TemporaryName', `${why}, and it is called ${temporaryName}`),
  };
}

/** Returns the outcome of an account or group that waits for a decision; its condition tells of a temporary name. */
export async function withTemporaryName(context: SyncContext, outcome: SyncOutcome): Promise<SyncOutcome> {
  if (!('condition' in outcome) || !outcome.condition) return outcome;
  const temporaryName = await keptTemporaryName(context);
  if (temporaryName === undefined) return outcome;
  const isUser = context.work.kind === 'User';
  const told = `the ${isUser ? 'account' : 'group'} is called ${temporaryName}`;
  const message = `${outcome.condition.message}; ${told}${isUser ? '' : ', so its members have the access of no name'}`;
  return { ...outcome, condition: { ...outcome.condition, message } };
}

/** Returns the temporary name that the platform shows, with what it waited for; notes the name of an operator in the link. */
async function keptTemporaryName(context: SyncContext): Promise<string | undefined> {
  const { call, link, target, work } = context;
  const { id } = link;
  const name = nameBehind(context);
  if (id === undefined || name === undefined) return undefined;
  const isUser = work.kind === 'User';
  const path = namePathOf(work.kind);
  const temporaryName = String(link.core?.[path]);
  const { users, groups } = target.client;
  try {
    const shown = isUser
      ? (await users.get(id, call)).userName
      : (await groups.get(id, { members: false }, call)).displayName;
    if (shown === temporaryName)
      return `${temporaryName}, its temporary name until another ${isUser ? 'account' : 'group'} gave up the name ${name}`;
    link.core = { ...link.core, [path]: shown };
    forgetObserved(link, path);
  } catch (error) {
    if (!isGone(error) || !(await isAbsent(context, work.kind, link))) throw error;
  }
  return undefined;
}
