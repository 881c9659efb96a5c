// Checks Redis for doctor: it answers, never evicts, is new enough and writes to disk, and its clock agrees.
import type { StoreFacts, StoreHealth } from '../../directory/redis/store-health.ts';
import { memoryWarning } from '../../directory/redis/store-health.ts';
import type { Clock } from '../../support/sources.ts';
import { clockFinding, findingFor, type DoctorFinding } from './doctor-finding.ts';

/** Oldest supported version of Redis: major and minor. */
const OLDEST_REDIS = [6, 2];

const { ok, warning, error } = findingFor('redis');

export interface CheckedStore {
  health: () => Promise<StoreHealth>;
  facts: () => Promise<StoreFacts>;
}

/** Checks Redis. A Redis that cannot be asked has only the findings of its health. */
export async function checkRedis(store: CheckedStore, clock: Clock): Promise<DoctorFinding[]> {
  const health = await store.health();
  const findings = health.findings.map(({ message, advice }) => error(message, advice));
  const facts = await store.facts().catch(() => undefined);
  if (!facts) return findings;
  if (health.ok) findings.push(ok('a writable primary that never evicts'));
  const { version, skewMs, memory } = facts;
  const nearlyFull = memoryWarning(memory);
  if (nearlyFull) findings.push(warning(nearlyFull.reason, nearlyFull.advice));
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldMajor = 0, oldMinor = 0] = OLDEST_REDIS;
  if (major < oldMajor || (major === oldMajor && minor < oldMinor))
    findings.push(error(`version ${version} is too old`, `Update it to ${OLDEST_REDIS.join('.')} or newer.`));
  else findings.push(ok(`version ${version}`));
  return [...findings, persistenceFinding(facts), clockFinding('Redis', clock.now() + skewMs, clock.now())];
}

/** Returns the finding whether Redis writes acknowledged changes to disk. */
function persistenceFinding({ persistence, fsync }: StoreFacts): DoctorFinding {
  if (persistence !== 'append-only file')
    return error(
      persistence === 'none' ? 'nothing is written to disk' : 'only snapshots are written to disk',
      'Set appendonly yes: a restart would lose acknowledged changes.',
    );
  if (fsync === 'no')
    return error(
      'the operating system decides when the append-only file is written (appendfsync no)',
      'Set appendfsync everysec or always: a crash of the machine would lose acknowledged changes.',
    );
  const written = fsync ?? 'unknown, because CONFIG is forbidden';
  return ok(`kept in an append-only file, appendfsync ${written}`);
}
