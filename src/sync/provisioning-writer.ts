// Collects the provisioning log entries of one sync: every confirmed write, and the reason why a change was not written.
// Flow: the sync reports each call (`wrote`, `ignored`, `failed`) and its end (`ended`), which add drafts. `append` completes the
// drafts with the values after the write, which it reads from the saved link, and moves them to `work.logEntries`. To tell what is
// new, the writer remembers the link as it was at the start (`known`), and what this sync has written (`written`).
import { isAwaitingDecision, type Condition } from '../directory/outbox/link-condition.ts';
import type { DueWork } from '../directory/outbox/due-work.ts';
import type { LogAction, LogEntry } from '../directory/logs/provisioning-log.ts';
import { PlatformAborted, PlatformError } from '../platform/errors.ts';
import { mayHaveValue } from './diff.ts';
import type { SyncOutcome } from './outcome.ts';
import type { SyncPolicy } from './target.ts';
import { type EntryDraft, toEntry, valueIn, attemptsOf, factsOf } from './provisioning-entry.ts';

/** Changes of a write for its log entry. */
export interface WriteDetail {
  /** Core paths and `attributes.<name>`. */
  names?: string[];
  /** Values of the names that a comparison saw at the platform before the write. */
  observed?: Record<string, unknown>;
  /** Ids of the users whose membership the write changed. */
  members?: string[];
  /** Ids of members that the platform did not add or remove, as its answer shows. */
  ignored?: string[];
  /** Remark for the reader about a successful write. */
  why?: Why;
}

/** `reason`: a stable word, such as `SeenLater`. `message`: a sentence without full stop. */
export type Why = Pick<Condition, 'reason' | 'message'>;

export type ProvisioningWriter = ReturnType<typeof createProvisioningWriter>;

/** Action of the log by the operation of a write. */
const ACTIONS: Record<string, LogAction> = {
  'create user': 'create',
  'create group': 'create',
  'update user': 'update',
  'set attribute': 'setAttribute',
  'set attributes': 'setAttribute',
  'activate user': 'activate',
  'deactivate user': 'deactivate',
  'delete user': 'delete',
  'delete group': 'delete',
  'rename group': 'rename',
  'add members': 'addMembers',
  'remove members': 'removeMembers',
};

/** @param policy of the target: only under `sync`, a deletion that somebody else made is logged */
export function createProvisioningWriter(work: DueWork, policy: SyncPolicy['policy']) {
  const { link } = work;
  /** Copy of the link at the start of the sync, so that unchanged facts are not logged again; `active` is that of its `core`. */
  const known = {
    ...link,
    active: link.core?.active,
    attributes: { ...link.attributes },
    unsure: [...(link.unsure ?? [])],
  };
  /**
   * Names and actions that this sync wrote. A deletion that failed counts too: if the account or group is gone, an earlier deletion
   * whose answer was lost may be the cause, so it is not logged as made by others.
   */
  const written = new Set<string>();
  /** Entries that `append` completes. */
  let drafts: EntryDraft[] = [];
  /** The change that the last call failed to make, for the entry about the end of the sync. `none`: it was a read, or succeeded. */
  let failure: Pick<LogEntry, 'action' | 'http' | 'members'> = { action: 'none' };
  let lastError: PlatformError | undefined;

  const whyOf = ({ reason, message }: Condition): Why => ({ reason, message });
  const isNew = (condition: Condition): boolean =>
    condition.reason !== known.condition?.reason || condition.message !== known.condition.message;

  function onSynced(outcome: SyncOutcome & { kind: 'synced' }, writes: number): void {
    const { condition } = outcome;
    if (condition) {
      if (isNew(condition)) drafts.push({ action: 'none', status: 'skipped', ...whyOf(condition) });
      return;
    }
    if (isAwaitingDecision(known.condition)) {
      const made = madeByOthers(outcome.forget === true);
      if (made.length > 0)
        drafts.push({ action: 'none', status: 'skipped', reason: 'MadeByOthers', message: byOthers(made) });
    }
    const isUnlinked = link.id === undefined && writes === 0;
    const hasLeftScope = link.departed === true && !known.departed;
    if (work.record && (isUnlinked || hasLeftScope))
      drafts.push({ action: 'none', status: 'skipped', reason: 'OutOfScope', message: OUT_OF_SCOPE });
  }

  /** Returns words for the changes that the link shows and this sync did not write: somebody else made them at the platform. */
  function madeByOthers(isForgotten: boolean): string[] {
    // If this sync linked another account, nothing is known about the former one.
    const isSameAccount = link.id === known.id;
    const isClosed = isSameAccount && known.active !== false && link.core?.active === false;
    if (isForgotten && !isClosed && isDeletedByOthers()) return ['the deletion'];
    const emptied = isSameAccount ? emptiedByOthers() : [];
    const made = emptied.map((name) => `the emptying of ${name}`);
    return isClosed && !written.has('deactivate') ? ['the deactivation', ...made] : made;
  }

  /** Returns whether the end of the link means a deletion that this sync did not make. */
  function isDeletedByOthers(): boolean {
    if (policy !== 'sync' || known.id === undefined || written.has('delete')) return false;
    // A closed account and an adopted group stay at the platform, so the end of their link is no deletion.
    const wasClosed = known.active === false || written.has('deactivate');
    const staysThere = work.kind === 'User' ? wasClosed : link.origin === 'adopted';
    return !staysThere;
  }

  /** Returns the attributes that lost their value in this sync without a write. */
  function emptiedByOthers(): string[] {
    return Object.keys(link.attributes ?? {}).filter((name) => {
      const isEmptyNow = link.attributes?.[name] === null && !mayHaveValue(link, name);
      return mayHaveValue(known, name) && isEmptyNow && !written.has(`attributes.${name}`);
    });
  }

  function onHeld({ condition, isHeldAgain }: SyncOutcome & { kind: 'held' }): void {
    const { reason, message } = condition;
    if (isHeldAgain)
      drafts.push({ action: 'none', status: 'held', reason, message: `${message}${HELD_AGAIN}` });
    else if (isNew(condition)) drafts.push({ action: 'none', status: 'held', reason, message });
  }

  function onLater({ condition }: SyncOutcome & { kind: 'later' }): void {
    // `NotApplied`: the platform may carry the next attempt out. The other conditions of this outcome need an operator.
    const status = condition?.reason === 'NotApplied' ? 'retry' : 'failure';
    if (condition && isNew(condition)) drafts.push({ ...failure, status, ...whyOf(condition) });
    // Only the first of consecutive failures is logged.
    else if (!condition && lastError && attemptsOf(link) === 1)
      drafts.push({ ...failure, status: 'retry', reason: 'PlatformFailed', message: lastError.message });
  }

  return {
    /**
     * Records a write as far as the answer confirms it. Called before the link is changed, which still has the values from before
     * the write. `operation`: a key of ACTIONS; `ms`: duration of the call.
     */
    wrote: (
      operation: string,
      ms: number,
      { names, observed = {}, members, ignored = [], why }: WriteDetail = {},
    ): void => {
      const action = ACTIONS[operation] ?? 'none';
      written.add(action);
      for (const name of names ?? []) written.add(name);
      failure = ignored.length > 0 ? { action, members: ignored } : { action: 'none' };
      lastError = undefined;
      // The platform left every member out, or had all of them before, so no membership has changed.
      if (members?.length === 0) return;
      const valueBefore = (name: string): unknown =>
        Object.hasOwn(observed, name) ? observed[name] : valueIn(link, name);
      const before = names && new Map(names.map((name) => [name, valueBefore(name)]));
      drafts.push({
        action,
        status: 'success',
        ms,
        ...(before && { before }),
        ...(members && { members }),
        ...why,
      });
    },
    /** Records a write that the platform answered with success and did not carry out. */
    ignored: (operation: string): void => {
      failure = { action: ACTIONS[operation] ?? 'none' };
      lastError = undefined;
    },
    /** Records a write of an earlier sync whose answer was lost, after a read showed that the platform carried it out. */
    carriedOut: (operation: string): void => {
      const action = ACTIONS[operation] ?? 'none';
      written.add(action);
      drafts.push({ action, status: 'success', ...seenLater('gone') });
    },
    /** Records a failed call. `operation`: a key of ACTIONS; '' for a read. */
    failed: (operation: string, error: unknown): void => {
      if (!(error instanceof PlatformError) || error instanceof PlatformAborted || error === lastError)
        return;
      lastError = error;
      if (ACTIONS[operation] === 'delete') written.add('delete');
      failure = { action: ACTIONS[operation] ?? 'none', http: factsOf(error) };
    },
    /**
     * Returns the entry for a link that got another id, by an adoption or by an earlier create whose answer was lost; nothing after
     * a create of this sync. Stored together with the link, whose save may be refused.
     */
    linked: (): LogEntry[] => {
      if (link.id === known.id || written.has('create')) return [];
      // An earlier create, whose answer was lost, made the account or group.
      const isMade = known.tried && link.origin === 'created';
      const action = isMade ? 'create' : 'adopt';
      const draft = { action, status: 'success', ...(isMade && seenLater('there')) } as const;
      return [toEntry(work, draft, known.condition)];
    },
    /** Records members who stay in a group although the source took them out. */
    leftMembers: (members: string[], why: Why): void => {
      drafts.push({ action: 'none', status: 'skipped', members, ...why });
    },
    /** Records members whose membership ended because the group was deleted. */
    lostMembers: (members: string[]): void => {
      drafts.push({ action: 'removeMembers', status: 'success', members, ...WITH_GROUP });
    },
    /** Records the reason when the outcome leaves a change unwritten. @param writes number of writes of the sync */
    ended: (outcome: SyncOutcome, writes: number): void => {
      if (outcome.kind === 'synced') onSynced(outcome, writes);
      else if (outcome.kind === 'later') onLater(outcome);
      else if (outcome.kind === 'blocked')
        drafts.push({ ...failure, status: 'failure', ...whyOf(outcome.condition) });
      else if (outcome.kind === 'held') onHeld(outcome);
    },
    /** Moves the collected entries to `work.logEntries`, with the current values of the link as the values after the write. */
    append: (): void => {
      work.logEntries.push(...drafts.map((each) => toEntry(work, each, known.condition)));
      drafts = [];
    },
  };
}

/** End of the message about a hold after which the change waits for a decision under a new id. */
const HELD_AGAIN = ', anew: an earlier approval or hold ended before the change was written';

/** Returns the remark of a write whose answer did not arrive. */
const seenLater = (state: 'gone' | 'there'): Why => ({
  reason: 'SeenLater',
  message: `it was ${state} when the bridge looked again`,
});

/** Remark of memberships that ended with their group. */
const WITH_GROUP: Why = { reason: 'GroupDeleted', message: 'the group was deleted' };

const byOthers = (made: readonly string[]): string =>
  `somebody else made ${made.join(' and ')} at the platform: nothing of it waits for a decision any more`;

const OUT_OF_SCOPE = 'the settings of this target (scope, group names) leave it out';
