// Nothing that the bridge does may leave the platform without an active administrator. Pure (ADR 0011).

/** An account as far as this rule cares; names in lower case. */
export interface Account {
  userName: string;
  isAdministrator: boolean;
  isActive: boolean;
}

/**
 * Whether an active administrator is left among `accounts` once `closing` is closed. Who is `leaving` as well is none:
 * else two who leave in the same moment would each count on the other.
 */
export const anotherRemains = (
  accounts: readonly Account[],
  closing: string,
  leaving: ReadonlySet<string>,
): boolean =>
  accounts.some(
    ({ userName, isAdministrator, isActive }) =>
      isAdministrator && isActive && userName !== closing && !leaving.has(userName),
  );
