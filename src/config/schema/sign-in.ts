// Defines the settings of the sign-in to the operators' page and the admin API.
// Arguments (node.ts): section(description, keys, required keys), whole(description, default, smallest, largest).
import {
  flag,
  list,
  nodeOf,
  NON_EMPTY,
  optionalText,
  optionalSection,
  section,
  text,
  TEXT,
  usualText,
  whole,
} from './node.ts';

const header = (description: string, preset: string) =>
  usualText(description, preset, { pattern: '^[A-Za-z0-9-]{1,64}$' });
/** @param role the role in words, with its rights */
const names = (role: string) =>
  list(`Names in the roles claim or header that make a person ${role}.`, NON_EMPTY);

const openIdSchema = optionalSection(
  section(
    'An OpenID Connect provider (code flow with PKCE); null = none.',
    {
      issuer: text('Address of the provider as its discovery document gives it (issuer), by https://.'),
      clientId: text('Client id that the provider gave to the bridge.', { minLength: 1 }),
      clientSecret: optionalText('Client secret; without it the bridge is a public client.'),
      scopes: list('Scopes that are asked for.', NON_EMPTY, ['openid', 'profile', 'email']),
      nameClaim: usualText('Claim of the ID token that names the person in acts and approvals.', 'email', {
        minLength: 1,
      }),
      rolesClaim: usualText('Claim of the ID token with the names of roles or groups.', 'roles', {
        minLength: 1,
      }),
      allowLoopbackHttp: flag('Allow http:// when the provider is on this machine.'),
    },
    ['issuer', 'clientId'],
  ),
);

const proxySchema = optionalSection(
  section(
    'A proxy in front of the page that signs people in and names them in headers; null = none.',
    {
      from: nodeOf<string[]>({
        type: 'array',
        items: TEXT,
        minItems: 1,
        description: 'Networks of the proxy in CIDR form; the headers of others are ignored.',
      }),
      nameHeader: header('Header with the name of the person.', 'X-Forwarded-User'),
      rolesHeader: header('Header with names of roles or groups, separated by commas.', 'X-Forwarded-Groups'),
    },
    ['from'],
  ),
);

export const signInSchema = optionalSection(
  section('How operators sign in as themselves; null = with adminToken alone.', {
    openid: openIdSchema,
    proxy: proxySchema,
    roles: section('Roles of people who sign in. A person without a role is refused.', {
      viewer: names('a viewer, who reads everything and changes nothing'),
      operator: names('an operator, who also gives orders'),
      approver: names('an approver, who reads and decides about approvals'),
    }),
    idleMinutes: whole('Minutes without a request after which a session ends.', 60, 5, 1440),
    hours: whole('Longest session, in hours. Roles are read at its beginning.', 8, 1, 168),
  }),
);
