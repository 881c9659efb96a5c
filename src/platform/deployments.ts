// Reads and changes deployments, and switches their software versions (contract 4.1, 4.5).
import { isRecord, textOrEmpty, textsIn, type Reader } from './readers.ts';
import { identified } from './fields.ts';
import { callsOf, type CallOptions, type Send } from './request.ts';
import { listRest } from './rest-list.ts';

export interface Deployment {
  id: string;
  name: string;
  /** ISO 8601; absent when the platform does not send it. */
  createdAt?: string;
}

/**
 * Settings of a deployment; absent where the platform does not send them. The release channel names the kind of software
 * versions that the deployment gets.
 */
export interface DeploymentSettings extends Deployment {
  releaseChannel?: string;
  releaseChannelVersion?: string;
  deployBranchName?: string;
  /** The record as received. */
  record: Readonly<Record<string, unknown>>;
}

/** Absent and null properties stay. The version cannot be changed here; see `switchVersion`. */
export interface DeploymentChange {
  name?: string | null;
  /** Whether the version stays when the channel has a newer one. */
  releaseChannelVersionHold?: boolean | null;
  templateVariables?: Record<string, unknown> | null;
}

/** A software version; a text is empty when the platform does not send it. */
export interface DeploymentVersion {
  /** Value to send in order to switch to this version; may name the image: `<image>:v<version>`. */
  releaseChannelVersion: string;
  version: string;
  releaseChannel: string;
  isLatestInChannel: boolean;
  isCurrent: boolean;
}

/** Selects a listed version by `releaseChannelVersion`, or the newest version of a channel by `releaseChannel`. */
export interface VersionChoice {
  releaseChannelVersion?: string;
  releaseChannel?: string;
}

const LIST = '/api/v1/deployments';
const ONE = '/api/v1/deployments/{deploymentId}';

const readDeployment: Reader<Deployment> = (body, refuse) => {
  const fields = identified(body, 'deployment', refuse);
  // `created_at` is specified (contract 4.1); other records of the platform have `createdAt`.
  const createdAt = fields.optionalText('created_at') ?? fields.optionalText('createdAt');
  return {
    id: fields.id,
    name: fields.text('name'),
    ...(createdAt === undefined ? {} : { createdAt }),
  };
};

const readSettings: Reader<DeploymentSettings> = (body, refuse) => {
  const fields = identified(body, 'deployment', refuse);
  return {
    ...readDeployment(body, refuse),
    ...textsIn(fields.all, ['releaseChannel', 'releaseChannelVersion', 'deployBranchName']),
    record: fields.all,
  };
};

function readVersion(entry: Record<string, unknown>): DeploymentVersion {
  return {
    releaseChannelVersion: textOrEmpty(entry['releaseChannelVersion']),
    version: textOrEmpty(entry['version']),
    releaseChannel: textOrEmpty(entry['releaseChannel']),
    isLatestInChannel: entry['isLatestInChannel'] === true,
    isCurrent: entry['isCurrent'] === true,
  };
}

const readVersions: Reader<DeploymentVersion[]> = (body, refuse) => {
  // The list is `data` in the platform's specification, `items` in the vendor's published document (contract 4.5).
  const listed = isRecord(body) ? (body['data'] ?? body['items']) : undefined;
  if (!Array.isArray(listed)) throw refuse('no list of versions');
  return listed.filter(isRecord).map(readVersion);
};

export type PlatformDeployments = ReturnType<typeof createDeployments>;

/** Reads deployments over `send`; every function throws PlatformError (errors.ts). */
export function createDeployments(send: Send) {
  const call = callsOf(send, 'rest');
  return {
    /** Yields the deployments that the token can access. */
    list: (options?: CallOptions) =>
      listRest(send, { route: LIST, read: readDeployment, member: 'deployments' }, options),
    get: (deploymentId: string, options?: CallOptions) =>
      call('GET', ONE, { params: { deploymentId }, read: readSettings }, options),
    update: (deploymentId: string, body: DeploymentChange, options?: CallOptions) =>
      call('PUT', ONE, { params: { deploymentId }, body, read: readSettings }, options),
    /** Returns the newest version of each channel and the versions that have run before. */
    versions: (deploymentId: string, options?: CallOptions) =>
      call('GET', `${ONE}/versions`, { params: { deploymentId }, read: readVersions }, options),
    /** Switches the software version. Idempotent. @throws PlatformResponse 400 for a version or channel that is not listed */
    switchVersion: (deploymentId: string, body: VersionChoice, options?: CallOptions): Promise<void> =>
      call('PUT', ONE, { params: { deploymentId }, body, read: 'ignore' }, options),
  };
}
