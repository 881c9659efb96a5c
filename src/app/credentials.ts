// Builds the parts that serve identity providers: the credentials of each connection and its SCIM resources.
import type { Config } from '../config/schema.ts';
import { connectRedis } from '../directory/redis/connection.ts';
import type { DesiredState } from '../directory/desired-state.ts';
import { EVENT_URIS } from '../events/claims.ts';
import type { createScimRouters } from '../http/scim/connections.ts';
import { groupResourceType } from '../scim/index.ts';
import { createCredentialStore, type CredentialStore } from '../tokens/credentials.ts';
import type { Parts } from './parts.ts';
import { userTypeFor } from './targets.ts';

/**
 * Opens the credentials of all connections. A message by Redis pub/sub announces a changed token; the credentials
 * are also polled, in case a message is lost.
 */
export async function openCredentials(parts: Parts, states: DesiredState[]): Promise<CredentialStore> {
  const { config, logger, releasers } = parts;
  const credentialStore = await createCredentialStore(
    parts,
    states.flatMap(({ connection, tokens }) => {
      const settings = config.connections[connection];
      return settings ? [{ settings, stored: tokens }] : [];
    }),
  );
  releasers.add('tokens', credentialStore.stop);
  if (states.length === 0) return credentialStore;
  const subscriber = connectRedis(config.redis, 'subscriber', logger);
  releasers.add('subscriber for tokens', () => subscriber.disconnect());
  const connectionOf = new Map(states.map(({ connection, tokens }) => [tokens.channel, connection]));
  subscriber.on('message', (channel: string) => {
    const connection = connectionOf.get(channel);
    if (connection !== undefined) void credentialStore.refresh(connection);
  });
  // The subscription waits until Redis is reachable; until then the credentials are polled.
  void subscriber.subscribe(...connectionOf.keys()).catch(() => undefined);
  return credentialStore;
}

/** Returns what `createScimRouters` needs of each connection. */
export function scimConnections(
  config: Config,
  states: DesiredState[],
  credentialStore: CredentialStore,
): Parameters<typeof createScimRouters>[1] {
  return states.flatMap(({ connection, directory }) => {
    const settings = config.connections[connection];
    const credentials = credentialStore.of(connection);
    if (!settings || !credentials) return [];
    const targets = settings.targets.flatMap((name) => config.targets[name] ?? []);
    const { schemas } = settings;
    const groupType = groupResourceType({ schemas });
    const eventUris = settings.events ? EVENT_URIS : undefined;
    const userType = userTypeFor(targets, schemas);
    return [{ settings, directory, credentials, userType, groupType, eventUris }];
  });
}
