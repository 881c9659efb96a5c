// Sends all requests of the page to the service. Scripts cannot read the session cookie; an admin token is kept in this tab and
// ends with it.
/** Keys in the storage of this tab. */
const TOKEN = 'scim-bridge admin token';
const NAME = 'scim-bridge operator';
/** Name on the orders of a caller who gave only the admin token. */
export const NO_NAME = 'admin page';
/** Status given to a success without JSON, as a proxy may send it: page.js then reads the view again (TRIED_AGAIN). */
const BAD_GATEWAY = 502;
/** Status for all redirects: a browser hides the real one. */
const REDIRECT = 307;

/** The caller, as the service says: `{ name, rights, via }`, `via` being token, openid or proxy; undefined: not signed in. */
let caller;
/** Whether the sign-in has ended: the service refused a caller who was signed in, and no sign-in has followed. */
let hasEnded = false;

/** Returns whether the service has named the caller. */
export const isSignedIn = () => caller !== undefined;
export const hasSignInEnded = () => hasEnded;
/** Returns the name beside an order: of the signed-in person, else as given with the admin token. */
export const operator = () => caller?.name ?? (sessionStorage.getItem(NAME) || NO_NAME);
/**
 * Returns whether the service counts the caller and the author of a first approval as one person: both used the admin token, or
 * they have the same name.
 */
export const isAuthor = ({ by, withToken }) =>
  (withToken && caller?.via === 'token') || plainName(by) === plainName(operator());
/** Returns a name without the suffix of names that were given with the shared admin token, which nothing verifies. */
const plainName = (name) =>
  name
    .replace(/ \(admin token\)$/, '')
    .trim()
    .toLowerCase();
/** Returns whether the caller has a right. The service enforces the rights; the page only disables controls. */
export const may = (right) => caller?.rights.includes(right) ?? false;

/** Asks the service for the caller. @throws Error with `status` 401: not signed in, 403: without a role */
export async function findCaller() {
  caller = await get('/caller');
  hasEnded = false;
  return caller;
}

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;

export function useToken(token, name) {
  sessionStorage.setItem(TOKEN, token);
  sessionStorage.setItem(NAME, name);
}

export function forgetToken() {
  caller = undefined;
  sessionStorage.removeItem(TOKEN);
  sessionStorage.removeItem(NAME);
}

/** Returns whether the bridge can sign the person out. A proxy signs people in with each request, so there the bridge cannot. */
export const canSignOut = () => isSignedIn() && caller.via !== 'proxy';

/** Signs the person out. @throws Error when the session could not be ended, so that it still opens the page */
export async function signOut() {
  if (caller?.via === 'openid')
    await remove('/session').catch((error) => {
      // Another window has ended the session.
      if (error.status !== 401) throw error;
    });
  forgetToken();
}

/** Returns the ways to sign in that this bridge has: `{ openid, proxy, token }`. */
export async function readWays() {
  const response = await fetch('sign-in/ways');
  return response.ok ? response.json() : { openid: false, proxy: false, token: true };
}

/** Returns whether a request with this status was never carried out. After a 408 (it took too long) it may have been. */
const isRefusal = (status) => status >= 300 && status < 500 && status !== 408;

/** Returns words about an answer that is not the bridge's: an error without a reason, or a success without JSON. */
function strangeAnswer(status) {
  if (status === REDIRECT)
    return 'A proxy before the bridge sends the page elsewhere, perhaps to sign in: open the page in another tab, then repeat this';
  if (isRefusal(status)) return `A proxy before the bridge refuses this with ${status}`;
  return `Not the bridge, but probably a proxy before it, answered with ${status}`;
}

/**
 * Returns an error with a message for the operator. If an order may have arrived, it says that the result is not known.
 * @param status HTTP status; 0: no answer
 */
function failureOf(message, { status, isOrder = false }) {
  const isUnknown = isOrder && !isRefusal(status);
  const words = isUnknown
    ? `${message}. Whether the order was carried out is not known: look at scim-bridge acts before you repeat it.`
    : `${message}.`;
  return Object.assign(new Error(words), { status });
}

/**
 * Returns the successful response.
 * @param options.isOrder whether the request changes something: without an answer its result is not known
 * @throws Error with the message of the service and the HTTP `status`; 0: no answer
 */
async function request(method, path, { body, signal, isOrder } = {}) {
  const headers = { 'x-scim-bridge-via': 'page' };
  const token = sessionStorage.getItem(TOKEN);
  if (token !== null) headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  let response;
  try {
    // The bridge redirects nothing here. A proxy does, when its own sign-in has ended.
    const redirect = 'manual';
    response = await fetch(`v1${path}`, {
      method,
      headers,
      body: body && JSON.stringify(body),
      signal,
      redirect,
    });
  } catch {
    throw failureOf('The bridge does not answer', { status: 0, isOrder });
  }
  if (response.ok) return response;
  const status = response.type === 'opaqueredirect' ? REDIRECT : response.status;
  if (status === 401) {
    if (isSignedIn()) {
      hasEnded = true;
      // The page keeps what was typed, and shows the sign-in form.
      dispatchEvent(new Event('signed-out'));
    }
    forgetToken();
    if (hasEnded) throw failureOf('Your sign-in has ended, and nothing was done', { status });
  }
  const { detail } = await response.json().catch(() => ({}));
  if (detail) throw Object.assign(new Error(detail), { status });
  throw failureOf(strangeAnswer(status), { status, isOrder });
}

/** Returns the JSON of the answer to `request`. @throws as `request`, and for an answer without JSON */
async function send(method, path, options = {}) {
  const response = await request(method, path, options);
  return readJson(response, options);
}

async function readJson(response, { isOrder } = {}) {
  try {
    return await response.json();
  } catch {
    throw failureOf(strangeAnswer(response.status), { status: BAD_GATEWAY, isOrder });
  }
}

/** Reads a page of a log: `next` is the place of the next page, `resource` the ref that the filter means; null: none. */
export async function readPage(path, body) {
  const response = await request('POST', path, { body });
  const [next, resource] = ['x-next-before', 'x-resource'].map((name) => response.headers.get(name));
  return { entries: await readJson(response), next, resource };
}

export const download = async (path, body) => (await request('POST', path, { body })).blob();

/**
 * Reads server-sent events until the stream ends: `receive(event, data)`. EventSource could not send the token.
 * @throws Error when the stream is refused or breaks off
 */
export async function watch(path, receive, signal) {
  const { body } = await request('GET', path, { signal });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const events = (text + part.value).split('\n\n');
    // The last event may not be complete yet.
    text = events.pop();
    for (const each of events) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(each) ?? [];
      if (event) receive(event, JSON.parse(data));
    }
  }
}

export const get = (path) => send('GET', path);
/** Sends a request whose details must stay out of addresses. */
export const post = (path, body = {}, signal = undefined) => send('POST', path, { body, signal });
/** Gives an order in the name of the operator. */
export const order = (path, body = {}) =>
  send('POST', path, { body: { ...body, by: operator() }, isOrder: true });
export const remove = (path) => send('DELETE', path, { isOrder: true });
