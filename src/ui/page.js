// Switches between the views, and shows who is signed in.
import { canSignOut, findCaller, hasToken, isSignedIn, readWays, signOut } from './api.js';
import { doctor } from './checks.js';
import { actionButton, advised, h, renewAges, ROLE_FOR, say } from './dom.js';
import { deadLetters } from './dead-letters.js';
import { forgetTyped, keepTyped, restoreTyped } from './drafts.js';
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
 * `draw` returns the elements of a view, false for a part that is not shown. It gets `id` and `query` of the address. `redraw`
 * draws the view again, for example after an order; `signal` is aborted when the view is left. `within`: the view has no link of
 * its own in the navigation, and the link of the view with this name is shown as current.
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

/** Time after which a view whose content is not read yet says so. */
const SLOW_MS = 300;
/** Statuses of no answer (0, by a proxy 502 and 504) and of no Redis (503): the view is read again with the next live status. */
const TRIED_AGAIN = new Set([0, 502, 503, 504]);
/** Pause between two renewals of the shown ages. */
const AGES_MS = 1000;

const main = document.getElementById('view');
const nav = document.getElementById('nav');
const signOutButton = document.getElementById('leave');
const callerText = document.getElementById('who');
/** Number of the last draw; the content of an earlier one is not shown. */
let drawing = 0;
/** Aborted when the shown view is left. */
let shown = new AbortController();

/** Returns the parts of the address `#/<view>/<id>?<filters>`. It contains refs and ids, never the name of a person. */
const placeOf = () => {
  const [path, filters] = location.hash.slice(2).split('?');
  const [name, id] = path.split('/');
  const query = new URLSearchParams(filters);
  return VIEWS[name] ? { name, id: id && decodeURIComponent(id), query } : { name: 'overview', query };
};

/** Draws the view of the address. @param focus whether focus and scroll position go to the start, as for a view that was chosen */
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
    // The focus would be lost with a control that is replaced.
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
    restoreTyped(main);
  } catch (error) {
    if (mine !== drawing || !isSignedIn()) return;
    // A view that is drawn again keeps its content, with a message and a note, because nothing keeps the content current any more.
    if (!isOther) {
      if (!main.querySelector('.unread')) main.firstElementChild.after(oldNote(() => show()));
      return say(error.message, 'bad');
    }
    delete main.dataset.view;
    const isTriedAgain = TRIED_AGAIN.has(error.status);
    put(failure(error, isTriedAgain, () => show({ focus: true })));
    if (isTriedAgain) onStatus(() => show({ focus: true }), signal);
  } finally {
    clearTimeout(slow);
  }
}

const failure = ({ message }, isTriedAgain, redraw) =>
  h(
    'div',
    { class: 'empty', role: 'alert' },
    h('strong', {}, 'This view cannot be shown'),
    h('p', {}, advised(message), isTriedAgain && ' It is read again when the bridge answers.'),
    actionButton('Try again', redraw, { class: 'main' }),
  );

const oldNote = (redraw) =>
  h(
    'p',
    { class: 'changed unread' },
    'This could not be read anew, and is shown as it was read before. ',
    actionButton('Show it as it is now', redraw),
  );

/** Shows the sign-in form until the user is signed in. */
async function showSignIn() {
  nav.hidden = callerText.hidden = signOutButton.hidden = true;
  stopLive();
  delete main.dataset.view;
  document.title = 'Sign in · scim-bridge';
  const mine = ++drawing;
  main.replaceChildren();
  const form = await signInForm(enter);
  if (mine !== drawing) return;
  main.replaceChildren(...form);
  main.querySelector('button, input')?.focus();
}

/** Opens the page if a session, a proxy or the token of this tab may sign the operator in; else shows the form. */
async function begin() {
  const { openid, proxy } = await readWays();
  if (openid || proxy || hasToken()) await enter();
  else await show();
}

/** Shows the caller with the roles, and the view. @throws Error when the service does not know the caller */
async function enter() {
  const { name, rights } = await findCaller();
  const roles = Object.entries(ROLE_FOR).flatMap(([right, role]) => (rights.includes(right) ? [role] : []));
  // Holders of the admin token have no name.
  callerText.textContent = name ? [name, ...roles].join(', ') : '';
  // Removes a message about an ended sign-in.
  say('');
  show({ focus: true });
}

nav.append(
  ...Object.entries(VIEWS)
    .filter(([, { within }]) => within === undefined)
    .map(([name, { title }]) => h('a', { href: `#/${name}`, 'data-view': name }, title)),
);
signOutButton.addEventListener('click', async () => {
  await signOut().catch((error) => say(`You are still signed in: ${error.message}`, 'bad'));
  forgetTyped();
  show();
});
addEventListener('hashchange', () => {
  // The message belongs to the view that is left.
  say('');
  show({ focus: true });
});
addEventListener('signed-out', () => {
  keepTyped(main);
  // A question would lie over the sign-in form; closed, it is answered with no.
  for (const dialog of document.querySelectorAll('dialog[open]')) dialog.close();
  shown.abort();
  showSignIn();
});
setInterval(renewAges, AGES_MS);
returnPlace();
begin().catch((error) => {
  show();
  // Without a signed-in person only the sign-in form is shown, and status 401 is no fault.
  if (error.status !== 401) say(error.message, 'bad');
});
