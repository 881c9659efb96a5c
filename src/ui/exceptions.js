// Shows exceptions: resources that differ from the desired state until a person acts, with reason, time and advice.
import { get } from './api.js';
import { changedNote } from './changed.js';
import { advised, ago, empty, h, personLink } from './dom.js';
import { pagedList } from './paged-list.js';
import { tabs } from './states.js';

/** Words for each reason, which is in the address too. */
const REASONS = {
  Held: 'Held by the guard',
  Rejected: 'Rejected',
  Protected: 'Protected',
  LastAdministrator: 'Last administrator',
  NotAdopted: 'Not adopted',
  Dropped: 'Dropped from the dead letters',
  OnHold: 'On hold',
};

/** Shows tabs for the reasons, and the list. @param view.query of the address; `reason`: only exceptions of this reason */
export async function exceptions({ query, redraw, signal }) {
  const reason = REASONS[query.get('reason')] ? query.get('reason') : undefined;
  const only = reason ? `&reason=${reason}` : '';
  const [rows, list] = await Promise.all([
    get('/status'),
    pagedList((offset, limit) => get(`/exceptions?offset=${offset}&limit=${limit}${only}`), row),
  ]);
  // `rows`: of the status, one for each connection and target.
  const numberOf = (name) => rows.reduce((sum, each) => sum + each.exceptions[name], 0);
  const shownReasons = Object.entries(REASONS).filter(([name]) => numberOf(name) > 0 || name === reason);
  const figuresOf = (some) => some.map((each) => Object.keys(REASONS).map((name) => each.exceptions[name]));
  return [
    changedNote(rows, figuresOf, { redraw, signal }),
    shownReasons.length > 0 &&
      tabs('Reason', [
        { words: 'All', href: '#/exceptions', number: numberOf('total'), isShown: reason === undefined },
        ...shownReasons.map(([name, words]) => ({
          words,
          href: `#/exceptions?reason=${name}`,
          number: numberOf(name),
          isShown: name === reason,
        })),
      ]),
    list.length > 0
      ? list
      : empty('No exceptions', 'What stays otherwise than desired until a person acts is listed here.'),
  ].flat();
}

/** Shows one exception. @param ref `User:<id>` or `Group:<id>`; null: the exception is the hold of the whole target */
const row = ({ name, ref, target, connection, reason, message, advice, since }) =>
  h(
    'li',
    {},
    h(
      'div',
      { class: 'grow' },
      ref === null ? h('strong', {}, name) : personLink(ref, name),
      h(
        'p',
        { class: 'soft' },
        `${ref === null ? 'Target' : ref.split(':')[0].toLowerCase()}, ${connection} → ${target}, `,
        ago(since),
      ),
      h('p', {}, `${REASONS[reason]}: `, advised(message)),
      h('p', { class: 'soft' }, advised(advice)),
    ),
  );
