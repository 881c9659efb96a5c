// What the guard holds: who is concerned, and a person's decision.
import { get, operator, post } from './api.js';
import { act, ago, confirmed, count, empty, h, pill, say } from './dom.js';

const LABELS = {
  deactivate: ['account to deactivate', 'accounts to deactivate'],
  delete: ['resource to delete', 'resources to delete'],
  removeMembers: ['membership to remove', 'memberships to remove'],
  clearAttributes: ['attribute value to empty', 'attribute values to empty'],
};
const TONES = { staged: 'warn', approved: 'good', rejected: 'info' };
const SHOWN = 100;

const countsOf = ({ kinds }) =>
  Object.entries(LABELS)
    .filter(([kind]) => kinds[kind] > 0)
    .map(([kind, [one, many]]) => count(kinds[kind], one, many))
    .join(', ');

export async function plans({ id, again }) {
  if (id)
    return [
      h('p', {}, h('a', { href: '#/plans' }, '← All plans')),
      details(await get(`/plans/${encodeURIComponent(id)}`), again),
    ];
  const all = await get('/plans?all=true');
  const staged = all.filter(({ state }) => state === 'staged');
  const decided = all.filter(({ state }) => state !== 'staged');
  const waiting = await Promise.all(staged.map((plan) => get(`/plans/${encodeURIComponent(plan.id)}`)));
  return [
    waiting.length === 0 &&
      empty(
        'Nothing waits for a decision',
        'What takes away more than the guard allows is listed here and waits for a person.',
      ),
    waiting.map((plan) => details(plan, again)),
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

const decision = (plan) =>
  h(
    'li',
    {},
    h(
      'div',
      { class: 'grow' },
      h('a', { href: `#/plans/${encodeURIComponent(plan.id)}` }, countsOf(plan)),
      h('p', { class: 'soft' }, `by ${plan.by}, `, ago(plan.at)),
    ),
    pill(TONES[plan.state], plan.state),
  );

function details(plan, again) {
  const { id, connection, target, state, openedAt, expiresAt, items } = plan;
  return h(
    'section',
    { class: 'card', 'aria-label': `Plan ${id}` },
    h('div', { class: 'head' }, h('h2', {}, `${connection} → ${target}`), pill(TONES[state], state)),
    h('p', {}, h('strong', {}, countsOf(plan))),
    h(
      'p',
      { class: 'soft' },
      state === 'staged'
        ? ['Held since ', ago(openedAt), ', expires ', ago(expiresAt)]
        : [`By ${plan.by}, `, ago(plan.at)],
      h('br'),
      h('code', {}, id),
    ),
    Object.keys(LABELS).map((kind) =>
      section(
        kind,
        items.filter((item) => item.kind === kind),
      ),
    ),
    state !== 'approved' && decide(plan, again),
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
      h('p', { class: 'soft' }, `… and ${items.length - SHOWN} more: scim-bridge plans show --all.`),
  );
}

const lineOf = ({ kind, name, member, ref }) => {
  if (kind === 'removeMembers') return [h('strong', {}, member), ` leaves ${name}`];
  if (kind === 'clearAttributes') return [h('strong', {}, name), ` loses ${member}`];
  return [h('strong', {}, name), ' ', h('code', {}, ref)];
};

function decide(plan, again) {
  const choose = (action, title, text, danger) => async () => {
    if (!(await confirmed(title, `${countsOf(plan)}. ${text}`, title.replace('?', ''), { danger }))) return;
    const { items } = await post(`/plans/${encodeURIComponent(plan.id)}/${action}`, { by: operator() });
    say(`${action === 'approve' ? 'Approved' : 'Rejected'}: ${count(items, 'item', 'items')}.`);
    again();
  };
  return h(
    'div',
    { class: 'acts' },
    act('Approve', choose('approve', 'Approve?', 'Exactly this list is carried out at the platform.', true), {
      class: 'danger',
    }),
    plan.state === 'staged' &&
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
