// URNs as they were once written. The enterprise extension under the names it had in SCIM 1.1 and in drafts: body templates
// of OneLogin still use them. A dot between URN and attribute: Entra sent it before it learned the colon of the RFC.
import type { Profile } from './profiles.ts';
import type { ResourceType } from './resource-type.ts';
import { ENTERPRISE_USER_URN } from './urns.ts';

const FORMER = /^urn:(?:ietf:params:)?scim:schemas:extension:enterprise:[12]\.0(?::user)?(?=:|$)/i;

/** A key or a path with URN and colon as they are today where the profile accepts what it has. */
export function presentUrn(type: ResourceType, written: string, profile: Profile): string {
  if (!written.includes(':') || type.byExactUrn.has(written)) return written;
  const text = withColon(type, written, profile);
  const former = FORMER.exec(text)?.[0];
  if (former === undefined) return text;
  const lower = text.toLowerCase();
  // Names of their own, the present one among them, mean what they say.
  const known = type.byUrn.some(({ key }) => lower === key || lower.startsWith(`${key}:`));
  return known || !profile.allows('former-urn') ? text : ENTERPRISE_USER_URN + text.slice(former.length);
}

function withColon(type: ResourceType, text: string, profile: Profile): string {
  const lower = text.toLowerCase();
  const urn = type.byUrn.find(({ key }) => lower.startsWith(key))?.key;
  if (urn === undefined || text[urn.length] !== '.' || !profile.allows('urn-dot')) return text;
  return `${text.slice(0, urn.length)}:${text.slice(urn.length + 1)}`;
}
