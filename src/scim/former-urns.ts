// Replaces outdated forms of URNs in keys and paths of a request, if the profile accepts them.
import type { Profile } from './profiles.ts';
import type { ResourceType } from './resource-type.ts';
import { ENTERPRISE_USER_URN } from './urns.ts';

/** The enterprise extension in SCIM 1.1 and in drafts of SCIM 2.0. */
const FORMER_URN = /^urn:(?:ietf:params:)?scim:schemas:extension:enterprise:[12]\.0(?::user)?(?=:|$)/i;

/**
 * Returns a key or path with outdated URN forms replaced, if the profile accepts them: URNs of SCIM 1.1 (OneLogin), and a
 * dot after the URN (Entra).
 */
export function toCurrentUrn(type: ResourceType, written: string, profile: Profile): string {
  if (!written.includes(':') || type.byExactUrn.has(written)) return written;
  const text = withColon(type, written, profile);
  const former = FORMER_URN.exec(text)?.[0];
  if (former === undefined) return text;
  const lower = text.toLowerCase();
  // A URN that a schema of this type has is kept.
  const known = type.byUrn.some(({ key }) => lower === key || lower.startsWith(`${key}:`));
  return known || !profile.allows('former-urn') ? text : ENTERPRISE_USER_URN + text.slice(former.length);
}

/** Replaces a dot behind a registered URN by a colon. */
function withColon(type: ResourceType, text: string, profile: Profile): string {
  const lower = text.toLowerCase();
  const urn = type.byUrn.find(({ key }) => lower.startsWith(key))?.key;
  if (urn === undefined || text[urn.length] !== '.' || !profile.allows('urn-dot')) return text;
  return `${text.slice(0, urn.length)}:${text.slice(urn.length + 1)}`;
}
