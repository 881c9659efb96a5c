// What sync knows of one target: its rules, its client and its mapping.
import type { Budget } from '../directory/budget.ts';
import type { PlatformClient } from '../platform/client.ts';
import type { Catalogue } from './catalogue.ts';
import type { Mapping } from './mapping.ts';

/** The part of a target's settings that decides what sync may do. */
export interface SyncPolicy {
  policy: 'create-only' | 'upsert-only' | 'sync';
  adopt: 'exact' | 'report' | 'never';
  users: {
    deprovision: 'deactivate' | 'delete';
    activation: 'safe' | 'immediate';
    protected: string[];
  };
  groupsRolesMap: Record<string, string | string[]>;
}

export interface Target {
  name: string;
  policy: SyncPolicy;
  client: PlatformClient;
  mapping: Mapping;
  catalogue: Catalogue;
  budget: Budget;
}
