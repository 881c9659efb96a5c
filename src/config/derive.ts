// Converts a valid settings document to the effective settings: durations in milliseconds, addresses without trailing slash.
import { parseDuration } from './forms.ts';
import type { Config, Settings } from './schema.ts';
import type { AttributeConfig, AttributeSettings } from './schema/attributes.ts';
import type { ConnectionConfig, ConnectionDocument, EventsConfig, TokenConfig } from './schema/connection.ts';
import type { TargetConfig, TargetDocument } from './schema/target.ts';

/** Returns the effective settings of a valid document. @param source path of the settings file; null: none */
export function toConfig(settings: Settings, source: string | null): Omit<Config, 'secretFiles'> {
  return {
    ...settings,
    server: toServer(settings.server),
    connections: mapEntries(settings.connections, toConnection),
    targets: mapEntries(settings.targets, toTarget),
    notices: toNotices(settings),
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

function toServer({ publicUrl, adminUrl, ...rest }: Config['server']): Config['server'] {
  const trimmed = (address: string | null): string | null => address && withoutTrailingSlash(address);
  return { ...rest, publicUrl: trimmed(publicUrl), adminUrl: trimmed(adminUrl ?? publicUrl) };
}

function toNotices({ notices, server }: Settings): Config['notices'] {
  const pageUrl = notices.pageUrl ?? server.adminUrl ?? server.publicUrl;
  return { ...notices, pageUrl: pageUrl && withoutTrailingSlash(pageUrl) };
}

function toConnection(name: string, settings: ConnectionDocument): ConnectionConfig {
  const { tokens, reviveInactive, events, ...rest } = settings;
  const connection = { name, ...rest, tokens: tokens.map(toToken), events: events && toEvents(events) };
  return reviveInactive === null ? connection : { ...connection, reviveInactive };
}

function toEvents({ maxAge, ...rest }: NonNullable<ConnectionDocument['events']>): EventsConfig {
  const maxAgeMs = parseDuration(maxAge);
  if (maxAgeMs === undefined) throw new Error('events.maxAge passed validation but is no duration');
  return { ...rest, maxAgeMs };
}

function toToken({ name, secret, expiresAt }: ConnectionDocument['tokens'][number]): TokenConfig {
  return expiresAt === null ? { name, secret } : { name, secret, expiresAt };
}

function toTarget(name: string, settings: TargetDocument): TargetConfig {
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

/** Keeps the one of `from` and `expression` that is given. */
export function toAttributeConfig({ type, from, expression, onEmpty }: AttributeSettings): AttributeConfig {
  if (from !== null) return { type, onEmpty, from };
  if (expression !== null) return { type, onEmpty, expression };
  throw new Error('an attribute passed validation without a source');
}
