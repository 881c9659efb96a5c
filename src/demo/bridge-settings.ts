// Builds the bridge's settings for the demo, in the form of a settings file.
import type { Idp } from './company.ts';

interface BridgeSettingsOptions {
  redisUrl: string;
  prefix: string;
  platformUrl: string;
  platformKey: string;
  tokens: Record<Idp, string>;
  adminToken: string;
}

interface AttributeSetting {
  type: string;
  from?: string;
  expression?: string;
  onEmpty?: string;
}

/** One attribute of each of the five types; together they read a core attribute, both extensions and group names. */
export const ATTRIBUTES: Readonly<Record<string, AttributeSetting>> = {
  country: { type: 'string', from: 'addresses[type eq "work"].country' },
  clearance: { type: 'number', from: 'urn:cube:params:1.0:UserAttribute:clearance' },
  contractor: { type: 'boolean', expression: 'userType = "Contractor"' },
  budgets: { type: 'number_array', expression: '$split(**.costCenter, ";").$number($)' },
  regions: { type: 'string_array', expression: 'groups.display[$match($, /^region-/)]', onEmpty: 'clear' },
};

/** Returns the settings document. Settings that are not listed keep their defaults, including the rate limit. */
export function bridgeSettings(options: BridgeSettingsOptions): object {
  return {
    // Port 0 selects a free port, which the log names.
    server: { host: '127.0.0.1', port: 0, adminToken: options.adminToken },
    redis: { url: options.redisUrl, prefix: options.prefix },
    connections: {
      default: { profile: 'okta', tokens: [{ name: 'okta', secret: options.tokens.okta }] },
      entra: { profile: 'entra', tokens: [{ name: 'entra', secret: options.tokens.entra }] },
    },
    targets: {
      main: {
        url: options.platformUrl,
        token: options.platformKey,
        allowLoopbackHttp: true,
        attributes: ATTRIBUTES,
      },
    },
    reconcile: { schedule: null },
  };
}
