// Roles of operators and the rights that they give. The API enforces rights; the page only shows what they allow.

export type OperatorRole = 'viewer' | 'operator' | 'approver';
/** `read`: see everything; `operate`: give orders; `approve`: decide about approvals. */
export type Right = 'read' | 'operate' | 'approve';

export const RIGHTS: Readonly<Record<OperatorRole, readonly Right[]>> = {
  viewer: ['read'],
  operator: ['read', 'operate'],
  approver: ['read', 'approve'],
};
export const ALL_RIGHTS: readonly Right[] = ['read', 'operate', 'approve'];
/** The role that gives each right, for the message to a person without it. */
export const ROLE_FOR: Readonly<Record<Right, OperatorRole>> = {
  read: 'viewer',
  operate: 'operator',
  approve: 'approver',
};

/** Names of roles or groups that give each role. */
export type RoleNames = Readonly<Record<OperatorRole, readonly string[]>>;

/** The caller of the admin API. */
export interface AdminCaller {
  /** Name for acts; null: holders of the admin token give a name with each order. */
  name: string | null;
  /** Unique and stable id of a signed-in person; null: all holders of the admin token. */
  person: string | null;
  /** Text behind the name in acts that marks it as not verified; empty where all callers share the token. */
  mark: string;
  rights: readonly Right[];
  via: 'token' | 'openid' | 'proxy';
  /** Whether the caller may still call: the session has not ended, the token is still the right one. */
  isStillValid: () => Promise<boolean>;
  /** Ends the session; undefined where there is none. */
  signOut?: () => Promise<void>;
}

/** Returns the roles that the names of groups or roles give, by the settings. */
export function rolesOf(names: readonly string[], roles: RoleNames): OperatorRole[] {
  return (Object.keys(RIGHTS) as OperatorRole[]).filter((role) =>
    roles[role].some((name) => names.includes(name)),
  );
}

export const rightsOf = (roles: readonly OperatorRole[]): Right[] => [
  ...new Set(roles.flatMap((role) => RIGHTS[role])),
];
