// Checks what JSON Schema cannot express about the sign-in settings.
import type { ConfigFault } from './faults.ts';
import { isLoopback } from '../support/loopback.ts';
import { checkWebAddress } from './forms.ts';
import { hasText, isTree, select } from './places.ts';

/**
 * Checks an address of the operators' page (`server.adminUrl`, `notices.pageUrl`): https, or http of this machine, because the cookie
 * of a session is sent there.
 */
export function checkAdminUrl(text: string): string | undefined {
  const fault = checkWebAddress(text);
  if (fault !== undefined) return fault;
  const url = new URL(text);
  if (url.protocol === 'https:' || isLoopback(url)) return undefined;
  return 'Operators must reach the page by https://, or their session could be read on the way.';
}

export function checkSignIn(document: unknown): ConfigFault[] {
  return select(document, 'server/signIn').flatMap(({ path, value: signIn }) => {
    if (!isTree(signIn)) return [];
    const faults: ConfigFault[] = [];
    if (!isTree(signIn.openid) && !isTree(signIn.proxy))
      faults.push({ path, message: 'Give openid, proxy or both; without them leave signIn out.' });
    const roles = isTree(signIn.roles) ? Object.values(signIn.roles) : [];
    if (!roles.some((names) => Array.isArray(names) && names.length > 0))
      faults.push({ path: `${path}/roles`, message: 'Name at least one role, or nobody can sign in.' });
    const hasPage = hasText(document, 'server/adminUrl') || hasText(document, 'server/publicUrl');
    if (isTree(signIn.openid) && !hasPage)
      faults.push({
        path: '/server/adminUrl',
        message:
          'The provider sends people back to this address: give the address under which they open the page.',
      });
    return faults;
  });
}
