// Lets accounts and groups stay at a target that the settings no longer have, on the order of an operator: status reports them no
// more.
import type {
  FedTarget,
  TargetFeed,
  KnownTargets,
  RemovedTarget,
} from '../../directory/fleet/known-targets.ts';
import type { Actor } from '../../directory/logs/acts.ts';
import type { DesiredState } from '../../directory/desired-state.ts';

/** Returns the removed target with these names; undefined: the settings have it, or no open account is linked there. */
export async function findRemoved(
  known: Pick<KnownTargets, 'removed'>,
  fed: readonly FedTarget[],
  { connection, target }: TargetFeed,
): Promise<RemovedTarget | undefined> {
  const found = await known.removed(fed);
  return found.find((each) => each.connection === connection && each.target === target);
}

/** Returns the sentence of the refusal when findRemoved finds nothing. */
export const notRemovedText = ({ connection, target }: TargetFeed): string =>
  `The target ${target} of the connection ${connection} is in the settings, or no open account is linked there.`;

/** Returns why no order about the removed target is taken; undefined: it is taken. */
export const stillFedText = ({ connection, target, isFed }: RemovedTarget): string | undefined =>
  isFed
    ? `A running process of the service may feed the target ${target} of the connection ${connection}: restart every process with settings that lack the target first.`
    : undefined;

/**
 * Makes status and health leave the removed target out until it is in the settings again. Without effect if the target is kept
 * already. Its links stay. The audit entry is in the log of the connection, or of the first one if the settings lack it.
 */
export async function keepRemoved(
  states: readonly DesiredState[],
  known: Pick<KnownTargets, 'keep'>,
  { connection, target, accounts, isKept }: RemovedTarget,
  actor: Actor,
): Promise<void> {
  if (isKept) return;
  const { acts } = states.find((each) => each.connection === connection) ?? states[0] ?? {};
  await acts?.record({ act: 'keepLinks', ...actor, target, subject: connection, count: accounts });
  await known.keep({ connection, target });
}
