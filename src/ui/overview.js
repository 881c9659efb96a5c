// Each target: how far behind, what stands in the way, and the orders that concern all of it.
import { get, operator, post } from './api.js';
import { comparison } from './comparison.js';
import { act, ago, confirmed, count, duration, h, pill, say } from './dom.js';

export async function overview({ again }) {
  const [rows, operations] = await Promise.all([get('/status'), get('/operations')]);
  return [
    ...fleetNotes(rows[0]?.fleet),
    h(
      'div',
      { class: 'targets' },
      rows.map((row) => targetCard(row, again)),
    ),
    await comparison(operations, again),
  ];
}

/** Processes of the service, and what is wrong with them. */
function fleetNotes(fleet) {
  if (!fleet) return [];
  const { processes, findings } = fleet;
  return [
    h(
      'section',
      { class: 'card', 'aria-label': 'Processes' },
      h('div', { class: 'head' }, h('h2', {}, 'Processes'), fleetPill(findings)),
      h(
        'ul',
        { class: 'notes' },
        [
          ...findings.map(({ message }) => message),
          ...processes.map(({ role, host, version, silent, lastBeatAt }) => [
            `${role} ${host}, version ${version}, ${silent ? 'silent, ' : ''}last beat `,
            ago(lastBeatAt),
          ]),
        ].map((note) => h('li', {}, note)),
      ),
    ),
  ];
}

function fleetPill(findings) {
  if (findings.some(({ level }) => level === 'error')) return pill('bad', 'A role is missing');
  return findings.length > 0 ? pill('warn', 'Look at it') : pill('good', 'All roles run');
}

const missingIn = ({ coverage: { users, groups } }) => users.missing + groups.missing;

/** The worst first: one word for the whole target. */
function stateOf(row) {
  const { hold, breaker, blocked, guard, dirty } = row;
  if (hold) return pill('warn', 'On hold');
  if (breaker.open) return pill('bad', 'Platform does not answer');
  if (missingIn(row) > 0) return pill('bad', 'Somebody is missing');
  if (blocked > 0) return pill('bad', 'Needs a person');
  if (guard.held > 0) return pill('warn', 'Waits for approval');
  if (dirty > 0) return pill('info', 'Catching up');
  return pill('good', 'In step');
}

function targetCard(row, again) {
  const { connection, target, dirty, inflight, blocked, oldestMs, guard } = row;
  return h(
    'section',
    { class: 'card', 'aria-label': `${connection} to ${target}` },
    h(
      'div',
      { class: 'head' },
      h('h2', {}, connection, h('span', { class: 'arrow' }, ' → '), target),
      stateOf(row),
    ),
    h(
      'p',
      { class: 'soft' },
      `${count(row.coverage.users.desired, 'user', 'users')} and ${count(row.coverage.groups.desired, 'group', 'groups')} desired`,
    ),
    h(
      'dl',
      { class: 'figures' },
      figure('Not applied', dirty, dirty > 0 && 'info'),
      figure('Lag', oldestMs > 0 ? duration(oldestMs) : '0', oldestMs > 60_000 && 'warn'),
      figure('Under way', inflight),
      figure('Need a person', blocked, blocked > 0 && 'bad', '#/dead-letters'),
      figure('Held by guard', guard.held, guard.held > 0 && 'warn', '#/approvals'),
      figure('Linked', row.coverage.users.linked + row.coverage.groups.linked),
      figure('Missing', missingIn(row), missingIn(row) > 0 && 'bad'),
      figure('Exceptions', row.exceptions.total, row.exceptions.total > 0 && 'bad', '#/exceptions'),
      figure('Drift', driftOf(row), driftOf(row) > 0 && 'warn'),
    ),
    priorities(row),
    h(
      'ul',
      { class: 'notes' },
      notes(row).map((note) => h('li', {}, note)),
    ),
    orders(row, again),
  );
}

const driftOf = ({ reconcile: { last } }) => (last?.drift ?? []).reduce((sum, each) => sum + each.count, 0);

const figure = (name, value, tone, href) =>
  h(
    'div',
    {},
    h('dt', {}, name),
    h('dd', { class: tone || undefined }, href && value ? h('a', { href }, value) : String(value)),
  );

const PRIORITIES = { deactivation: 'Deactivations', edit: 'Edits', new: 'New', reconcile: 'Reconcile' };

function priorities({ priorities: waiting }) {
  const total = Object.values(waiting).reduce((sum, each) => sum + each, 0);
  return h(
    'div',
    { class: 'priorities' },
    Object.entries(PRIORITIES).map(([priority, name]) =>
      h(
        'div',
        {},
        h('span', {}, name),
        h('meter', {
          min: 0,
          max: Math.max(1, total),
          value: waiting[priority],
          'aria-label': `${name} waiting`,
        }),
        h('span', { class: 'number' }, waiting[priority]),
      ),
    ),
  );
}

function notes({ hold, hasMoved, breaker, reconcile: { last } }) {
  const found = [];
  if (hold) found.push([`On hold by ${hold.by}, `, ago(hold.since), hold.note ? `: ${hold.note}` : '']);
  if (hasMoved)
    found.push('The address changed: nothing is written before a reconcile has recognised the accounts');
  if (breaker.open)
    found.push([
      `Breaker open: ${breaker.status ? `answers ${breaker.status}` : 'no answer'}, only probes go out`,
    ]);
  else found.push('Breaker closed: the platform answers');
  if (!last) found.push('Not compared yet');
  else
    found.push([
      'Compared ',
      ago(last.endedAt),
      `: ${last.outcome}${last.message ? `, ${last.message}` : ''}`,
    ]);
  return found;
}

function orders({ connection, target, hold }, again) {
  const by = operator();
  const start = (path, said) => async () => {
    await post(path, { target, by });
    say(said);
    again();
  };
  const where = `${connection} → ${target}`;
  const pause = async () => {
    if (
      !(await confirmed(
        'Stop all writes?',
        `Nothing is written to ${target} until you release it. Pushes are still accepted.`,
        'Hold',
        { danger: true },
      ))
    )
      return;
    await post('/hold', { target, by });
    say(`${where} is on hold.`);
    again();
  };
  const release = async () => {
    if (
      !(await confirmed(
        'Release?',
        `What has gathered for ${target} meanwhile is written, as it is desired now. The guard holds what takes away too much.`,
        'Release',
      ))
    )
      return;
    await post('/release', { target, by });
    say(`${where} is released.`);
    again();
  };
  const repair = async () => {
    if (
      await confirmed(
        'Reconcile now?',
        `Everything at ${target} is compared with what is desired, and what differs is repaired. The guard holds what takes away too much.`,
        'Reconcile',
      )
    )
      await start('/reconcile', 'Reconcile has begun.')();
  };
  const resync = async () => {
    if (
      !(await confirmed(
        'Look at everybody again?',
        `All users and groups are marked for ${target}, behind all other work. Only what differs is written.`,
        'Resync',
      ))
    )
      return;
    const marked = await post('/resync', { target, by });
    say(`${count(marked.count, 'resource', 'resources')} will be looked at again.`);
    again();
  };
  return h(
    'div',
    { class: 'acts' },
    act('Compare', start('/plan', 'The comparison has begun.'), { class: 'main', right: 'operate' }),
    act('Reconcile', repair, { right: 'operate' }),
    act('Resync', resync, { right: 'operate' }),
    hold
      ? act('Release', release, { class: 'main', right: 'operate' })
      : act('Hold', pause, { right: 'operate' }),
  );
}
