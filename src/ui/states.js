// Creates links to the lists of people and groups by state, with their numbers.
import { h } from './dom.js';

/** Creates links to lists, each with its number. @param links `[words, address, number, whether it is shown now]` */
export const tabs = (label, links) =>
  h(
    'nav',
    { class: 'tabs', 'aria-label': label },
    links.map(([words, href, number, isShown]) =>
      h(
        'a',
        { href, 'aria-current': isShown && 'page' },
        `${words} `,
        h('span', { class: 'number' }, number.toLocaleString('en')),
      ),
    ),
  );

/** Creates the links to the lists of what is not as desired. @param rows of the status */
export function stateLinks(rows) {
  const sum = (of) => rows.reduce((total, row) => total + of(row), 0);
  return h(
    'section',
    { class: 'card', 'aria-label': 'Not as desired' },
    h('h2', {}, 'Not as desired'),
    tabs('Lists by state', [
      ['Waiting', '#/waiting', sum(({ dirty }) => dirty)],
      ['Dead letters', '#/dead-letters', sum(({ blocked }) => blocked)],
      ['Held', '#/approvals', sum(({ guard }) => guard.held)],
      ['Protected', '#/exceptions?reason=Protected', sum(({ exceptions }) => exceptions.Protected)],
      ['All exceptions', '#/exceptions', sum(({ exceptions }) => exceptions.total)],
    ]),
  );
}
