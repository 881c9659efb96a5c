// Handles `GET /deployments/{id}/versions`, and resolves a version that a client names (contract 4.5).
import type { Call, HandlerReply } from '../call.ts';
import { cursorPage } from '../paging.ts';
import { SandboxProblem } from '../problem.ts';
import type { DeploymentRecord, DeploymentRelease, Release } from '../records.ts';
import { RUNTIME_IMAGE } from '../settings.ts';
import type { State } from '../state.ts';
import { accessibleDeployment } from './reach.ts';
import { channelsOf, headOf, listedReleases } from './releases.ts';

/** Returns a version as the platform shows it, with the image name: `<image>:v<version>`. */
export function toImage(version: string): string {
  return `${RUNTIME_IMAGE}:v${version}`;
}

function showRelease(deployment: DeploymentRecord, release: Release & { isHead: boolean }): unknown {
  const { channel, version } = deployment.release;
  return {
    releaseChannelVersion: toImage(release.version),
    version: release.version,
    releaseChannel: release.channel,
    isLatestInChannel: release.isHead,
    isCurrent: release.channel === channel && release.version === version,
  };
}

/** Returns 200: `data` with all versions, and one cursor page of them in the same answer. @throws 403, 404 */
export function listVersions(call: Call): HandlerReply {
  const deployment = accessibleDeployment(call);
  const listed = listedReleases(call.state);
  const data = listed.map((release) => showRelease(deployment, release));
  // A cursor holds the position in the list, from 1.
  const rows = data.map((item, index) => ({ id: index + 1, item }));
  return { status: 200, body: { data, ...cursorPage(call, 'version', rows, ({ item }) => item) } };
}

/** Returns the version without image and prefix; undefined for another image or any other text (ASSUMED-62). */
function bareVersion(text: string): string | undefined {
  const [, image, bare] = /^(?:(.+):v|v)?(\d+(?:\.\d+)*)$/.exec(text) ?? [];
  return image === undefined || image === RUNTIME_IMAGE ? bare : undefined;
}

/**
 * Returns the release for a requested version and channel; null = not requested. A channel without a version gives its newest
 * version. A version without a channel is searched in the current channel first. Throws 400 for an unknown channel and for a
 * version that is not listed, or not listed in the requested channel (ASSUMED-61).
 */
export function wantedRelease(
  state: State,
  present: DeploymentRelease,
  wanted: { readonly version: string | null; readonly channel: string | null },
): Pick<DeploymentRelease, 'channel' | 'version'> & { isHead: boolean } {
  const { channel, version } = wanted;
  if (channel !== null && !channelsOf(state).includes(channel)) {
    throw new SandboxProblem(400, `Unknown release channel: ${channel}`);
  }
  if (version === null) return { ...headOf(state, channel ?? present.channel), isHead: true };
  const bare = bareVersion(version);
  const listed = listedReleases(state).filter((release) => release.version === bare);
  const found =
    listed.find((release) => release.channel === (channel ?? present.channel)) ??
    (channel === null ? listed[0] : undefined);
  if (!found) throw new SandboxProblem(400, `The version ${version} is not available for this deployment`);
  return found;
}
