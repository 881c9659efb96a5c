// The enterprise extension under the names it had in SCIM 1.1 and in drafts: body templates of OneLogin still use them.
import type { Profile } from './profiles.ts';
import type { ResourceType } from './resource-type.ts';
import { ENTERPRISE_USER_URN } from './urns.ts';

const FORMER = /^urn:(?:ietf:params:)?scim:schemas:extension:enterprise:[12]\.0(?::user)?(?=:|$)/i;

/** `text`, a key or a path, with the present URN in place of a former one where the profile accepts that. */
export function presentUrn(type: ResourceType, text: string, profile: Profile): string {
  const former = FORMER.exec(text)?.[0];
  if (former === undefined) return text;
  const lower = text.toLowerCase();
  // Names of their own, the present one among them, mean what they say.
  const known = type.byUrn.some(({ key }) => lower === key || lower.startsWith(`${key}:`));
  return known || !profile.allows('former-urn') ? text : ENTERPRISE_USER_URN + text.slice(former.length);
}
