// Checks what JSON Schema cannot express. The checks also run on a document with schema faults, so that the operator gets
// all faults at once.
import type { ConfigFault } from './faults.ts';
import { checkAddresses } from './address-checks.ts';
import { checkCustomSchemas, schemasFor } from './custom-schemas.ts';
import * as forms from './forms.ts';
import { faultsIn, hasText, isTree, select, type Place } from './places.ts';
import type { CustomSchemaConfig } from './schema/custom-schema.ts';
import { parseRedisAddress } from '../support/redis-address.ts';
import { checkNotices } from './notice-checks.ts';
import { checkSecrets } from './secrets.ts';
import { checkAdminUrl, checkSignIn } from './sign-in-checks.ts';

/** Parsers of other layers, which config does not import. Each returns a sentence that describes the fault, or undefined. */
export interface ConfigChecks {
  /** Checks a JSONata expression. */
  expression(text: string): string | undefined;
  /** `schemas`: custom schemas whose attributes may be named. */
  scopeFilter(text: string, schemas: readonly CustomSchemaConfig[]): string | undefined;
  attributePath(text: string, schemas: readonly CustomSchemaConfig[]): string | undefined;
}

/** A pattern of paths (places.ts), and the check of the texts there. */
type TextCheck = readonly [pattern: string, check: (text: string, place: Place) => string | undefined];

const FORM_CHECKS: readonly TextCheck[] = [
  ['server/publicUrl', forms.checkWebAddress],
  ['server/adminUrl', checkAdminUrl],
  ['notices/pageUrl', checkAdminUrl],
  ['server/signIn/proxy/from/*', forms.checkProxyNetwork],
  ['redis/url', forms.checkRedisAddress],
  ['redis/cluster/*', forms.checkClusterNode],
  ['redis/tls/caFile', forms.checkReadable],
  ['redis/tls/certFile', forms.checkReadable],
  ['redis/tls/keyFile', forms.checkReadable],
  ['server/trustedProxies/*', forms.checkProxyNetwork],
  ['connections/*/allowedNetworks/*', forms.checkNetwork],
  ['connections/*/tokens/*/expiresAt', forms.checkDateTime],
  ['targets/*/groups/include/*', forms.checkRegex],
  ['targets/*/groups/exclude/*', forms.checkRegex],
  ['targets/*/groups/rename/*/match', forms.checkRegex],
  ['connections/*/events/maxAge', forms.checkDuration],
  ['targets/*/guard/window', forms.checkDuration],
  ['reconcile/schedule', forms.checkCron],
  ['reconcile/expectedSchedule', forms.checkCron],
  ['reconcile/timezone', forms.checkTimezone],
];

/** Returns the faults that JSON Schema cannot express. @param checks undefined: filters, paths and expressions are not checked */
export function checkMeaning(document: unknown, checks: ConfigChecks | undefined): ConfigFault[] {
  // The second key of a place below `targets` is the name of the target.
  const schemasAt = ({ keys }: Place): CustomSchemaConfig[] => schemasFor(document, keys[1]);
  const grammars: TextCheck[] = checks
    ? [
        ['targets/*/users/scope', (text, place) => checks.scopeFilter(text, schemasAt(place))],
        ['targets/*/attributes/*/from', (text, place) => checks.attributePath(text, schemasAt(place))],
        ['targets/*/attributes/*/expression', (text) => checks.expression(text)],
      ]
    : [];
  return [
    ...FORM_CHECKS.flatMap(([pattern, check]) => checkTexts(document, pattern, check)),
    ...grammars.flatMap(([pattern, check]) => checkTexts(document, pattern, check)),
    ...checkSecrets(document),
    ...checkAddresses(document),
    ...checkPorts(document),
    ...checkRedis(document),
    ...checkEvents(document),
    ...checkReferences(document),
    ...checkTokenNames(document),
    ...checkAttributeSources(document),
    ...checkCustomSchemas(document),
    ...checkHandover(document),
    ...checkSignIn(document),
    ...checkNotices(document),
  ];
}

/** Returns the fault that `check` finds in each text at the places of a pattern. */
function checkTexts(document: unknown, pattern: string, check: TextCheck[1]): ConfigFault[] {
  return select(document, pattern).flatMap((place) => {
    const { path, value } = place;
    const message = typeof value === 'string' ? check(value, place) : undefined;
    return message === undefined ? [] : [{ path, message }];
  });
}

/** Returns faults of settings that exclude each other. Call it before defaults are filled in, which would count as given. */
export function checkAlternatives(document: unknown): ConfigFault[] {
  const [cluster] = select(document, 'redis/cluster');
  const [url] = select(document, 'redis/url');
  if (!url || !cluster || cluster.value === null) return [];
  return [{ path: url.path, message: 'Give either redis.url or redis.cluster, not both.' }];
}

/** Refuses one port for two servers. Port 0 stands for any free port, so it may be repeated. */
function checkPorts(document: unknown): ConfigFault[] {
  const taken = new Map<unknown, string>();
  return ['port', 'adminPort', 'metricsPort'].flatMap((name) =>
    select(document, `server/${name}`).flatMap(({ path, value }) => {
      const other = taken.get(value);
      if (typeof value === 'number' && value !== 0) taken.set(value, other ?? `server.${name}`);
      return other === undefined
        ? []
        : [{ path, message: `Give another port: ${other} is ${String(value)} too.` }];
    }),
  );
}

/** Refuses a certificate without its key, and cluster nodes with different credentials. */
function checkRedis(document: unknown): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const hasCertificate = hasText(document, 'redis/tls/certFile');
  if (hasCertificate !== hasText(document, 'redis/tls/keyFile')) {
    const path = `/redis/tls/${hasCertificate ? 'keyFile' : 'certFile'}`;
    faults.push({ path, message: 'Give both certFile and keyFile, or neither.' });
  }
  const nodes = select(document, 'redis/cluster/*').map(({ path, value }) => {
    const address = parseRedisAddress(String(value));
    if (typeof address === 'string') return { path, access: undefined };
    return { path, access: JSON.stringify([address.tls, address.username, address.password]) };
  });
  const [first] = nodes;
  for (const { path, access } of nodes) {
    // A malformed address has a fault of its own.
    if (access === undefined || first?.access === undefined || access === first.access) continue;
    faults.push({ path, message: 'Give all nodes of a cluster the same scheme, user and password.' });
  }
  return faults;
}

/** Requires one of poll and push: together they would take events from one list. */
function checkEvents(document: unknown): ConfigFault[] {
  return faultsIn(document, 'connections/*/events', ({ poll, push }) => {
    if (isTree(poll) !== isTree(push)) return undefined;
    return `Give exactly one of poll and push; here ${isTree(poll) ? 'both are' : 'neither is'} given.`;
  });
}

/** Requires that the targets of each connection exist. */
function checkReferences(document: unknown): ConfigFault[] {
  const known = select(document, 'targets/*').map(({ keys: [, target] }) => target);
  // Without any target the fault is the missing section, which the schema reports.
  if (known.length === 0) return [];
  return select(document, 'connections/*/targets/*').flatMap(({ path, value }) =>
    typeof value !== 'string' || known.includes(value)
      ? []
      : [{ path, message: `There is no such target. Known: ${known.join(', ')}.` }],
  );
}

/** Requires that the tokens of a connection have different names. */
function checkTokenNames(document: unknown): ConfigFault[] {
  return select(document, 'connections/*/tokens').flatMap((tokens) => {
    const names = select(tokens.value, '*/name');
    const repeated = names.filter(
      ({ value }, index) => names.findIndex((each) => each.value === value) < index,
    );
    return repeated.map((place) => ({
      path: `${tokens.path}${place.path}`,
      message: 'Another token of this connection has the same name. Give each its own.',
    }));
  });
}

/** Requires one source for each attribute. */
function checkAttributeSources(document: unknown): ConfigFault[] {
  return faultsIn(document, 'targets/*/attributes/*', ({ from, expression }) => {
    const given = [from, expression].filter((source) => source !== null && source !== undefined);
    if (given.length === 1) return undefined;
    const which = given.length === 0 ? 'neither is' : 'both are';
    return `Give exactly one of from and expression; here ${which} given.`;
  });
}

/** Refuses a handover whose accounts are never closed, or are deleted before their work is moved. */
function checkHandover(document: unknown): ConfigFault[] {
  const check = ({ handover, users, policy }: Record<string, unknown>): string | undefined => {
    if (!isTree(handover)) return undefined;
    // `sync` and 30 are the defaults of the schema, which a document with faults may lack.
    const { deleteAfterDays, deprovision } = isTree(users) ? users : {};
    if ((policy ?? 'sync') !== 'sync')
      return 'handover needs policy: sync, because no other policy closes accounts.';
    if (deprovision === 'delete')
      return 'handover needs users.deprovision: deactivate: a deleted account owns nothing.';
    const { afterDays = 30 } = handover;
    return typeof deleteAfterDays === 'number' && deleteAfterDays <= Number(afterDays)
      ? 'users.deleteAfterDays must be more than handover.afterDays, so that the work is moved before the account is deleted.'
      : undefined;
  };
  return faultsIn(document, 'targets/*', check, '/handover');
}
