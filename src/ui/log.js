// Shows the provisioning log: every write, refusal, hold and skip of all connections in one order.
import { get, readPage } from './api.js';
import { pageWords } from './commands.js';
import { h, personLink, say, searchInput, shown } from './dom.js';
import { save } from './log-download.js';
import { actionOf, openEntry, statusPill } from './log-entry.js';
import { createFilters } from './log-filters.js';
import { at, createList } from './log-list.js';

const STATUSES = ['success', 'failure', 'retry', 'held', 'skipped'];
const ACTIONS = [
  'create',
  'adopt',
  'update',
  'setAttribute',
  'activate',
  'deactivate',
  'delete',
  'rename',
  'addMembers',
  'removeMembers',
  'handOver',
  'giveBack',
  'none',
];
const HEADINGS = ['When', 'Person or group', 'Action', 'Where', 'Status', 'Summary', 'Entry'];
/** Number of changed values in a summary. */
const MOST_VALUES = 2;
/** Matches a ref: `User:<id>` or `Group:<id>`. */
const REF = /^(User|Group):/;

/**
 * Returns the form with the filters, and the list of log entries.
 * @param view.query filters in the address; `resource` is there as a ref only, never as a name
 */
export async function log({ query }) {
  const places = await get('/status');
  const control = searchInput({ value: query.get('resource') ?? '' });
  const filters = createFilters(query, {
    text: { label: 'Person or group', control },
    places,
    choices: [
      ['action', 'Action', ACTIONS],
      ['status', 'Status', STATUSES],
    ],
    onSearch: search,
    buttons: [
      ['CSV', () => save('/log/export', body(), 'csv', 'provisioning-log')],
      ['NDJSON', () => save('/log/export', body(), 'ndjson', 'provisioning-log')],
      ['Verify', verify],
    ],
  });
  const body = () => ({ ...filters.body(), ...(control.value.trim() && { resource: control.value.trim() }) });
  /** The filters of the last search; the form may have changed after it. */
  let searched;
  const list = createList({
    caption: 'Provisioning log',
    headings: HEADINGS,
    nothing: ['Nothing matches', 'Changes at the platform, refusals, holds and skips appear here.'],
    toCells: (record) => cells(record, list.element),
    read: async (before, limit) => {
      const mySearch = searched;
      const page = await readPage('/log/search', { ...mySearch.body, ...(before && { before }), limit });
      if (page.resource && mySearch === searched) keep(page.resource, 'replaceState');
      return page;
    },
  });

  /** Stores the filters in the address without drawing the view again. @param how method of `history` */
  function keep(resource, how) {
    // Another view may have been opened meanwhile.
    if (!/^#\/log(\?|$)/.test(location.hash)) return;
    const named = REF.test(resource ?? '') ? [['resource', resource]] : [];
    const parameters = new URLSearchParams([...searched.parameters, ...named]).toString();
    const address = `#/log${parameters && `?${parameters}`}`;
    if (address !== location.hash) history[how](null, '', address);
  }
  async function search() {
    searched = { body: body(), parameters: filters.parameters() };
    keep(searched.body.resource, 'pushState');
    await list.start();
  }
  searched = { body: body(), parameters: filters.parameters() };
  // The view is shown at once and filled while the log is searched.
  list.start();
  return [filters.form, list.element];
}

/** Checks the hash chains of all logs, and shows the places at which they are broken. */
async function verify() {
  const broken = (await get('/log/verify')).filter((each) => each.broken !== null);
  const places = broken.map((each) => `${each.connection} → ${each.target} at ${each.broken}`);
  say(
    broken.length > 0
      ? `Altered or taken out: ${places.join('; ')}. docs/alerts.md says under ScimBridgeLogBroken what to do.`
      : 'No entry was altered or taken out.',
    broken.length > 0 ? 'bad' : 'good',
  );
}

/** Returns the cells of an entry in the order of HEADINGS. @param place element of the view, for the dialog with the details */
const cells = (record, place) => {
  const { id, displayName } = record.sourceIdentity;
  const label = `Details: ${displayName}, ${actionOf(record)}`;
  return [
    at(record.activityDateTime),
    personLink(id, displayName),
    actionOf(record),
    `${record.connection} → ${record.target}`,
    statusPill(record.provisioningStatusInfo),
    h('span', { class: 'brief', dir: 'auto' }, summary(record)),
    h('button', { type: 'button', 'aria-label': label, onclick: () => openEntry(record, place) }, 'Details'),
  ];
};

/** Returns the error, else the number of members, else the first changed values; `–`: the entry has none of these. */
function summary({ provisioningStatusInfo, members, modifiedProperties: properties }) {
  const { errorInformation: error } = provisioningStatusInfo;
  if (error) return pageWords(error.reason || error.errorCode);
  if (members.length > 0) return `${members.length} ${members.length === 1 ? 'member' : 'members'}`;
  const first = properties
    .slice(0, MOST_VALUES)
    .map(({ displayName, newValue }) => `${displayName}: ${shown(newValue)}`);
  return (
    first.join(', ') +
      (properties.length > MOST_VALUES ? ` and ${properties.length - MOST_VALUES} more` : '') || '–'
  );
}
