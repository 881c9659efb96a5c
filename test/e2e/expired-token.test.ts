// Tests the words of `token list` about the end of a token.
import { TOKEN } from '../support/build-bridge.ts';
import { openPlace } from '../support/situation.ts';

test('`token list` shows when an expired token ended and when another token will end', async () => {
  const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
  const tokens = [
    { name: 'former', secret: `${TOKEN}1`, expiresAt: inDays(-1) },
    { name: 'next', secret: `${TOKEN}2`, expiresAt: inDays(1) },
  ];
  const place = await openPlace({
    roles: [],
    rest: { connections: { default: { tokens, targets: ['main'] } } },
  });
  const { text } = await place.commands.run('token', 'list');
  await place.stop();
  expect(text).toMatch(/former: expired, ended \S+Z;/);
  expect(text).toMatch(/next: valid, ends \S+Z;/);
}, 60_000);
