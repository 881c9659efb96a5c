// Sends all requests of the page to the service. Scripts cannot read the session cookie; an admin token is kept in this tab and
// ends with it.
/** Keys in the storage of this tab. */
const TOKEN = 'scim-bridge admin token';
const NAME = 'scim-bridge operator';

/** The caller, as the service says: `{ name, rights, via }`, `via` being token, openid or proxy; undefined: not signed in. */
let caller;

/** Returns whether the service has named the caller. */
export const isSignedIn = () => caller !== undefined;
/** Returns the name beside an order: of the signed-in person, else as given with the admin token. */
export const operator = () => caller?.name ?? (sessionStorage.getItem(NAME) || 'admin page');
/**
 * Returns whether the service counts the caller and the author of a first approval as one person: by their names, and all
 * holders of the admin token.
 */
export const isAuthor = ({ by, withToken }) =>
  (withToken && caller?.via === 'token') || plainName(by) === plainName(operator());
/** Returns a name without the mark of the audit log for names given with the shared admin token, which nothing verifies. */
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
  if (caller?.via === 'openid') await remove('/session');
  forgetToken();
}

/** Returns the ways to sign in that this bridge has: `{ openid, proxy, token }`. */
export async function readWays() {
  const response = await fetch('sign-in/ways');
  return response.ok ? response.json() : { openid: false, proxy: false, token: true };
}

/** Returns the successful response. @throws Error with the message of the service and the HTTP `status`; 0: no answer */
async function request(method, path, { body, signal } = {}) {
  const headers = { 'x-scim-bridge-via': 'page' };
  const token = sessionStorage.getItem(TOKEN);
  if (token !== null) headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  let response;
  try {
    response = await fetch(`v1${path}`, { method, headers, body: body && JSON.stringify(body), signal });
  } catch {
    throw Object.assign(new Error('The bridge does not answer. This page tries again.'), { status: 0 });
  }
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401) {
    const wasSignedIn = isSignedIn();
    forgetToken();
    // During a sign-in the form shows that the token is wrong.
    if (wasSignedIn) dispatchEvent(new Event('signed-out'));
  }
  throw Object.assign(new Error(answer.detail ?? `Refused with ${response.status}.`), {
    status: response.status,
  });
}

/** Returns the JSON of the answer; an empty object when the answer has none. @param call arguments of `request` */
const send = async (...call) => (await request(...call)).json().catch(() => ({}));

/** Reads a page of a log: `next` is the place of the next page, `resource` the ref that the filter means; null: none. */
export async function readPage(path, body) {
  const response = await request('POST', path, { body });
  const [next, resource] = ['x-next-before', 'x-resource'].map((name) => response.headers.get(name));
  return { entries: await response.json(), next, resource };
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
export const post = (path, body = {}, signal = undefined) => send('POST', path, { body, signal });
export const remove = (path) => send('DELETE', path);
