// Sign-in, navigation, and the refresh of what is shown.
import { get, isSignedIn, signIn, signOut } from './api.js';
import { doctor } from './checks.js';
import { field, h, say } from './dom.js';
import { deadLetters } from './dead-letters.js';
import { exceptions } from './exceptions.js';
import { log } from './log.js';
import { overview } from './overview.js';
import { people } from './people.js';
import { approvals } from './approvals.js';
import { tokens } from './tokens.js';

/** Each answers its content; those with `everyMs` are drawn again while somebody looks. */
const VIEWS = {
  overview: { title: 'Overview', draw: overview, everyMs: 5000 },
  approvals: { title: 'Approvals', draw: approvals },
  'dead-letters': { title: 'Dead letters', draw: deadLetters },
  exceptions: { title: 'Exceptions', draw: exceptions },
  people: { title: 'People and groups', draw: people },
  log: { title: 'Log', draw: log },
  tokens: { title: 'Tokens', draw: tokens },
  doctor: { title: 'Doctor', draw: doctor },
};

const main = document.getElementById('view');
const nav = document.getElementById('nav');
const leave = document.getElementById('leave');
let timer;
let drawing = 0;

// The address names a view or an approval, never a person.
const placeOf = () => {
  const [name, id] = location.hash.slice(2).split('/');
  return VIEWS[name] ? { name, id: id && decodeURIComponent(id) } : { name: 'overview' };
};

async function show({ focus = false } = {}) {
  clearTimeout(timer);
  nav.hidden = leave.hidden = !isSignedIn();
  if (!isSignedIn()) return signInForm();
  const { name, id } = placeOf();
  const { title, draw, everyMs } = VIEWS[name];
  document.title = `${title} · scim-bridge`;
  for (const link of nav.children) {
    if (link.dataset.view === name) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  const mine = ++drawing;
  try {
    const content = await draw({ id, again: () => show() });
    if (mine !== drawing) return;
    main.replaceChildren(h('h1', {}, title), ...[content].flat().filter(Boolean));
    main.dataset.view = name;
    if (focus) {
      main.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  } catch (error) {
    if (mine !== drawing || !isSignedIn()) return;
    say(error.message, 'bad');
    if (main.dataset.view !== name) main.replaceChildren(h('h1', {}, title), h('p', {}, error.message));
  }
  if (everyMs) timer = setTimeout(refresh, everyMs, everyMs);
}

/** Not while nobody looks, and not under somebody's hands. */
function refresh(everyMs) {
  const busy = document.hidden || document.querySelector('dialog[open]') || main.querySelector('[data-busy]');
  const held = main.contains(document.activeElement) && document.activeElement !== main;
  if (busy || held) timer = setTimeout(refresh, everyMs, everyMs);
  else show();
}

function signInForm() {
  const token = h('input', { type: 'password', required: true, autocomplete: 'off', spellcheck: 'false' });
  const name = h('input', { type: 'text', maxlength: 200, autocomplete: 'name' });
  const failed = h('p', { class: 'failed', role: 'alert' });
  const enter = async (event) => {
    event.preventDefault();
    signIn(token.value.trim(), name.value.trim());
    try {
      await get('/status');
      show({ focus: true });
    } catch (error) {
      signOut();
      failed.textContent = error.status === 401 ? 'This is not the admin token.' : error.message;
      token.select();
    }
  };
  document.title = 'Sign in · scim-bridge';
  delete main.dataset.view;
  main.replaceChildren(
    h(
      'form',
      { class: 'card sign-in', onsubmit: enter },
      h('h1', {}, 'Sign in'),
      h('p', { class: 'soft' }, 'For operators of this bridge.'),
      field('Admin token', token, 'The value of ADMIN_TOKEN. It stays in this tab and is forgotten with it.'),
      field('Your name', name, 'Stands beside what you decide.'),
      failed,
      h('button', { class: 'main' }, 'Sign in'),
    ),
  );
  token.focus();
}

nav.append(
  ...Object.entries(VIEWS).map(([name, { title }]) =>
    h('a', { href: `#/${name}`, 'data-view': name }, title),
  ),
);
leave.addEventListener('click', () => {
  signOut();
  show();
});
addEventListener('hashchange', () => {
  // The message belongs to the view that is left.
  say('');
  show({ focus: true });
});
// While somebody signs in, the form itself tells that the token is wrong.
addEventListener('signed-out', () => {
  if (main.dataset.view) show();
});
show();
