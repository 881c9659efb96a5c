// Handles resources of the whole tenant that are defined by path only: settings, regions, the theme (contract 10).
import { requireAdmin } from '../auth.ts';
import { audit, bodyOf, type Call, type Handler, type HandlerReply } from '../call.ts';
import { optionalBoolean } from '../json.ts';
import type { SandboxRuntime } from '../runtime.ts';

const REGIONS = [
  { id: 'local', name: 'This machine', cloudProvider: 'local' },
  { id: 'eu-central-1', name: 'Frankfurt', cloudProvider: 'aws' },
  { id: 'us-east-1', name: 'North Virginia', cloudProvider: 'aws' },
];

/** Handles `GET /regions`: the list as `items` and as `data`, because clients read either (contract 10). */
export function listRegions(): HandlerReply {
  return { status: 200, body: { items: REGIONS, data: REGIONS } };
}

/** Handles `GET /app-config`: the theme. */
export function readAppConfig(): HandlerReply {
  return { status: 200, body: { appTheme: {}, applyThemeGlobally: false, creatorMode: false } };
}

/** Returns the settings. After a change `call.settings` has the former value, so the new value is passed. */
function settingsReply(call: Call, auditLogEnabled = call.settings.auditLogEnabled): HandlerReply {
  return { status: 200, body: { auditLogEnabled, hasSupportAccess: false } };
}

/** Handles `GET /tenant/settings`: administrators only. */
export function readTenantSettings(call: Call): HandlerReply {
  requireAdmin(call.caller);
  return settingsReply(call);
}

/** Handles `PUT /tenant/settings`: `auditLogEnabled` switches the audit log on and off; 200, 400, 403 unless an administrator. */
export function putTenantSettings(runtime: SandboxRuntime): Handler {
  return (call) => {
    const isEnabled = optionalBoolean(bodyOf(call), 'auditLogEnabled');
    requireAdmin(call.caller);
    if (isEnabled === undefined) return settingsReply(call);
    runtime.settings = { ...runtime.settings, auditLogEnabled: isEnabled };
    audit(call, 'Updated account settings', { auditLogEnabled: isEnabled });
    return settingsReply(call, isEnabled);
  };
}
