// Searches people and groups while the person types. Matches by userName come first; others are searched in steps.
import { post } from './api.js';
import { actionButton, empty, field, h, personLink, pill, say, searchInput } from './dom.js';

/** Pause after the last key before a search begins. */
const PAUSE_MS = 250;
/** Number of hits after which a search stops until more are asked for. */
const SHOWN = 50;
/** Least number of characters that are searched. */
const LEAST_CHARACTERS = 2;

/**
 * Creates the search form and the list of hits, each a link to its page.
 * @param rest shown while nothing is searched
 * @param signal aborted when the view is left
 */
export function searchForm(rest, signal) {
  const text = searchInput({ maxlength: 200, placeholder: 'ada, @acme.example, analysts' });
  const found = h('div', { id: 'found' }, rest);
  const told = h('p', { class: 'soft', role: 'status' });
  let timer;
  /** Number of the last search; answers to an earlier one are ignored. */
  let asked = 0;
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    asked++;
  });

  /**
   * Searches step by step until there are enough hits or the text changes.
   * @param place where an earlier search goes on, as its answer named it
   * @param list the hits of that search; both absent: a new search
   */
  async function look(place, list) {
    const mine = ++asked;
    const wanted = text.value.trim();
    const hits = list ?? h('ul', { class: 'rows card' });
    const enough = hits.children.length + SHOWN;
    let next = place;
    do {
      const answer = await post('/search', { text: wanted, ...(next && { place: next }) });
      if (mine !== asked) return;
      hits.append(...answer.found.map(hit));
      next = answer.next;
      const more = next && hits.children.length >= enough;
      if (hits.children.length > 0)
        found.replaceChildren(
          ...[hits, more && actionButton('Show more', () => look(next, hits))].filter(Boolean),
        );
      told.textContent = next && !more ? 'Still looking …' : '';
    } while (next && hits.children.length < enough);
    if (hits.children.length === 0)
      found.replaceChildren(
        empty(
          'Nobody is known by this name or id',
          'The identity provider has pushed no person and no group with such a name.',
        ),
      );
    else told.textContent = next ? `The first ${hits.children.length}` : `${hits.children.length} found`;
  }

  function begin() {
    clearTimeout(timer);
    asked++;
    if (text.value.trim().length >= LEAST_CHARACTERS)
      return look().catch((error) => signal.aborted || say(error.message, 'bad'));
    found.replaceChildren(rest);
    told.textContent = '';
  }
  text.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(begin, PAUSE_MS);
  });
  /** Opens the page of a complete name at once; a deleted user is found by the complete name only. */
  const onsubmit = async (event) => {
    event.preventDefault();
    clearTimeout(timer);
    const resource = text.value.trim();
    if (resource === '') return;
    try {
      const refs = new Set((await post('/explain', { resource }, signal)).map(({ ref }) => ref));
      if (refs.size === 1) location.hash = `#/person/${encodeURIComponent([...refs][0])}`;
      else begin();
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 404) begin();
      else say(error.message, 'bad');
    }
  };
  return [
    h(
      'form',
      { class: 'search', onsubmit, role: 'search' },
      field('Person or group', text, 'part of a name, an address or an id'),
      h('button', { class: 'main' }, 'Search'),
    ),
    told,
    found,
  ];
}

const hit = ({ connection, kind, ref, name, displayName, mail, active }) =>
  h(
    'li',
    {},
    h(
      'div',
      { class: 'grow' },
      personLink(ref, name),
      h(
        'p',
        { class: 'soft', dir: 'auto' },
        [displayName, mail !== name && mail, connection].filter(Boolean).join(', '),
      ),
    ),
    pill('calm', kind === 'User' ? 'person' : 'group'),
    active === false && pill('warn', 'inactive'),
  );
