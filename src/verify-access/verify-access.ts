// Checks which data a user can read at the platform: reads the account back, builds its security context, and queries a
// deployment with that context. It writes nothing.
import type { Link } from '../directory/outbox/links.ts';
import { findResources, type FoundResource } from '../ops/find.ts';
import { createPlatformClient } from '../platform/library.ts';
import { PlatformError } from '../platform/errors.ts';
import type { ReconcileScope } from '../reconcile/scope.ts';
import type { AccessReport, AccountDifference } from './report.ts';
import { readAccount } from './account.ts';
import { nobody, toReport, type Facts } from './chain.ts';
import { differencesOf, desiredAccessOf } from './desired-access.ts';
import { connectionsOf } from '../explain/explain.ts';
import { lastWrite } from './last-write.ts';
import { toSecurityContext } from './security-context.ts';
import { UnclearQuestion } from './report.ts';
import { lookThrough, type DataChoice, type Visibility } from './visibility.ts';

/** Address and credentials of a target, from its settings. */
export interface TargetAddress {
  url: string;
  token: string;
  scimToken: string | null;
  allowLoopbackHttp: boolean;
  timeoutMs: number;
}

export interface AccessDeps {
  scopes: readonly ReconcileScope[];
  /** Keyed by the name of the target. */
  addresses: Readonly<Record<string, TargetAddress>>;
}

export interface AccessQuestion extends DataChoice {
  /** Id, userName, externalId or e-mail address of a user. */
  user: string;
  connection?: string | undefined;
  target?: string | undefined;
}

/**
 * Returns the chain push → stored → applied → visible of one user at one target.
 * @throws UnclearQuestion if several users match, or the deployment does not exist; PlatformError if the platform cannot be read
 */
export async function verifyAccess(
  { scopes, addresses }: AccessDeps,
  question: AccessQuestion,
  signal: AbortSignal,
): Promise<AccessReport> {
  const asked = scopes.filter(
    ({ connection, target }) =>
      connection === (question.connection ?? connection) && target.name === (question.target ?? target.name),
  );
  const found = await findResources(connectionsOf(asked), question.user);
  const pairs = found
    .filter(({ kind }) => kind === 'User')
    .flatMap((person) =>
      asked.filter(({ connection }) => connection === person.connection).map((scope) => ({ person, scope })),
    );
  const [chosen, ...others] = pairs;
  if (!chosen) return nobody(question.user);
  if (others.length > 0) {
    const names = pairs.map(
      ({ person, scope }) => `${person.ref} ${person.connection} → ${scope.target.name}`,
    );
    throw new UnclearQuestion(
      `Several users match: ${names.join('; ')}. Name the connection, the target or the ref.`,
    );
  }
  const address = addresses[chosen.scope.target.name];
  if (!address) throw new Error(`The settings have no target ${chosen.scope.target.name}.`);
  return lookAt(chosen.scope, chosen.person, address, question, signal);
}

async function lookAt(
  scope: ReconcileScope,
  person: FoundResource,
  address: TargetAddress,
  question: AccessQuestion,
  signal: AbortSignal,
): Promise<AccessReport> {
  const { clock, links, outbox, target } = scope;
  const startedMs = clock.now();
  const [link, isMarked, write, wanted] = await Promise.all([
    links.get(target.name, person.ref),
    outbox.isMarked(person.ref),
    lastWrite(scope, person.ref),
    desiredAccessOf(scope, person),
  ]);
  const storedMs = clock.now();
  const wire = wireOf(scope, address);
  const { scimToken } = address;
  const platform = createPlatformClient({
    ...{ ...wire, url: address.url, token: address.token, clock },
    ...(scimToken === null ? {} : { scimToken }),
  });
  const call = { signal };
  try {
    const reading = hasId(link) ? await readAccount(platform, link, wanted.groups, call) : undefined;
    const readMs = clock.now();
    const differences: AccountDifference[] = differencesOf(wanted, reading);
    const context =
      reading && toSecurityContext(reading.view.groups, reading.view.attributes, reading.definitions);
    const isOpen = reading?.view.active === true;
    const visibility: Visibility | undefined =
      context && isOpen ? await lookThrough({ platform, clock, wire }, context, question, call) : undefined;
    const facts: Facts = {
      ...{ asked: question.user, target: target.name, person, wanted, link, isMarked, write },
      ...{ reading, differences, context, visibility },
      ...{ storedTookMs: storedMs - startedMs, readTookMs: readMs - storedMs },
      isQueryAsked: question.query !== undefined,
    };
    return toReport(facts);
  } finally {
    await platform.close();
  }
}

const hasId = (link: Link): link is Link & { id: string } => link.id !== undefined;

function wireOf({ target }: ReconcileScope, { allowLoopbackHttp, timeoutMs }: TargetAddress) {
  return { allowLoopbackHttp, timeoutMs, admit: (signal?: AbortSignal) => target.budget.take(signal) };
}

export type AccessAnswer =
  | { kind: 'report'; report: AccessReport }
  /** No resource has this name. */
  | { kind: 'unknown' }
  /** Several resources match, or the deployment does not exist; the message says what to do. */
  | { kind: 'unclear'; message: string }
  /** The platform cannot be read. */
  | { kind: 'unread'; message: string };

export async function askAccess(
  deps: AccessDeps,
  question: AccessQuestion,
  signal: AbortSignal,
): Promise<AccessAnswer> {
  try {
    const report = await verifyAccess(deps, question, signal);
    return report.person === null ? { kind: 'unknown' } : { kind: 'report', report };
  } catch (error) {
    if (error instanceof UnclearQuestion) return { kind: 'unclear', message: error.message };
    if (error instanceof PlatformError) return { kind: 'unread', message: error.message };
    throw error;
  }
}
