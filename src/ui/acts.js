// Shows the audit entries: operator, time, interface and object of each order.
import { get, readPage } from './api.js';
import { h, say, searchInput } from './dom.js';
import { save } from './log-download.js';
import { createFilters } from './log-filters.js';
import { at, createList } from './log-list.js';

/** Orders that the filter offers, as the audit log names them. */
const ORDERS = [
  'hold',
  'release',
  'resync',
  'sync',
  'reconcile',
  'apply',
  'approveFirst',
  'approve',
  'reject',
  'withdraw',
  'retryDeadLetters',
  'dropDeadLetters',
  'forgetLink',
  'importLinks',
  'keepLinks',
  'retryEvents',
  'dropEvents',
  'createToken',
  'revokeToken',
  'restore',
  'repair',
  'forget',
  'undoHandover',
  'testNotices',
];
/** Interfaces by which an order came. */
const WAYS = ['command', 'admin API', 'page'];
const HEADINGS = ['When', 'Operator', 'Order', 'Way', 'Where', 'On what', 'Note'];
const NOTHING = '–';

/** Returns the form with the filters, and the list of audit entries. @param view.query filters in the address */
export async function acts({ query }) {
  const places = await get('/status');
  const control = searchInput({ maxlength: 200 });
  const filters = createFilters(query, {
    text: { label: 'Operator', control },
    places,
    choices: [
      ['action', 'Order', ORDERS],
      ['via', 'Way', WAYS],
    ],
    onSearch: search,
    buttons: [
      ['CSV', () => save('/acts/export', body(), 'csv', 'acts')],
      ['NDJSON', () => save('/acts/export', body(), 'ndjson', 'acts')],
      ['Verify', verify],
    ],
  });
  const body = () => ({ ...filters.body(), ...(control.value.trim() && { by: control.value.trim() }) });
  /** The filters of the last search; the form may have changed after it. */
  let searched;
  const list = createList({
    caption: 'Orders of operators',
    headings: HEADINGS,
    nothing: ['Nothing was ordered', 'Holds, decisions, tokens and links appear here.'],
    toCells: cells,
    read: (before, limit) => readPage('/acts/search', { ...searched, ...(before && { before }), limit }),
  });
  async function search() {
    searched = body();
    const parameters = new URLSearchParams(filters.parameters()).toString();
    const address = `#/acts${parameters && `?${parameters}`}`;
    if (address !== location.hash) history.pushState(null, '', address);
    await list.start();
  }
  searched = body();
  // The view is shown at once and filled while the log is searched.
  list.start();
  return [filters.form, list.element];
}

/** Checks the hash chains of the audit logs of all connections, and shows the first place at which a chain is broken. */
async function verify() {
  const broken = (await get('/acts/verify')).find((each) => each.broken !== null);
  say(
    broken ? `Altered or taken out at ${broken.broken}.` : 'No order was altered or taken out.',
    broken ? 'bad' : 'good',
  );
}

/** Shows a text that may run in any direction, such as a name; NOTHING for none. */
const auto = (value) => h('span', { dir: 'auto' }, value || NOTHING);

/** Returns the cells of an audit entry in the order of HEADINGS. */
const cells = ({ at: when, by, act, via, connection, target, subject, count, note, forgotten }) => [
  at(when),
  auto(by),
  act,
  via,
  target ? `${connection} → ${target}` : connection,
  // One element, because on a phone each child of a cell is a line.
  h(
    'span',
    {},
    auto(forgotten && !subject ? 'forgotten' : subject),
    count !== undefined && ` (${count.toLocaleString('en')})`,
  ),
  auto(note),
];
