// Shows long operations with their progress; a comparison can be applied and saved as a file.
import { operator, post } from './api.js';
import { actionButton, advised, ago, confirmed, h, pill, say } from './dom.js';
import { saveText } from './log-download.js';
import { planDiff } from './plan-diff.js';

const TONES = { running: 'info', succeeded: 'good', failed: 'bad', cancelled: 'warn', lost: 'bad' };
const GOOD = ['converged', 'no changes', 'no faults', 'repaired'];

/**
 * @param again reads the operations anew after an order
 * @param readPlan reads a finished comparison by its operation
 */
export async function comparison(operations, again, readPlan) {
  if (operations.length === 0) return null;
  const place = operations.findIndex(({ kind, state }) => kind === 'plan' && state === 'succeeded');
  const plan = place < 0 ? undefined : await readPlan(operations[place].id);
  // Operations are listed newest first.
  const isOlder = operations.slice(0, place).some(({ kind }) => kind === 'apply' || kind === 'reconcile');
  return h(
    'section',
    { class: 'card', 'aria-label': 'Comparisons' },
    h('h2', {}, 'Comparisons'),
    h(
      'ul',
      { class: 'rows' },
      operations.slice(0, 5).map((operation) => line(operation, again)),
    ),
    plan?.result &&
      h(
        'p',
        { class: 'soft', hidden: !isOlder },
        'Other work has begun since this comparison: it may be out of date.',
      ),
    plan?.result && plan.result.plans.map((each, index) => planDiff(each, `${plan.id} ${index}`)),
    plan?.result && actsOf(plan, again),
  );
}

function line(operation, again) {
  const { id, kind, state, by, startedAt, progress, outcome, message } = operation;
  const running = progress.at(-1);
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
      running &&
      h(
        'label',
        { class: 'progress' },
        `${running.phase} `,
        h('progress', { max: Math.max(1, running.total), value: running.done }),
      ),
    state === 'succeeded'
      ? pill(GOOD.includes(outcome) ? 'good' : 'warn', outcome)
      : pill(TONES[state], state),
    state === 'running' &&
      actionButton(
        'Cancel',
        async () => {
          await post(`/operations/${id}/cancel`);
          say('It ends at its next step.');
          again();
        },
        { right: 'operate' },
      ),
  );
}

const actsOf = (plan, again) =>
  h(
    'div',
    { class: 'acts', 'data-key': plan.id },
    plan.outcome === 'changes' && applying(plan, again),
    actionButton('Save as a file', async () => saveText(JSON.stringify(plan.result), `plan-${plan.id}.json`)),
  );

const applying = (plan, again) =>
  actionButton(
    'Apply exactly this',
    async () => {
      if (
        !(await confirmed(
          'Apply this plan?',
          'Exactly these changes are made. If a resource of the plan has changed since, nothing is written.',
          'Apply',
        ))
      )
        return;
      await post('/apply', { operation: plan.id, by: operator() });
      say('The plan is being applied.');
      again();
    },
    { class: 'main', right: 'operate' },
  );
