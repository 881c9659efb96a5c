// Shows what the guard holds and takes the decision of an operator.
import { get, operator, post } from './api.js';
import { act, ago, confirmed, count, empty, h, pill, say } from './dom.js';

const LABELS = {
  deactivate: ['account to deactivate', 'accounts to deactivate'],
  delete: ['resource to delete', 'resources to delete'],
  removeMembers: ['membership to remove', 'memberships to remove'],
  clearAttributes: ['attribute value to empty', 'attribute values to empty'],
};
const TONES = { held: 'warn', approved: 'good', rejected: 'info', withdrawn: 'info' };
const DONE = { approve: 'Approved', reject: 'Rejected', withdraw: 'Withdrawn' };
const SHOWN = 100;

const countsOf = ({ kinds }) =>
  Object.entries(LABELS)
    .filter(([kind]) => kinds[kind] > 0)
    .map(([kind, [one, many]]) => count(kinds[kind], one, many))
    .join(', ');

export async function approvals({ id, again }) {
  if (id)
    return [
      h('p', {}, h('a', { href: '#/approvals' }, '← All approvals')),
      details(await get(`/approvals/${encodeURIComponent(id)}`), again),
    ];
  const all = await get('/approvals?all=true');
  const held = all.filter(({ state }) => state === 'held');
  const decided = all.filter(({ state }) => state !== 'held');
  const waiting = await Promise.all(
    held.map((approval) => get(`/approvals/${encodeURIComponent(approval.id)}`)),
  );
  return [
    waiting.length === 0 &&
      empty(
        'Nothing waits for a decision',
        'What takes away more than the guard allows is listed here and waits for a person.',
      ),
    waiting.map((approval) => details(approval, again)),
    decided.length > 0 &&
      h(
        'section',
        { class: 'card' },
        h('h2', {}, 'Decided lately'),
        h('ul', { class: 'rows' }, decided.slice(0, 20).map(decision)),
      ),
  ]
    .filter(Boolean)
    .flat();
}

const decision = (approval) =>
  h(
    'li',
    {},
    h(
      'div',
      { class: 'grow' },
      h('a', { href: `#/approvals/${encodeURIComponent(approval.id)}` }, countsOf(approval)),
      h('p', { class: 'soft' }, `by ${approval.by}, `, ago(approval.at)),
    ),
    pill(TONES[approval.state], approval.state),
  );

function details(approval, again) {
  const { id, connection, target, state, openedAt, expiresAt, items } = approval;
  return h(
    'section',
    { class: 'card', 'aria-label': `Approval ${id}` },
    h('div', { class: 'head' }, h('h2', {}, `${connection} → ${target}`), pill(TONES[state], state)),
    h('p', {}, h('strong', {}, countsOf(approval))),
    h(
      'p',
      { class: 'soft' },
      state === 'held'
        ? ['Held since ', ago(openedAt), ', expires ', ago(expiresAt)]
        : [`By ${approval.by}, `, ago(approval.at)],
      h('br'),
      h('code', {}, id),
    ),
    Object.keys(LABELS).map((kind) =>
      section(
        kind,
        items.filter((item) => item.kind === kind),
      ),
    ),
    (state === 'held' || state === 'rejected') && decide(approval, again),
  );
}

function section(kind, items) {
  if (items.length === 0) return null;
  return h(
    'details',
    { class: 'diff', open: items.length <= 25 },
    h('summary', {}, count(items.length, ...LABELS[kind])),
    h(
      'ol',
      {},
      items
        .slice(0, SHOWN)
        .map((item) =>
          h(
            'li',
            { class: 'minus' },
            h('span', { class: 'sign', 'aria-hidden': 'true' }, '−'),
            h('div', {}, ...lineOf(item)),
          ),
        ),
    ),
    items.length > SHOWN &&
      h('p', { class: 'soft' }, `… and ${items.length - SHOWN} more: scim-bridge approvals show --all.`),
  );
}

const lineOf = ({ kind, name, member, ref }) => {
  if (kind === 'removeMembers') return [h('strong', {}, member), ` leaves ${name}`];
  if (kind === 'clearAttributes') return [h('strong', {}, name), ` loses ${member}`];
  return [h('strong', {}, name), ' ', h('code', {}, ref)];
};

function decide(approval, again) {
  const choose = (action, title, text, danger) => async () => {
    if (!(await confirmed(title, `${countsOf(approval)}. ${text}`, title.replace('?', ''), { danger })))
      return;
    const { items } = await post(`/approvals/${encodeURIComponent(approval.id)}/${action}`, {
      by: operator(),
    });
    say(`${DONE[action]}: ${count(items, 'item', 'items')}.`);
    again();
  };
  return h(
    'div',
    { class: 'acts' },
    act('Approve', choose('approve', 'Approve?', 'Exactly this list is carried out at the platform.', true), {
      class: 'danger',
    }),
    approval.state === 'rejected' &&
      act('Withdraw', choose('withdraw', 'Withdraw?', 'The guard judges these changes anew.', false)),
    approval.state === 'held' &&
      act(
        'Reject',
        choose(
          'reject',
          'Reject?',
          'The platform keeps what it has until the source takes the change back.',
          false,
        ),
      ),
  );
}
