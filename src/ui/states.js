// Creates links to the lists of people and groups by state, with their numbers.
import { h } from './dom.js';

/** Creates links to lists, each with its number. @param links `isShown`: the page shows the list of this link */
export const tabs = (label, links) =>
  h(
    'nav',
    { class: 'tabs', 'aria-label': label },
    links.map(({ words, href, number, isShown }) =>
      h(
        'a',
        { href, 'aria-current': isShown && 'page' },
        `${words} `,
        h('span', { class: 'number' }, number.toLocaleString('en')),
      ),
    ),
  );

/** Creates the links to the lists of resources that are not as desired. @param rows of the status, one for each target */
export function stateLinks(rows) {
  const link = (words, href, numberIn) => ({
    words,
    href,
    number: rows.reduce((total, row) => total + numberIn(row), 0),
  });
  return h(
    'section',
    { class: 'card', 'aria-label': 'Not as desired' },
    h('h2', {}, 'Not as desired'),
    tabs('Lists by state', [
      link('Waiting', '#/waiting', ({ dirty }) => dirty),
      link('Dead letters', '#/dead-letters', ({ blocked }) => blocked),
      link('Held', '#/approvals', ({ guard }) => guard.held),
      link('Protected', '#/exceptions?reason=Protected', ({ exceptions }) => exceptions.Protected),
      link('All exceptions', '#/exceptions', ({ exceptions }) => exceptions.total),
    ]),
  );
}
