// Checks what JSON Schema cannot express about the settings of notices.
import type { ConfigFault } from './faults.ts';
import { faultsIn, hasText, select } from './places.ts';

const MOST_CHANNELS = 10;
/** Shortest and longest key that Standard Webhooks allows, in bytes. */
const SHORTEST_KEY = 24;
const LONGEST_KEY = 64;
const MAKE_ONE = 'Make one with: echo "whsec_$(openssl rand -base64 32)"';

export function checkNotices(document: unknown): ConfigFault[] {
  const channels = select(document, 'notices/channels/*');
  if (channels.length === 0) return [];
  const faults = faultsIn(document, 'notices/channels/*', secretFault, '/secret');
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

/** Returns the fault of a channel's secret. The schema reports a secret of another type. */
function secretFault({ form = 'webhook', secret: given }: Record<string, unknown>): string | undefined {
  const secret = given ?? null;
  if (form !== 'webhook')
    return secret === null ? undefined : 'Remove the secret: Slack and Teams check no signature.';
  if (secret === null) return `The form webhook is signed, so it needs a secret. ${MAKE_ONE}`;
  if (typeof secret !== 'string') return undefined;
  const [, text = ''] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? [];
  const { length } = Buffer.from(text, 'base64');
  if (text.length % 4 === 0 && length >= SHORTEST_KEY && length <= LONGEST_KEY) return undefined;
  return `The secret must be whsec_ followed by ${SHORTEST_KEY} to ${LONGEST_KEY} bytes in base64. ${MAKE_ONE}`;
}
