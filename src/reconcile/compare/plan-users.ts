// Converts the differences of one user to plan entries. Pure.
import type { Link } from '../../directory/outbox/links.ts';
import type { Ref } from '../../directory/records.ts';
import type { WireUser } from '../../platform/wire.ts';
import { attributeChanges, coreOperations, isEmpty, observedCore } from '../../sync/diff.ts';
import type { SyncPolicy } from '../../sync/target.ts';
import { sameValue } from '../../sync/mapping/values.ts';
import {
  changedSinceApplied,
  desiredFromLink,
  desiredValue,
  differences,
  unlistedChanges,
  type Difference,
  type ComparedAttributes,
  type DesiredAccount,
} from './compare.ts';
import {
  absenceOf,
  isProtected,
  leftBy,
  markNeedsNoPermission,
  type Basis,
  type Cause,
  type PlanEntry,
  type Values,
} from '../entry.ts';
import type { UserAttributeType } from '../../platform/wire.ts';
import type { Namesake } from './strangers.ts';

/** Stored state of a user, and the observed account. */
export interface UserCase {
  ref: Ref;
  link: Link;
  basis: Basis;
  /** Whether the user has a mark, so that a push is pending. */
  marked: boolean;
  /** Desired state mapped from the record; undefined when the source deleted the user. */
  wanted: DesiredAccount | undefined;
  /** Undefined: the platform does not have the account. */
  observed: WireUser | undefined;
  /** Attribute values of the value list; undefined when only the SCIM answer was read. */
  values?: ReadonlyMap<string, unknown> | undefined;
  /** An unmanaged account, or one of a deleted user, with the externalId or userName of a user without account. */
  namesake?: Namesake | undefined;
  /** Why the sync will refuse the account that it finds: another connection is linked to it. */
  takenBy?: string | undefined;
  /** The same account with all its values, read when it may be adopted. */
  adoptable?: AdoptableAccount | undefined;
}

/** An account that the sync may adopt. */
export interface AdoptableAccount {
  account: WireUser;
  /** Attribute values that were read; null: unset. */
  values: Record<string, unknown>;
}

/** Settings of the target, and what its lists show, by which differences become entries. */
export interface TargetRules {
  policy: SyncPolicy;
  types: Record<string, UserAttributeType>;
  visibility: ComparedAttributes;
  /** Time of the comparison, Unix milliseconds. */
  now: number;
}

/** Desired state of a user whom the source deleted. */
const GONE: DesiredAccount = { inScope: false, active: false, core: {}, attributes: {} };

/** Returns the entries of one user; none when it is as desired. attribution.ts refines the cause `platform changed`. */
export function userEntries(user: UserCase, rules: TargetRules): PlanEntry[] {
  const { link, observed } = user;
  const desiredName = user.wanted?.core.userName;
  const { protected: listed } = rules.policy.users;
  if (isProtected(link, listed, desiredName ? String(desiredName) : undefined)) return [];
  const wanted = user.wanted ?? GONE;
  if (link.id === undefined) return wanted.inScope ? planNewUser(user, wanted, rules) : [];
  if (observed === undefined) return wanted.inScope ? missingAccount(user, wanted, rules) : [];
  if (!wanted.inScope && isDeletionDue(user, observed, rules)) return [deletion(user, observed, rules)];
  // A changed value is written even if no account shows the attribute, because the attribute may be new.
  const isNew = changedSinceApplied(link, wanted);
  // An attribute that no account shows may only be missing in the user list. The value list of this user is complete, so if
  // it was read, its differences count all the same.
  const isRead = (name: string): boolean => user.values !== undefined && name.startsWith('attributes.');
  const shown = differences(wanted, observed, link, rules.types, rules.visibility, user.values).filter(
    ({ name }) => isNew(name) || isRead(name) || rules.visibility.isVisible(name),
  );
  const found = user.values ? shown : [...shown, ...unlistedChanges(wanted, link, rules.types)];
  return found.length === 0 ? [] : changes(user, wanted, observed, found, rules);
}

/**
 * Returns whether the next sync of a leaver deletes the account. The account of a departed user is closed; its deletion is still
 * due while a mark is pending, or if the platform refused it.
 */
function isDeletionDue(
  { link, marked }: UserCase,
  { active }: WireUser,
  { policy: { policy, users } }: TargetRules,
): boolean {
  if (!link.departed) return users.deprovision === 'delete';
  // A conflict is about an account that has to be deleted by hand.
  const isRefused = link.condition?.write === 'delete' && link.condition.reason !== 'Conflict';
  const isDeleted = users.deprovision === 'delete' || (isRefused && users.deleteAfterDays !== null);
  return policy === 'sync' && isDeleted && (marked || isRefused) && active === false;
}

/** Returns all values that a new account receives. */
function createdValues({ core, attributes, active }: DesiredAccount): Values {
  const values = Object.entries(core).filter(([, value]) => value !== null && value !== '');
  const typed = Object.entries(attributes)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => [`attributes.${name}`, masked(name, value)] as const);
  return { ...Object.fromEntries(values), active, ...Object.fromEntries(typed) };
}

/** Returns what a create writes. */
const created = (
  wanted: DesiredAccount,
  reason: string,
): Pick<PlanEntry, 'action' | 'before' | 'after' | 'reason'> => ({
  action: 'create',
  before: null,
  after: createdValues(wanted),
  reason,
});

/** Returns the userName: the desired one, or the last known; '' if neither is known. */
const nameOf = ({ link, observed, wanted }: UserCase): string =>
  String(wanted?.core.userName ?? observed?.userName ?? link.core?.userName ?? '');

/** Returns the fields that all entries of a user share. */
function base(user: UserCase, cause: Cause): Omit<PlanEntry, 'action' | 'before' | 'after' | 'reason'> {
  return {
    kind: 'User',
    ref: user.ref,
    platformId: user.link.id ?? null,
    name: nameOf(user),
    effect: 'apply',
    attribution: { cause },
    basis: user.basis,
  };
}

/** Returns the entries of a user who has no account yet. */
function planNewUser(user: UserCase, wanted: DesiredAccount, rules: TargetRules): PlanEntry[] {
  const { namesake, marked, takenBy } = user;
  const common = base(user, marked ? 'source changed' : 'mapping changed');
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
    // The adoption causes the changes, and no change at the platform does.
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

/** Returns whether the sync adopts the account: the bridge managed that of a deleted user before, so it needs no permission. */
export const isAdopted = ({ former }: Namesake, { adopt }: Pick<SyncPolicy, 'adopt'>): boolean =>
  former !== undefined || adopt === 'exact';

/** Returns the conflict of a user whose account another connection is linked to. */
const taken = (user: UserCase, after: Values, reason: string): PlanEntry => ({
  ...base(user, 'none'),
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
  // No push takes an account away, also if a mark is pending, such as that of a restore.
  const common = { ...base(user, 'platform changed'), effect } as const;
  const { cause, reason: absence } = absenceOf(user.link, rules.now, 'its account is gone at the platform');
  if (namesake) {
    const before = { id: user.link.id ?? null, userName: namesake.userName };
    const after = { id: namesake.id, userName: namesake.userName };
    const reason = 'its account is gone and another one carries its name';
    return isAdopted(namesake, policy)
      ? [
          { ...common, action: 'relink', before, after, reason },
          ...(effect === 'apply' ? adoptedChanges(user, wanted, rules) : []),
        ]
      : [{ ...common, action: 'conflict', before, after, reason: `${reason}; adopt is ${policy.adopt}` }];
  }
  return [{ ...common, ...created(wanted, absence), attribution: { cause } }];
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
  const entries = changes(adopted, wanted, account, found, rules);
  return active ? entries : entries.map(markNeedsNoPermission);
}

/** Returns the deletion of a leaver's account; only the policy `sync` deletes. */
function deletion(user: UserCase, observed: WireUser, { policy }: TargetRules): PlanEntry {
  return {
    ...base(user, user.marked ? 'source changed' : 'mapping changed'),
    action: 'delete',
    before: { userName: observed.userName, active: observed.active !== false },
    after: null,
    effect: policy.policy === 'sync' ? 'apply' : 'report',
    reason: user.wanted === undefined ? 'deleted at the source' : 'out of scope',
  };
}

/** Returns the entries of the differences: one for each attribute, and one for all core values of the same cause. */
function changes(
  user: UserCase,
  wanted: DesiredAccount,
  observed: WireUser,
  found: Difference[],
  rules: TargetRules,
): PlanEntry[] {
  const applied = desiredFromLink(user.link);
  const ours: Cause = user.marked ? 'source changed' : 'mapping changed';
  const causeOf = ({ name }: Difference): Cause =>
    sameValue(desiredValue(applied, name) ?? null, desiredValue(wanted, name) ?? null)
      ? 'platform changed'
      : ours;
  // `create-only` writes nothing more to a completed account.
  const frozen = rules.policy.policy === 'create-only' && user.link.making !== true;
  const entries: PlanEntry[] = [];
  const add = (
    action: PlanEntry['action'],
    difference: Difference,
    before: Values,
    after: Values,
    reason: string,
  ): void => {
    const isReported = frozen || (action === 'deactivate' && rules.policy.policy !== 'sync');
    entries.push({
      ...base(user, causeOf(difference)),
      action,
      before,
      after,
      effect: isReported ? 'report' : 'apply',
      reason: isReported ? `${reason}${leftBy(rules.policy)}` : reason,
    });
  };
  for (const difference of found) {
    const { name, before, after } = difference;
    if (name === 'active') {
      const action = after === true ? 'reactivate' : 'deactivate';
      add(action, difference, { active: before }, { active: after }, activeReason(user, wanted, observed));
    } else if (name.startsWith('attributes.')) {
      const attribute = name.slice('attributes.'.length);
      // The guard counts an emptied list or text as a cleared value too.
      const isCleared = after === null || (isEmpty(after) && !isEmpty(before));
      const action = isCleared ? 'clearAttribute' : 'setAttribute';
      add(
        action,
        difference,
        { [attribute]: masked(attribute, before) },
        { [attribute]: masked(attribute, after) },
        'the attribute has another value',
      );
      const added = entries.at(-1);
      if (added) added.attribute = attribute;
    }
  }
  for (const cause of ['platform changed', ours] as const) {
    const core = found.filter((each) => isCore(each.name) && causeOf(each) === cause);
    const [first] = core;
    if (!first) continue;
    const before = Object.fromEntries(core.map((each) => [each.name, each.before]));
    const after = Object.fromEntries(core.map((each) => [each.name, each.after]));
    add(
      'update',
      first,
      before,
      after,
      `${core.map(({ name }) => name).join(', ')} ${core.length === 1 ? 'differs' : 'differ'}`,
    );
  }
  return entries;
}

/** Masks values of attributes with secret names, as the platform does (contract 12.9). */
export const masked = (attribute: string, value: unknown): unknown =>
  value !== null && /pass|secret|token|key/i.test(attribute) ? '[hidden]' : value;

/** Returns whether the name of a difference is the path of a core attribute. */
const isCore = (name: string): boolean => name !== 'active' && !name.startsWith('attributes.');

/** Returns why `active` differs. */
function activeReason(
  { wanted: mapped, link }: UserCase,
  wanted: DesiredAccount,
  observed: WireUser,
): string {
  if (wanted.active) return 'active at the source, inactive at the platform';
  if (mapped === undefined) return 'deleted at the source, active at the platform';
  if (!mapped.inScope) return 'out of scope, active at the platform';
  return link.core?.active === false && observed.active !== false
    ? 'inactive at the source, active again at the platform'
    : 'inactive at the source, active at the platform';
}
