// The page's only way to the service. The token lives in this tab and ends with it.
const TOKEN = 'scim-bridge admin token';
const NAME = 'scim-bridge operator';

export const isSignedIn = () => sessionStorage.getItem(TOKEN) !== null;
export const operator = () => sessionStorage.getItem(NAME) || 'admin page';

export function signIn(token, name) {
  sessionStorage.setItem(TOKEN, token);
  sessionStorage.setItem(NAME, name);
}

export function signOut() {
  sessionStorage.removeItem(TOKEN);
  sessionStorage.removeItem(NAME);
}

/** @throws Error with what the service says to do; `status` 0 = no answer */
async function send(method, path, body) {
  const headers = {
    authorization: `Bearer ${sessionStorage.getItem(TOKEN) ?? ''}`,
    'x-scim-bridge-via': 'page',
  };
  if (body !== undefined) headers['content-type'] = 'application/json';
  let response;
  try {
    response = await fetch(`v1${path}`, { method, headers, body: body && JSON.stringify(body) });
  } catch {
    throw Object.assign(new Error('The bridge does not answer. This page tries again.'), { status: 0 });
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  if (response.status === 401) {
    signOut();
    dispatchEvent(new Event('signed-out'));
  }
  throw Object.assign(new Error(answer.detail ?? `Refused with ${response.status}.`), {
    status: response.status,
  });
}

export const get = (path) => send('GET', path);
export const post = (path, body = {}) => send('POST', path, body);
export const remove = (path) => send('DELETE', path);
