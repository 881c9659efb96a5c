// Checks Redis, clocks, settings and targets for doctor, with a platform client of its own for each target. It changes nothing.
import { request } from 'node:http';
import { request as requestByTls } from 'node:https';
import { connectPlatform, type PlatformCall } from '../../platform/client.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { UserAttributeType } from '../../platform/wire.ts';
import { failureSinceWords, newKeyAdvice, pauseWords } from '../../reconcile/breaker-words.ts';
import { appliedAttributes } from '../../reconcile/tenant/applied-attributes.ts';
import { isoTime, type Clock } from '../../support/sources.ts';
import type { TargetSettings } from '../../sync/target.ts';
import { isForKey } from '../../directory/outbox/budget.ts';
import { weightOf, type Breaker, type BreakerState } from '../../directory/outbox/breaker.ts';
import { checkRedis, type RedisToCheck } from './check-redis.ts';
import { checkTarget, type DoctorTarget, type TargetCheckOptions } from './check-target.ts';
import { findingFor, toSentence, type DoctorFinding } from './doctor-finding.ts';

interface CheckedTarget extends Pick<
  TargetSettings,
  'name' | 'url' | 'token' | 'scimToken' | 'allowLoopbackHttp' | 'timeoutMs'
> {
  attributes: Readonly<Record<string, { type: UserAttributeType }>>;
  handover: DoctorTarget['handover'];
}

/** Longest time without data of the call that reads the clock of a platform. */
const TIME_LIMIT_MS = 5000;

export interface CheckDeps {
  clock: Clock;
  /** By target name. */
  breakers: ReadonlyMap<string, Pick<Breaker, 'close' | 'read'>>;
  states: readonly Pick<DesiredState, 'links' | 'outboxes'>[];
}

/** Runs all checks without a write. Redis and platforms are checked separately, so that one failure does not hide another. */
export async function checkEverything(
  { store, data, clock, breakers, states }: Pick<DoctorSubject, 'store' | 'data'> & CheckDeps,
  settings: {
    targets: readonly CheckedTarget[];
    warnings: DoctorSubject['warnings'];
  },
  signal: AbortSignal,
): Promise<DoctorFinding[]> {
  const { warnings } = settings;
  const targets = settings.targets.map((target) => ({
    ...toTarget(target, clock),
    applied: () => appliedBy(states, target.name),
    writtenDefinitionIds: () => writtenIdsOf(states, target.name),
  }));
  try {
    const subject = { store, data, targets, warnings, now: () => clock.now(), signal };
    const findings = await doctor(subject);
    const well = targets.filter(({ isWell }) => isWell());
    // Read before `close`, which removes what the breaker knows about a former key.
    const formerKeys = await Promise.all(
      well.map(({ name }) => refusals(name, breakers.get(name), isOfFormerKey)),
    );
    // The calls of doctor bypass the breaker, so their good answers close it here.
    await Promise.allSettled(well.map(async ({ name }) => breakers.get(name)?.close()));
    const methods = await Promise.all(
      well.map(({ name }) => refusals(name, breakers.get(name), isOfMethods)),
    );
    const pauses = await Promise.all(targets.map(({ name }) => pauseOf(name, breakers.get(name))));
    return [...findings, ...formerKeys.flat(), ...methods.flat(), ...pauses.flat()];
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

/** Returns the attributes of which any connection has written values at the target. */
async function appliedBy(states: CheckDeps['states'], target: string): Promise<ReadonlySet<string>> {
  const feeding = states.filter(({ outboxes }) => outboxes.has(target));
  const names = await Promise.all(feeding.map(({ links }) => appliedAttributes(links, target)));
  return new Set(names.flatMap((each) => [...each]));
}

/**
 * Returns for each connection of the target the ids of the definitions under which the bridge wrote values, by name of the
 * attribute.
 */
const writtenIdsOf = (states: CheckDeps['states'], target: string) =>
  Promise.all(states.flatMap(({ outboxes }) => outboxes.get(target)?.definitions.read() ?? []));

/**
 * Creates a client for a target. `isWell`: the target has answered, and every call ended with a good answer: no failure, no 403, no
 * 429, no abort.
 */
function toTarget(
  settings: CheckedTarget,
  clock: Clock,
): Omit<DoctorTarget, 'applied' | 'writtenDefinitionIds'> & { isWell: () => boolean } {
  const { name, url, token, scimToken, allowLoopbackHttp, timeoutMs, attributes, handover } = settings;
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
  const types = Object.fromEntries(Object.entries(attributes).map(([each, { type }]) => [each, type]));
  const isWell = (): boolean => areGood.length > 0 && areGood.every(Boolean);
  return { name, url, client, types, handover, time: () => timeOf(url), isWell };
}

/** Returns the platform's time from the Date header of an answer; undefined without it. Sends no credentials. */
function timeOf(url: string): Promise<number | undefined> {
  const send = url.startsWith('https:') ? requestByTls : request;
  return new Promise((resolve, reject) => {
    const call = send(url, { method: 'HEAD', agent: false, timeout: TIME_LIMIT_MS }, (answer) => {
      answer.resume();
      const date = Date.parse(answer.headers.date ?? '');
      resolve(Number.isNaN(date) ? undefined : date);
    });
    call.on('timeout', () => call.destroy(new Error('no answer in time')));
    call.on('error', reject);
    call.end();
  });
}

interface DoctorSubject extends RedisToCheck, TargetCheckOptions {
  /** Findings of the last proof of derived data; empty if another proof follows in this command. */
  data: () => Promise<DoctorFinding[]>;
  targets: DoctorTarget[];
  /** Warnings about settings that are allowed and risky. */
  warnings: readonly { message: string; advice: string }[];
}

/** Runs all checks and returns their findings, those about the settings first. */
async function doctor(subject: DoctorSubject): Promise<DoctorFinding[]> {
  const parts = await Promise.all([
    checkRedis(subject),
    subject.data(),
    ...subject.targets.map((target) => checkTarget(target, subject)),
  ]);
  return [...configFindings(subject), ...parts.flat()];
}

function configFindings({ targets, warnings }: DoctorSubject): DoctorFinding[] {
  const unmapped = targets.filter(({ types }) => Object.keys(types).length === 0);
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
