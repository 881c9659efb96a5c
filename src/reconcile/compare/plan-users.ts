// Converts the differences of one user to plan entries. Pure. Four cases: the user has no account yet (`planNewUser`), the
// platform no longer has the account (`missingAccount`), the account of a leaver is due for its deletion (`deletion`), or the
// account is there and its values may differ.
import { ACCOUNT_NUMBER } from '../../directory/outbox/link.ts';
import type { WireUser } from '../../platform/wire.ts';
import { attributeChanges, coreOperations, observedCore } from '../../sync/diff.ts';
import type { SyncPolicy } from '../../sync/target.ts';
import { deletionDue } from '../../sync/user/deletion-due.ts';
import { counted } from '../../support/counted.ts';
import { accountChanges } from './account-changes.ts';
import {
  changedSinceApplied,
  differences,
  unlistedChanges,
  type DesiredAccount,
  type Difference,
} from './compare.ts';
import { absenceOf, leftBy, markNeedsNoPermission, ownCause, type PlanEntry, type Values } from '../entry.ts';
import type { Namesake } from './strangers.ts';
import { userFields, masked, type TargetRules, type UserCase } from './user-case.ts';

/** Stands for the desired state of a user without one: deleted at the source, or departed and without a readable record. */
const GONE: DesiredAccount = { inScope: false, active: false, core: {}, attributes: {} };

/**
 * Returns the entries of one user who is not protected; none when the account is as desired. attribution.ts refines the cause
 * `platform changed`.
 */
export function userEntries(user: UserCase, rules: TargetRules): PlanEntry[] {
  const { link, observed } = user;
  const wanted = user.wanted ?? GONE;
  if (link.id === undefined) return wanted.inScope ? planNewUser(user, wanted, rules) : [];
  if (observed === undefined) return wanted.inScope ? missingAccount(user, wanted, rules) : [];
  if (!wanted.inScope && isDeletionDue(user, observed, rules)) return [deletion(user, observed, rules)];
  const found = differencesOf(user, wanted, observed, rules);
  return found.length === 0 ? [] : accountChanges(user, wanted, observed, found, rules);
}

/** Returns the differences between the account and its desired state, also in values that no list shows and in its number. */
function differencesOf(
  user: UserCase,
  wanted: DesiredAccount,
  observed: WireUser,
  rules: TargetRules,
): Difference[] {
  const { link, values, otherNumber } = user;
  // A changed value is written even if no account shows the attribute, because the attribute may be new.
  const isChanged = changedSinceApplied(link, wanted);
  // The user list may lack an attribute of all accounts (`isVisible`), so a difference in that attribute proves nothing. The value
  // list of one user is complete.
  const isRead = (name: string): boolean => values !== undefined && name.startsWith('attributes.');
  const shown = differences(wanted, observed, link, rules.types, rules.visibility, values).filter(
    ({ name }) => isChanged(name) || isRead(name) || rules.visibility.isVisible(name),
  );
  const number =
    otherNumber === undefined
      ? []
      : [{ name: ACCOUNT_NUMBER, before: link.account ?? null, after: otherNumber }];
  return [
    ...shown,
    ...(values ? [] : unlistedChanges(wanted, link, rules.types)),
    ...(wanted.inScope ? number : []),
  ];
}

/**
 * Returns whether the entry of a leaver is the deletion of the account, by the present settings: the next sync deletes the account
 * right after it deactivates it, or, if it was deactivated before (and may be active again), because the deletion is due. Under
 * another policy than `sync` no sync deletes, and the entry is only reported.
 */
function isDeletionDue(
  { link, marked, wanted, deletedAt, deleteAt }: UserCase,
  { active }: WireUser,
  { policy, now }: TargetRules,
): boolean {
  const isDue = (deleteAt ?? deletionDue(policy, deletedAt) ?? Infinity) <= now;
  if (!link.departed) return isDue || policy.users.deprovision === 'delete';
  if (active !== false) return isDue;
  // Without record and tombstone the sync only reports that the record is lost.
  if (!wanted && deletedAt === undefined) return false;
  // This conflict says that a person has to delete the account.
  const isByHand = link.condition?.write === 'delete' && link.condition.reason === 'Conflict' && !marked;
  return !isByHand && isDue;
}

/** Returns all values that a new account receives. */
function createdValues({ core, attributes, active }: DesiredAccount): Values {
  const values = Object.entries(core).filter(([, value]) => value !== null && value !== '');
  const typed = Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [`attributes.${name}`, masked(name, value)] as const);
  return { ...Object.fromEntries(values), active, ...Object.fromEntries(typed) };
}

/** Returns the fields of an entry that creates the account. */
const created = (
  wanted: DesiredAccount,
  reason: string,
): Pick<PlanEntry, 'action' | 'before' | 'after' | 'reason'> => ({
  action: 'create',
  before: null,
  after: createdValues(wanted),
  reason,
});

/** Returns the entries of a user who has no account yet. */
function planNewUser(user: UserCase, wanted: DesiredAccount, rules: TargetRules): PlanEntry[] {
  const { namesake, takenBy } = user;
  const common = userFields(user, ownCause(user));
  const after = createdValues(wanted);
  if (takenBy !== undefined) return [taken(user, after, takenBy)];
  if (!namesake) return [{ ...common, ...created(wanted, 'has no account yet') }];
  const before = { userName: namesake.userName };
  const found = { ...common, platformId: namesake.id, before };
  if (isAdopted(namesake, rules.policy)) {
    const reason = namesake.former
      ? 'the account of a deleted user is taken over'
      : 'an account exists and is taken over';
    const linked = { id: namesake.id, userName: namesake.userName };
    // The adoption causes these changes, not a change at the platform.
    const changed = adoptedChanges(user, wanted, rules).map((entry) => ({
      ...entry,
      attribution: common.attribution,
    }));
    return [{ ...found, action: 'adopt', after: linked, reason }, ...changed];
  }
  return [
    {
      ...found,
      action: 'conflict',
      after,
      reason: `an account exists already and adopt is ${rules.policy.adopt}`,
    },
  ];
}

/**
 * Returns whether the sync adopts the account. For the account of a deleted user `adopt` does not matter: the bridge managed it
 * before.
 */
export const isAdopted = ({ former }: Namesake, { adopt }: Pick<SyncPolicy, 'adopt'>): boolean =>
  former !== undefined || adopt === 'exact';

/** Returns the conflict of a user for whom the sync finds an account of another connection. */
const taken = (user: UserCase, after: Values, reason: string): PlanEntry => ({
  ...userFields(user, 'none'),
  action: 'conflict',
  before: null,
  after,
  reason,
});

/** Returns the entries of a linked user whose account the platform no longer has. */
function missingAccount(user: UserCase, wanted: DesiredAccount, rules: TargetRules): PlanEntry[] {
  const { policy } = rules;
  const { namesake, takenBy } = user;
  if (takenBy !== undefined) return [taken(user, createdValues(wanted), takenBy)];
  const effect = policy.policy === 'create-only' ? 'report' : 'apply';
  const left = effect === 'report' ? leftBy(policy) : '';
  // The cause is the platform also if a mark is pending: no push or restore takes an account away.
  const common = { ...userFields(user, 'platform changed'), effect } as const;
  const { cause, reason: absence } = absenceOf(user.link, rules.now, 'its account is gone at the platform');
  if (namesake) {
    const before = { id: user.link.id ?? null, userName: namesake.userName };
    const after = { id: namesake.id, userName: namesake.userName };
    const reason = 'its account is gone and another one carries its name';
    return isAdopted(namesake, policy)
      ? [
          { ...common, action: 'relink', before, after, reason: `${reason}${left}` },
          ...(effect === 'apply' ? adoptedChanges(user, wanted, rules) : []),
        ]
      : [{ ...common, action: 'conflict', before, after, reason: `${reason}; adopt is ${policy.adopt}` }];
  }
  return [{ ...common, ...created(wanted, `${absence}${left}`), attribution: { cause } }];
}

/**
 * Returns the changes that the sync writes to an account after its adoption. The sync compares exactly, so a difference in
 * letter case is written too.
 */
function adoptedChanges(user: UserCase, wanted: DesiredAccount, rules: TargetRules): PlanEntry[] {
  if (!user.adoptable) return [];
  const { account, values } = user.adoptable;
  const core = observedCore(account, wanted.core);
  const active = account.active !== false;
  const found: Difference[] = [
    ...(account.active === wanted.active
      ? []
      : [{ name: 'active', before: account.active ?? null, after: wanted.active }]),
    ...coreOperations(wanted.core, core).flatMap(({ path }) =>
      path === undefined ? [] : [{ name: path, before: core[path] ?? null, after: wanted.core[path] }],
    ),
    ...attributeChanges(wanted.attributes, values).map((name) => ({
      name: `attributes.${name}`,
      before: values[name] ?? null,
      after: wanted.attributes[name] ?? null,
    })),
  ];
  const adopted = { ...user, link: { ...user.link, id: account.id } };
  const entries = accountChanges(adopted, wanted, account, found, rules);
  return active ? entries : entries.map(markNeedsNoPermission);
}

/** Returns the deletion of a leaver's account; only the policy `sync` deletes. */
function deletion(user: UserCase, observed: WireUser, { policy }: TargetRules): PlanEntry {
  const active = observed.active !== false;
  const { link, marked, wanted } = user;
  const isReopened = active && link.departed === true && link.core?.active === false;
  // The sync of a departed user closed the account, and this deletion was not due at that time by the settings that applied then.
  const isLater = !active && link.departed === true && !marked;
  const why = wanted === undefined ? 'deleted at the source' : 'out of scope';
  return {
    ...userFields(user, isReopened ? 'platform changed' : isLater ? 'not applied' : ownCause(user)),
    action: 'delete',
    before: { userName: observed.userName, active },
    after: null,
    effect: policy.policy === 'sync' ? 'apply' : 'report',
    reason: `${why}${isReopened ? ', active again at the platform' : isLater ? `; ${dueText(policy)}` : ''}`,
  };
}

/** Returns the setting by which a closed account is due for its deletion, as the end of a reason. */
const dueText = ({ users }: SyncPolicy): string =>
  users.deprovision === 'delete'
    ? 'users.deprovision is delete'
    : `the ${counted(users.deleteAfterDays ?? 0, 'day')} of users.deleteAfterDays are over`;
