// Reports an account or group that still has a temporary name. The bridge gave it that name because several resources waited for
// each other's names (name-circle.ts). Since then the source or the settings no longer want it to be synced, so no sync renames it.
import { forgetObserved } from '../../directory/outbox/link.ts';
import { PlatformResponse } from '../../platform/errors.ts';
import { isAbsent } from '../calls/absence.ts';
import { blockedBy } from '../condition.ts';
import type { SyncContext } from '../context.ts';
import { isGone } from '../calls/failures.ts';
import type { SyncOutcome } from '../outcome.ts';
import { nameBehind } from './name-circle.ts';
import { namePathOf } from '../diff.ts';

/**
 * Returns a blocked outcome when the group still has its temporary name, else undefined. Access follows the name of a group, and
 * the source no longer gives this group a name, so an operator has to choose it.
 * @param why the reason that no sync gives the group another name
 */
export async function temporaryNameLeft(context: SyncContext, why: string): Promise<SyncOutcome | undefined> {
  const { outbox, work } = context;
  const phrase = await temporaryNamePhrase(context);
  if (phrase === undefined) return undefined;
  // No change of the group is wanted any more, so the guard drops those that it holds.
  if (work.hasGuardItem) await outbox.guardStore.endSync(work, []);
  return blockedBy(context, 'TemporaryName', `${why}, and it is called ${phrase}`);
}

/**
 * Adds to the condition of an outcome that the account or group still has its temporary name. Returns an outcome without a
 * condition, or of a resource without a temporary name, as it is.
 */
export async function withTemporaryName(context: SyncContext, outcome: SyncOutcome): Promise<SyncOutcome> {
  if (!('condition' in outcome) || !outcome.condition) return outcome;
  const phrase = await temporaryNamePhrase(context);
  if (phrase === undefined) return outcome;
  const isUser = context.work.kind === 'User';
  const addition = `the ${isUser ? 'account' : 'group'} is called ${phrase}`;
  const message = `${outcome.condition.message}; ${addition}${isUser ? '' : ', so its members have the access of no name'}`;
  return { ...outcome, condition: { ...outcome.condition, message } };
}

/**
 * Returns a phrase "<temporary name>, its temporary name until …" while the platform shows this name; undefined otherwise. A name
 * that an operator gave instead is stored in the link.
 */
async function temporaryNamePhrase(context: SyncContext): Promise<string | undefined> {
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
    // An unreadable account must not change the outcome of a leaver: the name is only an addition to the message.
    if (isUser && error instanceof PlatformResponse && !isGone(error)) return undefined;
    if (!isGone(error) || !(await isAbsent(context, work.kind, link))) throw error;
  }
  return undefined;
}
