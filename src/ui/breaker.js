// Formats how the calls to a target fail, with the words of the commands status and doctor. Pure, so that a test compares both.

const KEY_REFUSED = 401;

/** A failed call with a success status got a web page in place of data. */
const isWebPage = (status) => status >= 200 && status < 300;

/** The platform redirects no call. */
const isRedirect = (status) => status >= 300 && status < 400;

export const isKeyRefused = ({ status }) => status === KEY_REFUSED;

/**
 * Returns words that follow "the platform".
 * @param status of the last answer; 0 or none: no answer
 * @param only methods that are answered with 401 while the key is accepted for other methods; absent: the key is refused
 * @param ofOtherKey true: the refused key is another than the key in the settings of the process that serves this page
 */
function failureWords({ status, only, ofOtherKey }) {
  if (!status) return 'does not answer';
  if (isWebPage(status)) return 'answers with web pages (a wrong url, or a proxy)';
  if (isRedirect(status)) return `answers with redirects (${status}; a wrong url, a proxy or a sign-in page)`;
  if (status !== KEY_REFUSED) return `answers ${status}`;
  if (only) return `answers ${only.join(' and ')} with 401 and accepts the key for other calls`;
  return ofOtherKey
    ? 'refuses the key (401) of a process of the service (not the key of these settings)'
    : 'refuses the key (401)';
}

/** Returns the label of a target whose calls fail, so that the breaker is open, or whose key is refused; else undefined. */
export function failureLabel(breaker) {
  const { open, status } = breaker;
  if (isKeyRefused(breaker)) return 'Key refused';
  if (!open) return undefined;
  if (!status) return 'Platform does not answer';
  if (isRedirect(status)) return 'Redirects answer';
  return isWebPage(status) ? 'Web pages answer' : `Platform answers ${status}`;
}

/** Returns the advice for a refused key. @param token name of its setting */
function keyAdvice({ only, ofOtherKey }, token) {
  if (only) return `check the rights of ${token}, and any gateway before the platform`;
  return ofOtherKey
    ? `a process takes a key over from its file and tries it within 20 s; if this is still said then, restart the service, unless it was restarted since, so that every process uses the ${token} of these settings`
    : `set a new ${token}, and restart the service unless it takes the token over from its file`;
}

/** Returns a sentence without its full stop about the calls to a target, with advice if they fail. */
export function breakerNote(breaker, target) {
  const { open, status } = breaker;
  if (!open && !isKeyRefused(breaker)) return 'Breaker closed: the platform answers';
  const advice = [
    open && 'only probes go out',
    isKeyRefused(breaker) && keyAdvice(breaker, `targets.${target}.token`),
    open &&
      status === 403 &&
      'scim-bridge doctor tells whether the platform or a proxy answers; if it is the platform, switch SCIM on for the tenant and use the key of an administrator',
    open && (isWebPage(status) || isRedirect(status)) && `check targets.${target}.url, or a proxy`,
  ];
  return `The platform ${failureWords(breaker)}: ${advice.filter(Boolean).join('; ')}`;
}
