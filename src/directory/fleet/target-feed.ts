// Defines a feed: a connection and a target that its users and groups are synced to.

export interface TargetFeed {
  connection: string;
  target: string;
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
