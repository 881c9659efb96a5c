// Checks Redis, clocks, settings and targets for doctor, with a platform client of its own for each target. Changes no
// data and no settings: the circuit breaker of a target closes if all answers of the target are good.
import { connectPlatform, type PlatformCall, type PlatformClient } from '../../platform/client.ts';
import { failureSinceWords, newKeyAdvice, pauseWords } from '../../reconcile/breaker-words.ts';
import { isoTime, type Clock } from '../../support/sources.ts';
import type { TargetSettings } from '../../sync/target.ts';
import { isForKey } from '../../directory/outbox/budget.ts';
import { weightOf, type Breaker, type BreakerState } from '../../directory/outbox/breaker.ts';
import type { WriterStates } from './check-definitions.ts';
import { checkRedis, type CheckedStore } from './check-redis.ts';
import { checkTarget } from './check-target.ts';
import { findingFor, toSentence, type DoctorFinding } from './doctor-finding.ts';

export interface CheckDeps {
  clock: Clock;
  /** By target name. */
  breakers: ReadonlyMap<string, Pick<Breaker, 'close' | 'read'>>;
  states: WriterStates;
}

/** Runs all checks. Redis and each platform are checked independently, so that a failure of one does not hide that of another. */
export async function checkEverything(
  deps: CheckDeps & {
    store: CheckedStore;
    /** Findings that come from data in Redis. */
    data: () => Promise<DoctorFinding[]>;
  },
  settings: CheckedSettings,
  signal: AbortSignal,
): Promise<DoctorFinding[]> {
  const { store, data, clock, breakers, states } = deps;
  const targets = settings.targets.map((target) => ({ target, ...connect(target, clock) }));
  try {
    const parts = await Promise.all([
      checkRedis(store, clock),
      data(),
      ...targets.map(({ target, client }) => checkTarget(target, client, { states, clock, signal })),
    ]);
    const well = targets.filter(({ isWell }) => isWell()).map(({ target }) => target.name);
    // Read before `close`, which removes what the breaker knows about a former key.
    const formerKeys = await Promise.all(
      well.map((name) => refusals(name, breakers.get(name), isOfFormerKey)),
    );
    // The calls of doctor bypass the breaker and do not report their answers to it, so good answers close it here.
    await Promise.allSettled(well.map(async (name) => breakers.get(name)?.close()));
    const methods = await Promise.all(well.map((name) => refusals(name, breakers.get(name), isOfMethods)));
    const pauses = await Promise.all(settings.targets.map(({ name }) => pauseOf(name, breakers.get(name))));
    return [configFindings(settings), ...parts, ...formerKeys, ...methods, ...pauses].flat();
  } finally {
    await Promise.all(targets.map(({ client }) => client.close()));
  }
}

/** Returns whether only some methods are refused. Doctor only reads, so only calls of the service show refused writes. */
const isOfMethods = ({ only }: BreakerState): boolean => only !== undefined;

/** Returns whether calls with a former key are refused; the platform accepts the present one. */
const isOfFormerKey = ({ ofOtherKey, only }: BreakerState): boolean => ofOtherKey === true && !only;

/** Returns a finding when calls of the service are refused. @param isMeant selects the refusals that have a finding */
async function refusals(
  target: string,
  breaker: Pick<Breaker, 'read'> | undefined,
  isMeant: (state: BreakerState) => boolean,
): Promise<DoctorFinding[]> {
  const state = await breaker?.read().catch(() => undefined);
  if (!state || !isMeant(state)) return [];
  // `since` and `status` are set while calls fail.
  const { since = 0, status = 0, only, ofOtherKey } = state;
  const message = `${failureSinceWords({ status, only, ofOtherKey }, isoTime(since))}: these changes wait`;
  return [findingFor(`target ${target}`).error(message, toSentence(newKeyAdvice(target, state)))];
}

/** Returns a warning while all calls to the target pause. The calls of doctor do not wait for the end of a pause. */
async function pauseOf(target: string, breaker: Pick<Breaker, 'read'> | undefined): Promise<DoctorFinding[]> {
  const { pause } = (await breaker?.read().catch(() => undefined)) ?? {};
  if (!pause || isForKey(pause)) return [];
  return [findingFor(`target ${target}`).warning(pauseWords(pause), 'Changes wait until then.')];
}

/**
 * Creates a client for a target. `isWell`: the target has answered, and every call ended with a good answer: no failure, no 403, no
 * 429, no abort.
 */
function connect(
  { url, token, scimToken, allowLoopbackHttp, timeoutMs }: TargetSettings,
  clock: Clock,
): { client: PlatformClient; isWell: () => boolean } {
  const areGood: boolean[] = [];
  // A 429 has weight 0 like a good answer, and shows nothing about the key.
  const onCall = (call: PlatformCall): void => void areGood.push(call.status !== 429 && weightOf(call) === 0);
  const client = connectPlatform({
    onCall,
    url,
    token,
    allowLoopbackHttp,
    timeoutMs,
    connections: 2,
    clock,
    ...(scimToken === null ? {} : { scimToken }),
  });
  return { client, isWell: () => areGood.length > 0 && areGood.every(Boolean) };
}

interface CheckedSettings {
  targets: readonly TargetSettings[];
  /** Warnings about settings that are allowed and risky. */
  warnings: readonly { message: string; advice: string }[];
}

function configFindings({ targets, warnings }: CheckedSettings): DoctorFinding[] {
  const unmapped = targets.filter(({ attributes }) => Object.keys(attributes).length === 0);
  const { ok, warning } = findingFor('config');
  return [
    ok('the settings are valid'),
    ...warnings.map(({ message, advice }) => warning(message, advice)),
    ...unmapped.map(({ name }) =>
      warning(
        `no attribute is mapped for ${name}`,
        `If rows depend on attributes, add targets.${name}.attributes.`,
      ),
    ),
  ];
}
