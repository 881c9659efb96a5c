// Creates, lists and revokes tokens, for the command line and the admin API.
import type { Actor, Acts } from '../directory/logs/acts.ts';
import type { StoredToken, StoredTokens } from '../directory/stored-tokens.ts';
import { isoTime, type Clock } from '../support/sources.ts';
import type { SettingsToken } from './keyring.ts';
import { digestOf, makeSecret } from './secret.ts';

/** Tokens of one connection, in the settings and in Redis, and the audit log of operators (`acts`). */
export interface ConnectionTokens {
  settings: readonly SettingsToken[];
  stored: StoredTokens;
  acts: Acts;
}

/** Largest number of stored tokens, because the token of each request is compared with all of them. */
const MOST_TOKENS = 50;
/** Form of a token name: lower-case letters, digits and hyphens, at most 32 characters. */
export const TOKEN_NAME = /^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/;

/** `taken`: a token has this name. `full`: there are MOST_TOKENS. `secret` is shown once to the operator and not stored. */
type IssueOutcome =
  { kind: 'issued'; secret: string; token: StoredToken } | { kind: 'taken' } | { kind: 'full' };

/**
 * Creates a token and records the creation in the audit log.
 * @param order `expiresAt` in Unix milliseconds, null: never; `name` matches TOKEN_NAME; `by` and `note` as in the audit log
 */
export async function issueToken(
  { clock, randomBytes }: { clock: Clock; randomBytes: (size: number) => Buffer },
  { settings, stored, acts }: ConnectionTokens,
  order: Actor & { name: string; expiresAt: number | null },
): Promise<IssueOutcome> {
  const { name, expiresAt, ...actor } = order;
  if (settings.some((token) => token.name === name)) return { kind: 'taken' };
  if ((await stored.count()) >= MOST_TOKENS) return { kind: 'full' };
  const secret = makeSecret(randomBytes);
  const digest = digestOf(secret).toString('base64url');
  const token = { name, digest, createdAt: clock.now(), createdBy: actor.by, expiresAt };
  if (await stored.has(name)) return { kind: 'taken' };
  const end = expiresAt === null ? 'never expires' : `expires ${isoTime(expiresAt)}`;
  const note = [end, actor.note].filter(Boolean).join('; ');
  await acts.record({ act: 'createToken', ...actor, subject: name, note });
  if (!(await stored.add(token))) return { kind: 'taken' };
  return { kind: 'issued', secret, token };
}

/** Returns the message of an outcome without a token. */
export const notIssuedText = (kind: 'taken' | 'full', connection: string, name: string): string =>
  kind === 'taken'
    ? `${connection} has a token ${name} already: give another name.`
    : `${connection} has ${MOST_TOKENS} tokens already: revoke those that nobody uses.`;

/** Returns a new token with its secret, which is shown to the operator only now; times are RFC 3339. */
export const shownOnce = (connection: string, { secret, token }: { secret: string; token: StoredToken }) => ({
  connection,
  secret,
  name: token.name,
  createdAt: isoTime(token.createdAt),
  expiresAt: token.expiresAt === null ? null : isoTime(token.expiresAt),
});

/** `in settings`: the token is one of the settings file, so nothing was revoked. */
type RevokeOutcome = 'revoked' | 'unknown' | 'in settings';

/** Revokes a stored token; all processes refuse it within two seconds. A token of the settings must be removed there. */
export async function revokeToken(
  { settings, stored, acts }: ConnectionTokens,
  name: string,
  actor: Actor,
): Promise<RevokeOutcome> {
  if (await stored.has(name)) {
    await acts.record({ act: 'revokeToken', ...actor, subject: name });
    await stored.remove(name);
    return 'revoked';
  }
  return settings.some((token) => token.name === name) ? 'in settings' : 'unknown';
}

/** A token without its secret; times are RFC 3339. */
export interface TokenView {
  name: string;
  source: 'settings' | 'stored';
  state: 'valid' | 'expired';
  /** Null for a token of the settings, as is `createdBy`. */
  createdAt: string | null;
  createdBy: string | null;
  /** Null: never. */
  expiresAt: string | null;
  /** Last use, up to a minute old; null: not used yet. */
  lastUsedAt: string | null;
}

/** Returns the tokens of the settings, then the stored ones by time of creation. */
export async function listTokens(
  clock: Clock,
  { settings, stored }: Omit<ConnectionTokens, 'acts'>,
): Promise<TokenView[]> {
  const [tokens, uses] = await Promise.all([stored.all(), stored.lastUses()]);
  const now = clock.now();
  const view = (
    { name, expiresAt }: { name: string; expiresAt: number | null },
    source: TokenView['source'],
    created?: StoredToken,
  ): TokenView => {
    const used = uses.get(name);
    return {
      name,
      source,
      state: expiresAt === null || expiresAt > now ? 'valid' : 'expired',
      createdAt: created ? isoTime(created.createdAt) : null,
      createdBy: created?.createdBy ?? null,
      expiresAt: expiresAt === null ? null : isoTime(expiresAt),
      // A use before the creation belongs to an earlier token with the same name.
      lastUsedAt: used !== undefined && used >= (created?.createdAt ?? 0) ? isoTime(used) : null,
    };
  };
  return [
    ...settings.map(({ name, expiresAt }) =>
      view({ name, expiresAt: expiresAt === undefined ? null : Date.parse(expiresAt) }, 'settings'),
    ),
    ...tokens.sort((a, b) => a.createdAt - b.createdAt).map((token) => view(token, 'stored', token)),
  ];
}
