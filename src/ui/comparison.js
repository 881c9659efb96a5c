// Shows long operations with their progress; a comparison can be applied and saved as a file. A `data-key` names the data on which
// the buttons in an element depend: with another key the element is drawn anew (patch.js).
import { order, post } from './api.js';
import { actionButton, advised, ago, h, pill, say } from './dom.js';
import { saveText } from './log-download.js';
import { planDiff } from './plan-diff.js';

/** Tone of each state but `succeeded`, whose tone depends on the outcome. */
const TONES = { running: 'info', failed: 'bad', cancelled: 'warn', lost: 'bad' };
/** Number of operations that are listed. */
const MOST_OPERATIONS = 5;
/** Outcomes of a success after which nothing is left to do. */
const GOOD = ['converged', 'no faults', 'repaired'];
/** Tone and text of a comparison after which nothing would be written. There may be exceptions and conflicts. */
const NOTHING_TO_WRITE = ['calm', 'nothing to write'];

/** Returns tone and text of the label of an operation that has succeeded. */
function outcomeLabel(outcome) {
  if (outcome === 'no changes') return NOTHING_TO_WRITE;
  return [GOOD.includes(outcome) ? 'good' : 'warn', outcome];
}

/**
 * Shows the last operations, and the newest finished comparison, which is the operation of the kind `plan`.
 * @param redraw draws the operations again after an order
 * @param plan the newest finished comparison, with its result; undefined: none
 * @returns null when there are no operations
 */
export function comparison(operations, redraw, plan) {
  if (operations.length === 0) return null;
  // Operations are listed newest first.
  const newer = plan
    ? operations.slice(
        0,
        operations.findIndex(({ id }) => id === plan.id),
      )
    : [];
  const hasNewerWork = newer.some(({ kind }) => kind === 'apply' || kind === 'reconcile');
  return h(
    'section',
    { class: 'card', 'aria-label': 'Comparisons' },
    h('h2', {}, 'Comparisons'),
    h(
      'ul',
      { class: 'rows' },
      operations.slice(0, MOST_OPERATIONS).map((operation) => line(operation, redraw)),
    ),
    plan?.result &&
      h(
        'p',
        { class: 'soft', hidden: !hasNewerWork },
        'Other work has begun since this comparison: it may be out of date.',
      ),
    plan?.result && plan.result.plans.map((each, place) => planDiff(each, `${plan.id} ${place}`)),
    plan?.result && buttonsOf(plan, redraw),
  );
}

function line(operation, redraw) {
  const { id, kind, state, by, startedAt, progress, outcome, message } = operation;
  const current = progress.at(-1);
  return h(
    'li',
    { 'data-key': `${id} ${state}` },
    h(
      'div',
      { class: 'grow' },
      h('strong', {}, kind),
      ` by ${by}, `,
      ago(startedAt),
      message && h('p', { class: 'soft' }, advised(message)),
    ),
    state === 'running' &&
      current &&
      h(
        'label',
        { class: 'progress' },
        `${current.phase} `,
        // The largest value has to be above 0; the total is 0 before it is known.
        h('progress', { max: Math.max(1, current.total), value: current.done }),
      ),
    state === 'succeeded' ? pill(...outcomeLabel(outcome)) : pill(TONES[state], state),
    state === 'running' &&
      actionButton(
        'Cancel',
        async () => {
          await post(`/operations/${id}/cancel`);
          say('It ends at its next step.');
          redraw();
        },
        { needsRight: 'operate' },
      ),
  );
}

const buttonsOf = (plan, redraw) =>
  h(
    'div',
    { class: 'buttons', 'data-key': plan.id },
    plan.outcome === 'changes' && applyButton(plan, redraw),
    actionButton('Save as a file', async () => saveText(JSON.stringify(plan.result), `plan-${plan.id}.json`)),
  );

const applyButton = (plan, redraw) =>
  actionButton(
    'Apply exactly this',
    async () => {
      await order('/apply', { operation: plan.id });
      say('The plan is being applied.');
      redraw();
    },
    {
      class: 'main',
      needsRight: 'operate',
      question: {
        title: 'Apply this plan?',
        text: 'Exactly these changes are made. If a resource of the plan has changed since, nothing is written.',
        action: 'Apply',
      },
    },
  );
