// Tests the requests of Microsoft Entra ID with the flag aadOptscim062020 in the tenant address (docs/idp/entra.md).
import {
  CUSTOM,
  ENTERPRISE,
  GROUP,
  startProfiles,
  USER,
  type Client,
  type ProfileName,
} from '../scim-conformance/client.ts';
import type { Bridge } from '../../support/build-bridge.ts';

let bridge: Bridge;
let on: Record<ProfileName, Client>;
beforeAll(async () => {
  ({ bridge, on } = await startProfiles());
});
afterAll(() => bridge.stop());

describe.each(['auto', 'entra', 'lenient'] as const)('Entra with aadOptscim062020, profile %s', (profile) => {
  const FLAG = '?aadOptscim062020';
  let scim: Client;
  let user: string;
  let group: string;
  beforeAll(() => {
    scim = on[profile];
  });

  test('a filter by Entra with the flag aadOptscim062020 before or after it in the URL answers 200 and an empty list', async () => {
    for (const query of [
      `${FLAG}&filter=userName+eq+"a"`,
      `?filter=userName+eq+"a"&aadOptscim062020`,
      `${FLAG}=&filter=externalId+eq+"a"`,
    ]) {
      expect(await scim.get(`/Users${query}`)).toMatchObject({
        status: 200,
        body: { totalResults: 0, Resources: [] },
      });
    }
  });

  test("at URLs with Entra's flag a user is created by POST, and updated by a PATCH without a path and with JSON booleans", async () => {
    const created = await scim.post(`/Users${FLAG}`, {
      schemas: [USER, ENTERPRISE],
      externalId: 'joan',
      userName: 'joan@corp.example',
      active: true,
      displayName: 'Jo',
      name: { familyName: 'Doe', givenName: 'Jo' },
      emails: [{ primary: true, type: 'work', value: 'joan@corp.example' }],
      [ENTERPRISE]: { employeeNumber: '77', department: 'Ops' },
    });
    expect(created.status).toBe(201);
    user = created.body.id;
    expect(created.body.meta.location).toBe(`${scim.root}/Users/${user}`);
    const answer = await scim.patch(
      `/Users/${user}${FLAG}`,
      {
        op: 'replace',
        value: {
          displayName: 'Joan',
          active: false,
          'name.givenName': 'Joan',
          [`${ENTERPRISE}:employeeNumber`]: '78',
          [`${CUSTOM}:region`]: 'eu',
        },
      },
      { op: 'add', path: 'emails[type eq "work"].value', value: 'j@corp.example' },
      { op: 'add', path: 'phoneNumbers[type eq "mobile"].value', value: '+351 1' },
    );
    expect([200, 204]).toContain(answer.status);
    expect((await scim.get(`/Users/${user}${FLAG}`)).body).toMatchObject({
      displayName: 'Joan',
      active: false,
      name: { familyName: 'Doe', givenName: 'Joan' },
      emails: [{ value: 'j@corp.example', type: 'work', primary: true }],
      phoneNumbers: [{ value: '+351 1', type: 'mobile' }],
      [ENTERPRISE]: { employeeNumber: '78', department: 'Ops' },
      [CUSTOM]: { region: 'eu' },
    });
  });

  test("at URLs with Entra's flag a PATCH adds two members as a list, and a PATCH with a filter in its path removes one", async () => {
    const other = (await scim.user('other@corp.example')).id;
    group = (await scim.post(`/Groups${FLAG}`, { schemas: [GROUP], externalId: 'g', displayName: 'Ops' }))
      .body.id;
    const path = `/Groups/${group}${FLAG}`;
    const both = { op: 'add', path: 'members', value: [{ value: user }, { value: other }] };
    expect((await scim.patch(path, both)).status).toBe(204);
    expect((await scim.patch(path, { op: 'remove', path: `members[value eq "${user}"]` })).status).toBe(204);
    expect((await scim.get(path)).body.members).toEqual([expect.objectContaining({ value: other })]);
    expect((await scim.patch(path, { op: 'remove', path: `members[value eq "${user}"]` })).status).toBe(204);
    expect(
      (
        await scim.get(
          `/Groups${FLAG}&filter=id eq "${group}" and members eq "${other}"&attributes=id`.replaceAll(
            ' ',
            '%20',
          ),
        )
      ).body.totalResults,
    ).toBe(1);
  });

  test("a PATCH with capitalised operations at a URL with Entra's flag, as on-demand provisioning sends it, is applied", async () => {
    const answer = await scim.patch(
      `/Users/${user}${FLAG}`,
      { op: 'Replace', path: 'active', value: 'True' },
      { op: 'Remove', path: `${ENTERPRISE}:department` },
    );
    expect([200, 204]).toContain(answer.status);
    const { body } = await scim.get(`/Users/${user}`);
    expect(body.active).toBe(true);
    expect(body[ENTERPRISE]).toEqual({ employeeNumber: '78' });
    expect((await scim.delete(`/Users/${user}${FLAG}`)).status).toBe(204);
    expect((await scim.delete(`/Groups/${group}${FLAG}`)).status).toBe(204);
  });
});

test.each(['auto', 'entra', 'lenient'] as const)(
  'a PATCH with the flag AzureAdScimPatch2017 and values wrapped in a list stores the plain values, profile %s (gh:MicrosoftDocs/azure-docs#42220)',
  async (profile) => {
    const scim = on[profile];
    const { id } = await scim.user('legacy@x.example');
    const wrapped = (path: string, value: string) => ({
      op: 'Replace',
      path,
      value: [{ $ref: null, value }],
    });
    await scim.patch(
      `/Users/${id}?AzureAdScimPatch2017`,
      wrapped('displayName', 'Joan'),
      wrapped('name.givenName', 'Joan'),
      wrapped('emails[type eq "work"].value', 'joan@x.example'),
      wrapped(`${ENTERPRISE}:department`, 'Ops'),
      wrapped('active', 'False'),
    );
    expect(await scim.get(`/Users/${id}`)).toMatchObject({
      status: 200,
      body: {
        displayName: 'Joan',
        name: { givenName: 'Joan', familyName: 'Doe' },
        emails: [{ value: 'joan@x.example', type: 'work' }],
        active: false,
        [ENTERPRISE]: { department: 'Ops' },
      },
    });
  },
);
