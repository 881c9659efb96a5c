// Shows the changes that the guard holds, and sends the decision of an operator.
import { get, isAuthor, operator, post } from './api.js';
import { actionButton, ago, confirmed, count, duration, empty, field, h, pill, say, select } from './dom.js';

/** Singular and plural of one change of each kind. */
const LABELS = {
  deactivate: ['account to deactivate', 'accounts to deactivate'],
  delete: ['resource to delete', 'resources to delete'],
  removeMembers: ['membership to remove', 'memberships to remove'],
  clearAttributes: ['attribute value to empty', 'attribute values to empty'],
};
/** Words after the number that a percentage of the settings refers to. */
const POPULATIONS = {
  deactivate: 'users, those deleted in this time included',
  delete: 'users and groups, those deleted in this time included',
  removeMembers: 'memberships, those removed in this time and those whose removal is held included',
  clearAttributes: 'users, those deleted in this time included',
};
const TONES = { held: 'warn', approved: 'good', rejected: 'info', withdrawn: 'info' };
/** Words for each action, before the decision and after it. */
const TITLES = { approve: 'Approve', reject: 'Reject', withdraw: 'Withdraw' };
const DONE = { approve: 'Approved', reject: 'Rejected', withdraw: 'Withdrawn' };
/** Text for an `outcome` of the service that decided nothing yet; other answers are decisions. */
const OUTCOMES = {
  noted: 'Noted. Nothing is written before a second person approves the same.',
  retracted: 'The first approval is taken back.',
};
/** Number of changes that are read at once. */
const SHOWN = 100;
/** Number of changes up to which they are shown unfolded. */
const MOST_UNFOLDED = 25;
/** Number of recent decisions that are listed. */
const MOST_DECIDED = 20;
const CAUSES = {
  deleted: 'deleted at the source',
  deactivated: 'deactivated at the source',
  outOfScope: 'out of scope',
  removedFromGroup: 'not a member at the source',
  groupDeleted: 'group deleted at the source',
  notAtSource: 'account that nobody pushed',
  emptied: 'no value any more',
  lastAdministrator: 'last administrator',
};
const pathOf = (id, query = '') => `/approvals/${encodeURIComponent(id)}${query}`;

const countsOf = ({ kinds }) =>
  Object.entries(LABELS)
    .filter(([kind]) => kinds[kind] > 0)
    .map(([kind, [one, many]]) => count(kinds[kind], one, many))
    .join(', ');

/**
 * Shows one approval, or all held ones and the recent decisions.
 * @param view.id id of the approval; undefined: all
 * @param view.redraw draws the view again after a decision
 */
export async function approvals({ id, redraw }) {
  if (id)
    return [
      h('p', {}, h('a', { href: '#/approvals' }, '← All approvals')),
      details(await get(pathOf(id)), redraw),
    ];
  const all = await get('/approvals?all=true');
  const held = all.filter(({ state }) => state === 'held');
  const decided = all.filter(({ state }) => state !== 'held');
  const waiting = await Promise.all(held.map((approval) => get(pathOf(approval.id))));
  return [
    waiting.length === 0 &&
      empty(
        'Nothing waits for a decision',
        'What takes away more than the guard allows is listed here and waits for a person.',
      ),
    waiting.map((approval) => details(approval, redraw)),
    decided.length > 0 &&
      h(
        'section',
        { class: 'card' },
        h('h2', {}, 'Decided lately'),
        h('ul', { class: 'rows' }, decided.slice(0, MOST_DECIDED).map(decision)),
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
      h(
        'p',
        { class: 'soft' },
        `${approval.connection} → ${approval.target}, by ${approval.by}, `,
        ago(approval.at),
      ),
      stillRejected(approval),
      h('code', {}, approval.id),
      approval.selection && h('p', { class: 'soft' }, approval.selection),
      approval.note && h('p', { class: 'soft' }, `Note: ${approval.note}`),
    ),
    pill(TONES[approval.state], approval.state),
  );

/** Tells how many changes of a rejection are still rejected, with the words of the command. */
const stillRejected = ({ stillRejected: left, total }) =>
  left !== undefined && h('p', { class: 'soft' }, `still rejected: ${left} of ${total}`);

/** Returns words about the end of held changes. An expired list may be shown until the guard has judged its changes anew. */
const expiry = (expiresAt) =>
  Date.parse(expiresAt) > Date.now()
    ? ['expires ', ago(expiresAt), ', then the guard judges its changes anew']
    : ['expired ', ago(expiresAt), ': it cannot be decided any more, the guard judges its changes anew'];

function details(approval, redraw) {
  const { id, connection, target, state, openedAt, expiresAt, selection, note, limits } = approval;
  return h(
    'section',
    { class: 'card', 'aria-label': `Approval ${id}` },
    h('div', { class: 'head' }, h('h2', {}, `${connection} → ${target}`), pill(TONES[state], state)),
    h('p', {}, h('strong', {}, countsOf(approval))),
    h(
      'p',
      { class: 'soft' },
      state === 'held'
        ? ['Opened ', ago(openedAt), ', ', expiry(expiresAt)]
        : [`By ${approval.by}, `, ago(approval.at)],
      h('br'),
      h('code', {}, id),
    ),
    stillRejected(approval),
    selection && h('p', {}, selection),
    note && h('p', {}, `Note: ${note}`),
    (approval.firstApprovals ?? []).map((first) => firstApproval(first, redraw)),
    limits.map(limitOf),
    changes(approval),
    (state === 'held' || state === 'rejected') && decide(approval, redraw),
  );
}

/** Shows a first approval, which counts only when a second person approves too. */
function firstApproval(first, redraw) {
  const { id, by, at, total, selection, note } = first;
  const order = (action) => async () => {
    const { outcome, items: decided } = await post(pathOf(id, `/${action}`), { by: operator() });
    say(OUTCOMES[outcome] ?? `${DONE[action]}: ${count(decided, 'change', 'changes')}.`);
    redraw();
  };
  return h(
    'div',
    { class: 'first', role: 'group', 'aria-label': `First approval by ${by}` },
    h(
      'p',
      {},
      h('strong', { dir: 'auto' }, by),
      ` approved ${count(total, 'change', 'changes')} `,
      ago(at),
      '. A second person has to approve the same.',
    ),
    selection && h('p', {}, selection),
    note && h('p', {}, `Note: ${note}`),
    h(
      'div',
      { class: 'buttons' },
      h('a', { href: `#/approvals/${encodeURIComponent(id)}` }, 'See these changes'),
      !isAuthor(first) &&
        actionButton('Approve as second person', order('approve'), {
          class: 'danger',
          needsRight: 'approve',
          question: {
            title: 'Approve as second person?',
            text: `${count(total, 'change', 'changes')}, as ${by} approved. Exactly this is carried out at the platform.`,
            action: 'Approve as second person',
            danger: true,
          },
        }),
      actionButton('Take it back', order('withdraw'), {
        needsRight: 'approve',
        question: {
          title: 'Take the approval back?',
          text: `${by} approved; this approval no longer counts.`,
          action: 'Take the approval back',
        },
      }),
    ),
  );
}

/** Shows the limit that holds changes of one kind, and the newest changes within its window (`used`: allowed by the guard). */
function limitOf({
  kind,
  count: most,
  percent,
  population,
  allowance,
  windowMs,
  used,
  waiting,
  held,
  usedSince,
  usedBy,
}) {
  return h(
    'details',
    {},
    h(
      'summary',
      {},
      `Limit: ${count(allowance, ...LABELS[kind])} within ${duration(windowMs)}; ${used} counted, ${held} held`,
    ),
    h(
      'p',
      { class: 'soft' },
      `The settings allow ${most}, and ${percent} % of ${population} ${POPULATIONS[kind]}. ${waiting} more accepted and not written yet. `,
      used + waiting + held <= allowance &&
        'All of these fit the limit now: what is held still waits for a decision or the expiry, and further changes that fit are written. ',
      usedSince && [
        'A change counts from the time when the guard allowed its write; the log tells whether it succeeded, as far back as it reaches. The oldest: ',
        ago(usedSince),
        '.',
      ],
    ),
    usedBy.length > 0 &&
      h(
        'ul',
        {},
        usedBy.map(({ name, member, at }) =>
          h('li', {}, `${member ? `${member}, ${name}` : name}, `, ago(at)),
        ),
      ),
  );
}

/** Shows the changes page by page. Further pages exist only while the changes are held. */
function changes(approval) {
  const list = h('ol', {}, approval.items.map(itemOf));
  /** Offset of the next page. */
  let next = approval.items.length;
  const rest = h('p', { class: 'soft' });
  const more = actionButton('Show more', async () => {
    const page = await get(pathOf(approval.id, `?offset=${next}&limit=${SHOWN}`));
    list.append(...page.items.map(itemOf));
    // An empty page: the other changes were decided meanwhile.
    next = page.items.length === 0 ? approval.total : next + page.items.length;
    tell();
  });
  function tell() {
    const left = approval.total - next;
    rest.textContent = left > 0 ? `… and ${left.toLocaleString('en')} more` : '';
    more.hidden = left <= 0 || approval.state !== 'held';
  }
  tell();
  return h(
    'details',
    { class: 'diff', open: approval.total <= MOST_UNFOLDED },
    h('summary', {}, count(approval.total, 'change', 'changes')),
    list,
    rest,
    more,
  );
}

const itemOf = (item) =>
  h(
    'li',
    { class: 'minus' },
    h('span', { class: 'sign', 'aria-hidden': 'true' }, '−'),
    h('div', {}, ...lineOf(item), h('p', { class: 'soft' }, ...whyOf(item))),
  );

/** Returns the parts of a line about a change. @param member the removed member, or the attribute whose value is emptied */
const lineOf = ({ kind, name, member, ref }) => {
  if (kind === 'removeMembers') return [h('strong', {}, member), ` leaves ${name}`];
  if (kind === 'clearAttributes') return [h('strong', {}, name), ` loses ${member}`];
  return [h('strong', {}, name), ' ', h('code', {}, ref)];
};

/** Returns the parts of the cause. `since` is of the first change of the person or group, because no other time is stored. */
const whyOf = ({ name, mail, reason, since }) => [
  mail && mail !== name ? `${mail}: ${reason}` : reason,
  ...(since ? [`; ${name} waits for decisions since `, ago(since)] : []),
];

const consequence = ({ approvers }) =>
  approvers > 1
    ? 'It is carried out once a second person has approved the same.'
    : 'Exactly this is carried out at the platform.';

/** Creates the controls of a decision: filters for a part, a note, and a button for each action. */
function decide(approval, redraw) {
  const person = h('input', { type: 'text', maxlength: 200, autocomplete: 'off' });
  const group = h('input', { type: 'text', maxlength: 200, autocomplete: 'off' });
  const cause = select([['', 'Every cause'], ...Object.entries(CAUSES)]);
  const note = h('input', { type: 'text', maxlength: 1000, autocomplete: 'off' });
  /** Returns the filters of the selected part; an empty text is no filter. */
  const chosen = () => ({ person: person.value.trim(), group: group.value.trim(), cause: cause.value });

  /** Returns the work of a button: a question with the present number of changes, then the order. */
  const choose = (action, text) => async () => {
    const given = Object.entries(chosen()).filter(([, value]) => value !== '');
    // The counts are read anew, with the shortest page, because the source and other operators may have acted meanwhile.
    const query = given.map(([name, value]) => `${name}=${encodeURIComponent(value)}&`).join('');
    const now = await get(pathOf(approval.id, `?${query}limit=1`));
    if (now.state !== approval.state) {
      await redraw();
      throw new Error(`This was ${now.state} by ${now.by} meanwhile.`);
    }
    const left = now.state === 'held' ? now.matching : now.stillRejected;
    if (left === 0) throw new Error('No change of this list fits what is selected, or waits any more.');
    const meant =
      given.length > 0 && now.state !== 'held'
        ? // Only the changes of a held list can be counted by filters.
          'The selected part'
        : left < now.total
          ? `${count(left, 'change', 'changes')} of ${now.total.toLocaleString('en')}`
          : countsOf(now);
    const danger = action === 'approve';
    const question = {
      title: `${TITLES[action]}?`,
      text: `${meant}. ${text}`,
      action: TITLES[action],
      danger,
    };
    if (!(await confirmed(question))) return;
    const {
      outcome,
      items: decided,
      remaining,
    } = await post(pathOf(approval.id, `/${action}`), {
      by: operator(),
      ...(note.value.trim() === '' ? {} : { note: note.value.trim() }),
      // An order takes lists: `persons`, `groups`, `causes`.
      ...Object.fromEntries(given.map(([name, value]) => [`${name}s`, [value]])),
    });
    const part = decided < left && given.length === 0 ? ` of ${left.toLocaleString('en')}` : '';
    say(
      OUTCOMES[outcome] ??
        (decided === 0
          ? 'Nothing was decided: no such change waits any more.'
          : `${DONE[action]}: ${count(decided, 'change', 'changes')}${part}; ${remaining} still held.`),
      decided === 0 ? 'bad' : 'good',
    );
    redraw();
  };
  const button = (action, text, tone) =>
    actionButton(TITLES[action], choose(action, text), { class: tone, needsRight: 'approve' });
  return h(
    'div',
    {},
    h(
      'details',
      {},
      h('summary', {}, 'Decide about a part, or add a note'),
      field('Person', person, 'userName, mail or id; empty: everybody'),
      field('Group', group, 'only this group and those who are or were its members'),
      field('Cause', cause),
      field('Note', note, 'kept with the decision'),
    ),
    h(
      'div',
      { class: 'buttons' },
      button('approve', consequence(approval), 'danger'),
      approval.state === 'rejected' && button('withdraw', 'The guard judges these changes anew.'),
      approval.state === 'held' &&
        button('reject', 'The platform keeps what it has until the source takes the change back.'),
    ),
  );
}
