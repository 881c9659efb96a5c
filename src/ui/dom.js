// Creates elements from plain data. Text is never parsed as markup, so answers of the service cannot inject elements.
import { may } from './api.js';
import { pageWords, partsOf } from './commands.js';

/** The role that gives each right beyond reading. */
export const ROLE_FOR = { operate: 'operator', approve: 'approver' };

/**
 * Creates an element, such as `h('button', { class: 'quiet', onclick: retry }, 'Retry')`. Undefined, null and false children
 * are omitted, and lists are flattened. `needsRight` disables a control for users without that right.
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'needsRight') {
      if (!may(value))
        Object.assign(element, { disabled: true, title: `Needs the role ${ROLE_FOR[value]}.` });
    } else if (name === 'value' || name === 'checked') element[name] = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== false),
  );
  return element;
}

/** Creates a table that becomes a list of cards on a narrow screen. `rows` hold one cell for each heading. */
export function table(caption, headings, rows) {
  return h(
    'table',
    {},
    h('caption', { class: 'unseen' }, caption),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        headings.map((heading) => h('th', { scope: 'col' }, heading)),
      ),
    ),
    h(
      'tbody',
      {},
      rows.map((cells) => tableRow(headings, cells)),
    ),
  );
}

/** Creates a row of a table. `data-label` is the heading of a cell on a narrow screen (page.css). */
export const tableRow = (headings, cells) =>
  h(
    'tr',
    {},
    cells.map((cell, index) => h('td', { 'data-label': headings[index] }, cell)),
  );

/** Creates a list of short texts or elements. */
export const noteList = (notes) =>
  h(
    'ul',
    { class: 'notes' },
    notes.map((note) => h('li', {}, note)),
  );

/** Creates a search field for a text of any direction. */
export const searchInput = (attributes = {}) =>
  h('input', { type: 'search', autocomplete: 'off', spellcheck: 'false', dir: 'auto', ...attributes });

/** Creates a choice. @param options `[value, text]`; the value without a text @param selected value that is chosen at first */
export const select = (options, { selected, ...attributes } = {}) =>
  h(
    'select',
    attributes,
    options.map(([value, text = value]) => h('option', { value, selected: value === selected }, text)),
  );

/** Creates a short coloured label. @param tone class of the colour: good, info, warn, bad or calm */
export const pill = (tone, text) => h('span', { class: `pill ${tone}` }, text);
/** Creates the text that stands in place of an empty list. */
export const empty = (title, text) => h('div', { class: 'empty' }, h('strong', {}, title), h('p', {}, text));
/** Returns a number with its noun, such as `1 change` or `2,000 changes`. @param many plural of the noun */
export const count = (number, one, many) => `${number.toLocaleString('en')} ${number === 1 ? one : many}`;

/** Number of the last field, for the ids of controls. */
let serial = 0;
/** Creates a control with its label and a hint below. */
export function field(label, control, hint) {
  control.id = `field-${++serial}`;
  return h(
    'div',
    { class: 'field' },
    h('label', { for: control.id }, label),
    control,
    hint && h('small', {}, hint),
  );
}

const HOUR_MS = 3_600_000;
/** Longest duration that is shown in hours and not in days, as in the text of commands: approvals expire after 72 hours. */
const IN_HOURS_MS = 72 * HOUR_MS;
const UNITS = [
  ['h', HOUR_MS],
  ['min', 60_000],
  ['s', 1000],
];

/** Formats a duration in whole numbers of its largest unit, such as `3 min`; up to 72 hours in hours. @param ms milliseconds */
export function duration(ms) {
  if (ms > IN_HOURS_MS) return `${Math.floor(ms / (24 * HOUR_MS))} d`;
  const [unit, size] = UNITS.find(([, step]) => ms >= step) ?? ['ms', 1];
  return `${Math.floor(ms / size)} ${unit}`;
}

/** Returns an age in words. @param ms milliseconds; negative for a time in the future */
function ageText(ms) {
  if (Math.abs(ms) < 1000) return 'now';
  return ms < 0 ? `in ${duration(toTheMinute(-ms))}` : `${duration(ms)} ago`;
}

/** Rounds a time until an end as commands do: a new approval ends in 72 h, not in 71 h. Less than half a minute stays. */
const toTheMinute = (ms) => Math.round(ms / 60_000) * 60_000 || ms;

const ageOf = (iso) => ageText(Date.now() - Date.parse(iso));

/** Shows a time as its age, which `renewAges` renews; the tooltip is the exact time. @param when ISO 8601 or Unix milliseconds */
export function ago(when) {
  const iso = new Date(when).toISOString();
  return h('time', { class: 'age', datetime: iso, title: iso }, ageOf(iso));
}

/** Writes all shown ages anew: a view may stay open for hours. */
export function renewAges() {
  for (const element of document.querySelectorAll('time.age')) {
    const text = ageOf(element.dateTime);
    if (element.textContent !== text) element.textContent = text;
  }
}

/** Returns a value as text: `∅` for none, a string as it is, everything else as JSON. */
export function shown(value) {
  if (value === undefined || value === null) return '∅';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
/** Shows a value whose text may run in any direction (bidirectional), such as a value of a person. */
export const bidi = (value) => h('span', { dir: 'auto' }, shown(value));

/** Returns the parts of a sentence of the service, with links to views of the page in place of commands; none for null. */
export const advised = (sentence) =>
  partsOf(sentence ?? '').map((part) =>
    part.view
      ? h('a', { href: `#/${part.view}${part.id ? `/${encodeURIComponent(part.id)}` : ''}` }, part.text)
      : part,
  );

/** Time for which the result of an action is shown; a bad one may be longer to read. */
const [SHOWN_MS, BAD_SHOWN_MS] = [6000, 12_000];
let fading;
/** Shows the result of an action, also to screen readers. */
export function say(text, tone = 'good') {
  const place = document.getElementById('said');
  place.className = tone;
  place.textContent = pageWords(text);
  clearTimeout(fading);
  fading = setTimeout(() => (place.textContent = ''), tone === 'bad' ? BAD_SHOWN_MS : SHOWN_MS);
}

/** Asks for a confirmation. @param question `action`: text of the button that agrees @returns whether the person agreed */
export function confirmed({ title, text, action, danger = false }) {
  return new Promise((resolve) => {
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'asked' },
      h(
        'form',
        { method: 'dialog' },
        h('h2', { id: 'asked' }, title),
        h('p', {}, text),
        h(
          'div',
          { class: 'buttons end' },
          h('button', { value: 'no', class: 'quiet', autofocus: true }, 'Cancel'),
          h('button', { value: 'yes', class: danger ? 'danger' : 'main' }, action),
        ),
      ),
    );
    dialog.addEventListener('close', () => {
      dialog.remove();
      // The value of the button; '' after Escape.
      resolve(dialog.returnValue === 'yes');
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/**
 * Creates a button that is busy while its work runs and shows an error afterwards. A busy button is not disabled, because it
 * would lose the focus.
 * @param question asked before the work, see `confirmed`; absent: the work begins at once
 */
export function actionButton(text, work, { question, ...attributes } = {}) {
  const button = h('button', { type: 'button', ...attributes }, text);
  button.addEventListener('click', async () => {
    if (button.getAttribute('aria-disabled') === 'true') return;
    button.setAttribute('aria-disabled', 'true');
    try {
      if (!question || (await confirmed(question))) await work();
    } catch (error) {
      say(error.message, 'bad');
    } finally {
      button.removeAttribute('aria-disabled');
    }
  });
  return button;
}

/** Creates a link to the page of a person or group. @param ref ref or id */
export const personLink = (ref, name) =>
  h('a', { href: `#/person/${encodeURIComponent(ref)}`, dir: 'auto' }, name || ref);
