// Handles a new userName that another user still has: waits for the holder, and breaks circles of names.
import { fold, parseRef, type Ref } from '../directory/records.ts';
import type { WireUser } from '../platform/wire.ts';
import type { Resource } from '../scim/index.ts';
import type { SyncContext } from './context.ts';
import { takenElsewhere, type NotOurs } from './taken-by-connection.ts';
import { isHandedOn, isOutdated, successionWait } from './succession.ts';

/** Number of failed attempts before a circle is searched. */
const CIRCLE_AFTER = 2;
/** Largest number of users in a circle. */
const LONGEST_CIRCLE = 8;

/** Handles a taken name. @returns when to try again, or the conflict; undefined when the holder keeps the name */
export async function waitForName(context: SyncContext, userName: string): Promise<NotOurs | undefined> {
  const holder = await userCalled(context, userName);
  if (holder) {
    const taken = await takenElsewhere(context, 'User', [holder.id]);
    if (taken) return taken;
  }
  const afterMs = await waitForHolder(context, userName, holder);
  return afterMs === undefined ? undefined : { kind: 'later', afterMs };
}

/** Returns the time to wait, 0 after the name of a circle was released; undefined when the holder keeps the name. */
async function waitForHolder(
  context: SyncContext,
  userName: string,
  holder: WireUser | undefined,
): Promise<number | undefined> {
  const { link } = context;
  // The name was released just now, or the list lags.
  if (holder === undefined || holder.id === link.id) return successionWait(context);
  // The order matters: only the link of a resource without pending sync is known to hold its current name.
  if (!(await isHandedOn(context, 'User', holder.id))) {
    const isLate = await isOutdated(context, 'User', { id: holder.id, name: holder.userName });
    return isLate ? successionWait(context) : undefined;
  }
  if ((link.attempts ?? 0) >= CIRCLE_AFTER && (await isFirstOfCircle(context, holder.id)))
    return stepAside(context, userName);
  return successionWait(context);
}

/** Returns the account with this userName; undefined: the platform shows none. */
async function userCalled({ target, call }: SyncContext, userName: string): Promise<WireUser | undefined> {
  const found = await target.client.users.findBy('userName', userName, call);
  return found.find((user) => fold(user.userName) === fold(userName));
}

/**
 * Returns whether this user is the first of a circle of users who wait for each other's names. The user with the
 * smallest ref takes a temporary name.
 */
async function isFirstOfCircle(context: SyncContext, holderId: string): Promise<boolean> {
  const { directory, links, target, work } = context;
  const passed: Ref[] = [];
  let platformId = holderId;
  while (passed.length < LONGEST_CIRCLE) {
    const ref = await links.holderOf(target.name, 'User', platformId);
    // No user of this connection has the account, or the circle does not contain this user.
    if (ref === undefined || passed.includes(ref)) return false;
    if (ref === work.ref) return passed.every((other) => work.ref < other);
    passed.push(ref);
    const record = await directory.get('User', parseRef(ref).id);
    // A user without a readable record waits for no name.
    if (!record?.text) return false;
    const next = await userCalled(context, String((JSON.parse(record.text) as Resource).userName));
    // The next name is free, so the others come free one after another.
    if (next === undefined) return false;
    platformId = next.id;
  }
  return false;
}

/** Renames the user to a unique temporary name, which releases the old name for the others. @returns the time to wait */
async function stepAside(context: SyncContext, userName: string): Promise<number> {
  const { link, target, work } = context;
  const temporaryName = `${work.id}.${userName}`;
  await context.attempt(['userName'], 'update user', () =>
    target.client.users.patch(
      link.id ?? '',
      [{ op: 'replace', path: 'userName', value: temporaryName }],
      context.call,
    ),
  );
  link.core = { ...link.core, userName: temporaryName };
  await context.save();
  return successionWait(context) ?? 0;
}
