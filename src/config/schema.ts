// Defines the settings of the bridge: their JSON Schema as data, and the type of the effective settings.
import { connectionsSchema, type ConnectionConfig } from './schema/connection.ts';
import { section, type ValueOf } from './schema/node.ts';
import { noticesSchema } from './schema/notices.ts';
import {
  backupSchema,
  loggingSchema,
  provisioningLogSchema,
  reconcileSchema,
  redisSchema,
  serverSchema,
} from './schema/server.ts';
import { targetsSchema, type TargetConfig } from './schema/target.ts';
import type { FileText } from './substitute.ts';

/** Schema of the settings file. Its defaults are the built-in defaults of the service. */
export const settingsSchema = section('Settings of scim-bridge.', {
  server: serverSchema,
  redis: redisSchema,
  connections: connectionsSchema,
  targets: targetsSchema,
  reconcile: reconcileSchema,
  provisioningLog: provisioningLogSchema,
  backup: backupSchema,
  notices: noticesSchema,
  logging: loggingSchema,
});

/** The settings document after validation: it fits the schema, and all defaults are filled in. */
export type Settings = ValueOf<typeof settingsSchema>;

/** The effective settings: names and durations derived, addresses without a trailing slash. */
export interface Config extends Omit<Settings, 'connections' | 'targets'> {
  connections: Record<string, ConnectionConfig>;
  targets: Record<string, TargetConfig>;
  /** Secrets that come from files; they are replaced when the files change (secret-files.ts). */
  secretFiles: FileText[];
  /** Absolute path of the settings file; null = environment variables only. */
  source: string | null;
}

/** Returns the schema as published in config/bridge.schema.json, for editors and other tools. */
export function publishedSchema(): Record<string, unknown> {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'scim-bridge settings',
    ...settingsSchema,
  };
}
