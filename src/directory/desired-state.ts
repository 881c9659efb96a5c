// Creates all stores of one connection.
import type { Redis } from 'ioredis';
import { createActs, type Acts } from './logs/acts.ts';
import { createLastLogChecks, type LastLogChecks } from './logs/last-log-check.ts';
import { createKnownTargets } from './fleet/known-targets.ts';
import { createArchive, type Archive } from './archive/archive.ts';
import { createCoverageReader, type CoverageReader } from './outbox/coverage.ts';
import { createDirectory, type Directory } from './resources/directory.ts';
import { createDriftNotes, type DriftNotes } from './outbox/drift.ts';
import { createEventStream, type EventStream } from './logs/event-stream.ts';
import { createElsewhere } from './resources/elsewhere.ts';
import { createKeyspace } from './keys.ts';
import { createHandoverStore, type HandoverStore } from './outbox/handover-store.ts';
import { createLinks, type Links } from './outbox/links.ts';
import { createOutbox, type Outbox } from './outbox/outbox.ts';
import type { StreamLimits } from './logs/chained-stream.ts';
import { createPersonData, type PersonData } from './person/person-data.ts';
import { createProof, type Proof } from './proof/prove.ts';
import { createRunStore, type RunStore } from './outbox/runs.ts';
import type { Scripts } from './redis/scripts.ts';
import { createStoredTokens, type StoredTokens } from './stored-tokens.ts';
import type { DirectoryOptions } from './resources/changes.ts';

/** All stores of one connection: the directory, and what the bridge keeps about its targets. */
export interface DesiredState {
  connection: string;
  /** Audit entries of operators. */
  acts: Acts;
  /** Last check of the hash chains of the logs. */
  logChecks: LastLogChecks;
  directory: Directory;
  /** Backup and restore of the connection. */
  archive: Archive;
  links: Links;
  /** Proof that derived data agrees with the records. */
  proof: Proof;
  /** Inbound tokens that operators created. */
  tokens: StoredTokens;
  /** Removal of the data of persons who are no longer pushed. */
  personData: PersonData;
  /** Security events that are not yet delivered. */
  events: EventStream;
  /** By target. */
  outboxes: Map<string, Outbox>;
  /** Returns the targets that the settings had before and no longer have. Links and logs of them are kept. */
  formerTargets: () => Promise<string[]>;
  /** Coverage by target. */
  coverage: Map<string, CoverageReader>;
  /** Drift notes by target. */
  drifts: Map<string, DriftNotes>;
  /** Reconcile runs, by target. */
  runs: Map<string, RunStore>;
  /** Handed-over work, by target. */
  handovers: Map<string, HandoverStore>;
  /** Redis channel on which scripts publish the name of a target with new marks. */
  channel: string;
}

export function createDesiredState(
  deps: { redis: Redis; scripts: Scripts },
  options: {
    prefix: string;
    connection: string;
    targets: string[];
    /** Returns the address of a target's platform. */
    addressOf: (target: string) => string;
    /** Returns a digest of the settings of a target that decide how resources are synced. */
    settingsOf?: (target: string) => string;
    /** Returns whether the settings of a target delete the account of a leaver after its deactivation. */
    deletesLeaversAt?: (target: string) => boolean;
    rulesReadGroups: boolean;
    leaseMs: number;
    log?: StreamLimits;
    /** Undefined: no security events. */
    events?: DirectoryOptions['events'];
    uniqueExternalIds?: boolean;
    /** Returns the names of other connections of a target. */
    othersOf?: (target: string) => readonly string[];
  },
): DesiredState {
  const { connection, targets, addressOf, rulesReadGroups, leaseMs, log, events } = options;
  const keys = createKeyspace(options.prefix, connection);
  const elsewhere = createElsewhere(deps, {
    prefix: options.prefix,
    connection,
    othersOf: options.othersOf ?? (() => []),
  });
  const outboxes = new Map(
    targets.map((target) => [
      target,
      createOutbox(
        { ...deps, keys },
        {
          target,
          leaseMs,
          rulesReadGroups,
          log,
          address: addressOf(target),
          settings: options.settingsOf?.(target),
          deletesLeavers: options.deletesLeaversAt?.(target),
        },
      ),
    ]),
  );
  const known = createKnownTargets(deps, options);
  const formerTargets = async (): Promise<string[]> => {
    const former = await known.former(targets.map((target) => ({ connection, target })));
    return former.flatMap((feed) => (feed.connection === connection ? [feed.target] : []));
  };
  return {
    connection,
    formerTargets,
    acts: createActs({ ...deps, keys }),
    logChecks: createLastLogChecks({ redis: deps.redis, keys }),
    archive: createArchive({ ...deps, keys }),
    directory: createDirectory(
      { ...deps, keys },
      { targets, rulesReadGroups, events, uniqueExternalIds: options.uniqueExternalIds },
    ),
    links: createLinks({ redis: deps.redis, keys, elsewhere }),
    proof: createProof({ ...deps, keys }, { targets, rulesReadGroups }),
    personData: createPersonData(
      { ...deps, keys },
      { targetsOf: async () => [...targets, ...(await formerTargets())] },
    ),
    tokens: createStoredTokens({ redis: deps.redis, keys }),
    events: createEventStream({ ...deps, keys }),
    outboxes,
    coverage: new Map(
      targets.map((target) => [
        target,
        createCoverageReader({ ...deps, keys }, { target, targets, rulesReadGroups }),
      ]),
    ),
    drifts: new Map(targets.map((target) => [target, createDriftNotes({ ...deps, keys }, { target })])),
    runs: new Map(targets.map((target) => [target, createRunStore({ ...deps, keys }, { target })])),
    handovers: new Map(
      [...outboxes].map(([target, { log: provisioned }]) => [
        target,
        createHandoverStore({ ...deps, keys, log: provisioned }, { target }),
      ]),
    ),
    channel: keys.key('marked'),
  };
}
