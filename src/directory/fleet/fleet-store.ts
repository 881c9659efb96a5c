// Stores which processes of the service run. Each process writes a heartbeat ("beat") every few seconds, and removes its
// entry when it stops.
import type { Redis } from 'ioredis';
import { createKeyspace } from '../keys.ts';
import { pairsOf } from '../redis/portions.ts';
import type { Scripts } from '../redis/scripts.ts';
import { differingFeeds, type Announcing } from './announced-rules.ts';

export const DUTIES = ['api', 'worker', 'scheduler'] as const;
/** A part of the service that the fleet needs; a process of the role `all` has every duty. */
export type Duty = (typeof DUTIES)[number];
export type ProcessRole = 'all' | Duty;

/** Calls of one process to one target between two beats. */
export interface TargetWork {
  calls: number;
  /** Number of calls that had to wait for the rate limit. */
  delayed: number;
  /** Number of calls that wait for the rate limit at the moment of the beat. */
  waiting: number;
  /** Number of calls that wait for a free slot at the moment of the beat. */
  queued: number;
  /** Share of the slots (calls that may run at the same time) that were in use, 0 to 1. */
  busy: number;
}

/** Work of a process between two beats. */
export interface ProcessWork {
  /** Share of the time in which the event loop was busy, 0 to 1. */
  processor: number;
  targets: Record<string, TargetWork>;
}

/** Facts that a process announces about itself. */
export interface ProcessFacts {
  role: ProcessRole;
  /** As `--version` prints it. */
  version: string;
  /** Name of the pod or machine. */
  host: string;
  port: number;
  pid: number;
  /** Unix milliseconds by the clock of the process. */
  startedAt: number;
  /** Unix milliseconds by the clock of the process when it sent the beat. */
  sentAt: number;
  /** Absent in a process without workers. */
  work?: ProcessWork;
}

export interface FleetProcess extends ProcessFacts {
  /** Unique for each start of a process. */
  id: string;
  /** Unix milliseconds of Redis. */
  lastBeatAt: number;
  /** Age of the last beat, milliseconds. */
  beatAgeMs: number;
  /** Whether the next beat is overdue: the last one is older than SILENT_MS. */
  silent: boolean;
}

export interface FleetView {
  /** Unix milliseconds of Redis. */
  now: number;
  /** Sorted by role and host. */
  processes: (FleetProcess & Announcing)[];
  /** The last beat of each duty, also of processes that are gone. */
  lastBeats: Partial<Record<Duty, Omit<FleetProcess, 'id'>>>;
  /** Time since which processes of different versions run, Unix milliseconds; null: all have one version. */
  versionsDifferSince: number | null;
  /** Time since which processes with different settings run (`announced`), Unix milliseconds; null: all have the same. */
  settingsDifferSince: number | null;
  /** Set for a day after Redis came back empty: time of the last data that a process saw before, ISO 8601; null: not empty. */
  emptiedAfter: string | null;
}

export const BEAT_MS = 5000;
/** A process whose last beat is older counts as silent: two beats in a row are missing. */
export const SILENT_MS = 15_000;
/** A process that is silent for longer is no longer listed. */
export const FORGET_MS = 120_000;
/** Largest number of stored processes; further ones are not listed. */
const MOST_PROCESSES = 200;
/** Seconds for which `emptied` (keys.ts) is kept; the end of a restore deletes it earlier. */
const EMPTIED_S = 86_400;

export type FleetStore = ReturnType<typeof createFleetStore>;

export const dutiesOf = (role: ProcessRole): readonly Duty[] => (role === 'all' ? DUTIES : [role]);

export function createFleetStore(
  { redis, scripts }: { redis: Redis; scripts: Scripts },
  { prefix }: { prefix: string },
) {
  // The dot keeps these keys apart from those of connections, whose names have no dot.
  const keys = createKeyspace(prefix, 'bridge.fleet');

  /**
   * Stores a beat. While processes with different rules run, also notes that the next reconcile run of the affected targets maps
   * all resources (note_anew.lua): each may have been synced by the rules of either process.
   */
  async function beat(id: string, facts: ProcessFacts & Announcing): Promise<void> {
    const args = {
      id,
      duties: dutiesOf(facts.role),
      silentMs: SILENT_MS,
      forgetMs: FORGET_MS,
      most: MOST_PROCESSES,
    };
    const [tag] = await scripts.run('note_beat', keys.base, args, JSON.stringify(facts));
    if (tag !== 'differ') return;
    for (const { connection, target } of differingFeeds(runningOf(await read())))
      await scripts.run('note_anew', createKeyspace(prefix, connection).base, { target });
  }

  async function leave(id: string): Promise<void> {
    await redis.hdel(keys.key('processes'), id);
  }

  /** Notes that Redis came back empty. @param after time of the last data that a process saw before, ISO 8601 */
  async function noteEmptied(after: string): Promise<void> {
    await redis.set(keys.key('emptied'), after, 'EX', EMPTIED_S);
  }

  /** Returns the fleet; a silent process is left out after FORGET_MS, or when a running one has its role, host and port. */
  async function read(): Promise<FleetView> {
    // `''` for `versionsSince` or `settingsSince`: the processes do not differ; for `emptied`: Redis did not come back empty.
    const [now, processes, lastBeats, versionsSince, settingsSince, emptied] = await scripts.values(
      'read_fleet',
      keys.base,
      {},
    );
    const moment = Number(now);
    const known = pairsOf(processes as string[]).map(([id, text]) => ({ id, ...decode(text, moment) }));
    const runningAt = new Set(known.filter(({ silent }) => !silent).map(roleAndPortOf));
    const isListed = (each: FleetProcess): boolean =>
      !each.silent || (each.beatAgeMs <= FORGET_MS && !runningAt.has(roleAndPortOf(each)));
    return {
      now: moment,
      processes: known.filter(isListed).sort(byRoleAndHost),
      lastBeats: Object.fromEntries(
        pairsOf(lastBeats as string[]).map(([duty, text]) => [duty, decode(text, moment)]),
      ),
      versionsDifferSince: versionsSince === '' ? null : Number(versionsSince),
      settingsDifferSince: settingsSince === '' ? null : Number(settingsSince),
      emptiedAfter: emptied === '' ? null : String(emptied),
    };
  }

  return { beat, leave, noteEmptied, read };
}

/** Returns the processes whose beats are not overdue. */
export const runningOf = ({ processes }: Pick<FleetView, 'processes'>): FleetView['processes'] =>
  processes.filter(({ silent }) => !silent);

/** Decodes a stored beat: its time, a space, the facts as JSON. */
function decode(text: string, now: number): Omit<FleetProcess, 'id'> {
  const space = text.indexOf(' ');
  const lastBeatAt = Number(text.slice(0, space));
  const facts = JSON.parse(text.slice(space + 1)) as ProcessFacts;
  const beatAgeMs = now - lastBeatAt;
  return { ...facts, lastBeatAt, beatAgeMs, silent: beatAgeMs > SILENT_MS };
}

/**
 * Returns role, host and port. Two processes cannot listen on one port, so a silent process is dead when a running one has the
 * same role, host and port.
 */
const roleAndPortOf = ({ role, host, port }: ProcessFacts): string => `${role} ${host} ${port}`;

const orderOf = ({ role, host, id }: FleetProcess): string => `${role} ${host} ${id}`;
const byRoleAndHost = (one: FleetProcess, other: FleetProcess): number =>
  orderOf(one) < orderOf(other) ? -1 : 1;
