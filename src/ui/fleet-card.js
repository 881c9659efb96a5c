// Shows the processes of the service and the findings about them.
import { advised, ago, h, noteList, pill } from './dom.js';

/** Findings of work that no process does. */
const MISSING = new Set(['noProcess', 'noApi', 'noWorker', 'noScheduler']);

/** Shows the answer of `/status` about the processes. */
export function fleetCard({ processes, findings }) {
  return h(
    'section',
    { class: 'card', 'aria-label': 'Processes' },
    h('div', { class: 'head' }, h('h2', {}, 'Processes'), fleetPill(findings)),
    noteList([
      ...findings.map(({ message, advice }) => advised(`${message}. ${advice ?? ''}`)),
      ...processes.map(({ role, host, version, silent, lastBeatAt }) => [
        `${role} ${host}, version ${version}, ${silent ? 'silent, ' : ''}last beat `,
        ago(lastBeatAt),
      ]),
    ]),
  );
}

/** Returns the label of the most severe finding. */
function fleetPill(findings) {
  if (findings.some(({ finding }) => MISSING.has(finding))) return pill('bad', 'Part of the work stops');
  if (findings.some(({ level }) => level === 'error')) return pill('bad', 'Needs a person');
  return findings.length > 0 ? pill('warn', 'Look at it') : pill('good', 'All roles run');
}
