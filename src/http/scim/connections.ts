// Creates the SCIM router of each connection with its own directory, schemas, tokens and deviation log.
import type { Router } from 'express';
import type { Directory } from '../../directory/resources/directory.ts';
import { profileOf, type LengthLimits, type ProfileName, type ResourceType } from '../../scim/index.ts';
import type { Clock, Ids } from '../../support/sources.ts';
import type { Logger } from '../../support/logger.ts';
import { createSerially } from '../../support/serially.ts';
import type { ConnectionCredentials } from '../../tokens/credentials.ts';
import type { Admission } from '../admission/admission.ts';
import { createAuthenticate, type AuthenticateOptions } from '../middleware/authenticate.ts';
import { createBadCredentials, MOST_OF_PROVIDER } from '../middleware/bad-credentials.ts';
import { createClientAddress } from '../middleware/client-address.ts';
import { createDeviationLog, type OnDeviation } from './deviations.ts';
import { createScimRouter } from './router.ts';

interface ScimConnection {
  settings: AuthenticateOptions & {
    name: string;
    profile: ProfileName;
    /** Whether a POST that means a stored inactive user reactivates that user; undefined: yes, except under the profile `rfc`. */
    reviveInactive?: boolean;
  };
  directory: Directory;
  credentials: ConnectionCredentials;
  userType: ResourceType;
  groupType: ResourceType;
  /** URIs of the security events that receivers get (RFC 9967 §4); undefined without receivers. */
  eventUris?: readonly string[] | undefined;
}

/** Returns routers by mount path: `/connections/<name>/scim/v2`, and `/scim/v2` for the connection `default`. */
export function createScimRouters(
  deps: {
    clock: Clock;
    ids: Ids;
    logger: Logger;
    admission: Admission;
    onDeviation?: OnDeviation;
  },
  connections: ScimConnection[],
  server: {
    /** Configured address of the service; null: the Host header of each request is used. */
    publicUrl: string | null;
    maxBodyBytes: number;
    /** docs/limits.md: largest body of a user, largest page of a list, and largest sum of the bodies in memory, in bytes. */
    limits: LengthLimits & { userBodyBytes: number; pageBytes: number; inFlightBytes: number };
    trustedProxies: readonly string[];
  },
): Map<string, Router> {
  const { clock, ids, admission } = deps;
  const { pace } = admission;
  const { limits } = server;
  const clientAddress = createClientAddress(server.trustedProxies);
  // Shared by all connections: otherwise a client could make the full number of attempts at each connection.
  const badCredentials = createBadCredentials(MOST_OF_PROVIDER);
  const routers = new Map<string, Router>();
  for (const { settings, directory, credentials, userType, groupType, eventUris } of connections) {
    const { name } = settings;
    const admitted = admission.of(name);
    const { singles, lists, largeAnswers } = admitted;
    const profile = profileOf(settings.profile, createDeviationLog(deps, settings));
    const reviveInactive = settings.reviveInactive ?? settings.profile !== 'rfc';
    const provider = {
      directory,
      userType,
      groupType,
      eventUris,
      profile,
      reviveInactive,
      limits,
      singles,
      lists,
      largeAnswers,
      pace,
      clock,
      ids,
      serially: createSerially(),
    };
    const authenticate = createAuthenticate({ clock, credentials, clientAddress, badCredentials }, settings);
    const roots = [`/connections/${name}/scim/v2`];
    if (name === 'default') roots.push('/scim/v2');
    for (const root of roots) {
      routers.set(root, createScimRouter(provider, { root, authenticate, admitted, ...server }));
    }
  }
  return routers;
}
