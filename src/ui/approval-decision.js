// Sends the decision of an operator about an approval: of all changes, of a part, or as the second person.
import { get, isAuthor, order } from './api.js';
import { changeCounts, approvalPath } from './approval-counts.js';
import { actionButton, ago, confirmed, count, field, h, say, select } from './dom.js';

/** Words for each action, before the decision and after it. */
const TITLES = { approve: 'Approve', reject: 'Reject', withdraw: 'Withdraw' };
const DONE = { approve: 'Approved', reject: 'Rejected', withdraw: 'Withdrawn' };
/** Text for an `outcome` of the service that decided nothing yet; other answers are decisions. */
const OUTCOMES = {
  noted: 'Noted. Nothing is written before a second person approves the same.',
  retracted: 'The first approval is taken back.',
};
const ON_HOLD = ' Nothing is written before the end of the hold of the target.';
/** Causes of changes by which a part is selected, as the API names them, in words. */
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

/**
 * Shows a first approval, which counts only when a second person approves too.
 * @param redraw draws the view of the approvals again after a decision
 */
export function firstApproval(first, redraw) {
  const { id, by, at, expiresAt, total, selection, note } = first;
  const decideFirst = (action) => async () => {
    const { outcome, items: decided } = await order(approvalPath(id, `/${action}`));
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
      '. A second person has to approve the same: the first approval ends ',
      ago(expiresAt),
      '.',
    ),
    selection && h('p', {}, selection),
    note && h('p', {}, `Note: ${note}`),
    h(
      'div',
      { class: 'buttons' },
      h('a', { href: `#/approvals/${encodeURIComponent(id)}` }, 'See these changes'),
      !isAuthor(first) &&
        actionButton('Approve as second person', decideFirst('approve'), {
          class: 'danger',
          needsRight: 'approve',
          question: {
            title: 'Approve as second person?',
            text: `${by} approved ${count(total, 'change', 'changes')}. Exactly the ones that still wait are carried out at the platform.`,
            action: 'Approve as second person',
            danger: true,
          },
        }),
      actionButton('Take it back', decideFirst('withdraw'), {
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

const consequence = ({ approvers }) =>
  approvers > 1
    ? 'It is carried out once a second person has approved the same.'
    : 'Exactly this is carried out at the platform.';

/**
 * Creates the controls of a decision: filters for a part, a note, and a button for each action.
 * @param redraw draws the view of the approvals again after a decision
 */
export function decide(approval, redraw) {
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
    const now = await get(approvalPath(approval.id, `?${query}limit=1`));
    if (now.state !== approval.state) {
      await redraw();
      throw new Error(
        now.state === 'expired'
          ? 'This has expired meanwhile.'
          : `This was ${now.state} by ${now.by} meanwhile.`,
      );
    }
    const left = now.state === 'held' ? now.matching : now.stillRejected;
    if (left === 0) throw new Error('No change of this list fits what is selected, or waits any more.');
    const meant =
      given.length > 0 && now.state !== 'held'
        ? // The service counts by filters only the changes of a held approval.
          'The selected part'
        : left < now.total
          ? `${count(left, 'change', 'changes')} of ${now.total.toLocaleString('en')}`
          : changeCounts(now);
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
      endOfHold,
    } = await order(approvalPath(approval.id, `/${action}`), {
      ...(note.value.trim() === '' ? {} : { note: note.value.trim() }),
      // An order takes lists: `persons`, `groups`, `causes`.
      ...Object.fromEntries(given.map(([name, value]) => [`${name}s`, [value]])),
    });
    const part = decided < left && given.length === 0 ? ` of ${left.toLocaleString('en')}` : '';
    say(
      OUTCOMES[outcome] ??
        (decided === 0
          ? 'Nothing was decided: no such change waits any more.'
          : `${DONE[action]}: ${count(decided, 'change', 'changes')}${part}; ${remaining} still held.${endOfHold && action !== 'reject' ? ON_HOLD : ''}`),
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
