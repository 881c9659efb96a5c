// Judges the processes of the service (a missing role, a silent process, two versions, different settings) and what concerns them
// all (the state of Redis, targets that have left the settings). Pure; status, doctor, explain, /health and metrics show the
// findings.
import {
  DUTIES,
  dutiesOf,
  runningOf,
  type Duty,
  type FleetProcess,
  type FleetView,
} from '../../directory/fleet/fleet-store.ts';
import { differingFeeds } from '../../directory/fleet/announced-rules.ts';
import type { RemovedTarget } from '../../directory/fleet/known-targets.ts';
import { PUSHES_WHEN_FULL, type StoreFault, type StoreRefusal } from '../../directory/redis/store-health.ts';
import { counted } from '../../support/counted.ts';
import { MOST_NAMED, someOf } from '../../support/sentence-parts.ts';
import { isoTime } from '../../support/sources.ts';

/**
 * `redisRefuses`: Redis takes no writes, so no process can announce itself, and nothing is known about the others. `redisUnsafe`:
 * Redis has a fault that `checkStore` finds, such as an eviction policy, so every `/readyz` answers 503 and a load balancer sends
 * no process a push. `noProcess`: no process runs; it replaces the three findings after it. `targetRemoved`: the settings have
 * lost a target, and accounts stay there. `dataLost`: Redis came back empty.
 */
export const FLEET_FINDINGS = [
  'redisRefuses',
  'redisUnsafe',
  'noProcess',
  'noApi',
  'noWorker',
  'noScheduler',
  'silent',
  'versionsDiffer',
  'settingsDiffer',
  'targetRemoved',
  'dataLost',
] as const;
export type FleetFindingKind = (typeof FLEET_FINDINGS)[number];

export interface FleetFinding {
  finding: FleetFindingKind;
  level: 'warning' | 'error';
  /** Without a full stop. */
  message: string;
  advice: string;
}

export interface FleetReport {
  processes: FleetProcess[];
  findings: FleetFinding[];
}

const findingOf =
  (level: FleetFinding['level']) =>
  (finding: FleetFindingKind, message: string, advice: string): FleetFinding => ({
    finding,
    level,
    message,
    advice,
  });
const toWarning = findingOf('warning');
const toError = findingOf('error');

/** Returns the finding that no process applies changes; undefined: a process does. */
export const workerMissing = (findings: readonly FleetFinding[]): FleetFinding | undefined =>
  findings.find(({ finding }) => finding === 'noWorker' || finding === 'noProcess');

/** Returns the finding that Redis takes no writes; undefined: it takes them. */
export const redisRefusalOf = (findings: readonly FleetFinding[]): FleetFinding | undefined =>
  findings.find(({ finding }) => finding === 'redisRefuses');

/** Reads the processes from Redis and judges them. */
export type ReadFleet = () => Promise<FleetReport>;

/** An update of all processes takes less time than this; only afterwards different versions or settings are a finding. */
const UPDATE_MS = 15 * 60_000;

/**
 * Returns the processes, and the findings about them and about removed targets.
 * @param isScheduled whether the settings have a schedule of reconciles, which a scheduler has to start
 * @param refusal why Redis takes no writes; undefined: it takes them
 * @param faults why no process is ready: faults of Redis, as `checkStore` returns them; empty: Redis is as required
 * @param removed targets that the settings have lost
 */
export function judgeFleet(
  view: FleetView,
  {
    isScheduled,
    refusal,
    faults = [],
    removed = [],
  }: {
    isScheduled: boolean;
    refusal?: StoreRefusal | undefined;
    faults?: readonly StoreFault[];
    removed?: readonly RemovedTarget[];
  },
): FleetReport {
  const processes = view.processes.map(withoutRules);
  if (refusal) {
    const message = `Redis takes no writes (${refusal.reason}): ${refusal.takesFreeing ? PUSHES_WHEN_FULL : 'pushes are refused'}, and no process can announce itself`;
    return { processes, findings: [toError('redisRefuses', message, refusal.advice)] };
  }
  const running = runningOf(view);
  const isNeeded = (duty: Duty): boolean => duty !== 'scheduler' || isScheduled;
  const missing = DUTIES.filter(
    (duty) => isNeeded(duty) && !running.some(({ role }) => dutiesOf(role).includes(duty)),
  );
  return {
    processes,
    findings: [
      ...(running.length === 0
        ? [missingProcess(view, isScheduled)]
        : missing.map((duty) => missingDuty(duty, view))),
      ...(running.length > 0 && faults.length > 0 ? [redisUnsafe(faults)] : []),
      ...silentProcesses(processes.filter(({ silent }) => silent)),
      ...differentVersions(running, view),
      ...differentSettings(running, view),
      ...(view.emptiedAfter === null ? [] : [lostData(view.emptiedAfter)]),
      // An operator has accepted what stays at a kept target.
      ...removed.filter(({ isKept }) => !isKept).map(removedTarget),
    ],
  };
}

/** Returns the finding that Redis came back empty. @param after time of the last data before, ISO 8601 */
const lostData = (after: string): FleetFinding =>
  toError(
    'dataLost',
    `Redis came back empty: people, links, tokens and decisions of up to ${after} are lost`,
    'Restore a backup (docs/restore.md), or let each identity provider run a full cycle. A restore ends this finding, or a day.',
  );

/** For each missing duty the finding, and the message after `no `: `ranBefore` if a process with this duty has run before. */
const MISSING = {
  api: { finding: 'noApi', neverRan: 'process takes pushes', ranBefore: 'process has taken pushes' },
  worker: { finding: 'noWorker', neverRan: 'worker runs', ranBefore: 'worker has run' },
  scheduler: { finding: 'noScheduler', neverRan: 'scheduler runs', ranBefore: 'scheduler has run' },
} as const;

const CONSEQUENCES: Record<Duty, string> = {
  api: 'the identity provider gets no answer',
  worker: 'changes are stored and not applied',
  scheduler: 'the reconcile of the schedule does not start',
};

function missingProcess({ lastBeats }: FleetView, isScheduled: boolean): FleetFinding {
  const [last] = Object.values(lastBeats).sort((one, other) => other.lastBeatAt - one.lastBeatAt);
  const consequence = `nobody takes pushes${isScheduled ? ', no worker and no scheduler runs' : ' and no worker runs'}`;
  if (last) {
    const message = `no process of the bridge has run since ${sinceText(last)}: ${consequence}`;
    return toError('noProcess', message, `Start scim-bridge serve; ${WHY_STOPPED}`);
  }
  // A warning and no error, because nothing is wrong before the first start.
  const message = `no process of the bridge has run with this Redis and prefix yet: ${consequence}`;
  return toWarning('noProcess', message, 'Start scim-bridge serve.');
}

const WHY_STOPPED = 'the end of its log says why it stopped.';

const sinceText = ({ lastBeatAt, host, version }: Omit<FleetProcess, 'id'>): string =>
  `${isoTime(lastBeatAt)} (the last was ${host}, version ${version})`;

function missingDuty(duty: Duty, { lastBeats }: FleetView): FleetFinding {
  const { finding, neverRan, ranBefore } = MISSING[duty];
  const last = lastBeats[duty];
  return toError(
    finding,
    `no ${last ? `${ranBefore} since ${sinceText(last)}` : neverRan}: ${CONSEQUENCES[duty]}`,
    `Start scim-bridge serve --role ${duty} (or all)${last ? `; ${WHY_STOPPED}` : '.'}`,
  );
}

const redisUnsafe = (faults: readonly StoreFault[]): FleetFinding =>
  toError(
    'redisUnsafe',
    `no process is ready, so a load balancer sends none a push: ${faults.map(({ message }) => message).join('; ')}`,
    // The primaries of a cluster may share an advice.
    [
      ...new Set(faults.map(({ advice }) => advice)),
      'The runbook has this under "The bridge is not ready, or answers 503".',
    ].join(' '),
  );

/** Returns a finding for each of the first silent processes; the last one has the number of the others. */
function silentProcesses(silent: FleetProcess[]): FleetFinding[] {
  const advice = 'Look at the end of its log and at its way to Redis; restart it if it hangs.';
  const more = silent.length - MOST_NAMED;
  return silent.slice(0, MOST_NAMED).map((each, index) => {
    const others = index === MOST_NAMED - 1 && more > 0 ? ` (${more} more are silent)` : '';
    const message = `${processName(each)} is silent since ${isoTime(each.lastBeatAt)}: it was killed, hangs, or does not reach Redis${others}`;
    return toWarning('silent', message, advice);
  });
}

/** Returns the process without what it announces about its settings (`Announcing`), which only processes compare. */
const withoutRules = ({ ...shown }: FleetView['processes'][number]): FleetProcess => {
  delete shown.rules;
  delete shown.callers;
  return shown;
};

const hostsText = (processes: readonly FleetProcess[]): string =>
  someOf(processes.map(({ role, host }) => `${role} ${host}`));

function differentVersions(running: FleetProcess[], { now, versionsDifferSince }: FleetView): FleetFinding[] {
  const versions = [...new Set(running.map(({ version }) => version))].sort();
  if (versions.length < 2 || versionsDifferSince === null || now - versionsDifferSince < UPDATE_MS) return [];
  const parts = versions.map(
    (version) => `${version} (${hostsText(running.filter((each) => each.version === version))})`,
  );
  const message = `${versions.length} versions run since ${isoTime(versionsDifferSince)}: ${parts.join(', ')}`;
  const advice = 'End the update: bring all processes to one version, or roll back.';
  return [toWarning('versionsDiffer', message, advice)];
}

function differentSettings(
  running: FleetView['processes'],
  { now, settingsDifferSince }: FleetView,
): FleetFinding[] {
  // `withOthers`: settings that are no mapping rules, such as the limits of the guard, are compared too.
  const targets = [
    ...new Set(differingFeeds(running, { withOthers: true }).map(({ target }) => target)),
  ].sort();
  if (targets.length === 0 || settingsDifferSince === null || now - settingsDifferSince < UPDATE_MS)
    return [];
  const hostsBySettings = [...new Set(running.map(({ rules }) => rules))].map((rules) =>
    hostsText(running.filter((each) => each.rules === rules)),
  );
  return [
    toWarning(
      'settingsDiffer',
      `processes run with different settings of ${someOf(targets)} since ${isoTime(settingsDifferSince)}: ${hostsBySettings.join('; ')}`,
      'End the update: restart the processes that have the former settings. Until then each applies its own mapping, scope, policy and guard limits, and a command prints the limits of the settings that it reads. Once all have the same, the scheduler compares everybody; without a scheduler run scim-bridge reconcile.',
    ),
  ];
}

const removedTarget = ({ connection, target, accounts, groups }: RemovedTarget): FleetFinding =>
  toWarning(
    'targetRemoved',
    `target ${target} of connection ${connection} is no longer configured; ${counted(accounts, 'account')} and ${counted(groups, 'group')} that the bridge wrote are still there, and leavers keep their access`,
    `To see who keeps access: scim-bridge links list --connection ${connection} --target ${target}. Put it back, take the access away and then remove it; or let scim-bridge links keep say that all is to stay: docs/removed-targets.md.`,
  );

/** Returns role, host and process id, by which a message names a process. */
export const processName = ({ role, host, pid }: Pick<FleetProcess, 'role' | 'host' | 'pid'>): string =>
  `${role} ${host} (process ${pid})`;
