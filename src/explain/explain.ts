// Explains why a user or group is, or is not, as desired at each target: gathers the facts from Redis and from a look at the
// platform (gather-facts.ts), judges them (verdict.ts), and tells the verdict with its reasons and a timeline.
import { letterDoneText } from '../reconcile/plan/dead-letter-entries.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import { findResources, type FoundResource, type Searched } from '../ops/find.ts';
import type { FleetFinding, ReadFleet } from '../ops/status/fleet.ts';
import type { ExplainedFacts, Explanation } from './explanation.ts';
import { formerRecordText, takeoverText } from './former-record.ts';
import { gatherExplainedFacts, type ExplainOptions } from './gather-facts.ts';
import { afterHold } from './guard-words.ts';
import { refusedGroupReasons } from './refused-groups.ts';
import { removedTargetReasons } from './removed-targets.ts';
import { toTimeline } from './timeline.ts';
import { toVerdict } from './verdict.ts';

/** Returns an explanation of each resource that `text` may identify (ops/find.ts), at every target; empty when there is none. */
export async function explain(
  scopes: readonly ReconcileScope[],
  text: string,
  readFleet: ReadFleet,
  options: ExplainOptions = {},
): Promise<Explanation[]> {
  const found = await findResources(connectionsOf(scopes), text);
  const { findings } = await readFleet();
  return Promise.all(
    found.flatMap((each) =>
      scopes
        .filter(({ connection }) => connection === each.connection)
        .map((scope) => explainAt(scope, each, findings, options)),
    ),
  );
}

/** Returns the distinct connections of the scopes. */
export function connectionsOf(scopes: readonly ReconcileScope[]): Searched[] {
  const byConnection = new Map<string, Searched>();
  for (const { connection, directory, links, target } of scopes) {
    const known = byConnection.get(connection) ?? { connection, directory, links, targets: [] };
    known.targets.push(target.name);
    byConnection.set(connection, known);
  }
  return [...byConnection.values()];
}

async function explainAt(
  scope: ReconcileScope,
  found: FoundResource,
  fleet: FleetFinding[],
  options: ExplainOptions,
): Promise<Explanation> {
  const { facts, isDone, isStillListed, refusedBefore, lastRestore } = await gatherExplainedFacts(
    scope,
    found,
    fleet,
    options,
  );
  // With `isDone` the refused values are at the platform: refusal and applied values explain nothing.
  const verdict = toVerdict(
    isDone ? { ...facts, condition: null, deadLetterSince: null, values: [] } : facts,
  );
  const told = { ofVerdict: verdict.reasons, isDone, isStillListed, refusedBefore };
  return {
    ...facts,
    ...verdict,
    reasons: await allReasons(scope, found, facts, told),
    // The timeline shows a restore also after a reconcile has converged.
    timeline: toTimeline({ ...facts, restored: lastRestore }),
  };
}

/**
 * Returns the sentences below the summary: those of the verdict, and those for which Redis or the platform is read besides.
 * @param told.ofVerdict the sentences of the verdict; the others are as in `GatheredFacts`
 */
async function allReasons(
  scope: ReconcileScope,
  found: FoundResource,
  facts: ExplainedFacts,
  {
    ofVerdict,
    isDone,
    isStillListed,
    refusedBefore,
  }: { ofVerdict: string[]; isDone: boolean; isStillListed: boolean; refusedBefore: string | undefined },
): Promise<string[]> {
  const former =
    facts.link.platformId === null
      ? ((await formerRecordText(scope, found, facts)) ??
        (refusedBefore === undefined ? takeoverText(facts) : undefined))
      : undefined;
  const refused = found.kind === 'User' ? await refusedGroupReasons(scope, facts.memberships) : [];
  // For a person without a condition the first refused group stands above the decisions about groups, so that a short page still
  // shows its advice.
  const ofFirst = facts.condition === null ? refused.splice(0, 1) : [];
  return [
    ...ofFirst,
    ...ofVerdict,
    ...(isDone ? [`It is still a dead letter: ${letterDoneText(found.ref)}.`] : []),
    ...(isStillListed
      ? [
          `It is still on the list of exceptions: ${afterHold(facts)}the next reconcile, or scim-bridge sync ${found.ref}, takes it off.`,
        ]
      : []),
    ...(refusedBefore === undefined ? [] : [refusedBefore]),
    ...(former === undefined ? [] : [former]),
    ...refused,
    ...(facts.handover ? [facts.handover.text] : []),
    ...(await removedTargetReasons(scope, found)),
  ];
}
