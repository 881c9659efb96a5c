// Tests the export of the audit log as a streamed CSV (contract 4.6).
import { request } from 'undici';
import { GROUPS, PATCH_OP, startRig, USERS, type Rig } from './rig.ts';

const EXPORT = '/api/v1/audit-logs/export';
const HEADER = 'timestamp,user_email,event_name,deployment_name,ip_address,attributes';
let rig: Rig;

beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.reset());
afterAll(() => rig.stop());

const get = (query = '', key = rig.key('audit')) => rig.call('GET', `${EXPORT}${query}`, { key });

/** Returns the records of RFC 4180 text without the header; cells are in the order of HEADER. */
function parseCsv(text: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  const cell = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  for (let match = cell.exec(text); match; match = cell.exec(text)) {
    record.push(match[1] === undefined ? (match[2] ?? '') : match[1].replaceAll('""', '"'));
    if (match[3] === ',') continue;
    records.push(record);
    record = [];
  }
  return records.slice(1);
}

const rows = async (query = '') => parseCsv((await get(query)).body);
const names = async (query = '') => (await rows(query)).map(([, , name]) => name);
const addEvents = (auditEvents: object[]) => rig.control('POST', '/fixtures', { auditEvents });

/** Adds one event on each of three days, by two users. */
const threeDays = () =>
  addEvents([
    { timestamp: '2026-03-01T08:00:00Z', userEmail: 'ann@acme.example', eventName: 'Logged in' },
    {
      timestamp: '2026-03-02T23:59:59.500Z',
      userEmail: 'bob@acme.example',
      eventName: 'Created deployment',
      deploymentName: 'sales',
      attributes: { reason: 'Quarter End' },
    },
    { timestamp: '2026-03-03T00:00:00Z', userEmail: 'Ann@acme.example', eventName: 'Logged out' },
  ]);

test('AUDIT-01 the audit export is sent as the CSV attachment audit_log.csv', async () => {
  const { status, headers } = await get();
  expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
    200,
    'text/csv; charset=utf-8',
    'attachment; filename="audit_log.csv"',
  ]);
});

test('AUDIT-02 an audit export of 5,000 events is sent chunked and contains each of them', async () => {
  const event = { userEmail: 'ann@acme.example', eventName: 'Logged in' };
  await addEvents(Array.from({ length: 5000 }, (_, number) => ({ ...event, attributes: { number } })));
  const { headers, body } = await get();
  expect([headers['transfer-encoding'], headers['content-length']]).toEqual(['chunked', undefined]);
  expect(new Set(parseCsv(body).map((row) => row[5])).size).toBe(5000);
});

test('AUDIT-03 an audit export without parameters has the CSV header and then all events, newest first', async () => {
  expect((await get()).body).toBe(`${HEADER}\r\n`);
  await threeDays();
  expect((await get()).body.startsWith(`${HEADER}\r\n`)).toBe(true);
  expect(await names()).toEqual(['Logged out', 'Created deployment', 'Logged in']);
});

test('AUDIT-04 start and end limit the audit export to the events between them; a date without a time means the whole day in UTC', async () => {
  await threeDays();
  expect(await names('?start=2026-03-02')).toEqual(['Logged out', 'Created deployment']);
  expect(await names('?end=2026-03-02')).toEqual(['Created deployment', 'Logged in']);
  expect(await names('?start=2026-03-02&end=2026-03-02')).toEqual(['Created deployment']);
  expect(await names('?start=2026-03-02T23:59:59Z&end=2026-03-03T00:00:00Z')).toEqual([
    'Logged out',
    'Created deployment',
  ]);
  expect(await names(`?start=${encodeURIComponent('2026-03-01T10:00:00+01:00')}`)).toHaveLength(2);
});

test('AUDIT-05 the parameter search limits the audit export to the events that contain the text', async () => {
  await threeDays();
  expect(await names('?search=quarter')).toEqual(['Created deployment']);
  expect(await names('?search=nothing-like-it')).toEqual([]);
});

test('AUDIT-06 EVT-02 the parameter eventName limits the audit export to the events of that name', async () => {
  await threeDays();
  expect(await names('?eventName=Logged%20in')).toEqual(['Logged in']);
});

test('AUDIT-07 the parameter userEmail limits the audit export to the events of that user', async () => {
  await threeDays();
  expect(await names('?userEmail=bob@acme.example')).toEqual(['Created deployment']);
});

test('AUDIT-08 an audit export with several parameters has only the events that match all of them', async () => {
  await threeDays();
  const query =
    '?start=2026-03-01&end=2026-03-03&search=sales&eventName=Created%20deployment&userEmail=bob@acme.example';
  expect(await names(query)).toEqual(['Created deployment']);
  expect(await names(query.replace('bob', 'ann'))).toEqual([]);
});

test('AUDIT-09 eventName and userEmail of the audit export match whole values and search matches parts, each without letter case', async () => {
  await threeDays();
  expect(await names('?eventName=LOGGED%20IN')).toEqual(['Logged in']);
  expect(await names('?eventName=Logged')).toEqual([]);
  expect(await names('?userEmail=ANN@acme.example')).toEqual(['Logged out', 'Logged in']);
  expect(await names('?userEmail=ann')).toEqual([]);
  expect(await names('?search=LOGGED')).toEqual(['Logged out', 'Logged in']);
});

test('AUDIT-10 the audit export answers 403 without the permission AuditLogManage, and 200 to an administrator or through a role', async () => {
  expect((await get('', rig.key('viewer'))).status).toBe(403);
  expect((await get('', rig.key('admin'))).status).toBe(200);
  const policies = [{ resourceType: 'Global', actions: ['AuditLogManage'], resources: ['*'] }];
  const { body } = await rig.control('POST', '/fixtures', {
    roles: [{ name: 'Watcher', policies }],
    users: [{ userName: 'w@acme.example', roles: ['Watcher'] }],
    apiKeys: [{ name: 'w', owner: 'w@acme.example' }],
  });
  expect((await get('', body.apiKeys[0].key)).status).toBe(200);
});

test('AUDIT-11 with the audit log switched off or not in the subscription, the audit export answers 403', async () => {
  await rig.control('PATCH', '/settings', { auditLogEnabled: false });
  expect((await get()).status).toBe(403);
  await rig.control('PATCH', '/settings', { auditLogEnabled: true, plan: { audit: false } });
  expect((await get()).body).toEqual({ error: expect.any(String) });
  expect((await get()).status).toBe(403);
});

test('AUDIT-12 the audit export answers 400 to invalid dates and to a start after the end', async () => {
  for (const query of [
    '?start=x',
    '?end=2026-13-01',
    '?start=2026-02-30',
    '?start=2026-02-30T10:00:00Z',
    '?end=2026-03-01T25:00:00Z',
    '?start=1772352000000',
    '?start=2026-03-03&end=2026-03-02',
  ]) {
    expect([query, (await get(query)).status]).toEqual([query, 400]);
  }
});

test('AUDIT-13 commas, quotes and line breaks in the audit export are quoted as in RFC 4180', async () => {
  const name = 'He said "yes",\r\nthen left';
  await addEvents([{ userEmail: 'a,b@acme.example', eventName: name, attributes: { 'a"b': '1,2\n' } }]);
  const { body } = await get();
  expect(body).toContain('"He said ""yes"",\r\nthen left"');
  const [row] = parseCsv(body);
  expect([row?.[1], row?.[2], JSON.parse(row?.[5] ?? '')]).toEqual([
    'a,b@acme.example',
    name,
    { 'a"b': '1,2\n' },
  ]);
});

test('AUDIT-14 an OAuth login adds the event "Logged in" to the audit log', async () => {
  await rig.control('POST', '/fixtures', { oauthTokens: [{ owner: 'viewer@acme.example' }] });
  const found = await rows('?eventName=Logged%20in');
  expect(found.map((row) => row.slice(1, 3))).toEqual([['viewer@acme.example', 'Logged in']]);
});

test("AUDIT-15 every SCIM write adds one event under the name of the key's owner; a read or a refused write adds none", async () => {
  const fixtures = {
    users: [{ userName: 'robot@acme.example', isAdmin: true }],
    apiKeys: [{ name: 'robot', owner: 'robot@acme.example' }],
  };
  const { key } = (await rig.control('POST', '/fixtures', fixtures)).body.apiKeys[0];
  const scim = (method: string, path: string, body?: object) => rig.call(method, path, { key, body });
  const patch = (path: string, value: object) =>
    scim('PATCH', path, { schemas: [PATCH_OP], Operations: [{ op: 'replace', value }] });
  const userName = 'a@acme.example';
  const { body: user } = await scim('POST', USERS, { userName });
  await patch(`${USERS}/${user.id}`, { displayName: 'A' });
  await scim('PUT', `${USERS}/${user.id}`, { userName });
  const { body: group } = await scim('POST', GROUPS, { displayName: 'crew', members: [] });
  await patch(`${GROUPS}/${group.id}`, { displayName: 'team' });
  await scim('PUT', `${GROUPS}/${group.id}`, { displayName: 'team', members: [] });
  await scim('GET', `${USERS}/${user.id}`);
  expect((await scim('POST', USERS, { userName })).status).toBe(409);
  expect((await scim('DELETE', `${USERS}/nobody`)).status).toBe(404);
  await scim('DELETE', `${GROUPS}/${group.id}`);
  await scim('DELETE', `${USERS}/${user.id}`);
  const events = await rows('?search=SCIM');
  expect(events.map((row) => [row[1], row[2]])).toEqual(
    [
      ...['Deleted user', 'Deleted group', 'Updated group', 'Updated group', 'Created group'],
      ...['Updated user', 'Updated user', 'Created user'],
    ].map((name) => ['robot@acme.example', `${name} via SCIM`]),
  );
  const subjects = events.map((row) => JSON.parse(row[5] ?? ''));
  expect(subjects.map((one) => one.userName ?? one.displayName)).toEqual([
    userName,
    'team',
    'team',
    'team',
    'crew',
    userName,
    userName,
    userName,
  ]);
});

test('AUDIT-16 secret values are masked as [HIDDEN] in the audit export, and a search for them finds no event', async () => {
  await addEvents([
    {
      userEmail: 'a@acme.example',
      eventName: 'Updated deployment configuration',
      attributes: { API_TOKEN: 'hunter2', inside: [{ dbPassword: 'hunter2' }], plain: 'shown' },
    },
  ]);
  const { body } = await get();
  expect(body).not.toContain('hunter2');
  expect(JSON.parse(parseCsv(body)[0]?.[5] ?? '')).toEqual({
    API_TOKEN: '[HIDDEN]',
    inside: [{ dbPassword: '[HIDDEN]' }],
    plain: 'shown',
  });
  expect(await names('?search=hunter2')).toEqual([]);
});

test('the audit export has the newest auditRetentionEvents events, and none older than auditRetentionDays', async () => {
  await threeDays();
  await rig.control('PATCH', '/settings', { auditRetentionEvents: 2 });
  expect(await names()).toEqual(['Logged out', 'Created deployment']);
  await rig.control('PATCH', '/settings', { auditRetentionDays: 1 });
  expect(await names()).toEqual([]);
});

test('the fault truncateLists shortens the audit export, and the fault dropAfter breaks it off after the CSV header', async () => {
  await threeDays();
  // One of three events is kept.
  await rig.control('PATCH', '/faults', { truncateLists: { keep: 0.34 } });
  expect(await names()).toEqual(['Logged out']);
  await rig.control('PATCH', '/faults', { dropAfter: true });
  const { body } = await request(`${rig.ready.platformUrl}${EXPORT}`, {
    headers: { authorization: `Bearer ${rig.key('audit')}` },
  });
  let text = '';
  const read = async () => {
    for await (const piece of body) text += String(piece);
  };
  await expect(read()).rejects.toThrow();
  expect(text).toBe(`${HEADER}\r\n`);
});
