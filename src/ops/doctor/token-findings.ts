// Warns in status and doctor of tokens that have expired or expire within 30 days.
import type { DesiredState } from '../../directory/desired-state.ts';
import type { Clock } from '../../support/sources.ts';
import { warningOf } from '../../tokens/expiry.ts';
import type { SettingsToken } from '../../tokens/keyring.ts';
import { listTokens } from '../../tokens/operations.ts';
import type { DoctorFinding } from './doctor-finding.ts';

export interface TokenPlaces {
  states: readonly Pick<DesiredState, 'connection' | 'tokens'>[];
  /** The tokens that the settings name. */
  tokensOf: (connection: string) => readonly SettingsToken[];
  /** Whether the connection also accepts JWTs of an issuer. */
  acceptsJwt: (connection: string) => boolean;
}

/**
 * Returns a finding for each token that expires within 30 days or has expired. Expired tokens are errors when the connection has
 * no valid token besides and accepts no JWTs. A connection without any token has no findings.
 */
export async function tokenFindings(
  { states, tokensOf, acceptsJwt }: TokenPlaces,
  clock: Clock,
): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  for (const { connection, tokens: stored } of states) {
    const tokens = await listTokens(clock, { settings: tokensOf(connection), stored });
    // Every push of the connection is refused.
    const isShut =
      tokens.length > 0 && tokens.every(({ state }) => state === 'expired') && !acceptsJwt(connection);
    for (const { name, expiresAt, state, source } of tokens) {
      if (expiresAt === null || warningOf(Date.parse(expiresAt), clock.now()) === undefined) continue;
      const isExpired = state === 'expired';
      findings.push({
        area: `tokens ${connection}`,
        level: isExpired && isShut ? 'error' : 'warning',
        message: isExpired ? `${name} expired at ${expiresAt}` : `${name} expires at ${expiresAt}`,
        advice: adviceOf({ name, connection, isExpired, isUseless: isExpired && !isShut, source }),
      });
    }
  }
  return findings;
}

function adviceOf(token: {
  name: string;
  connection: string;
  isExpired: boolean;
  /** The token has expired, and the connection accepts another token or JWTs. */
  isUseless: boolean;
  source: 'settings' | 'stored';
}): string {
  const { name, connection, isExpired, isUseless, source } = token;
  if (!isUseless)
    return `Pushes with it are refused${isExpired ? '' : ' from then on'}: scim-bridge token create NAME --connection ${connection}, and enter the new token at the identity provider.`;
  return source === 'settings'
    ? `If the identity provider does not use it any more, take it out of connections.${connection}.tokens.`
    : `If the identity provider does not use it any more: scim-bridge token revoke ${name} --connection ${connection}.`;
}
