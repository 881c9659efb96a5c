// Tests floods of the addresses that need no token, against a started process.
import { rawRequest } from '../contract/hostile/attack.ts';
import { burst } from './attacks.ts';
import { PEOPLE, startSiege, type Siege } from './siege.ts';

let siege: Siege;
beforeAll(async () => {
  siege = await startSiege({ people: PEOPLE });
}, 120_000);
afterAll(() => siege.stop());

test.each(['/metrics', '/readyz', '/health', '/livez'])(
  '40 clients without a token that each pipeline 100 GET %s leave the service available to other clients',
  async (path) => {
    const one = rawRequest(`GET ${path}`, {});
    const wire = Buffer.concat(Array.from({ length: 100 }, () => one));
    const tally = await siege.withstand(`flood of ${path}`, () =>
      burst(
        siege.bridge.port,
        Array.from({ length: 40 }, () => wire),
        { answersEach: 100 },
      ),
    );
    for (const status of Object.keys(tally.statuses).map(Number)) expect([200, 503]).toContain(status);
  },
);
