// Gathers what a comparison found at a recognised tenant: all that its plan and its findings are made of.
import { withLostCause } from '../compare/attribution.ts';
import { withTakenNames } from '../compare/taken-renames.ts';
import { applyRefusals } from '../compare/refusals.ts';
import { planHandover } from '../handover/plan-handover.ts';
import { ifOpen, readRestored } from '../tenant/restored.ts';
import { waitingBehindClosing } from '../unwritten/behind-closing.ts';
import { givenUpElsewhere, healedByUserList } from '../unwritten/held.ts';
import { changedProtection } from '../unwritten/protection.ts';
import { verifyRest, type ComparisonRun, type Lists, type PlanOptions } from './compare-all.ts';
import { deadLettersToEnd, entriesOf } from './plan-entries.ts';
import { exceptionsOfPlan } from './plan-exceptions.ts';

/** The lists that a run compared, and what was found about their resources. */
export type PlanFacts = Awaited<ReturnType<typeof gatherFacts>>;

/**
 * Verifies the resources that the lists cannot settle, and gathers the facts about all of them. Each step needs the one before it:
 * refusals and taken names change the entries of verified resources, the plan's entries are made of these, and the handover and the
 * exceptions depend on the entries.
 */
export async function gatherFacts(
  run: ComparisonRun,
  lists: Lists,
  options: PlanOptions & { startedAt: number },
) {
  const { scan, mappedBy, rulesChanged } = run;
  const { scope } = scan;
  const { users, verifiedGroups } = lists;
  const { values, seen } = await verifyRest(run, lists);
  const deadLetters = new Map((await scope.outbox.blocked()).map(({ ref, since }) => [ref, since]));
  const givenUp = new Set(await givenUpElsewhere(scope, [...deadLetters.keys()]));
  const judged = applyRefusals(withLostCause(scan.lost, seen), {
    givenUp,
    blocked: deadLetters,
    rulesChanged: mappedBy === undefined ? undefined : rulesChanged,
    settings: scope.outbox.settings,
  });
  const verified = await withTakenNames(scope, judged, users.strangers);
  const doneChanges = verified.flatMap(({ done }) => done ?? []);
  const equalDeadLetters = deadLettersToEnd(verified, deadLetters);
  const lastRestore = await readRestored(scope.acts);
  // Undefined after a run that converged since: all differences are newer than the restore.
  const openRestore = await ifOpen(lastRestore, scope);
  const entries = await entriesOf(
    run,
    lists,
    {
      verified,
      doneChanges,
      deadLetters,
      equalDeadLetters,
      givenUp,
      lastRestore,
      openRestore,
      deleted: values.definitions?.deleted,
    },
    options,
  );
  const handover = await planHandover(scope, {
    signal: options.signal,
    isProven: users.proof.complete && scan.unread.size === 0,
    findConsoleAccounts: scan.findConsoleAccounts,
    findListedAccounts: scan.findListedAccounts,
    entries,
  });
  const exceptions = await exceptionsOfPlan(scope, doneChanges, waitingBehindClosing(entries));
  const leftOut = verifiedGroups.flatMap(({ ref, leftOut: platformId }) =>
    platformId === undefined ? [] : [{ ref, platformId }],
  );
  const toReview = verifiedGroups.filter(({ needsMemberReview }) => needsMemberReview);
  const outOrToReview = [...leftOut, ...toReview].map(({ ref }) => ref);
  const toMark = [...scan.lost, ...outOrToReview, ...(await changedProtection(scope, scan.signal))];
  const healed = await healedByUserList(scan, [...deadLetters.keys()]);
  const endedDeadLetters = [...equalDeadLetters, ...healed, ...givenUp];
  return {
    run,
    lists,
    values,
    verified,
    entries,
    exceptions,
    handover,
    openRestore,
    doneChanges,
    /**
     * Dead letters whose refused change somebody made at the platform, that were refused because the tenant had no user list, which
     * it has now (`healedByUserList`), or for an account that another connection has given up; the run marks them.
     */
    endedDeadLetters,
    /** Groups that the settings leave out since their last sync. */
    leftOut,
    /**
     * Resources that the run marks: those of `ScanResult.lost`, groups that the settings leave out since their last sync or whose
     * next sync compares all members (`needsMemberReview`), and users whose protection changed since their last sync.
     */
    toMark,
  };
}
