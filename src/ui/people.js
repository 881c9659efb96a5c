// Shows for one person or group why it is, or is not, as desired at each target. The address contains a ref, never a name.
import { operator, post } from './api.js';
import { access } from './checks.js';
import { act, ago, confirmed, empty, h, pill, say, shown, table } from './dom.js';
import { searchForm } from './search.js';

const TONES = {
  asDesired: 'good',
  onItsWay: 'info',
  held: 'warn',
  stopped: 'warn',
  needsPerson: 'bad',
  differs: 'warn',
};
const WORDS = {
  ...{
    asDesired: 'As desired',
    onItsWay: 'On its way',
    held: 'Held',
    stopped: 'Stopped',
    needsPerson: 'Needs a person',
  },
  ...{ leftAlone: 'Left alone', notForTarget: 'Not for this target', differs: 'Differs', gone: 'Gone' },
};

export const people = () => searchForm();

/** Shows one person or group: a card for each target. @param view.id ref or id */
export async function person({ id, again }) {
  const back = h('p', {}, h('a', { href: '#/people' }, '← People and groups'));
  try {
    const all = await post('/explain', { resource: id });
    const logs = h('a', { href: `#/log?resource=${encodeURIComponent(all[0].ref)}` }, 'All log entries');
    return [back, ...all.map((each) => card(each, again)), h('p', {}, logs)];
  } catch (error) {
    if (error.status !== 404) throw error;
    return [back, empty('Nobody is known so', error.message)];
  }
}

function card(each, again) {
  const { connection, target, kind, name, ref, verdict, summary, reasons, values, memberships, timeline } =
    each;
  return h(
    'section',
    { class: 'card', 'aria-label': `${name} at ${target}` },
    h(
      'div',
      { class: 'head' },
      h('h2', { dir: 'auto' }, name),
      pill(TONES[verdict] ?? 'calm', WORDS[verdict] ?? verdict),
    ),
    h('p', { class: 'soft' }, `${kind}, ${connection} → ${target} `, h('code', {}, ref)),
    h('p', { class: 'lead' }, summary),
    reasons.length > 0 &&
      h(
        'ul',
        { class: 'notes' },
        reasons.map((reason) => h('li', {}, reason)),
      ),
    syncing(ref, target, again),
    kind === 'User' && access(ref, connection, target, name),
    values.length > 0 && [
      h('h3', {}, 'Values'),
      table(
        'Values',
        ['Name', 'Desired', 'Last applied', 'State'],
        values.map((value) => [
          value.name,
          shown(value.desired),
          shown(value.applied),
          pill(value.state === 'equal' ? 'good' : 'warn', value.state),
        ]),
      ),
    ],
    memberships.length > 0 && [
      h('h3', {}, kind === 'User' ? 'Groups' : 'Members not equal yet'),
      h(
        'ul',
        { class: 'chips' },
        memberships.map((group) =>
          h(
            'li',
            { title: group.because },
            group.name,
            ' ',
            pill(group.state === 'applied' ? 'good' : 'info', group.state),
          ),
        ),
      ),
    ],
    h('h3', {}, 'Timeline'),
    h(
      'ol',
      { class: 'timeline' },
      timeline
        .toReversed()
        .map(({ at, event, text }) =>
          h('li', { class: event }, h('strong', {}, event), ' ', ago(at), h('p', {}, text)),
        ),
    ),
  );
}

function syncing(resource, target, again) {
  const told = h('p', { class: 'soft', role: 'status' });
  const look = async () => {
    const [{ differences, pendingGroups }] = await post('/sync', { resource, target, dryRun: true });
    const pending = (differences?.length ?? 0) + Object.keys(pendingGroups).length;
    told.textContent =
      differences === null
        ? 'The platform could not be read.'
        : pending === 0
          ? 'Equal at the platform: nothing would be written.'
          : `${pending} would be written: ${(differences ?? []).map((each) => `${each.action} (${each.reason})`).join('; ')}`;
  };
  const bring = async () => {
    if (
      !(await confirmed(
        'Sync now?',
        'It is compared with the platform, and what differs is written.',
        'Sync',
      ))
    )
      return;
    const [{ outcome, message }] = await post('/sync', { resource, target, by: operator() });
    say(`${outcome}${message ? `: ${message}` : ''}`);
    await again();
  };
  return [
    h(
      'div',
      { class: 'acts' },
      act('Check at the platform', look),
      act('Sync now', bring, { class: 'main', right: 'operate' }),
    ),
    told,
  ];
}
