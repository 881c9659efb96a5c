// Tells operators which processes of the service run: as lines of text, and as findings of doctor.
import type { FleetProcess } from '../../directory/fleet/fleet-store.ts';
import { counted } from '../../support/counted.ts';
import { someOf } from '../../support/sentence-parts.ts';
import { isoTime } from '../../support/sources.ts';
import { CLOCK_ADVICE, clockOff, findingFor, type DoctorFinding } from '../doctor/doctor-finding.ts';
import { processName, redisRefusalOf, type FleetReport } from './fleet.ts';

/** Returns the names of the processes that run, the first five and the number of the others; undefined when none runs. */
export function runningText(processes: readonly FleetProcess[]): string | undefined {
  const names = processes.filter(({ silent }) => !silent).map(processName);
  return names.length === 0 ? undefined : someOf(names);
}

/** Returns how far the clock of a process was off at its last beat; undefined for a good clock. */
const processClockOff = ({ sentAt, lastBeatAt }: FleetProcess): string | undefined =>
  clockOff(sentAt - lastBeatAt);

/** Returns one process as a line: role, host, version, start, age of its last beat, and a clock that is wrong. */
export function processText(process: FleetProcess): string {
  const { version, startedAt, sentAt, lastBeatAt, beatAgeMs, silent } = process;
  const age = Math.round(beatAgeMs / 1000);
  const off = processClockOff(process);
  // The start by the clock of Redis, if the clock of the process is wrong.
  const start = off === undefined ? startedAt : startedAt - sentAt + lastBeatAt;
  const beat = silent ? `silent for ${age} s` : `last beat ${age} s ago`;
  return `${processName(process)}, version ${version}, started ${isoTime(start)}, ${beat}${off === undefined ? '' : `, clock ${off}, compared with Redis`}`;
}

/** Returns `2 processes`, or `no process runs`. A process that runs seems silent while Redis takes no writes. */
export const fleetText = ({ processes, findings }: FleetReport): string => {
  if (redisRefusalOf(findings))
    return `unknown, because Redis takes no writes: ${counted(processes.length, 'process', 'processes')} announced ${processes.length === 1 ? 'itself' : 'themselves'} before`;
  const silent = processes.filter((each) => each.silent).length;
  const running = processes.length - silent;
  const text = running === 0 ? 'no process runs' : counted(running, 'process', 'processes');
  return silent === 0 ? text : `${text}, ${silent} silent`;
};

/** Returns one finding of doctor for each process and for each fault of the fleet. */
export function fleetFindings({ processes, findings }: FleetReport): DoctorFinding[] {
  const of = findingFor('fleet');
  const running = processes.filter(({ silent }) => !silent);
  return [
    ...running.map((each) => {
      const text = processText(each);
      return processClockOff(each) === undefined ? of.ok(text) : of.warning(text, CLOCK_ADVICE);
    }),
    ...findings.map(({ level, message, advice }) => of[level](message, advice)),
  ];
}
