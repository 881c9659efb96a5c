// Defines the situations of docs/situations.md about the service, the platform, decisions, refusals, reconcile and stored data:
// how each is caused, and the words of each command. The others: situation-table-more.ts.
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { scimPatch } from './reconciling.ts';
import { send } from './send.ts';
import type { Place, PlaceOptions } from './situation.ts';

export const ANN = 'ann@acme.example';

export interface Situation extends PlaceOptions {
  topic: string;
  name: string;
  cause?: (place: Place, ids: { ann: string }) => Promise<unknown>;
  /** Runs before the bridge of the situation is stopped. */
  after?: (place: Place) => Promise<unknown>;
  /** The person to explain; Ann by default. */
  person?: string;
  /** Part of each command's output about the situation; undefined: the output does not mention it. */
  status?: RegExp;
  plan?: RegExp;
  explain?: RegExp;
  doctor?: RegExp;
  /** False: the situation starts without the user Ann and without a first reconcile. */
  isWell?: boolean;
}

const faults = (place: Place, body: object) => place.platform.control('PATCH', '/faults', body);
const leave = (place: Place, id: string) =>
  place.idp.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false });
export const run = async (place: Place, ...args: string[]): Promise<void> => {
  const { code, text } = await place.commands.run(...args);
  if (code !== 0) throw new Error(`${args.join(' ')}: ${code} ${text}`);
};
const status = async (place: Place) => (await place.commands.run('status', '--json')).json[0];
/** Creates users; eight are more than the breaker needs to open. */
const createPeople = async (place: Place, count = 8): Promise<void> => {
  for (let n = 0; n < count; n++) await place.idp.createUser(`late${n}@acme.example`);
};
const untilBreakerOpens = (place: Place) =>
  eventually('the breaker is open', async () => (await status(place)).breaker.open, 60_000);
const wrongTitle = (place: Place) =>
  place.idp.send('POST', '/Users', { userName: 'bob@acme.example', title: 'high', active: true });

/** Settings by which the guard holds every deactivation. */
const ALL_HELD = { guard: { deactivate: { count: 0, percent: 0 } } };
/** An attribute that needs a number, mapped from a title that is none (`wrongTitle`). */
const LEVEL = { attributes: { level: { type: 'number', from: 'title' } } };

export const SITUATIONS: Situation[] = [
  {
    topic: 'The service',
    name: 'All is well',
    status: /1 linked \(1 shown by the platform at the last reconcile\), 0 missing/,
    plan: /no changes\. The platform is as desired/,
    explain: /ann@acme\.example is at main as desired: active/,
    doctor: /target main: the key is valid/,
  },
  {
    topic: 'The service',
    name: 'No worker runs',
    roles: ['api'],
    cause: async (place) => place.idp.createUser('bob@acme.example'),
    person: 'bob@acme.example',
    isWell: false,
    status: /no worker runs: changes are stored and not applied/,
    plan: /1 change\. 1 to create/,
    explain: /waits because no worker runs: start one/,
    doctor: /✘ fleet: no worker runs.*applied/,
  },
  {
    topic: 'The service',
    name: 'No scheduler runs, and a schedule is set',
    roles: ['api', 'worker'],
    rest: { reconcile: { schedule: '0 3 * * *' } },
    status: /no scheduler runs: [^.]*/,
    plan: /no changes/,
    explain: /as desired/,
    doctor: /✘ fleet: no scheduler runs: [^.]*/,
  },
  {
    topic: 'The service',
    name: 'Two versions run for more than 15 min',
    cause: async (place) => {
      await place.start('worker', '0.9.0');
      await place.redis.set(
        `${place.settings.redis.prefix}:{bridge.fleet}:versionsDifferSince`,
        String(Date.now() - 16 * 60_000),
      );
    },
    status: /2 versions run since/,
    plan: /no changes/,
    explain: /as desired/,
    doctor: /! fleet: 2 versions run since/,
  },
  {
    topic: 'The service',
    name: 'A first load is under way',
    // One call at a time, each of a second, so that the load lasts longer than the commands also on a slow machine.
    target: { concurrency: 1, minConcurrency: 1, maxConcurrency: 1 },
    cause: async (place) => {
      await faults(place, { latencyMs: 1000 });
      await createPeople(place, 80);
    },
    person: 'late79@acme.example',
    isWell: false,
    status: /not applied yet \(the oldest for [^)]*\)/,
    plan: /to create/,
    explain: /is on its way to main/,
  },
  {
    topic: 'The platform',
    name: 'The platform is away',
    cause: async (place) => {
      await place.sandbox.stop();
      await createPeople(place);
      await untilBreakerOpens(place);
    },
    person: 'late0@acme.example',
    status: /the platform does not answer; no call has succeeded since/,
    plan: /main does not answer; no call has succeeded since/,
    explain: /waits because main does not answer/,
    doctor: /✘ target main: does not answer: .*ECONNREFUSED\)/,
  },
  {
    topic: 'The platform',
    name: 'The platform answers 503',
    cause: async (place) => {
      await faults(place, { status5xx: { share: 1 } });
      await createPeople(place);
      await untilBreakerOpens(place);
    },
    person: 'late0@acme.example',
    status: /the platform answers 503; no call has succeeded since/,
    plan: /main answers 503; no call has succeeded since/,
    explain: /waits because main answers 503/,
    doctor: /✘ target main: fails: it answers 503/,
  },
  {
    topic: 'The platform',
    name: 'The platform refuses the key (401)',
    cause: async (place) => {
      await faults(place, { status5xx: { share: 1, status: 401 } });
      await createPeople(place);
      await untilBreakerOpens(place);
    },
    person: 'late0@acme.example',
    status: /the platform refuses the key \(401\) since [^;]*; set a new targets\.main\.token/,
    plan: /main refuses the key \(401\) since [^:]*:\d\d:[^:]*: set a new targets\.main\.token/,
    explain: /waits because main refuses the key \(401\)/,
    doctor: /✘ target main: refuses the key \(401\)/,
  },
  {
    topic: 'The platform',
    name: 'The platform limits the rate (429)',
    cause: async (place) => {
      await faults(place, { status429: { share: 1, retryAfter: 60 } });
      await createPeople(place, 2);
      await eventually('refused', async () =>
        (await place.platform.requests()).some(({ status: each }) => each === 429),
      );
    },
    person: 'late0@acme.example',
    status: /all calls pause until [^,]*, because the platform asked for it \(HTTP 429\)/,
    plan: /main answers 429.*: all calls pause until [^,]*, because the platform asked for it/,
    explain: /is on its way to main/,
    doctor: /✘ target main: limits the rate \(429\)/,
  },
  {
    topic: 'The platform',
    name: 'Its list of users is incomplete',
    cause: async (place) => {
      await createPeople(place, 5);
      await place.idle();
      await faults(place, {
        rules: [
          { method: 'GET', path: '/scim/v2/Users', truncateLists: { share: 1, keep: 0.5, mode: 'page' } },
        ],
      });
      await place.commands.run('reconcile', '--yes');
    },
    status: /last reconcile .*: unproven.*/,
    plan: /no changes are known, but the platform could not be read whole/,
    explain: /as desired/,
  },
  {
    topic: 'The platform',
    name: 'Another hand changed an account there',
    cause: async (place) => {
      const account = await place.platform.user(ANN);
      const { platformUrl, fixtures } = place.sandbox.ready;
      await send(platformUrl, 'PATCH', `/api/scim/v2/Users/${account?.scimId}`, {
        headers: { authorization: `Bearer ${fixtures.apiKeys.admin}`, 'content-type': 'application/json' },
        body: scimPatch({ op: 'replace', path: 'displayName', value: 'Somebody else' }),
      });
    },
    plan: /1 change\. .*/,
    explain: /is not at main as desired, read just now/,
  },
  {
    topic: 'Decisions',
    name: 'The guard holds a deactivation',
    target: ALL_HELD,
    cause: async (place, { ann }) => {
      await leave(place, ann);
      await place.idle();
    },
    status: /1 held by the guard: see scim-bridge approvals list/,
    plan: /ann@acme\.example: held by the guard since/,
    explain: /a person has to approve or reject it/,
  },
  {
    topic: 'Decisions',
    name: 'A deactivation was rejected: the leaver stays active',
    target: ALL_HELD,
    cause: async (place, { ann }) => {
      await leave(place, ann);
      await place.idle();
      const [{ id }] = (await place.commands.run('approvals', 'list', '--json')).json;
      await run(place, 'approvals', 'reject', id, '--yes');
      await place.idle();
    },
    status: /1 exception \(1 rejected\)/,
    plan: /ann@acme\.example: rejected since/,
    explain: /is left alone at main: a person rejected the deactivation/,
  },
  {
    topic: 'Decisions',
    name: 'A protected person differs',
    target: { users: { protected: ['kept@acme.example'] } },
    cause: async (place) => {
      await place.idp.createUser('kept@acme.example');
      await place.idle();
    },
    person: 'kept@acme.example',
    status: /1 exception \(1 protected\)/,
    plan: /kept@acme\.example: protected since/,
    explain: /is left alone at main: listed in users\.protected/,
  },
  {
    topic: 'Decisions',
    name: 'The last administrator leaves',
    before: (platform) =>
      platform.control('PATCH', '/faults', {
        rules: [{ method: 'GET', path: '/users/me', status5xx: { share: 1, status: 404 } }],
      }),
    cause: async (place) => {
      const id = await place.idp.createUser('admin@acme.example');
      await place.idle();
      await leave(place, id);
      await place.idle();
    },
    person: 'admin@acme.example',
    status: /1 exception \(1 last administrator\)/,
    plan: /admin@acme\.example: last administrator since/,
    explain: /no other active administrator would be left there/,
  },
  {
    topic: 'Decisions',
    name: 'An operator stopped all writes (hold)',
    cause: async (place, { ann }) => {
      await run(place, 'hold', '--by', 'alice', '--note', 'upgrade');
      await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Ann B.' });
    },
    status: /on hold since .* by alice/,
    plan: /on hold.*/,
    explain: /waits because all writes to main are on hold/,
  },
  {
    topic: 'Refusals',
    name: 'A dead letter: a value that cannot be mapped',
    target: LEVEL,
    cause: async (place) => {
      await wrongTitle(place);
      await place.idle();
    },
    person: 'bob@acme.example',
    status: /1 dead letter/,
    plan: /bob@acme\.example: conflict, AttributesNotWritten/,
    explain: /needs a person: level is string and cannot become a number/,
  },
  {
    topic: 'Refusals',
    name: 'A dead letter was dropped',
    target: LEVEL,
    cause: async (place) => {
      await wrongTitle(place);
      await place.idle();
      await run(place, 'dead-letters', 'drop', '--all');
    },
    person: 'bob@acme.example',
    status: /1 exception \(1 dropped from the dead letters\)/,
    plan: /bob@acme\.example: dropped from the dead letters since/,
    explain: /is left alone at main: level is string and cannot become a number/,
  },
  {
    topic: 'Refusals',
    name: 'A mapping rule fails',
    target: { attributes: { level: { type: 'number', expression: '$number(title)' } } },
    cause: async (place) => {
      await wrongTitle(place);
      await place.idle();
    },
    person: 'bob@acme.example',
    status: /1 dead letter/,
    plan: /bob@acme\.example: conflict, AttributesNotWritten/,
    explain: /needs a person: level expression failed: a value cannot become a number, at character 8/,
  },
  {
    topic: 'Refusals',
    name: 'The account exists, and adopt is report',
    target: { adopt: 'report' },
    cause: async (place) => {
      await place.idp.createUser('viewer@acme.example');
      await place.idle();
    },
    person: 'viewer@acme.example',
    status: /1 exception \(1 not adopted\)/,
    plan: /viewer@acme\.example: not adopted since/,
    explain: /the account exists already and adopt is report/,
  },
  {
    topic: 'Reconcile and stored data',
    name: 'No reconcile has succeeded',
    rest: { reconcile: { schedule: '0 3 * * *' } },
    isWell: false,
    before: (platform) =>
      platform.control('PATCH', '/faults', {
        rules: [{ method: 'GET', path: '/scim/v2/Groups$', status5xx: { share: 1, status: 403 } }],
      }),
    cause: async (place) => {
      await place.idp.createUser(ANN);
      await place.idle();
      await place.commands.run('reconcile', '--yes');
    },
    status: /no reconcile has compared everything yet/,
    plan: /The list of groups was not read whole/,
    explain: /as desired/,
    doctor: /no reconcile has compared everything yet/,
  },
  {
    topic: 'Reconcile and stored data',
    name: 'The last good reconcile is three days old',
    rest: { reconcile: { schedule: '0 3 * * *' } },
    cause: async (place) =>
      place.redis.hset(
        await place.key(':reconcile:main'),
        'lastSuccessAt',
        String(Date.now() - 3 * 86_400_000),
      ),
    status: /nothing was compared completely since/,
    plan: /no changes/,
    explain: /as desired/,
    doctor: /nothing was compared completely since/,
  },
  {
    topic: 'Reconcile and stored data',
    name: 'An entry of the log was taken out',
    cause: async (place, { ann }) => {
      await place.idp.patch(`/Users/${ann}`, { op: 'replace', path: 'displayName', value: 'Ann B.' });
      await place.idle();
      const key = await place.key(':log:main');
      const [, second] = await place.redis.xrange(key, '-', '+', 'COUNT', 2);
      await place.redis.xdel(key, second?.[0] ?? '');
      await place.checkLogs();
    },
    plan: /no changes/,
    explain: /as desired/,
    doctor: /an entry was altered or taken out/,
  },
  {
    topic: 'Reconcile and stored data',
    name: 'After a restore, before the release',
    cause: async (place) => {
      const file = join(place.commands.folder, 'backup.ndjson');
      await run(place, 'backup', file);
      await place.stopApps();
      const keys = await place.redis.keys(`${place.settings.redis.prefix}:*`);
      await place.redis.del(...keys);
      await run(place, 'restore', file, '--yes');
      await place.start();
    },
    status: /on hold since .*/,
    plan: /on hold.*/,
    explain: /.*hold.*/i,
  },
];
