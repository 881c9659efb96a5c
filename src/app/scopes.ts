// Builds the input of reconcile: one reconcile scope for each connection and target.
import type { DesiredState } from '../directory/desired-state.ts';
import { createTrailReader } from '../reconcile/scan/audit-trail.ts';
import { agreeOn } from '../directory/fleet/announced-rules.ts';
import { createFleetStore, runningOf } from '../directory/fleet/fleet-store.ts';
import { planDigest } from '../reconcile/tenant/digest.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { ScheduledScope } from '../reconcile/apply/schedule.ts';
import type { Target } from '../sync/target.ts';
import type { Parts } from './parts.ts';

/** Returns the scopes of all pairs of connection and target, each with its guard settings and audit-log reader. */
export function buildScopes(
  parts: Parts,
  targets: Map<string, Target>,
  states: DesiredState[],
): ScheduledScope[] {
  const { config, clock, random } = parts;
  const fleet = createFleetStore(parts, config.redis);
  return states.flatMap((state) =>
    [...state.outboxes].flatMap(([name, outbox]) => {
      const target = targets.get(name);
      const settings = config.targets[name];
      const drifts = state.drifts.get(name);
      const runs = state.runs.get(name);
      const coverage = state.coverage.get(name);
      const handovers = state.handovers.get(name);
      // Every outbox has all of these, so the condition only satisfies the types.
      if (!target || !settings || !drifts || !runs || !coverage || !handovers) return [];
      const otherStates = states.filter((other) => other !== state);
      // The drift stores of the other connections that feed this target.
      const others = otherStates.flatMap((other) => other.drifts.get(name) ?? []);
      const { guard, url, allowLoopbackHttp, timeoutMs } = settings;
      const digest = planDigest(settings);
      const scope: ReconcileScope = {
        ...state,
        target,
        outbox,
        drifts,
        runs,
        coverage,
        handovers,
        others,
        clock,
        random,
        digest,
        // Whether all running processes have the same mapping rules for this target.
        rulesAgree: async () =>
          agreeOn(runningOf(await fleet.read()), {
            connection: state.connection,
            target: name,
            rules: digest,
          }),
        // Whether Redis came back empty within the last day, and no restore has ended since (fleet-store.ts).
        isDataLost: async () => (await fleet.read()).emptiedAfter !== null,
        concurrency: target.concurrency(),
      };
      // Reads from the platform's audit log who changed what; changes by the owner of the API key are those of the bridge.
      // The key is read at every call: an operator may have replaced it in its file since the start.
      const token = () => settings.token;
      const readTrail = createTrailReader({ url, token, allowLoopbackHttp, timeoutMs }, (signal) =>
        target.catalogue.keyOwner(signal),
      );
      return [{ scope, guard, readTrail }];
    }),
  );
}
