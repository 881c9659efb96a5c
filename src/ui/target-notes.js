// Tells in sentences what an operator has to know about a target.
import { breakerNote, isKeyRefused } from './breaker.js';
import { advised, ago } from './dom.js';
import { obstacles } from './target-state.js';

const MINUTE_MS = 60_000;

/** Returns why all calls pause, as the end of a sentence. @param pause the pause of the breaker */
function pauseCause({ asked, askedMs, status }) {
  if (asked) return `the platform asked for it (HTTP ${status})`;
  return askedMs === undefined
    ? `the platform answered HTTP ${status} without a Retry-After: the bridge chose the wait`
    : `the platform asked for a wait of ${Math.ceil(askedMs / MINUTE_MS)} min (HTTP ${status}), and the bridge tries again after 1 h at most`;
}

/** Returns sentences about the target, such as its hold, an expired approval, a changed address, the breaker and comparisons. */
export function targetNotes(row) {
  const { target, hold, hasMoved, hasNewRules, lostAttributes, breaker, guard } = row;
  const { last, next } = row.reconcile;
  const found = [];
  if (hold) found.push([`On hold by ${hold.by}, `, ago(hold.since), hold.note ? `: ${hold.note}` : '']);
  if (guard.approvalExpired) found.push(['Held by guard: ', ...advised(guard.approvalExpired)]);
  if (hasMoved)
    found.push(
      'The address changed: nothing is written before a worker or a reconcile finds a linked account there',
    );
  if (lostAttributes.length > 0)
    found.push(
      `The definition of ${lostAttributes.join(', ')} was deleted at the platform, so values of people may be lost: a reconcile looks at all people, and writes the values that are lost`,
    );
  if (hasNewRules)
    found.push(
      'Mapping, scope, group names or policy in the settings changed, or the target was not in them, since a reconcile last brought them to everybody: the counts may be by the former settings. No reconcile can bring the new ones while an attribute has another type at the platform, while a process of the service runs with other settings, or when not everybody could be read',
    );
  const note = breakerNote(breaker, target);
  found.push(breaker.since ? [`${note}; first failure `, ago(breaker.since)] : note);
  if (breaker.pause && !isKeyRefused(breaker.pause))
    found.push(
      `All calls pause until ${new Date(breaker.pause.until).toLocaleTimeString()}, because ${pauseCause(breaker.pause)}`,
    );
  if (!last) found.push('Not compared yet');
  else
    found.push([
      'Compared ',
      ago(last.endedAt),
      `: ${last.outcome}`,
      last.message && [', ', advised(last.message)],
    ]);
  found.push(...obstacles(row).map(advised));
  if (next) found.push(['Next reconcile of the schedule ', ago(next)]);
  return found;
}
