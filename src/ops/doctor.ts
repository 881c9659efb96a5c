// Checks Redis, clocks, settings and targets, and returns findings with advice. It changes nothing.
import { memoryWarning } from '../directory/redis/store-health.ts';
import type { StoreFacts, StoreHealth } from '../directory/redis/connection.ts';
import { fold } from '../directory/records.ts';
import type { PlatformClient } from '../platform/client.ts';
import { EndpointAbsent, PlatformResponse } from '../platform/errors.ts';
import { UNMAPPED, unmappedAdvice } from '../reconcile/applied-attributes.ts';
import { findHandoverPlace, type HandoverSetting } from '../reconcile/handover-place.ts';
import type { UserAttributeType } from '../platform/wire.ts';

export interface DoctorFinding {
  /**
   * `redis`, `clock`, `config`, `fleet`, `target <name>`, `hold`, `sync` or `reconcile` with `<connection> → <target>`, or `data`,
   * `tokens` or `log` with `<connection>`. A check that was not made may have the first word alone.
   */
  area: string;
  level: 'ok' | 'warning' | 'error';
  message: string;
  /** Advice for the operator; null when nothing has to be done. */
  advice: string | null;
}

export interface DoctorTarget {
  name: string;
  client: PlatformClient;
  /** Types of the mapped attributes by name. */
  types: Record<string, UserAttributeType>;
  /** Names of the attributes of which the bridge has written values. */
  applied: () => Promise<ReadonlySet<string>>;
  /** Destination of the folders, workbooks and reports of closed accounts; null: they are not moved. */
  handover: HandoverSetting | null;
  /** Time of the platform by its Date header, Unix milliseconds; undefined without the header. */
  time: () => Promise<number | undefined>;
}

export interface DoctorSubject {
  store: { health: () => Promise<StoreHealth>; facts: () => Promise<StoreFacts> };
  /** Findings of the last proof of derived data; empty if another proof follows in this command. */
  data: () => Promise<DoctorFinding[]>;
  durability: 'everysec' | 'always';
  targets: DoctorTarget[];
  /** Warnings about settings that are allowed and risky. */
  warnings: readonly { message: string; advice: string }[];
  now: () => number;
  signal: AbortSignal;
}

/** Largest accepted clock difference; leases, delays and log times depend on it. */
const SKEW_LIMIT_MS = 30_000;
/** Oldest supported version of Redis: major and minor. */
const OLDEST_REDIS = [6, 2];

/** Runs all checks and returns their findings, those about the settings first. */
export async function doctor(subject: DoctorSubject): Promise<DoctorFinding[]> {
  const parts = await Promise.all([
    checkStore(subject),
    subject.data(),
    ...subject.targets.map((target) => checkTarget(target, subject)),
  ]);
  return [...configFindings(subject), ...parts.flat()];
}

const ok = (area: string, message: string): DoctorFinding => ({ area, level: 'ok', message, advice: null });
const warning = (area: string, message: string, advice: string): DoctorFinding => ({
  area,
  level: 'warning',
  message,
  advice,
});
const error = (area: string, message: string, advice: string): DoctorFinding => ({
  area,
  level: 'error',
  message,
  advice,
});

function configFindings({ targets, warnings }: DoctorSubject): DoctorFinding[] {
  const unmapped = targets.filter(({ types }) => Object.keys(types).length === 0);
  return [
    ok('config', 'the settings are valid'),
    ...warnings.map(({ message, advice }) => warning('config', message, advice)),
    ...unmapped.map(({ name }) =>
      warning(
        'config',
        `no attribute is mapped for ${name}`,
        `If rows depend on attributes, add targets.${name}.attributes.`,
      ),
    ),
  ];
}

async function checkStore({ store, durability, now }: DoctorSubject): Promise<DoctorFinding[]> {
  const health = await store.health();
  const findings = health.findings.map((finding) => {
    // A finding of the store has its advice behind the first colon.
    const colon = finding.indexOf(': ');
    if (colon < 0) return error('redis', finding, 'See its log and its settings.');
    if (finding.startsWith('Redis does not answer'))
      return error('redis', finding, 'Check that it runs, and redis.url or REDIS_URL.');
    const advice = finding.slice(colon + 2);
    return error('redis', finding.slice(0, colon), `${advice.slice(0, 1).toUpperCase()}${advice.slice(1)}.`);
  });
  // A Redis that does not answer is among the findings of its health already.
  const facts = await store.facts().catch(() => undefined);
  if (!facts) return findings;
  if (health.ok) findings.push(ok('redis', 'a writable primary that never evicts'));
  const { version, persistence, skewMs, memory } = facts;
  const nearlyFull = memoryWarning(memory);
  if (nearlyFull) findings.push(warning('redis', nearlyFull.reason, nearlyFull.advice));
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldMajor = 0, oldMinor = 0] = OLDEST_REDIS;
  if (major < oldMajor || (major === oldMajor && minor < oldMinor))
    findings.push(
      error('redis', `version ${version} is too old`, `Update it to ${OLDEST_REDIS.join('.')} or newer.`),
    );
  else findings.push(ok('redis', `version ${version}`));
  if (persistence === 'append-only file')
    findings.push(ok('redis', `kept in an append-only file, durability ${durability}`));
  else
    findings.push(
      error(
        'redis',
        persistence === 'none' ? 'nothing is written to disk' : 'only snapshots are written to disk',
        'Set appendonly yes: a restart would lose acknowledged changes.',
      ),
    );
  findings.push(clockFinding('Redis', now() + skewMs, now()));
  return findings;
}

/** Compares a clock with the clock of this process. Both times are Unix milliseconds. */
function clockFinding(whose: string, theirs: number, ours: number): DoctorFinding {
  const seconds = Math.round((theirs - ours) / 1000);
  if (Math.abs(theirs - ours) <= SKEW_LIMIT_MS) return ok('clock', `agrees with ${whose}`);
  const message = `${whose} is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}`;
  return warning(
    'clock',
    message,
    'Set the clocks by NTP: delays and the dates of logs are wrong otherwise.',
  );
}

async function checkTarget(
  { name, client, types, applied, handover, time }: DoctorTarget,
  subject: DoctorSubject,
): Promise<DoctorFinding[]> {
  const area = `target ${name}`;
  const options = { signal: subject.signal };
  const owner = await replyOf(() => client.accounts.me(options));
  if (owner.kind === 'unreachable')
    return [
      error(area, `does not answer: ${owner.message}`, `Check targets.${name}.url, the network and TLS.`),
    ];
  if (owner.kind === 'refused' && owner.status === 401)
    return [error(area, 'refuses the key (401)', `Set a new targets.${name}.token.`)];
  if (owner.kind === 'refused' && owner.status === 429)
    return [
      error(area, 'limits the rate (429)', `Wait, or lower targets.${name}.rateLimit.requestsPerSecond.`),
    ];
  if (owner.kind === 'refused' && owner.status >= 500)
    return [
      error(area, `fails: it answers ${owner.status}`, 'Ask its operator; changes are kept until it works.'),
    ];
  if (owner.kind === 'absent' && (await answersPagesOnly(client, options)))
    return [
      error(
        area,
        'answers every address with a web page',
        `Check targets.${name}.url, and any proxy before the platform.`,
      ),
    ];
  const findings = [
    owner.kind === 'answered'
      ? ok(area, `the key is valid and belongs to ${owner.value.username}`)
      : warning(area, 'does not tell whose key it is', 'Name the owner of the key in users.protected.'),
  ];
  findings.push(...(await checkScim(area, client, options)));
  const known = await applied().catch(() => undefined);
  if (known) findings.push(...unmappedFindings(name, types, known));
  findings.push(...(await checkAttributes(area, client, types, { ...options, applied: known })));
  if (handover) findings.push(await checkHandoverFolder(area, client, handover, options));
  const theirs = await time().catch(() => undefined);
  if (theirs !== undefined) findings.push(clockFinding(name, theirs, subject.now()));
  return findings;
}

type CallOptions = { signal: AbortSignal };

/**
 * Returns whether every address is answered with a web page. A tenant may lack single addresses; a wrong url or a proxy
 * answers all of them with its page.
 */
async function answersPagesOnly(client: PlatformClient, options: CallOptions): Promise<boolean> {
  const replies = [
    await replyOf(() => client.users.list({ startIndex: 1, count: 1 }, options)),
    await replyOf(() => client.attributes.list(options)),
  ];
  return replies.every(({ kind }) => kind === 'absent');
}

/** Checks that SCIM can be used, and that the id of a SCIM user leads to one account. */
async function checkScim(
  area: string,
  client: PlatformClient,
  options: CallOptions,
): Promise<DoctorFinding[]> {
  const users = await replyOf(() => client.users.list({ startIndex: 1, count: 1 }, options));
  const groups = await replyOf(() =>
    client.groups.list({ startIndex: 1, count: 1, members: false }, options),
  );
  const failed = [users, groups].find(({ kind }) => kind !== 'answered');
  if (failed)
    return [
      error(
        area,
        `SCIM cannot be used: ${wordsOf(failed)}`,
        'Switch SCIM on for the tenant and use the key of an administrator.',
      ),
    ];
  const findings = [ok(area, 'SCIM is on, users and groups can be read')];
  const user = users.kind === 'answered' ? users.value.resources[0] : undefined;
  if (!user) return [...findings, ok(area, 'no user is there yet, so the mapping of ids cannot be tried')];
  const found = await replyOf(() => client.accounts.search(user.userName, options));
  if (found.kind !== 'answered')
    return [
      ...findings,
      warning(
        area,
        `the user list cannot be read: ${wordsOf(found)}`,
        'Without it only single texts and whole numbers can be written as attributes: check the rights of the key.',
      ),
    ];
  const wanted = fold(user.userName);
  const matches = found.value.filter(({ username, email }) =>
    [username, email].some((each) => fold(each) === wanted),
  );
  findings.push(
    matches.length === 1
      ? ok(area, 'SCIM ids lead to accounts')
      : error(
          area,
          `${matches.length} accounts match the SCIM user ${user.id}`,
          'Attribute values hang on accounts: make user names unique, or check the rights of the key.',
        ),
  );
  return findings;
}

/** Compares the mapped attributes with the definitions at the platform. */
async function checkAttributes(
  area: string,
  client: PlatformClient,
  types: DoctorTarget['types'],
  { applied, ...options }: CallOptions & { applied: ReadonlySet<string> | undefined },
): Promise<DoctorFinding[]> {
  const listed = await replyOf(() => client.attributes.list(options));
  if (listed.kind !== 'answered')
    return [
      error(
        area,
        `attribute definitions cannot be read: ${wordsOf(listed)}`,
        'Use the key of an administrator.',
      ),
    ];
  const known = new Map(listed.value.map((each) => [each.name, each.type]));
  const wrong = Object.entries(types).filter(([name, type]) => known.has(name) && known.get(name) !== type);
  const missing = Object.keys(types).filter((name) => !known.has(name));
  const deleted = missing.filter((name) => applied?.has(name));
  const unused = missing.filter((name) => !applied?.has(name));
  return [
    ok(area, 'attribute definitions can be read'),
    ...wrong.map(([name, type]) =>
      error(
        area,
        `attribute ${name} is ${known.get(name)} there and ${type} in the mapping`,
        'A type cannot be changed there: correct the mapping or use another name.',
      ),
    ),
    ...deleted.map((name) =>
      warning(
        area,
        `the definition of ${name} was deleted there, with all values`,
        'The next write of an attribute or a reconcile defines it again; scim-bridge reconcile writes all values again.',
      ),
    ),
    ...(unused.length > 0
      ? [ok(area, `${unused.join(', ')} will be defined at ${applied ? 'the first' : 'the next'} use`)]
      : []),
  ];
}

/** Returns one warning for each attribute that has left the settings after the bridge wrote values of it. */
const unmappedFindings = (
  target: string,
  types: DoctorTarget['types'],
  applied: ReadonlySet<string>,
): DoctorFinding[] =>
  [...applied]
    .filter((name) => types[name] === undefined)
    .sort()
    .map((name) =>
      warning(`target ${target}`, `attribute ${name} ${UNMAPPED}`, unmappedAdvice(target, name)),
    );

async function checkHandoverFolder(
  area: string,
  client: PlatformClient,
  handover: HandoverSetting,
  options: CallOptions,
): Promise<DoctorFinding> {
  const found = await findHandoverPlace(client.workspace, handover, options);
  return found.kind === 'found'
    ? ok(area, `the handover folder ${found.folder.name} of the deployment ${found.deployment} is there`)
    : error(area, `handover: ${found.problem}`, 'Until then the work of closed accounts stays where it is.');
}

type Reply<T> =
  | { kind: 'answered'; value: T }
  | { kind: 'refused'; status: number; message: string }
  | { kind: 'absent' }
  | { kind: 'unreachable'; message: string };

/** Makes a call. @returns its value, or how it failed */
async function replyOf<T>(call: () => Promise<T>): Promise<Reply<T>> {
  try {
    return { kind: 'answered', value: await call() };
  } catch (failure) {
    if (failure instanceof EndpointAbsent) return { kind: 'absent' };
    if (failure instanceof PlatformResponse) {
      const { status, platformMessage, message } = failure;
      return { kind: 'refused', status, message: platformMessage || message };
    }
    return { kind: 'unreachable', message: (failure as Error).message };
  }
}

/** Returns the reason of a failed call, as a sentence part. */
function wordsOf(reply: Reply<unknown>): string {
  if (reply.kind === 'refused') return `${reply.status} ${reply.message}`;
  return reply.kind === 'unreachable' ? reply.message : 'the tenant does not have it';
}
