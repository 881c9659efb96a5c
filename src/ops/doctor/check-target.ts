// Checks a target for doctor: the key, SCIM, attribute definitions, the handover folder and the clock.
import { fold } from '../../directory/records.ts';
import type { PlatformClient } from '../../platform/client.ts';
import { EndpointAbsent, PlatformIntermediary, PlatformResponse } from '../../platform/errors.ts';
import { RIGHTS_ADVICE } from '../../reconcile/breaker-words.ts';
import { UNMAPPED, unmappedAdvice } from '../../reconcile/tenant/applied-attributes.ts';
import { findHandoverPlace, type HandoverSetting } from '../../reconcile/handover/handover-place.ts';
import type { UserAttribute, UserAttributeType } from '../../platform/wire.ts';
import { clockFinding, findingFor, toSentence, type DoctorFinding } from './doctor-finding.ts';

export interface DoctorTarget {
  name: string;
  url: string;
  client: PlatformClient;
  /** Types of the mapped attributes by name. */
  types: Record<string, UserAttributeType>;
  /** Names of the attributes of which the bridge has written values. */
  applied: () => Promise<ReadonlySet<string>>;
  /** For each connection, attributes of types that no list shows with the id of the definition under which values were written. */
  knownIds: () => Promise<ReadonlyMap<string, string>[]>;
  /** Destination of the folders, workbooks and reports of closed accounts; null: they are not moved. */
  handover: HandoverSetting | null;
  /** Time of the platform by its Date header, Unix milliseconds; undefined without the header. */
  time: () => Promise<number | undefined>;
}

export interface TargetCheckOptions {
  /** Clock of this process, Unix milliseconds. */
  now: () => number;
  signal: AbortSignal;
}

/** Checks one target. An answer that lets no further check succeed is the only finding. */
export async function checkTarget(
  { name, url, client, types, applied, knownIds, handover, time }: DoctorTarget,
  { now, signal }: TargetCheckOptions,
): Promise<DoctorFinding[]> {
  const { ok, warning, error } = findingFor(`target ${name}`);
  const options = { signal };
  const owner = await replyOf(() => client.accounts.me(options));
  if (owner.kind === 'unreachable')
    return [error(`does not answer: ${owner.message}`, `Check targets.${name}.url, the network and TLS.`)];
  if (owner.kind === 'refused' && owner.status === 401)
    return [error('refuses the key (401)', `Set a new targets.${name}.token.`)];
  const passing = passingAdvice(name, owner);
  if (owner.kind === 'refused' && passing !== undefined)
    return [
      owner.status === 429
        ? error('limits the rate (429)', passing)
        : error(`fails: it answers ${owner.status}`, passing),
    ];
  if (isOfProxy(owner) && (await answersAsProxyOnly(client, options)))
    return [
      error(`answers every address below ${url} with ${wordsOf(owner, 'a web page')}`, proxyAdvice(name)),
    ];
  const findings = [
    owner.kind === 'answered'
      ? ok(`the key is valid and belongs to ${owner.value.username}`)
      : warning('does not tell whose key it is', 'Name the owner of the key in users.protected.'),
  ];
  findings.push(...(await checkScim(name, client, options)));
  const appliedNames = await applied().catch(() => undefined);
  if (appliedNames) findings.push(...unmappedFindings(name, types, appliedNames));
  const ids = await knownIds().catch(() => []);
  findings.push(...(await checkAttributes(name, client, types, { ...options, applied: appliedNames, ids })));
  if (handover) findings.push(await checkHandoverFolder(name, client, handover, options));
  const platformTime = await time().catch(() => undefined);
  if (platformTime !== undefined) findings.push(clockFinding(name, platformTime, now()));
  return findings;
}

type CallOptions = { signal: AbortSignal };
/** A page of one resource shows whether a list can be read. */
const FIRST_ONLY = { startIndex: 1, count: 1 };

/** Returns whether something else than the platform may have answered. */
const isOfProxy = ({ kind }: Reply<unknown>): boolean => kind === 'absent' || kind === 'proxy';

const proxyAdvice = (target: string): string =>
  `Check targets.${target}.url, and any proxy before the platform.`;

/**
 * Returns whether no address is answered as the platform does. A tenant may lack single addresses; a wrong url or a proxy answers all
 * of them with its page or redirect.
 */
async function answersAsProxyOnly(client: PlatformClient, options: CallOptions): Promise<boolean> {
  const replies = [
    await replyOf(() => client.users.list(FIRST_ONLY, options)),
    await replyOf(() => client.attributes.list(options)),
  ];
  return replies.every(isOfProxy);
}

/** Checks that SCIM can be used, and that the id of a SCIM user leads to one account. */
async function checkScim(
  target: string,
  client: PlatformClient,
  options: CallOptions,
): Promise<DoctorFinding[]> {
  const { ok, warning, error } = findingFor(`target ${target}`);
  const users = await replyOf(() => client.users.list(FIRST_ONLY, options));
  const groups = await replyOf(() => client.groups.list({ ...FIRST_ONLY, members: false }, options));
  const failed = [users, groups].find(({ kind }) => kind !== 'answered');
  if (failed)
    return [
      error(
        `SCIM cannot be used: ${wordsOf(failed)}`,
        passingAdvice(target, failed) ?? toSentence(RIGHTS_ADVICE),
      ),
    ];
  const findings = [ok('SCIM is on, users and groups can be read')];
  const user = users.kind === 'answered' ? users.value.resources[0] : undefined;
  if (!user) return [...findings, ok('no user is there yet, so the mapping of ids cannot be tried')];
  const found = await replyOf(() => client.accounts.search(user.userName, options));
  if (found.kind !== 'answered')
    return [
      ...findings,
      warning(
        `the user list cannot be read: ${wordsOf(found)}`,
        passingAdvice(target, found) ??
          'Without it only single texts and whole numbers can be written as attributes: check the rights of the key.',
      ),
    ];
  const wanted = fold(user.userName);
  const matches = found.value.filter(({ username, email }) =>
    [username, email].some((each) => fold(each) === wanted),
  );
  findings.push(
    matches.length === 1
      ? ok('SCIM ids lead to accounts')
      : error(
          `${matches.length} accounts match the SCIM user ${user.id}`,
          'Attribute values hang on accounts: make user names unique, or check the rights of the key.',
        ),
  );
  return findings;
}

/**
 * Compares the mapped attributes with the definitions at the platform.
 * @param options.applied names of the attributes of which the bridge has written values; undefined: not known
 * @param options.ids as `knownIds` of DoctorTarget
 */
async function checkAttributes(
  target: string,
  client: PlatformClient,
  types: DoctorTarget['types'],
  {
    applied,
    ids,
    ...options
  }: CallOptions & { applied: ReadonlySet<string> | undefined; ids: ReadonlyMap<string, string>[] },
): Promise<DoctorFinding[]> {
  const { ok, warning, error } = findingFor(`target ${target}`);
  const listed = await replyOf(() => client.attributes.list(options));
  if (listed.kind !== 'answered')
    return [
      error(
        `attribute definitions cannot be read: ${wordsOf(listed)}`,
        passingAdvice(target, listed) ?? 'Use the key of an administrator.',
      ),
    ];
  const defined = new Set(listed.value.map(({ name }) => name));
  const wrong = listed.value.filter(({ name, type }) => Object.hasOwn(types, name) && types[name] !== type);
  const missing = Object.keys(types).filter((name) => !defined.has(name));
  const deleted = missing.filter((name) => applied?.has(name));
  const unused = missing.filter((name) => !applied?.has(name));
  const isRemade = ({ id, name }: UserAttribute): boolean =>
    ids.some((written) => written.has(name) && written.get(name) !== id);
  const remade = listed.value.filter((each) => types[each.name] === each.type && isRemade(each));
  return [
    ok('attribute definitions can be read'),
    ...wrong.map((each) =>
      error(
        `attribute ${each.name} is ${each.type} there and ${types[each.name]} in the mapping${isRemade(each) ? MADE_WITH_OTHER_TYPE : ''}`,
        'A type cannot be changed there: correct the mapping or use another name.',
      ),
    ),
    ...deleted.map((name) =>
      warning(
        `the definition of ${name} was deleted there, with all values`,
        'The next write of an attribute or a reconcile defines it again; scim-bridge reconcile writes the values of all people again.',
      ),
    ),
    ...remade.map(({ name }) =>
      warning(
        `the definition of ${name} was deleted there and made again, so values of people may be lost`,
        'scim-bridge reconcile looks at all people, and writes the values that are lost.',
      ),
    ),
    ...(unused.length > 0
      ? [ok(`${unused.join(', ')} will be defined at ${applied ? 'the first' : 'the next'} use`)]
      : []),
  ];
}

const MADE_WITH_OTHER_TYPE =
  ': the definition was deleted there with all values, and made again with this type';

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
      findingFor(`target ${target}`).warning(`attribute ${name} ${UNMAPPED}`, unmappedAdvice(target, name)),
    );

async function checkHandoverFolder(
  target: string,
  client: PlatformClient,
  handover: HandoverSetting,
  options: CallOptions,
): Promise<DoctorFinding> {
  const { ok, error } = findingFor(`target ${target}`);
  const found = await findHandoverPlace(client.workspace, handover, options);
  return found.kind === 'found'
    ? ok(`the handover folder ${found.folder.name} of the deployment ${found.deployment} is there`)
    : error(`handover: ${found.problem}`, 'Until then the work of closed accounts stays where it is.');
}

/**
 * `refused`: an error answer. `absent`: a web page answered, as for an address that the tenant lacks. `proxy`: a redirect, or a refusal
 * in a form that the platform does not use. `unreachable`: no answer.
 */
type Reply<T> =
  | { kind: 'answered'; value: T }
  | { kind: 'refused'; status: number; message: string }
  | { kind: 'absent' }
  | { kind: 'proxy'; message: string }
  | { kind: 'unreachable'; message: string };

/** Makes a call. @returns its value, or how it failed */
async function replyOf<T>(call: () => Promise<T>): Promise<Reply<T>> {
  try {
    return { kind: 'answered', value: await call() };
  } catch (failure) {
    if (failure instanceof EndpointAbsent) return { kind: 'absent' };
    if (failure instanceof PlatformIntermediary) return { kind: 'proxy', message: proxyWords(failure) };
    if (failure instanceof PlatformResponse) {
      const { status, platformMessage, message } = failure;
      return { kind: 'refused', status, message: platformMessage || message };
    }
    return { kind: 'unreachable', message: (failure as Error).message };
  }
}

/**
 * Returns the advice for a call that failed at the platform or on the way to it; undefined for an answer, and for a refusal,
 * which only other settings or rights can mend.
 */
function passingAdvice(target: string, reply: Reply<unknown>): string | undefined {
  const status = reply.kind === 'refused' ? reply.status : undefined;
  if (status === 429) return `Wait, or lower targets.${target}.rateLimit.requestsPerSecond.`;
  if (reply.kind === 'proxy') return proxyAdvice(target);
  const hasFailed = reply.kind === 'unreachable' || status === 408 || (status !== undefined && status >= 500);
  return hasFailed ? 'Ask its operator; changes are kept until it works.' : undefined;
}

/** Returns the reason of a failed call, as a sentence part. @param absent words for a web page */
function wordsOf(reply: Reply<unknown>, absent = 'a web page answered: the tenant does not have it'): string {
  if (reply.kind === 'refused') return `${reply.status} ${reply.message}`;
  return reply.kind === 'unreachable' || reply.kind === 'proxy' ? reply.message : absent;
}

/** Returns the answer of a proxy as a sentence part. */
function proxyWords({ status, redirectOrigin, platformMessage }: PlatformIntermediary): string {
  if (status < 400)
    return redirectOrigin === undefined
      ? `a redirect (${status})`
      : `a redirect (${status}) to ${redirectOrigin}`;
  return `${status} and a text that is not of the platform (${platformMessage})`;
}
