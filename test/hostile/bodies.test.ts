// Bodies that are built to exhaust memory, sent with every kind of token.
import { gzipSync } from 'node:zlib';
import { burst, scimRequest, structure, type Tally } from './attacks.ts';
import { PEOPLE, startSiege, type Siege } from './siege.ts';

const USERS = '/scim/v2/Users';

let siege: Siege;
beforeAll(async () => {
  siege = await startSiege({ people: PEOPLE });
}, 120_000);
afterAll(() => siege.stop());

const port = (): number => siege.bridge.port;
const post = (path: string, token: string, body: string | Buffer, headers = {}): Buffer =>
  scimRequest(`POST ${path}`, token, body, headers);
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const refusals = ({ statuses }: Tally): number[] => Object.keys(statuses).map(Number).sort();

describe('a gzip body of 9 kB that unpacks to 9 MB of structure is refused', () => {
  const bomb = gzipSync(structure(9_000_000));
  test.each([['no valid token', USERS, 'wrong']])('%s', async (who, path, token) => {
    const wire = post(path, token, bomb, { 'Content-Encoding': 'gzip' });
    const tally = await siege.withstand(`gzip bomb with ${who}`, () =>
      burst(
        port(),
        times(4, () => wire),
      ),
    );
    for (const status of refusals(tally)) expect([400, 401, 413, 415, 503]).toContain(status);
  });
});
