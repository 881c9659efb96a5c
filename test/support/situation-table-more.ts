// Defines the situations of docs/situations.md about Redis, the rights of the platform key and a second connection.
import { createIdp } from './idp.ts';
import { eventually } from './eventually.ts';
import { ANN, type Situation } from './situation-table.ts';
import { TOKEN } from './build-bridge.ts';

const REDIS = { topic: 'Redis', ownRedis: true, isSlow: true };
const AWAY = /Redis at 127\.0\.0\.1:\d+ does not answer/;

export const MORE_SITUATIONS: Situation[] = [
  {
    ...REDIS,
    name: 'Redis is away',
    cause: async ({ server }) => server?.stop(),
    status: AWAY,
    plan: AWAY,
    explain: AWAY,
    doctor: /✘ redis: Redis does not answer/,
  },
  {
    ...REDIS,
    name: 'Redis answers nothing (it hangs)',
    cause: ({ server }) => Promise.resolve(server?.process?.kill('SIGSTOP')),
    after: ({ server }) => Promise.resolve(server?.process?.kill('SIGCONT')),
    status: AWAY,
    plan: AWAY,
    explain: AWAY,
    doctor: /✘ redis: Redis does not answer/,
  },
  {
    topic: 'The platform',
    name: 'The key may read and not write (403)',
    cause: async (place) => {
      await place.platform.control('PATCH', '/faults', {
        rules: ['POST', 'PATCH', 'PUT'].map((method) => ({
          ...{ method, path: '/scim/v2/', status5xx: { share: 1, status: 403 } },
        })),
      });
      await place.idp.createUser('bob@acme.example');
      await place.idle();
    },
    person: 'bob@acme.example',
    status: /1 dead letter/,
    plan: /bob@acme\.example: conflict, Forbidden/,
    explain: /needs a person: .*/,
  },
  {
    topic: 'Refusals',
    name: 'Another connection has an account with this name',
    rest: {
      connections: {
        default: { tokens: [{ name: 'primary', secret: TOKEN }] },
        second: { tokens: [{ name: 'primary', secret: `${TOKEN}2` }] },
      },
    },
    cause: async (place) => {
      const url = `http://127.0.0.1:${place.port}/connections/second/scim/v2`;
      await createIdp(url, `${TOKEN}2`).createUser(ANN);
      await eventually(
        'refused',
        async () => (await place.commands.run('dead-letters', 'list', '--json')).json.length === 1,
      );
    },
    status: /second → main: .*1 dead letter/,
    plan: /ann@acme\.example: conflict, TakenByConnection/,
    explain: /needs a person: the account belongs to ann@acme\.example/,
  },
];
