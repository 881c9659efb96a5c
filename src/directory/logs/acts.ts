// Stores the audit log of one connection: the orders of operators. Their effects at the platform are in the provisioning
// log.
import { createChainedStream, type Placed, type StreamLimits } from './chained-stream.ts';
import type { StoreDeps } from '../redis/scripts.ts';

/** Orders that the audit log records; `approveFirst`: the first of two approvals. */
export const ACTS = [
  'hold',
  'release',
  'resync',
  'sync',
  'reconcile',
  'apply',
  'approveFirst',
  'approve',
  'reject',
  'withdraw',
  'retryDeadLetters',
  'dropDeadLetters',
  'forgetLink',
  'importLinks',
  'keepLinks',
  'retryEvents',
  'dropEvents',
  'createToken',
  'revokeToken',
  'restore',
  'repair',
  'forget',
  'undoHandover',
  'testNotices',
] as const;

/** Interfaces of operators: command line, admin API, and the page, which calls the admin API. */
export const INTERFACES = ['command', 'admin API', 'page'] as const;

/** The operator who gave an order. */
export interface Actor {
  /** Name, unverified: as the operator gave it, or the system user. */
  by: string;
  via: (typeof INTERFACES)[number];
  /** Remark of the operator. */
  note?: string;
}

/** An audit entry: one order of an operator. */
export interface Act extends Actor {
  act: (typeof ACTS)[number];
  target?: string;
  /** Object of the order: id of an approval, name of a token, resources, or backup; never a secret. */
  subject?: string;
  /** Only of the act `forget`: id that log entries show in place of the removed personal data. */
  order?: string;
  /** Number of affected resources or items. */
  count?: number;
}

export type PlacedAct = Act & Placed;

/** Audit entries are few, and are kept longer than the provisioning log. */
const ACT_LIMITS: StreamLimits = { maxEntries: 20_000, maxAgeMs: 400 * 86_400_000 };

export type Acts = ReturnType<typeof createActs>;

export function createActs(deps: StoreDeps) {
  const stream = createChainedStream<Act>(deps, {
    name: 'acts',
    script: 'append_act',
    limits: ACT_LIMITS,
    personal: ['subject', 'note'],
  });
  return { ...stream, record: async (act: Act): Promise<void> => void (await stream.append([act])) };
}
