// Finds the account of a leaver whose link was lost (an operator ordered to forget it, or a restore lost it), so that it is closed.
// An account is linked only if it is proven to be this person's; otherwise an operator decides.
import type { Link } from '../../directory/outbox/link.ts';
import { fold } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import { isAccountOf } from '../calls/recognise.ts';
import type { SyncContext } from '../context.ts';
import { observedCore } from '../diff.ts';
import { isLinkedToOther, linkLeft, readLeft, unprovenLeft } from '../names/left-there.ts';
import type { SyncOutcome } from '../outcome.ts';
import { byExternalId } from './matching-accounts.ts';
import { leaveAlone, whyUntouchable } from './protected-user.ts';

const CLOSE = 'deactivate or delete it';

/**
 * Links the account of a leaver, if there is one.
 * @param mayExist as in the link (directory/outbox/link.ts); `id`: id of the account in the link that was forgotten
 * @returns an outcome when the sync cannot continue; else undefined
 */
export async function linkLeftAccount(
  context: SyncContext,
  { id }: NonNullable<Link['mayExist']>,
): Promise<SyncOutcome | undefined> {
  const { link, target } = context;
  const found = id === undefined ? await lookUp(context) : await readKnown(context, id);
  if (!found) return undefined;
  const { account, unproven } = found;
  if (unproven !== undefined) {
    // Nothing is left to be closed.
    if (account.active === false) return undefined;
    return unprovenLeft(context, unproven, CLOSE);
  }
  // Loads the owner of the platform key, whom `whyUntouchable` looks at.
  await target.catalogue.keyOwner(context.call.signal);
  const untouchable = whyUntouchable(context, account.userName);
  const reason = context.work.record ? 'is out of the scope of the target' : 'is deleted at the source';
  if (untouchable) return leaveAlone(context, untouchable, reason);
  return linkLeft(context, account.id, observedCore(account, link.core ?? {}));
}

interface LeftAccount {
  account: WireUser;
  /**
   * Why the account may be another person's, in words that follow "<user> was deleted at the source, and" in the dead letter
   * (`unprovenLeft`); absent: it is this person's.
   */
  unproven?: string;
}

/** Returns the account with the id that the link had; undefined: it is gone, or somebody else is linked to it. */
async function readKnown(context: SyncContext, id: string): Promise<LeftAccount | undefined> {
  const { link, target, call } = context;
  if (await isLinkedToOther(context, id)) return undefined;
  const account = await readLeft(context, 'User', id, () => target.client.users.get(id, call));
  if (!account || isAccountOf(link, account)) return account && { account };
  const name = String(link.core?.userName);
  return { account, unproven: `the account that was ${name} is called ${account.userName} now` };
}

/**
 * Looks the account up by the names of the link. A name that another person at the source also has is not used, because it would
 * lead to that person's account.
 */
async function lookUp(context: SyncContext): Promise<LeftAccount | undefined> {
  const { link, outbox, target, call, work } = context;
  if (typeof link.core?.userName !== 'string') return undefined;
  const { userName } = link.core;
  const externalId = typeof link.core.externalId === 'string' ? link.core.externalId : null;
  // After a restore many people may have left: one list tells that most of them have no account.
  const asking = { countNew: outbox.countNew, signal: call.signal };
  if ((await target.listedAccounts.mayHave({ userName, externalId }, asking)) === false) return undefined;
  if (externalId !== null && (await isFree(context, 'externalid', externalId))) {
    const exact = (await byExternalId(context, externalId)).filter((user) => user.externalId === externalId);
    const found = await singleUnlinked(context, exact);
    if (found) return found;
  }
  if (!(await isFree(context, 'username', userName))) return undefined;
  const named = (await target.client.users.findBy('userName', userName, call)).filter(
    (user) => fold(user.userName) === fold(userName),
  );
  const found = await singleUnlinked(context, named);
  if (!found) return undefined;
  // Different externalIds mean different people.
  const carriesOther = found.account.externalId && externalId && found.account.externalId !== externalId;
  if (carriesOther) return undefined;
  // A stored person is out of scope, and may never have had an account that the bridge manages.
  if (target.policy.adopt === 'exact' && !work.record) return found;
  return { ...found, unproven: `an account is called ${userName}, which may be that of this person` };
}

/** Returns whether no other person at the source has the name. The leaver is stored if the person is only out of scope. */
const isFree = async ({ directory, work }: SyncContext, attribute: string, value: string): Promise<boolean> =>
  ((await directory.lookup('User', attribute, value)) ?? []).every((id) => id === work.id);

/** Returns the only account without a link to another resource; undefined: there is none. Of several, an open one as unproven. */
async function singleUnlinked(context: SyncContext, users: WireUser[]): Promise<LeftAccount | undefined> {
  const linked = await Promise.all(users.map(({ id }) => isLinkedToOther(context, id)));
  const [account, ...others] = users.filter((_, index) => !linked[index]);
  if (!account || others.length === 0) return account && { account };
  const open = [account, ...others].find(({ active }) => active !== false) ?? account;
  return { account: open, unproven: `${others.length + 1} accounts have the names of this person` };
}
