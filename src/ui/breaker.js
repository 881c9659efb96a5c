// Says how the calls to a target fail, with the words of the commands status and doctor. Pure, so that a test compares both.

const KEY_REFUSED = 401;

/** A success counts as a failure only if it is a web page in place of data. */
const isWebPage = (status) => status >= 200 && status < 300;

export const isKeyRefused = ({ status }) => status === KEY_REFUSED;

/** Returns words that follow "the platform". Status 0 or none: no answer. */
function failureWords({ status, only }) {
  if (!status) return 'does not answer';
  if (isWebPage(status)) return 'answers with web pages (a wrong url, or a proxy)';
  if (status !== KEY_REFUSED) return `answers ${status}`;
  return only
    ? `answers ${only.join(' and ')} with 401 and accepts the key for other calls`
    : 'refuses the key (401)';
}

/** Returns the label of a target whose calls fail; undefined while they do not. */
export function failureLabel(breaker) {
  const { open, status } = breaker;
  if (isKeyRefused(breaker)) return 'Key refused';
  if (!open) return undefined;
  if (!status) return 'Platform does not answer';
  return isWebPage(status) ? 'Web pages answer' : `Platform answers ${status}`;
}

/** Returns a sentence about the calls to a target. */
export function breakerNote(breaker, target) {
  const { open, status, only } = breaker;
  if (!open && !isKeyRefused(breaker)) return 'Breaker closed: the platform answers';
  const what = [
    open && 'only probes go out',
    isKeyRefused(breaker) &&
      (only
        ? `check the rights of targets.${target}.token, and any gateway before the platform`
        : `set a new targets.${target}.token and restart the service`),
    open && isWebPage(status) && `check targets.${target}.url, or a proxy`,
  ];
  return `The platform ${failureWords(breaker)}: ${what.filter(Boolean).join('; ')}`;
}
