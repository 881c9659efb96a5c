// Checks Redis, clocks, settings and targets for doctor, with a platform client of its own for each target. It changes nothing.
import { request } from 'node:http';
import { request as requestByTls } from 'node:https';
import { connectPlatform, type PlatformCall } from '../../platform/client.ts';
import type { DesiredState } from '../../directory/desired-state.ts';
import type { UserAttributeType } from '../../platform/wire.ts';
import { breakerWords, newKeyAdvice } from '../../reconcile/breaker-words.ts';
import { appliedAttributes } from '../../reconcile/tenant/applied-attributes.ts';
import type { Clock } from '../../support/sources.ts';
import { weightOf, type Breaker, type BreakerState } from '../../directory/outbox/breaker.ts';
import { checkRedis, type RedisToCheck } from './check-redis.ts';
import { checkTarget, type DoctorTarget, type TargetCheckOptions } from './check-target.ts';
import { findingFor, type DoctorFinding } from './doctor-finding.ts';

/** The settings of a target. `scimToken`: token of the SCIM calls; null: `token` is used. */
export interface CheckedTarget {
  name: string;
  url: string;
  token: string;
  scimToken: string | null;
  allowLoopbackHttp: boolean;
  timeoutMs: number;
  attributes: Readonly<Record<string, { type: UserAttributeType }>>;
  handover: DoctorTarget['handover'];
}

/** Longest time of the call that reads the clock of a platform. */
const TIME_LIMIT_MS = 5000;

interface CheckDeps {
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
  }));
  try {
    const subject = { store, data, targets, warnings, now: () => clock.now(), signal };
    const findings = await doctor(subject);
    const well = targets.filter(({ isWell }) => isWell());
    // Read before `close`, which removes what the breaker knows about a former key.
    const formerKeys = await Promise.all(well.map(({ name }) => keyRefusal(name, breakers.get(name))));
    // The calls of doctor bypass the breaker, so their good answers close it here.
    await Promise.allSettled(well.map(async ({ name }) => breakers.get(name)?.close()));
    const refusals = await Promise.all(well.map(({ name }) => writeRefusal(name, breakers.get(name))));
    return [...findings, ...formerKeys.flat(), ...refusals.flat()];
  } finally {
    await Promise.all(targets.map(({ client }) => client.close()));
  }
}

type ReadableBreaker = Pick<Breaker, 'read'> | undefined;

/**
 * Returns a finding when the platform refuses the key for some methods. Doctor only reads, so it knows refused writes by the
 * calls of the service alone.
 */
async function writeRefusal(target: string, breaker: ReadableBreaker): Promise<DoctorFinding[]> {
  const state = await breaker?.read().catch(() => undefined);
  // `only` has the methods that are refused while the key is accepted for others.
  return state?.only ? [refusalFinding(target, state)] : [];
}

/** Returns a finding when a process of the service uses a former key, while the platform accepts the key of this process. */
async function keyRefusal(target: string, breaker: ReadableBreaker): Promise<DoctorFinding[]> {
  const state = await breaker?.read().catch(() => undefined);
  return state?.ofOtherKey && !state.only ? [refusalFinding(target, state)] : [];
}

function refusalFinding(target: string, state: BreakerState): DoctorFinding {
  const { since = 0, status = 0, only, ofOtherKey } = state;
  const advice = newKeyAdvice(target, state);
  return findingFor(`target ${target}`).error(
    `${breakerWords({ status, only, ofOtherKey })} since ${new Date(since).toISOString()}: these changes wait`,
    `${advice.slice(0, 1).toUpperCase()}${advice.slice(1)}.`,
  );
}

/** Returns the attributes of which any connection has written values at the target. */
async function appliedBy(states: CheckDeps['states'], target: string): Promise<ReadonlySet<string>> {
  const feeding = states.filter(({ outboxes }) => outboxes.has(target));
  const names = await Promise.all(feeding.map(({ links }) => appliedAttributes(links, target)));
  return new Set(names.flatMap((each) => [...each]));
}

/** Creates a client for a target. `isWell`: the target has answered, and no answer counts as a failure. */
function toTarget(
  settings: CheckedTarget,
  clock: Clock,
): Omit<DoctorTarget, 'applied'> & { isWell: () => boolean } {
  const { name, url, token, scimToken, allowLoopbackHttp, timeoutMs, attributes, handover } = settings;
  const weights: number[] = [];
  // Weight 0 is a good answer, any other one a failure (`weightOf`). An aborted call and a 429 show nothing about the key, so they
  // count as failures here.
  const onCall = (call: PlatformCall): void =>
    void weights.push(call.status === 429 ? 1 : (weightOf(call) ?? 1));
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
  const isWell = (): boolean => weights.length > 0 && weights.every((weight) => weight === 0);
  return { name, client, types, handover, time: () => timeOf(url), isWell };
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
