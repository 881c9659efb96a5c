// Creates the filters of the provisioning log and of the audit log. The address contains them, so that it can be
// shared, but no names of people.
import { actionButton, field, h, select } from './dom.js';

const DAY_MS = 86_400_000;
/** Choices of a time by their value in the address: without `ms` all entries, or own times. */
const RANGES = {
  '': { text: 'All that is kept' },
  '1h': { text: 'Last hour', ms: DAY_MS / 24 },
  '1d': { text: 'Last day', ms: DAY_MS },
  '7d': { text: 'Last 7 days', ms: 7 * DAY_MS },
  '30d': { text: 'Last 30 days', ms: 30 * DAY_MS },
  own: { text: 'From – until' },
};

/**
 * Creates the form of the filters.
 * @param query filters in the address (URLSearchParams)
 * @param options.text control for a name, with its label; not kept in the address
 * @param options.places rows of the status, for the names of connections and targets
 * @param options.choices `[parameter, label, values]` of filters that take several values
 * @param options.onSearch called when the form is submitted
 * @param options.buttons `[text, work]` of other buttons of the form
 * @returns `form`, the element; `body`, which returns the filters for the service; `parameters`, which returns them as pairs for
 *   the address
 */
export function createFilters(query, { text, places, choices, onSearch, buttons }) {
  const selects = ['connection', 'target'].map((name) => [name, placeSelect(name, query.get(name), places)]);
  const groups = choices.map(([name, label, values]) => choiceGroup(name, label, values, query.getAll(name)));
  const range = createRange(query);
  const body = () => {
    const filters = range.body();
    for (const [name, { value }] of selects) if (value) filters[name] = value;
    for (const { name, chosen } of groups) if (chosen().length > 0) filters[name] = chosen();
    return filters;
  };
  const parameters = () => {
    const pairs = [];
    for (const [name, { value }] of selects) if (value) pairs.push([name, value]);
    for (const { name, chosen } of groups) for (const value of chosen()) pairs.push([name, value]);
    return [...pairs, ...range.parameters()];
  };
  const onsubmit = (event) => {
    event.preventDefault();
    return onSearch();
  };
  const form = h(
    'form',
    { class: 'filters', onsubmit, role: 'search' },
    h('div', { class: 'search' }, field(text.label, text.control), selects.map(labelled), range.fields),
    h(
      'div',
      { class: 'choices' },
      groups.map(({ element }) => element),
    ),
    h(
      'div',
      { class: 'buttons' },
      h('button', { class: 'main' }, 'Show'),
      buttons.map(([word, work]) => actionButton(word, work)),
    ),
  );
  return { form, body, parameters };
}

const LABELS = { connection: 'Connection', target: 'Target' };
const labelled = ([name, control]) => field(LABELS[name], control);

function placeSelect(name, chosen, places) {
  const names = [...new Set([...places.map((place) => place[name]), chosen].filter(Boolean))];
  return select([['', 'All'], ...names.map((each) => [each])], { selected: chosen ?? '' });
}

/** Creates check boxes that unfold, below a line with the chosen values. */
function choiceGroup(name, label, values, selected) {
  const boxes = values.map((value) =>
    h('input', { type: 'checkbox', value, checked: selected.includes(value) }),
  );
  const chosen = () => boxes.filter(({ checked }) => checked).map(({ value }) => value);
  const summary = h('summary');
  const showChosen = () => (summary.textContent = `${label}: ${chosen().join(', ') || 'all'}`);
  showChosen();
  const element = h(
    'details',
    { onchange: showChosen },
    summary,
    h(
      'fieldset',
      {},
      h('legend', { class: 'unseen' }, label),
      boxes.map((box) => h('label', {}, box, box.value)),
    ),
  );
  return { name, chosen, element };
}

/**
 * Creates the choice of a time: a range that ends now, or own times.
 * @returns its fields, and `body` and `parameters` as those of createFilters
 */
function createRange(query) {
  const chosen = RANGES[query.get('range')] ? query.get('range') : '';
  const range = select(
    Object.entries(RANGES).map(([value, { text }]) => [value, text]),
    { selected: chosen },
  );
  const [from, until] = ['from', 'until'].map((name) =>
    h('input', { type: 'datetime-local', value: toLocal(query.get(name)) }),
  );
  const own = [field('From', from), field('Until', until)];
  const showOwnFields = () => own.forEach((each) => (each.hidden = range.value !== 'own'));
  range.addEventListener('change', showOwnFields);
  showOwnFields();
  const moments = () =>
    [
      ['from', from.value],
      ['until', until.value],
    ].flatMap(([name, value]) => (value ? [[name, new Date(value).toISOString()]] : []));
  const body = () => {
    // The service calls the start `since`.
    if (range.value === 'own')
      return Object.fromEntries(moments().map(([name, at]) => [name === 'from' ? 'since' : name, at]));
    const { ms } = RANGES[range.value];
    return ms === undefined ? {} : { since: new Date(Date.now() - ms).toISOString() };
  };
  const parameters = () => [
    ...(range.value ? [['range', range.value]] : []),
    ...(range.value === 'own' ? moments() : []),
  ];
  return { fields: [field('Time', range), ...own], body, parameters };
}

/** Returns a time for the input, in the time zone of the browser; '' for a malformed or missing one. @param iso ISO 8601 */
function toLocal(iso) {
  const at = Date.parse(iso ?? '');
  if (Number.isNaN(at)) return '';
  // The offset is in minutes; the form of the input is that of ISO 8601 up to the minutes.
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 'YYYY-MM-DDTHH:MM'.length);
}
