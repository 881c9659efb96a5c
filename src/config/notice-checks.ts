// Checks what JSON Schema cannot express about the settings of notices.
import type { ConfigFault } from './faults.ts';
import { checkSecureAddress } from './forms.ts';
import { hasText, isTree, select } from './places.ts';

const MOST_CHANNELS = 10;
/** Shortest and longest key that Standard Webhooks allows, in bytes. */
const SHORTEST_KEY = 24;
const LONGEST_KEY = 64;
const MAKE_ONE = 'Make one with: echo "whsec_$(openssl rand -base64 32)"';

export function checkNotices(document: unknown): ConfigFault[] {
  const channels = select(document, 'notices/channels/*');
  if (channels.length === 0) return [];
  const faults = channels.flatMap(({ path, value }) => (isTree(value) ? channelFaults(path, value) : []));
  if (channels.length > MOST_CHANNELS)
    faults.push({ path: '/notices/channels', message: `Name at most ${MOST_CHANNELS} channels.` });
  if (!hasPage(document))
    faults.push({
      path: '/notices/pageUrl',
      message: 'Notices link to the page: give the address under which their readers open it.',
    });
  return faults;
}

/** Returns whether the settings give the address of the operators' page. */
const hasPage = (document: unknown): boolean =>
  ['notices/pageUrl', 'server/adminUrl', 'server/publicUrl'].some((at) => hasText(document, at));

function channelFaults(
  path: string,
  { url, form = 'webhook', secret, allowLoopbackHttp }: Record<string, unknown>,
): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const address = typeof url === 'string' ? addressFault(url, allowLoopbackHttp === true) : undefined;
  if (address !== undefined) faults.push({ path: `${path}/url`, message: address });
  const key = secretFault(form, secret ?? null);
  if (key !== undefined) faults.push({ path: `${path}/secret`, message: key });
  return faults;
}

function addressFault(text: string, loopbackAllowed: boolean): string | undefined {
  const fault = checkSecureAddress(text, {
    example: 'https://hooks.example.com/bridge',
    loopbackAllowed,
    why: 'The receiver must be reached by https://, or notices could be read on the way.',
  });
  return fault ?? (new URL(text).hash ? 'Remove everything from # on.' : undefined);
}

/** Returns the fault of a channel's secret. The schema reports a secret of another type. */
function secretFault(form: unknown, secret: unknown): string | undefined {
  if (form !== 'webhook')
    return secret === null ? undefined : 'Remove the secret: Slack and Teams check no signature.';
  if (secret === null) return `The form webhook is signed, so it needs a secret. ${MAKE_ONE}`;
  if (typeof secret !== 'string') return undefined;
  const [, text = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const { length } = Buffer.from(text, 'base64');
  if (text.length % 4 === 0 && length >= SHORTEST_KEY && length <= LONGEST_KEY) return undefined;
  return `The secret must be whsec_ followed by ${SHORTEST_KEY} to ${LONGEST_KEY} bytes in base64. ${MAKE_ONE}`;
}
