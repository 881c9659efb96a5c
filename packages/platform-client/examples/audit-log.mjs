// Prints the audit log of the last day as lines of JSON. Reads PLATFORM_URL and PLATFORM_TOKEN.
import { createPlatformClient } from '@scim-bridge/platform-client';

const platform = createPlatformClient({
  url: process.env['PLATFORM_URL'] ?? '',
  token: process.env['PLATFORM_TOKEN'] ?? '',
  allowLoopbackHttp: true,
});
const start = new Date(Date.now() - 24 * 60 * 60_000).toISOString().slice(0, 10);

// Rows arrive while the platform still sends: memory does not grow with the log.
for await (const row of platform.auditLog.export({ start })) console.log(JSON.stringify(row));
await platform.close();
