// Defines the settings of a target: one platform tenant that the bridge keeps equal to the desired state.
// Arguments (node.ts): section(description, keys, required keys), whole(description, default, smallest, largest),
// optionalWhole(description, smallest, largest), choice(description, words, default; absent: the first word).
import { attributesSchema, type AttributeConfig } from './attributes.ts';
import { guardSchema } from './guard.ts';
import {
  choice,
  flag,
  list,
  named,
  NAME_PATTERN,
  optionalText,
  optionalSection,
  section,
  nodeOf,
  NON_EMPTY,
  optionalWhole,
  text,
  TEXT,
  usualText,
  whole,
  type ValueOf,
} from './node.ts';

const rateLimitSchema = section('How fast the bridge may call this platform.', {
  requestsPerSecond: nodeOf<number>({
    type: 'number',
    description: 'Requests per second, on average.',
    default: 50,
    exclusiveMinimum: 0,
    maximum: 10_000,
  }),
  burst: whole('Requests that may go out at once after a pause.', 50, 1, 10_000),
});

/** Filter that keeps every user, active or not (isEveryone in sync/mapping/mapping.ts). */
const EVERYBODY = 'active or true';

const usersSchema = section('Which users this target gets, and how they leave.', {
  scope: usualText('SCIM filter of the users in scope; leaving the scope means deprovisioning.', EVERYBODY, {
    minLength: 1,
  }),
  deprovision: choice('What happens to a user who leaves.', ['deactivate', 'delete']),
  deleteAfterDays: optionalWhole(
    'Delete for good this many days after the source deleted the user, as far as the guard lets it; with handover up to seven days after both are due; null = never.',
    0,
    3650,
  ),
  activation: choice(
    'safe: a user becomes active only after attributes and groups are in place; immediate: at once.',
    ['safe', 'immediate'],
  ),
  protected: list('userNames that no plan may touch.', NON_EMPTY),
});

const handoverSchema = optionalSection(
  section(
    'Move the work of closed accounts to a folder of the team; null = it stays where it is.',
    {
      deployment: nodeOf<string | number>({
        type: ['string', 'integer'],
        description: 'Id of the deployment, a whole number.',
        pattern: '^[0-9]{1,15}$',
        minimum: 1,
      }),
      folder: nodeOf<string | number>({
        type: ['string', 'integer'],
        description: 'Id of the folder, or its name when it is at the root of the workspace.',
        minLength: 1,
        maxLength: 255,
        minimum: 1,
      }),
      afterDays: whole('Days between the closing of an account and the move of its work.', 30, 0, 3650),
    },
    ['deployment', 'folder'],
  ),
);

const renameSchema = section(
  'One rule; the first that matches is used.',
  {
    match: text('Regular expression (RE2 syntax) on the group name.', { maxLength: 1000 }),
    to: text('New name; $1, $2 ... stand for the parts in brackets.'),
  },
  ['match', 'to'],
);

const pattern = { ...NON_EMPTY, maxLength: 1000 };

const groupsSchema = section('Which groups this target gets, and under which names.', {
  include: list('Regular expressions (RE2 syntax) of the group names to bring.', pattern, ['.*']),
  exclude: list('Regular expressions of the group names to leave out; stronger than include.', pattern),
  rename: list('Rules that change group names for the target.', renameSchema),
  members: choice(
    'owned: only members that the bridge added are ever removed; authoritative: everyone else is removed.',
    ['owned', 'authoritative'],
  ),
});

const groupsRolesMapSchema = nodeOf<Record<string, string | string[]>>({
  type: 'object',
  description: "Copy of the tenant's own mapping from groups to roles, for warnings only.",
  default: {},
  additionalProperties: { type: ['string', 'array'], items: TEXT },
});

const targetSchema = section(
  'One platform tenant.',
  {
    url: text('Address of the platform, for example https://acme.example.com.'),
    token: text('API key of the platform.'),
    scimToken: optionalText('Separate key for the SCIM side of the platform; null = the same key.'),
    allowLoopbackHttp: flag(
      'Allow http:// when the platform is on this machine. Variable PLATFORM_ALLOW_LOOPBACK_HTTP.',
    ),
    timeoutMs: whole('Longest wait for one answer, in milliseconds.', 15_000, 100, 600_000),
    concurrency: whole('Requests of a process under way at the same time, at the start.', 8, 1, 256),
    minConcurrency: whole(
      'The fewest requests of a process under way at the same time, after answers 429 and 503.',
      1,
      1,
      256,
    ),
    maxConcurrency: whole(
      'The most requests of a process under way at the same time. The bridge adds some while they do not slow the platform.',
      32,
      1,
      256,
    ),
    rateLimit: rateLimitSchema,
    policy: choice(
      'create-only: never change a resource once it is complete, never remove; upsert-only: never close an account, delete or take out a member, but change and empty values; sync: everything.',
      ['create-only', 'upsert-only', 'sync'],
      'sync',
    ),
    adopt: choice(
      'Accounts that exist already: exact takes over an exact match; report and never leave it alone and list it as a dead letter.',
      ['exact', 'report', 'never'],
    ),
    users: usersSchema,
    groups: groupsSchema,
    attributes: attributesSchema,
    guard: guardSchema,
    groupsRolesMap: groupsRolesMapSchema,
    handover: handoverSchema,
  },
  ['url', 'token'],
);

/** A target of a document that has passed the schema. */
export type TargetDocument = ValueOf<typeof targetSchema>;

/** The effective settings of a target. */
export type TargetConfig = Omit<TargetDocument, 'attributes' | 'guard' | 'handover'> & {
  name: string;
  attributes: Record<string, AttributeConfig>;
  guard: Omit<TargetDocument['guard'], 'window'> & { windowMs: number };
  handover: { deployment: string; folder: string; afterDays: number } | null;
};

/** Without targets in the file there is `main`, whose url and token the environment gives (config/environment.ts). */
export const targetsSchema = {
  ...named('Platform tenants by name.', NAME_PATTERN, targetSchema, { main: {} }),
  minProperties: 1,
};
