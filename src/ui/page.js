// Switches between the views, and shows who is signed in.
import { canSignOut, findCaller, hasToken, isSignedIn, readWays, signOut } from './api.js';
import { doctor } from './checks.js';
import { actionButton, advised, h, say } from './dom.js';
import { deadLetters } from './dead-letters.js';
import { exceptions } from './exceptions.js';
import { onStatus, startLive, stopLive } from './live.js';
import { log } from './log.js';
import { mapping } from './mapping.js';
import { overview } from './overview.js';
import { people, person } from './people.js';
import { approvals } from './approvals.js';
import { acts } from './acts.js';
import { signInForm, returnPlace } from './sign-in.js';
import { tokens } from './tokens.js';
import { waiting } from './waiting.js';

/**
 * `draw` returns the content of a view. `redraw` draws the view again, for example after an order; `signal` is aborted when
 * the view is left. `within`: the view has no link of its own in the navigation.
 */
const VIEWS = {
  overview: { title: 'Overview', draw: overview },
  approvals: { title: 'Approvals', draw: approvals },
  'dead-letters': { title: 'Dead letters', draw: deadLetters },
  exceptions: { title: 'Exceptions', draw: exceptions },
  people: { title: 'People and groups', draw: people },
  person: { title: 'Person or group', draw: person, within: 'people' },
  waiting: { title: 'Waiting', draw: waiting, within: 'people' },
  log: { title: 'Log', draw: log },
  acts: { title: 'Acts', draw: acts },
  tokens: { title: 'Tokens', draw: tokens },
  mapping: { title: 'Mapping', draw: mapping },
  doctor: { title: 'Doctor', draw: doctor },
};

/** Rights beyond reading, and the role that gives each. */
const ROLES = [
  ['operate', 'operator'],
  ['approve', 'approver'],
];

/** After this time a view that is not read yet says so. */
const SLOW_MS = 300;
/** No answer, and no Redis: the view is read again as soon as the status is. */
const TRIED_AGAIN = new Set([0, 503]);

const main = document.getElementById('view');
const nav = document.getElementById('nav');
const signOutButton = document.getElementById('leave');
const callerText = document.getElementById('who');
let drawing = 0;
let shown = new AbortController();

// The address names a view, an approval or filters, never a person by name.
const placeOf = () => {
  const [path, filters] = location.hash.slice(2).split('?');
  const [name, id] = path.split('/');
  const query = new URLSearchParams(filters);
  return VIEWS[name] ? { name, id: id && decodeURIComponent(id), query } : { name: 'overview', query };
};

async function show({ focus = false } = {}) {
  nav.hidden = callerText.hidden = !isSignedIn();
  signOutButton.hidden = !canSignOut();
  shown.abort();
  if (!isSignedIn()) return showSignIn();
  startLive();
  shown = new AbortController();
  const { signal } = shown;
  const { name, id, query } = placeOf();
  const { title, draw, within } = VIEWS[name];
  document.title = `${title} · scim-bridge`;
  for (const link of nav.children) {
    if (link.dataset.view === (within ?? name)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const mine = ++drawing;
  const isOther = focus || main.dataset.view !== name;
  const put = (...content) => {
    const hadFocus = focus || main.contains(document.activeElement);
    main.replaceChildren(h('h1', {}, title), ...content);
    // A control that is gone must not take the place of the keyboard with it.
    if (hadFocus) main.focus({ preventScroll: true });
    if (focus) scrollTo(0, 0);
  };
  const slow = setTimeout(() => {
    if (mine === drawing && isOther) put(h('p', { class: 'soft', role: 'status' }, 'Reading …'));
  }, SLOW_MS);
  try {
    const content = await draw({ id, query, signal, redraw: () => show() });
    if (mine !== drawing) return;
    put(...[content].flat().filter(Boolean));
    main.dataset.view = name;
  } catch (error) {
    if (mine !== drawing || !isSignedIn()) return;
    // The content that is shown already stays, with a message.
    if (!isOther) return say(error.message, 'bad');
    delete main.dataset.view;
    put(failure(error, () => show({ focus: true })));
    if (TRIED_AGAIN.has(error.status)) onStatus(() => show({ focus: true }), signal);
  } finally {
    clearTimeout(slow);
  }
}

const failure = ({ message }, redraw) =>
  h(
    'div',
    { class: 'empty', role: 'alert' },
    h('strong', {}, 'This view cannot be shown'),
    h('p', {}, advised(message)),
    actionButton('Try again', redraw, { class: 'main' }),
  );

/** Shows the sign-in form until the user is signed in. */
async function showSignIn() {
  stopLive();
  delete main.dataset.view;
  document.title = 'Sign in · scim-bridge';
  main.replaceChildren(...(await signInForm(enter)));
  main.querySelector('button, input')?.focus();
}

/** The operator may be signed in by a session or a proxy; otherwise only by the token of this tab. */
async function begin() {
  const { openid, proxy } = await readWays();
  if (openid || proxy || hasToken()) await enter();
  else await show();
}

/** @throws Error when the service does not know the caller */
async function enter() {
  const { name, rights } = await findCaller();
  callerText.textContent = [
    name,
    name && ROLES.filter(([right]) => rights.includes(right)).map(([, role]) => role),
  ]
    .flat()
    .filter(Boolean)
    .join(', ');
  show({ focus: true });
}

nav.append(
  ...Object.entries(VIEWS)
    .filter(([, { within }]) => within === undefined)
    .map(([name, { title }]) => h('a', { href: `#/${name}`, 'data-view': name }, title)),
);
signOutButton.addEventListener('click', async () => {
  await signOut().catch((error) => say(`You are still signed in: ${error.message}`, 'bad'));
  show();
});
addEventListener('hashchange', () => {
  // The message belongs to the view that is left.
  say('');
  show({ focus: true });
});
addEventListener('signed-out', () => show());
returnPlace();
begin().catch((error) => {
  show();
  // Without a signed-in person only the sign-in form is shown, and status 401 is no fault.
  if (error.status !== 401) say(error.message, 'bad');
});
