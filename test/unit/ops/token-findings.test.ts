// Tests the findings of doctor about expired and expiring tokens.
import { tokenFindings } from '../../../src/ops/doctor/token-findings.ts';
import type { Clock } from '../../../src/support/sources.ts';

const NOW = Date.parse('2030-06-15T00:00:00Z');
const clock = { now: () => NOW } as Clock;

interface GivenToken {
  name: string;
  expiresAt?: string;
}

/** Returns `level: message. advice` of each finding about these tokens of the settings. */
const findingsOf = (...tokens: GivenToken[]): Promise<string[]> => findingsAt(tokens, { acceptsJwt: false });

async function findingsAt(tokens: GivenToken[], { acceptsJwt }: { acceptsJwt: boolean }): Promise<string[]> {
  const stored = { all: () => Promise.resolve([]), lastUses: () => Promise.resolve(new Map()) };
  const places = {
    states: [{ connection: 'hr', tokens: stored }],
    tokensOf: () => tokens,
    acceptsJwt: () => acceptsJwt,
  };
  const found = await tokenFindings(places as unknown as Parameters<typeof tokenFindings>[0], clock);
  return found.map(({ level, message, advice }) => `${level}: ${message}. ${advice}`);
}

const EXPIRED = { name: 'old', expiresAt: '2030-06-14T00:00:00Z' };
const EXPIRING = { name: 'soon', expiresAt: '2030-06-20T00:00:00Z' };

test('an expired token without a valid one besides is an error: pushes are refused', async () => {
  expect(await findingsOf(EXPIRED)).toEqual([
    expect.stringMatching(
      /^error: old expired at .*[.] Pushes with it are refused: scim-bridge token create/,
    ),
  ]);
});

test('a token that expires within 30 days is a warning: pushes are refused from then on', async () => {
  expect(await findingsOf(EXPIRING)).toEqual([
    expect.stringMatching(
      /^warning: soon expires at .*[.] Pushes with it are refused from then on: scim-bridge/,
    ),
  ]);
});

test('an expired token beside a valid token is a warning: the expired token can be taken out of the settings', async () => {
  expect(await findingsOf(EXPIRED, { name: 'new' })).toEqual([
    expect.stringMatching(/^warning: old expired at .*take it out of connections.hr.tokens[.]$/),
  ]);
});

test('the only token of a connection has expired and the connection accepts JWTs of an issuer → a warning, because pushes by JWT go on', async () => {
  expect(await findingsAt([EXPIRED], { acceptsJwt: true })).toEqual([
    expect.stringMatching(/^warning: old expired at .*take it out of connections.hr.tokens[.]$/),
  ]);
});

test('a connection without tokens has no findings', async () => {
  expect(await findingsOf()).toEqual([]);
});
