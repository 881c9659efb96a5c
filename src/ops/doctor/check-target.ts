// Checks a target for doctor: the key, SCIM, attribute definitions, the handover folder and the clock.
import { request } from 'node:http';
import { request as requestByTls } from 'node:https';
import { fold } from '../../directory/records.ts';
import type { PlatformClient } from '../../platform/client.ts';
import { RIGHTS_ADVICE } from '../../reconcile/breaker-words.ts';
import { findHandoverPlace, type HandoverSetting } from '../../reconcile/handover/handover-place.ts';
import type { Clock } from '../../support/sources.ts';
import type { TargetSettings } from '../../sync/target.ts';
import { checkDefinitions, type WriterStates } from './check-definitions.ts';
import { clockFinding, findingFor, toSentence, type DoctorFinding } from './doctor-finding.ts';
import {
  adviceBeforeRights,
  isOfProxy,
  proxyAdvice,
  replyOf,
  replyWords,
  type PlatformReply,
} from './reply.ts';

/** Longest time without data of the call that reads the clock of a platform. */
const TIME_LIMIT_MS = 5000;

interface TargetCheckDeps {
  states: WriterStates;
  clock: Clock;
  signal: AbortSignal;
}

/** Checks one target. If the first answers show that no other check can succeed, only that finding is returned. */
export async function checkTarget(
  settings: TargetSettings,
  client: PlatformClient,
  { states, clock, signal }: TargetCheckDeps,
): Promise<DoctorFinding[]> {
  const { name, url, handover } = settings;
  const { ok } = findingFor(`target ${name}`);
  const options = { signal };
  const owner = await replyOf(() => client.accounts.me(options));
  const stop = await whyNoCheckSucceeds(settings, client, owner, options);
  if (stop) return [stop];
  const findings = [
    owner.kind === 'answered'
      ? ok(`the key is valid and belongs to ${owner.value.username}`)
      : ownerUnknown(name, owner),
  ];
  findings.push(...(await checkScim(name, client, options)));
  findings.push(...(await checkDefinitions(settings, client, states, options)));
  if (handover) findings.push(await checkHandoverFolder(name, client, handover, options));
  const platformTime = await timeOf(url).catch(() => undefined);
  if (platformTime !== undefined) findings.push(clockFinding(name, platformTime, clock.now()));
  return findings;
}

/** Returns the finding that the platform does not tell whose key it is. */
function ownerUnknown(target: string, reply: PlatformReply<unknown>): DoctorFinding {
  const { warning } = findingFor(`target ${target}`);
  const untold = 'does not tell whose key it is';
  // If a proxy answered, the platform itself may still tell the owner, so the advice is about the proxy.
  return reply.kind === 'proxy'
    ? warning(`${untold}: ${replyWords(reply)}`, proxyAdvice(target))
    : warning(untold, 'Name the owner of the key in users.protected.');
}

/**
 * Returns why no other check can succeed: the platform does not answer, its answer is unreadable, it fails or refuses the key, or
 * only a proxy answers. Undefined: the other checks are made.
 * @param owner reply to the question for the owner of the key
 */
async function whyNoCheckSucceeds(
  { name, url }: TargetSettings,
  client: PlatformClient,
  owner: PlatformReply<unknown>,
  options: CallOptions,
): Promise<DoctorFinding | undefined> {
  const { error } = findingFor(`target ${name}`);
  if (owner.kind === 'unreachable')
    return error(`does not answer: ${owner.message}`, `Check targets.${name}.url, the network and TLS.`);
  if (owner.kind === 'unreadable') return error(owner.message, proxyAdvice(name));
  if (owner.kind === 'refused' && owner.status === 401)
    return error('refuses the key (401)', `Set a new targets.${name}.token.`);
  const advice = adviceBeforeRights(name, owner);
  if (owner.kind === 'refused' && advice !== undefined)
    return owner.status === 429
      ? error('limits the rate (429)', advice)
      : error(`fails: it answers ${owner.status}`, advice);
  if (isOfProxy(owner) && (await answersAsProxyOnly(client, options)))
    return error(
      `answers every address below ${url} with ${replyWords(owner, 'a web page')}`,
      proxyAdvice(name),
    );
  return undefined;
}

type CallOptions = { signal: AbortSignal };
/** A page of one resource shows whether a list can be read. */
const FIRST_ONLY = { startIndex: 1, count: 1 };

/**
 * Returns whether no address is answered as the platform does. A tenant may lack single addresses; a wrong url or a proxy answers
 * all of them with its page or redirect.
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
        `SCIM cannot be used: ${replyWords(failed)}`,
        adviceBeforeRights(target, failed) ?? toSentence(RIGHTS_ADVICE),
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
        `the user list cannot be read: ${replyWords(found)}`,
        adviceBeforeRights(target, found) ??
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
