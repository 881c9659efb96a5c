// Defines a feed: a connection and a target that its users and groups are synced to.

export interface TargetFeed {
  connection: string;
  target: string;
}

/** Rules of a target, for a connection that feeds it. */
export interface FeedRules extends TargetFeed {
  /** Digest of the rules by which resources are mapped (`mapped:<t>`). */
  rules: string;
  /** Digest of the other settings that decide about access, such as the limits of the guard. */
  others: string;
}

/** A target in the settings, with the address of its platform. */
export interface FedTarget extends TargetFeed {
  address: string;
}

/** Returns the hash field of a feed: `connection target`. Names of connections and targets contain no space. */
export const toField = ({ connection, target }: TargetFeed): string => `${connection} ${target}`;

/** The inverse of `toField`. */
export function toFeed(field: string): TargetFeed {
  const [connection = '', target = ''] = field.split(' ');
  return { connection, target };
}
