// Everything that Redis keeps for one connection, built together.
import type { Redis } from 'ioredis';
import { createDirectory, type Directory } from './directory.ts';
import { createKeyspace } from './keys.ts';
import { createLinks, type Links } from './links.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import type { Scripts } from './scripts.ts';

export interface DesiredState {
  connection: string;
  directory: Directory;
  links: Links;
  /** By target. */
  outboxes: Map<string, Outbox>;
  /** Channel on which scripts tell the name of a target that has something to do. */
  channel: string;
}

export function createDesiredState(
  deps: { redis: Redis; scripts: Scripts },
  options: { prefix: string; connection: string; targets: string[]; groupsMatter: boolean; leaseMs: number },
): DesiredState {
  const { connection, targets, groupsMatter, leaseMs } = options;
  const keys = createKeyspace(options.prefix, connection);
  return {
    connection,
    directory: createDirectory({ ...deps, keys }, { targets, groupsMatter }),
    links: createLinks({ redis: deps.redis, keys }),
    outboxes: new Map(
      targets.map((target) => [target, createOutbox({ ...deps, keys }, { target, leaseMs })]),
    ),
    channel: keys.key('marked'),
  };
}
