// Long work: how far it is, and what a comparison found, as a diff that can be read and carried out.
import { get, operator, post } from './api.js';
import { act, ago, confirmed, count, empty, h, pill, say, shown } from './dom.js';

const TONES = { running: 'info', succeeded: 'good', failed: 'bad', cancelled: 'warn', lost: 'bad' };
const GOOD = ['converged', 'no changes', 'no faults', 'repaired'];
const SHOWN = 200;

export async function comparison(operations, again) {
  if (operations.length === 0) return null;
  const newest = operations.find(({ kind, state }) => kind === 'plan' && state === 'succeeded');
  const plan = newest && operations[0].id === newest.id ? await get(`/operations/${newest.id}`) : undefined;
  return h(
    'section',
    { class: 'card', 'aria-label': 'Comparisons' },
    h('h2', {}, 'Comparisons'),
    h(
      'ul',
      { class: 'rows' },
      operations.slice(0, 5).map((operation) => line(operation, again)),
    ),
    plan?.result && plan.result.plans.map((each) => diff(each)),
    plan?.result && plan.outcome === 'changes' && applying(plan, again),
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
      message && h('p', { class: 'soft' }, message),
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
      act(
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

const SIGNS = {
  ...{ deactivate: '−', delete: '−', removeMember: '−', clearAttribute: '−' },
  ...{ create: '+', defineAttribute: '+', adopt: '+', reactivate: '+', addMember: '+' },
  ...{ relink: '~', update: '~', setAttribute: '~', conflict: '!' },
};
const CLASSES = { '−': 'minus', '+': 'plus', '~': 'change', '!': 'change' };

function diff({ connection, target, entries, proof, exceptions }) {
  const changes = entries.filter(({ action }) => action !== 'unmanaged');
  const standing = exceptions.total;
  const unproven = [proof.users, proof.groups].filter(({ complete }) => !complete);
  return h(
    'div',
    { class: 'diff' },
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
    standing > 0 &&
      h(
        'p',
        { class: 'failed' },
        h('a', { href: '#/exceptions' }, count(standing, 'exception', 'exceptions')),
        ', which no run changes until a person acts.',
      ),
    changes.length === 0 && standing === 0 && empty('Equal', 'The platform is as desired.'),
    h('ol', {}, changes.slice(0, SHOWN).map(entryLine)),
    changes.length > SHOWN && h('p', { class: 'soft' }, `… and ${changes.length - SHOWN} more.`),
  );
}

function entryLine({ action, name, member, before, after, reason, attribution, effect }) {
  const sign = SIGNS[action] ?? '?';
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
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
      h('strong', {}, `${action} `),
      member ? `${member.name || member.platformId} in ${name}` : name,
      effect === 'report' && ' (only shown)',
      h('p', { class: 'soft' }, reason + cause),
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

const applying = (plan, again) =>
  h(
    'div',
    { class: 'acts', 'data-key': plan.id },
    act(
      'Apply exactly this',
      async () => {
        if (
          !(await confirmed(
            'Apply this plan?',
            'Exactly these changes are made. If anything has moved since, nothing is.',
            'Apply',
          ))
        )
          return;
        await post('/apply', { operation: plan.id, by: operator() });
        say('The plan is being applied.');
        again();
      },
      { class: 'main', right: 'operate' },
    ),
  );
