// Converts a valid settings document to the effective settings: durations in milliseconds, addresses without trailing slash.
import { parseDuration } from './forms.ts';
import type { Config } from './schema.ts';
import type { AttributeConfig, MappedAttributeType } from './schema/attributes.ts';
import type { ConnectionConfig, JwtConfig, TokenConfig } from './schema/connection.ts';
import type { EventsConfig } from './schema/events.ts';
import type { GuardConfig } from './schema/guard.ts';
import type { NoticesConfig } from './schema/notices.ts';
import type { ServerConfig } from './schema/server.ts';
import type { TargetConfig } from './schema/target.ts';

/** An attribute of a document that has passed the schema. */
export interface AttributeSettings {
  type: MappedAttributeType;
  from: string | null;
  expression: string | null;
  onEmpty: 'keep' | 'clear';
}

interface ConnectionSettings extends Omit<
  ConnectionConfig,
  'name' | 'tokens' | 'jwt' | 'rateLimit' | 'reviveInactive' | 'events'
> {
  tokens: { name: string; secret: string; expiresAt: string | null }[];
  jwt: JwtConfig | null;
  rateLimit: { requestsPerSecond: number; burst: number };
  reviveInactive: boolean | null;
  events: (Omit<EventsConfig, 'maxAgeMs'> & { maxAge: string }) | null;
}

interface TargetSettings extends Omit<TargetConfig, 'name' | 'attributes' | 'guard'> {
  attributes: Record<string, AttributeSettings>;
  guard: Omit<GuardConfig, 'windowMs'> & { window: string };
}

/** The settings document after validation: it fits the schema, and all defaults are filled in. */
export interface Settings extends Pick<
  Config,
  'server' | 'redis' | 'reconcile' | 'provisioningLog' | 'backup' | 'notices' | 'logging'
> {
  connections: Record<string, ConnectionSettings>;
  targets: Record<string, TargetSettings>;
}

/** Returns the effective settings of a valid document. @param source path of the settings file; null: none */
export function toConfig(settings: Settings, source: string | null): Omit<Config, 'secretFiles'> {
  return {
    server: toServer(settings.server),
    redis: settings.redis,
    connections: mapEntries(settings.connections, toConnection),
    targets: mapEntries(settings.targets, toTarget),
    reconcile: settings.reconcile,
    provisioningLog: settings.provisioningLog,
    backup: settings.backup,
    notices: toNotices(settings),
    logging: settings.logging,
    source,
  };
}

// `fromEntries` defines own properties, so a name such as `__proto__` in the settings does no harm.
function mapEntries<A, B>(
  record: Record<string, A>,
  convert: (name: string, value: A) => B,
): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, convert(name, value)]));
}

function withoutTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

function toServer({ publicUrl, adminUrl, ...rest }: ServerConfig): ServerConfig {
  const trimmed = (address: string | null): string | null => address && withoutTrailingSlash(address);
  return { ...rest, publicUrl: trimmed(publicUrl), adminUrl: trimmed(adminUrl ?? publicUrl) };
}

function toNotices({ notices, server }: Settings): NoticesConfig {
  const pageUrl = notices.pageUrl ?? server.adminUrl ?? server.publicUrl;
  return { ...notices, pageUrl: pageUrl && withoutTrailingSlash(pageUrl) };
}

function toConnection(name: string, settings: ConnectionSettings): ConnectionConfig {
  const { tokens, reviveInactive, events, ...rest } = settings;
  const connection = { name, ...rest, tokens: tokens.map(toToken), events: events && toEvents(events) };
  return reviveInactive === null ? connection : { ...connection, reviveInactive };
}

function toEvents({ maxAge, ...rest }: NonNullable<ConnectionSettings['events']>): EventsConfig {
  const maxAgeMs = parseDuration(maxAge);
  if (maxAgeMs === undefined) throw new Error('events.maxAge passed validation but is no duration');
  return { ...rest, maxAgeMs };
}

function toToken({ name, secret, expiresAt }: ConnectionSettings['tokens'][number]): TokenConfig {
  return expiresAt === null ? { name, secret } : { name, secret, expiresAt };
}

function toTarget(name: string, settings: TargetSettings): TargetConfig {
  const { window, ...limits } = settings.guard;
  const windowMs = parseDuration(window);
  if (windowMs === undefined) throw new Error('guard.window passed validation but is no duration');
  return {
    name,
    ...settings,
    url: withoutTrailingSlash(settings.url),
    attributes: mapEntries(settings.attributes, (_, attribute) => toAttributeConfig(attribute)),
    guard: { windowMs, ...limits },
    handover: settings.handover && {
      ...settings.handover,
      // Ids may be written as numbers.
      deployment: String(settings.handover.deployment),
      folder: String(settings.handover.folder),
    },
  };
}

/** Keeps the one source of an attribute that is given. */
export function toAttributeConfig({ type, from, expression, onEmpty }: AttributeSettings): AttributeConfig {
  if (from !== null) return { type, onEmpty, from };
  if (expression !== null) return { type, onEmpty, expression };
  throw new Error('an attribute passed validation without a source');
}
