// Shows for one person or group why it is, or is not, as desired at each target. The address contains a ref, never a name.
import { get, order, post } from './api.js';
import { access } from './checks.js';
import {
  actionButton,
  advised,
  ago,
  bidi,
  count,
  empty,
  h,
  noteList,
  personLink,
  pill,
  say,
  table,
} from './dom.js';
import { onStatus } from './live.js';
import { patch } from './patch.js';
import { searchForm } from './search.js';
import { stateLinks } from './states.js';

/** Tone of the label of a verdict; the others are calm. */
const TONES = {
  asDesired: 'good',
  onItsWay: 'info',
  held: 'warn',
  stopped: 'warn',
  needsPerson: 'bad',
  differs: 'warn',
};
/** Words of each verdict (src/explain/explanation.ts). */
const WORDS = {
  asDesired: 'As desired',
  onItsWay: 'On its way',
  held: 'Held',
  stopped: 'Stopped',
  needsPerson: 'Needs a person',
  leftAlone: 'Left alone',
  notForTarget: 'Not for this target',
  differs: 'Differs',
  gone: 'Gone',
};

const MEMBERSHIPS = {
  applied: 'applied',
  toAdd: 'to be added',
  toRemove: 'to be removed',
  notForTarget: 'left alone at this target',
};
/** Number of memberships that are listed. */
const MOST_MEMBERSHIPS = 200;

export async function people({ signal }) {
  const links = stateLinks(await get('/status'));
  onStatus((rows) => patch(links, stateLinks(rows)), signal);
  return searchForm(links, signal);
}

/** Shows one person or group: a card for each target. @param view.id ref or id */
export async function person({ id, redraw, signal }) {
  const back = h('p', {}, h('a', { href: '#/people' }, '← People and groups'));
  const read = async (readPlatform) =>
    h(
      'div',
      {},
      (await post('/explain', { resource: id, readPlatform }, signal)).map((each) =>
        card(each, redraw, readPlatform),
      ),
    );
  try {
    // The platform may be slow, so the view is shown without a read, and changed in place when the platform was read.
    const cards = await read(false);
    read(true).then(
      (fresh) => signal.aborted || patch(cards, fresh),
      (error) => signal.aborted || say(error.message, 'bad'),
    );
    return [back, cards];
  } catch (error) {
    if (error.status !== 404) throw error;
    return [back, empty('Nobody is known by this name or id', error.message)];
  }
}

/** Shows the explanation at one target. @param isRead whether the platform was asked for it, not only Redis */
function card(each, redraw, isRead) {
  const { connection, target, kind, name, ref, verdict, summary, reasons, values, memberships } = each;
  const { timeline, isLogCut, members } = each;
  const shown = memberships.slice(0, MOST_MEMBERSHIPS);
  // Of a group the answer has only the first pending members, and the numbers of all.
  const pending = memberships.filter(({ state }) => state === 'toAdd' || state === 'toRemove').length;
  const undescribed = members ? Math.max(0, members.toAdd + members.toRemove - pending) : 0;
  const left = memberships.length - shown.length + undescribed;
  return h(
    'section',
    {
      class: 'card',
      'aria-label': `${name} at ${target}`,
      'data-key': `${connection} ${target} ${ref}`,
    },
    h(
      'div',
      { class: 'head' },
      h('h2', { dir: 'auto' }, name),
      pill(TONES[verdict] ?? 'calm', WORDS[verdict] ?? verdict),
    ),
    h(
      'p',
      { class: 'soft' },
      `${kind === 'User' ? 'Person' : 'Group'}, ${connection} → ${target} `,
      h('code', {}, ref),
    ),
    h('p', { class: 'lead' }, advised(summary)),
    // Always an element: the read of the platform may add the first reason, and patch.js keeps the listeners of buttons by place.
    h('div', {}, reasons.length > 0 && noteList(reasons.map(advised))),
    syncButton(ref, target, redraw),
    kind === 'User' && access(ref, connection, target, name),
    values.length > 0 && [
      h('h3', {}, 'Values'),
      h('p', { class: 'soft' }, platformNote(each, isRead)),
      table(
        'Values',
        ['Name', 'Desired', 'At the platform', 'Last applied', 'State'],
        values.map((value) => valueCells(value, isRead)),
      ),
    ],
    memberships.length > 0 && [
      h('h3', {}, kind === 'User' ? 'Groups' : 'Members not equal yet'),
      byCause(shown).map(membershipsOfCause),
      left > 0 && h('p', { class: 'soft' }, `… and ${count(left, 'more', 'more')}`),
    ],
    h('h3', {}, 'Timeline'),
    h(
      'p',
      {},
      h('a', { href: `#/log?resource=${encodeURIComponent(ref)}` }, 'All log entries'),
      isLogCut && ' The timeline may lack older ones.',
    ),
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

/** Returns the memberships of each state and cause: a leaver has one cause for all groups. */
const byCause = (memberships) => [
  ...Map.groupBy(memberships, ({ state, because }) => JSON.stringify([state, because])).values(),
];

function membershipsOfCause(some) {
  const [{ state, because }] = some;
  return [
    h(
      'p',
      { class: 'soft', dir: 'auto' },
      pill(state === 'applied' ? 'good' : 'info', `${some.length} ${MEMBERSHIPS[state] ?? state}`),
      because && [' ', advised(because)],
    ),
    h(
      'ul',
      { class: 'chips' },
      some.map(({ ref, name }) => h('li', {}, personLink(ref, name))),
    ),
  ];
}

function valueCells({ name, desired, applied, state, observed }, isRead) {
  // The state says what is wrong with a value that cannot be mapped.
  const isOther =
    state !== 'unmappable' && observed !== undefined && JSON.stringify(observed) !== JSON.stringify(desired);
  return [
    name,
    bidi(desired),
    observed === undefined ? h('span', { class: 'soft' }, isRead ? 'not read' : '…') : bidi(observed),
    bidi(applied),
    pill(isOther || state !== 'equal' ? 'warn' : 'good', isOther ? 'differs' : state),
  ];
}

/** Returns words about the read of the platform: not finished, none, failed, or its time. */
function platformNote({ platform, link, target, fleet }, isRead) {
  if (!isRead) return `Reading ${target} …`;
  if (!platform) return link.platformId === null ? `Nothing is linked at ${target} yet.` : '';
  // The service counts each call in Redis, so it makes none while Redis takes no writes.
  if (platform.state === 'unread' && fleet.some(({ finding }) => finding === 'redisRefuses'))
    return `${target} was not read, because Redis takes no writes.`;
  if (platform.state === 'unread')
    return `${target} could not be read now${platform.why ? `: ${platform.why}` : ''}.`;
  return [`Read from ${target} `, ago(platform.at), '.'];
}

/** Creates the button that syncs a resource at one target. */
function syncButton(resource, target, redraw) {
  const sync = async () => {
    const [{ outcome, message }] = await order('/sync', { resource, target });
    const hasException = outcome === 'equal' && message;
    say(
      `${hasException ? 'Nothing more to do' : (OUTCOMES[outcome] ?? outcome)}${message ? `: ${message}` : ''}`,
    );
    await redraw();
  };
  const question = {
    title: 'Sync now?',
    text: 'It is compared with the platform, and what differs is written.',
    action: 'Sync',
  };
  return h(
    'div',
    { class: 'buttons' },
    actionButton('Sync now', sync, { class: 'main', needsRight: 'operate', question }),
  );
}

const OUTCOMES = {
  equal: 'As desired',
  held: 'Held',
  waiting: 'Still on its way',
  needsPerson: 'Needs a person',
};
