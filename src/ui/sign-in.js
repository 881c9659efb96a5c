// Creates the form for the sign-in: with the provider, or with the admin token.
import { forgetToken, hasSignInEnded, readWays, useToken } from './api.js';
import { field, h } from './dom.js';
import { hasTyped, typedBy } from './drafts.js';

/** Key in the storage of this tab: the address of the view before the sign-in at the provider. */
const PLACE = 'scim-bridge place';

/** Words for each reason of a refused sign-in. The service sends the browser back to `#/refused/<reason>`. */
const REFUSALS = {
  'no-role':
    'Your account has none of the roles viewer, operator and approver here. Ask whoever administers your groups.',
  unreachable: 'The identity provider does not answer. Try again later.',
  refused:
    'The identity provider refused the sign-in. Try again; if it happens again, the client is not set up right.',
  unnamed: 'The identity provider did not say who you are: the claim with the name is missing.',
  expired: 'The sign-in took too long or began in another browser. Try again.',
  busy: 'Many people sign in just now. Try again in a moment.',
};

/** Returns to the view that was open before the sign-in at the provider. */
export function returnPlace() {
  const place = sessionStorage.getItem(PLACE);
  sessionStorage.removeItem(PLACE);
  if (place && location.hash === '') location.replace(place);
}

/** Returns the form with the ways to sign in. @param enter opens the page; throws when the service does not know the caller */
export async function signInForm(enter) {
  const [, refusal] = /^#\/refused\/([\w-]+)$/.exec(location.hash) ?? [];
  // Without an answer the form asks for the admin token.
  const { openid, proxy, token } = await readWays().catch(() => ({ token: true }));
  const withToken = token && tokenForm(enter, openid || proxy);
  return [
    h(
      'div',
      { class: 'card sign-in' },
      h('h1', {}, 'Sign in'),
      h('p', { class: 'soft' }, 'For operators of this bridge.'),
      hasSignInEnded() &&
        h(
          'p',
          { class: 'failed', role: 'alert' },
          'Your sign-in has ended.',
          hasTyped() && ' What you typed comes back when you sign in again under the same name.',
        ),
      refusal && h('p', { class: 'failed', role: 'alert' }, REFUSALS[refusal] ?? 'The sign-in was refused.'),
      openid &&
        h('button', { class: 'main', type: 'button', onclick: goToProvider }, 'Sign in with your account'),
      proxy &&
        !openid &&
        h('p', {}, 'People come here through a proxy that signs them in. It named nobody with a role.'),
      withToken &&
        (openid || proxy ? h('details', {}, h('summary', {}, 'With the admin token'), withToken) : withToken),
    ),
  ];
}

function goToProvider() {
  // The view is stored in this tab, so that the provider does not learn it.
  if (!location.hash.startsWith('#/refused')) sessionStorage.setItem(PLACE, location.hash);
  location.assign('sign-in/');
}

function tokenForm(enter, isSecondWay) {
  const token = h('input', { type: 'password', required: true, autocomplete: 'off', spellcheck: 'false' });
  const name = h('input', { type: 'text', maxlength: 200, autocomplete: 'name', value: typedBy() });
  const failed = h('p', { class: 'failed', role: 'alert' });
  const submit = async (event) => {
    event.preventDefault();
    useToken(token.value.trim(), name.value.trim());
    try {
      if (location.hash.startsWith('#/refused')) location.replace('#/overview');
      await enter();
    } catch (error) {
      forgetToken();
      failed.textContent = error.status === 401 ? 'This is not the admin token.' : error.message;
      token.select();
    }
  };
  return h(
    'form',
    { class: 'fields', onsubmit: submit },
    field('Admin token', token, 'The value of ADMIN_TOKEN. It stays in this tab and is forgotten with it.'),
    field('Your name', name, 'Stands beside what you decide.'),
    failed,
    h(
      'button',
      { class: isSecondWay ? 'quiet' : 'main' },
      isSecondWay ? 'Sign in with the token' : 'Sign in',
    ),
  );
}
