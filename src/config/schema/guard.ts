// Settings of the guard that holds mass removals until a person approves them.
import { section, whole, type SchemaNode } from './node.ts';

/** Number of removals within the window that need no approval; both limits apply. */
export interface GuardLimitSettings {
  count: number;
  percent: number;
}

export interface GuardConfig {
  windowMs: number;
  approvers: number;
  deactivate: GuardLimitSettings;
  delete: GuardLimitSettings;
  removeMembers: GuardLimitSettings;
  clearAttributes: GuardLimitSettings;
}

function limit(what: string, all: string, count: number, percent: number): SchemaNode {
  return section(
    `${what} that go through within the window without approval, as long as both bounds are kept.`,
    {
      count: whole('Number.', count, 0, 1_000_000_000),
      percent: {
        type: 'number',
        description: `Share of all ${all}, in percent. It never bites below 10, so that small tenants can work; 0 lets nothing through.`,
        default: percent,
        minimum: 0,
        maximum: 100,
      },
    },
  );
}

export const guardSchema: SchemaNode = section(
  'Mass removals stop here and wait for approval (scim-bridge approvals).',
  {
    window: {
      type: 'string',
      description: 'Time over which removals are counted: a number with ms, s, m, h or d, such as 24h.',
      default: '24h',
    },
    approvers: whole(
      'Persons who have to approve what is held: 1, or 2 for two different persons.',
      ...([1, 1, 2] as const),
    ),
    deactivate: limit('Deactivations of users', 'users', 50, 10),
    delete: limit('Deletions of users and groups', 'users and groups', 10, 2),
    removeMembers: limit('Removals of group members', 'memberships', 200, 20),
    clearAttributes: limit('Attribute values emptied', 'users', 200, 20),
  },
);
