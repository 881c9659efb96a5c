// Lists the users and groups of a tenant. Reads PLATFORM_URL and PLATFORM_TOKEN.
import { createPlatformClient, PlatformError } from '@scim-bridge/platform-client';

const platform = createPlatformClient({
  url: process.env['PLATFORM_URL'] ?? '',
  token: process.env['PLATFORM_TOKEN'] ?? '',
  // For a sandbox on this machine; every other address has to be https.
  allowLoopbackHttp: true,
});

try {
  for await (const { resources } of platform.users.pages({ count: 100 }))
    for (const user of resources) console.log('user', user.id, user.userName);
  for await (const { resources } of platform.groups.pages({ count: 100 }))
    for (const group of resources) console.log('group', group.id, group.displayName);
} catch (error) {
  // No error of the client holds a token, a body or an id.
  if (!(error instanceof PlatformError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await platform.close();
}
