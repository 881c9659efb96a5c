// Shows the differences of a comparison as a diff with filters and pages.
import { advised, count, empty, field, h, searchInput, select, shown } from './dom.js';

/** Number of changes on one page. */
const SHOWN = 50;
/** Number of changes up to which no filters are shown. */
const FEW = 10;

/** Sign of each action: takes away, gives, changes, or is a conflict. */
const SIGNS = {
  deactivate: '−',
  delete: '−',
  removeMember: '−',
  clearAttribute: '−',
  create: '+',
  defineAttribute: '+',
  adopt: '+',
  reactivate: '+',
  addMember: '+',
  relink: '~',
  update: '~',
  setAttribute: '~',
  conflict: '!',
};
const CLASSES = { '−': 'minus', '+': 'plus', '~': 'change', '!': 'change' };

/** Returns the name of an action, as the command plan shows it. */
const actionName = (action) => (action === 'reactivate' ? 'activate' : action);

/** Shows a plan of one connection and target. @param key identifies the plan: patch.js keeps the elements until the key changes */
export function planDiff({ connection, target, entries, proof, exceptions }, key) {
  const changes = entries.filter(({ action }) => action !== 'unmanaged');
  const exceptionCount = exceptions.total;
  const unproven = [proof.users, proof.groups].filter(({ complete }) => !complete);
  return h(
    'div',
    { class: 'diff', 'data-key': key, 'data-kept': true },
    h(
      'h3',
      {},
      `${connection} → ${target}: ${changes.length === 0 ? 'no differences' : count(changes.length, 'difference', 'differences')}`,
    ),
    unproven.map(({ reason }) =>
      h(
        'p',
        { class: 'failed' },
        `A list was not read whole (${reason ?? 'unknown'}): nothing is taken away.`,
      ),
    ),
    exceptionCount > 0 &&
      h(
        'p',
        { class: 'failed' },
        h('a', { href: '#/exceptions' }, count(exceptionCount, 'exception', 'exceptions')),
        ', until a person acts, the change is unwanted, or the guard judges it anew.',
      ),
    changes.length === 0 && exceptionCount === 0 && empty('Equal', 'The platform is as desired.'),
    changes.length > 0 && filtered(changes),
  );
}

/** Shows the changes page by page, with filters. */
function filtered(changes) {
  const actions = Map.groupBy(changes, ({ action }) => actionName(action));
  const text = searchInput();
  const action = select([
    ['', `All (${changes.length.toLocaleString('en')})`],
    ...[...actions].map(([name, { length }]) => [name, `${name} (${length.toLocaleString('en')})`]),
  ]);
  const list = h('ol', {});
  const told = h('p', { class: 'soft', role: 'status' });
  const more = h(
    'button',
    { type: 'button', onclick: () => show(list.children.length + SHOWN) },
    'Show more',
  );

  function show(most) {
    const wanted = text.value.trim().toLowerCase();
    const chosen = (action.value ? (actions.get(action.value) ?? []) : changes).filter((each) =>
      namesOf(each).some((name) => name.toLowerCase().includes(wanted)),
    );
    list.replaceChildren(...chosen.slice(0, most).map(entryLine));
    const left = chosen.length - list.children.length;
    more.hidden = left === 0;
    told.textContent = `${list.children.length.toLocaleString('en')} of ${chosen.length.toLocaleString('en')} shown`;
    told.hidden = left === 0 && chosen.length === changes.length;
  }
  for (const control of [text, action]) control.addEventListener('input', () => show(SHOWN));
  show(SHOWN);
  const summary = [...actions].map(([name, { length }]) => `${length.toLocaleString('en')} ${name}`);
  return [
    changes.length > FEW && h('p', {}, summary.join(', ')),
    changes.length > FEW &&
      h('div', { class: 'search' }, field('Name or value', text), field('Action', action)),
    list,
    told,
    more,
  ];
}

/** Returns the texts of a change that the filter searches. */
const namesOf = ({ name, ref, member, before, after, reason }) => [
  ...[name ?? '', ref ?? '', member?.name ?? '', reason],
  ...Object.entries({ ...before, ...after })
    .flat()
    .map(shown),
];

/** Shows one change. @param effect `report`: no run writes the change, so that it is only shown */
function entryLine({ action, name, member, before, after, reason, attribution, effect }) {
  const sign = SIGNS[action] ?? '?';
  const isEqual = (each) => before && after && shown(before[each]) === shown(after[each]);
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (each) => !isEqual(each),
  );
  const cause =
    attribution.cause === 'none'
      ? ''
      : ` · ${attribution.cause}${attribution.by ? ` by ${attribution.by}` : ''}`;
  return h(
    'li',
    { class: CLASSES[sign] },
    h('span', { class: 'sign', 'aria-hidden': 'true' }, sign),
    h(
      'div',
      {},
      h('strong', {}, `${actionName(action)} `),
      h('span', { dir: 'auto' }, member ? `${member.name || member.platformId} in ${name}` : name),
      effect === 'report' && ' (only shown)',
      h('p', { class: 'soft' }, advised(reason + cause)),
      !member &&
        names.map((each) =>
          h(
            'p',
            { class: 'value' },
            `${each}: `,
            before && h('del', {}, shown(before[each])),
            before && after && ' → ',
            after && h('ins', {}, shown(after[each])),
          ),
        ),
    ),
  );
}
