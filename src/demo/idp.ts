// Defines a simulated identity provider of the demo, and what the simulations of Okta and Microsoft Entra ID share.
import type { Group, Person } from './company.ts';

/** Entra ID's default form of PATCH, and the form that `?aadOptscim062020` in the tenant URL selects. */
export type Dialect = 'legacy' | 'scim';

/** An identity provider; each method sends the requests of one event and throws when one is refused. */
export interface SimulatedIdp {
  /** Sends the requests of the button "test connection". */
  connect(): Promise<void>;
  /** Looks the user up, then creates it. */
  hire(person: Person): Promise<void>;
  /** Sends changed values of a user. */
  update(before: Person, after: Person, dialect?: Dialect): Promise<void>;
  /** Deactivates the user. */
  leave(person: Person, dialect?: Dialect): Promise<void>;
  /** Activates a user who left before. */
  comeBack(person: Person): Promise<void>;
  /** Creates the group without members. */
  pushGroup(group: Group): Promise<void>;
  /** Sends the name that the group has now. */
  rename(group: Group): Promise<void>;
  addMembers(group: Group, people: Person[], dialect?: Dialect): Promise<void>;
  removeMembers(group: Group, people: Person[], dialect?: Dialect): Promise<void>;
  /** Sends the current values of a user again. */
  repeat(person: Person): Promise<void>;
}

export const CORE_USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
export const CORE_GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
export const CUBE_ATTRIBUTES = 'urn:cube:params:1.0:UserAttribute';
const PATCH_OP = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

export const userType = ({ contractor }: Person): string => (contractor ? 'Contractor' : 'Employee');
export const costCenter = ({ budgets }: Person): string => budgets.join(';');
export const patchOf = (...Operations: object[]): object => ({ schemas: [PATCH_OP], Operations });

/** Stores the ids that the bridge assigned: provider's id → SCIM id. */
export function createIds(): { set(key: string, id: string): void; of(key: string): string } {
  const ids = new Map<string, string>();
  return { set: (key, id) => void ids.set(key, id), of: (key) => ids.get(key) ?? '' };
}
