// Stores the versions of the deployment software: release channels, the newest version of each, and the
// versions that the tenant has run (contract 4.5).
import type { Release } from '../records.ts';
import type { State } from '../state.ts';

type Version = Pick<Release, 'channel' | 'version'>;

const parts = (version: string): number[] => version.split('.').map(Number);

/** Sorts newest first; parts of a version are compared as numbers. */
function byNewest(left: Pick<Release, 'version'>, right: Pick<Release, 'version'>): number {
  const leftParts = parts(left.version);
  const rightParts = parts(right.version);
  for (let index = 0; index < Math.max(leftParts.length, rightParts.length); index += 1) {
    const difference = (rightParts[index] ?? 0) - (leftParts[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function releasesOf(state: State, channel: string): Release[] {
  return state.releases.find('channel', channel).sort(byNewest);
}

/** Returns channel names in order of their first release. */
export function channelsOf(state: State): string[] {
  return [...new Set(state.releases.rows().map(({ channel }) => channel))];
}

/** Returns the newest version of a channel; throws for a channel that is not in `channelsOf`. */
export function headOf(state: State, channel: string): Version {
  const [head] = releasesOf(state, channel);
  if (!head) throw new Error(`No release in the channel ${channel}`);
  return { channel, version: head.version };
}

/**
 * Returns the newest version of each channel and older versions that the tenant has run, newest first within a
 * channel.
 */
export function listedReleases(state: State): (Release & { isHead: boolean })[] {
  return channelsOf(state).flatMap((channel) =>
    releasesOf(state, channel)
      .map((release, index) => ({ ...release, isHead: index === 0 }))
      .filter((release) => release.isHead || release.wasRun),
  );
}

/** Records that a deployment of the tenant runs a version, which stays listed from then on (ASSUMED-63). */
export function noteRun(state: State, { channel, version }: Version): void {
  const release = releasesOf(state, channel).find((candidate) => candidate.version === version);
  if (release && !release.wasRun) state.releases.put({ ...release, wasRun: true });
}

/**
 * Publishes a version; an existing version is not changed.
 * @param wasRun whether a deployment has run it, so that it stays listed
 */
export function publish(state: State, { channel, version }: Version, wasRun = false): Release {
  const present = releasesOf(state, channel).find((candidate) => candidate.version === version);
  if (present) return present;
  const release = { id: state.releases.nextId(), channel, version, wasRun };
  state.releases.put(release);
  return release;
}
