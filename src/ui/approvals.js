// Shows the changes that the guard holds: the list of approvals, and one approval with its limits and changes.
import { get } from './api.js';
import { changeCounts, CHANGE_LABELS, approvalPath, isUndecided } from './approval-counts.js';
import { decide, firstApproval } from './approval-decision.js';
import { changedNote } from './changed.js';
import { actionButton, advised, ago, count, duration, empty, h, pill } from './dom.js';

/** Words behind the number of which a limit is a percentage. */
const POPULATIONS = {
  deactivate: 'users, those deleted in this time included',
  delete: 'users and groups, those deleted in this time included',
  removeMembers: 'memberships, those removed in this time and those whose removal is held included',
  clearAttributes: 'users, those deleted in this time included',
};
const TONES = { held: 'warn', expired: 'warn', approved: 'good', rejected: 'info', withdrawn: 'info' };
/** Number of changes that are read at once. */
const SHOWN = 100;
/** Largest number of changes that are shown unfolded. */
const MOST_UNFOLDED = 25;
/** Number of recent decisions that are listed. */
const MOST_DECIDED = 20;

/** Returns for each row of the status: number held, number expired, time of expiry. */
const heldOf = (rows) => rows.map(({ guard: { held, expired, expiresAt } }) => [held, expired, expiresAt]);

/**
 * Shows one approval, or all held ones and the recent decisions.
 * @param view.id id of the approval; undefined: all
 * @param view.redraw draws the view again after a decision
 * @param view.signal aborted when the view is left
 */
export async function approvals({ id, redraw, signal }) {
  const note = (rows, isShown = () => true) =>
    changedNote(rows, (some) => heldOf(some.filter(isShown)), { redraw, signal });
  if (id) {
    const [rows, one] = await Promise.all([get('/status'), get(approvalPath(id))]);
    const isOfOne = ({ connection, target }) => connection === one.connection && target === one.target;
    return [
      h('p', {}, h('a', { href: '#/approvals' }, '← All approvals')),
      isUndecided(one) && note(rows, isOfOne),
      details(one, redraw),
    ];
  }
  const [rows, all] = await Promise.all([get('/status'), get('/approvals?all=true')]);
  const undecided = all.filter(isUndecided);
  const decided = all.filter((approval) => !isUndecided(approval));
  const waiting = await Promise.all(undecided.map((approval) => get(approvalPath(approval.id))));
  return [
    note(rows),
    expiredNotes(rows, undecided),
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
        decided.length > MOST_DECIDED &&
          h(
            'p',
            { class: 'soft' },
            `… and ${(decided.length - MOST_DECIDED).toLocaleString('en')} older: the command approvals list with the option all lists them`,
          ),
      ),
  ]
    .flat()
    .filter(Boolean);
}

/** Tells of expired changes whose approval is not listed, because a newer one of the target is listed. */
const expiredNotes = (rows, undecided) =>
  rows
    .filter(({ connection, target, guard: { approvalExpired } }) => {
      const isOfRow = (approval) => approval.connection === connection && approval.target === target;
      return (
        approvalExpired && !undecided.some((approval) => isOfRow(approval) && approval.state === 'expired')
      );
    })
    .map(({ connection, target, guard: { approvalExpired } }) =>
      h('p', {}, `${connection} → ${target}: `, advised(approvalExpired)),
    );

const decision = (approval) =>
  h(
    'li',
    {},
    h(
      'div',
      { class: 'grow' },
      h('a', { href: `#/approvals/${encodeURIComponent(approval.id)}` }, changeCounts(approval)),
      h(
        'p',
        { class: 'soft' },
        `${approval.connection} → ${approval.target}, by ${approval.by}, `,
        ago(approval.at),
      ),
      stillRejected(approval),
      unwritten(approval),
      h('code', {}, approval.id),
      approval.selection && h('p', { class: 'soft' }, approval.selection),
      approval.note && h('p', { class: 'soft' }, `Note: ${approval.note}`),
    ),
    pill(TONES[approval.state], approval.state),
  );

/** Tells how many changes of a rejection are still rejected, with the words of the command. */
const stillRejected = ({ stillRejected: left, total }) =>
  left !== undefined && h('p', { class: 'soft' }, `still rejected: ${left} of ${total}`);

/** Tells how many changes of an approval are not written, and when it ends; the guard then judges them anew. */
const unwritten = ({ unwritten: left, total, expiresAt, leftMs }) =>
  left !== undefined &&
  h(
    'p',
    { class: 'soft' },
    `not written: ${left} of ${total}; the approval `,
    leftMs > 0 ? 'ends ' : 'ended ',
    ago(expiresAt),
    ', and the guard judges anew what is not written by then',
  );

/** Returns words about the end of held changes. An expired approval is shown until the guard has judged its changes anew. */
const expiry = ({ expiresAt, leftMs, endOfHold }) => [
  ...(leftMs > 0
    ? ['expires ', ago(expiresAt), ', then the guard judges its changes anew']
    : ['expired ', ago(expiresAt), ': it cannot be decided any more, the guard judges its changes anew']),
  endOfHold
    ? [' after the end of the hold of the target: ', advised(endOfHold)]
    : ', each with its next sync',
];

function details(approval, redraw) {
  const { id, connection, target, state, openedAt, selection, note, limits } = approval;
  return h(
    'section',
    { class: 'card', 'aria-label': `Approval ${id}` },
    h('div', { class: 'head' }, h('h2', {}, `${connection} → ${target}`), pill(TONES[state], state)),
    h('p', {}, h('strong', {}, changeCounts(approval))),
    h(
      'p',
      { class: 'soft' },
      isUndecided(approval)
        ? ['Opened ', ago(openedAt), ', ', expiry(approval)]
        : [`By ${approval.by}, `, ago(approval.at)],
      h('br'),
      h('code', {}, id),
    ),
    stillRejected(approval),
    unwritten(approval),
    selection && h('p', {}, selection),
    note && h('p', {}, `Note: ${note}`),
    (approval.firstApprovals ?? []).map((first) => firstApproval(first, redraw)),
    limits.map(limitOf),
    changes(approval),
    (state === 'held' || state === 'rejected') && decide(approval, redraw),
  );
}

/** Shows the limit for changes of one kind. `used`: number that the guard allowed within the window; `usedBy`: the newest ones. */
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
      `Limit: ${count(allowance, ...CHANGE_LABELS[kind])} within ${duration(windowMs)}; ${used} counted, ${held} held`,
    ),
    h(
      'p',
      { class: 'soft' },
      `The settings allow ${most}, and ${percent} % of ${population} ${POPULATIONS[kind]}. ${waiting} more accepted and not written yet. `,
      used + waiting + held <= allowance &&
        `All of these fit the limit now: what is held still waits for a decision or the expiry, and further changes that fit are written${kind === 'delete' ? '; the deletion of a group is held with the removals of its members' : ''}. `,
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

/** Shows the changes page by page. Of a decided approval the service keeps the first page only. */
function changes(approval) {
  const list = h('ol', {}, approval.items.map(itemOf));
  /** Offset of the next page. */
  let next = approval.items.length;
  const rest = h('p', { class: 'soft' });
  const more = actionButton('Show more', async () => {
    const page = await get(approvalPath(approval.id, `?offset=${next}&limit=${SHOWN}`));
    list.append(...page.items.map(itemOf));
    // An empty page: the other changes were decided meanwhile.
    next = page.items.length === 0 ? approval.total : next + page.items.length;
    tell();
  });
  function tell() {
    const left = approval.total - next;
    rest.textContent = left > 0 ? `… and ${left.toLocaleString('en')} more` : '';
    more.hidden = left <= 0 || !isUndecided(approval);
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
const whyOf = ({ name, mail, reason, ref, since }) => [
  mail && mail !== name ? `${mail}: ${reason}` : reason,
  ...(since
    ? [`; the first held change of the ${ref.startsWith('Group:') ? 'group' : 'person'} is from `, ago(since)]
    : []),
];
