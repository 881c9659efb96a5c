// Defines the roles of operators and the rights that they give. The API enforces the rights; the page only hides what the
// caller may not do.

export type OperatorRole = 'viewer' | 'operator' | 'approver';
/** `read`: read everything; `operate`: give orders; `approve`: decide about approvals. */
export type Right = 'read' | 'operate' | 'approve';

const RIGHTS: Readonly<Record<OperatorRole, readonly Right[]>> = {
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

/** Longest accepted name of a person. */
export const MAX_NAME_LENGTH = 200;
/** Most roles or groups of a person that are read; names beyond are ignored, which can only take rights away. */
export const MAX_NAMES = 2000;

/** Names of roles or groups that give each role. */
export type RoleNames = Readonly<Record<OperatorRole, readonly string[]>>;

export interface AdminCaller {
  /** Name in the audit log; null for a holder of the admin token, who gives a name with each order. */
  name: string | null;
  /** Unique and stable id of a signed-in person; null for a holder of the admin token. */
  person: string | null;
  /**
   * Text after the unverified name of a token holder in the audit log, to tell it from the name of a signed-in person. Empty for a
   * person, and without a sign-in, where all callers use the token.
   */
  mark: string;
  rights: readonly Right[];
  via: 'token' | 'openid' | 'proxy';
  /** Returns whether the session is still open, or the token still the right one; always true for a person of a proxy. */
  isStillValid: () => Promise<boolean>;
  /** Ends the session; undefined for a caller without a session. */
  signOut?: () => Promise<void>;
}

/** Returns the roles of a person. @param names the person's groups or roles @param roles the names that give each role */
export function rolesOf(names: readonly string[], roles: RoleNames): OperatorRole[] {
  return (Object.keys(RIGHTS) as OperatorRole[]).filter((role) =>
    roles[role].some((name) => names.includes(name)),
  );
}

/** Returns the rights of these roles together. */
export const rightsOf = (roles: readonly OperatorRole[]): Right[] => [
  ...new Set(roles.flatMap((role) => RIGHTS[role])),
];
