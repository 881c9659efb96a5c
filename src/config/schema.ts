// Defines the settings of the bridge: their JSON Schema as data, and the type of the effective settings.
import { connectionsSchema, type ConnectionConfig } from './schema/connection.ts';
import { section, type SchemaNode } from './schema/node.ts';
import { noticesSchema, type NoticesConfig } from './schema/notices.ts';
import {
  backupSchema,
  loggingSchema,
  provisioningLogSchema,
  reconcileSchema,
  redisSchema,
  serverSchema,
} from './schema/server.ts';
import type {
  BackupConfig,
  LoggingConfig,
  ProvisioningLogConfig,
  ReconcileConfig,
  RedisConfig,
  ServerConfig,
} from './schema/server.ts';
import { targetsSchema, type TargetConfig } from './schema/target.ts';
import type { FileText } from './substitute.ts';

/** The effective settings: all defaults filled in, names and durations derived. */
export interface Config {
  server: ServerConfig;
  redis: RedisConfig;
  connections: Record<string, ConnectionConfig>;
  targets: Record<string, TargetConfig>;
  reconcile: ReconcileConfig;
  provisioningLog: ProvisioningLogConfig;
  backup: BackupConfig;
  notices: NoticesConfig;
  logging: LoggingConfig;
  /** Secrets that come from files; they are replaced when the files change (secret-files.ts). */
  secretFiles: FileText[];
  /** Absolute path of the settings file; null = environment variables only. */
  source: string | null;
}

/** Schema of the settings file. Its defaults are the built-in defaults of the service. */
export const settingsSchema: SchemaNode = section('Settings of scim-bridge.', {
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

/** Returns the schema as published in config/bridge.schema.json, for editors and other tools. */
export function publishedSchema(): Record<string, unknown> {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'scim-bridge settings',
    ...settingsSchema,
  };
}
