// Makes an API key at the sandbox, whose keys differ at each start, and writes it where the settings expect it.
import { writeFileSync } from 'node:fs';
import process from 'node:process';

const [file = '/tmp/platform-token', control = 'http://127.0.0.1:8091'] = process.argv.slice(2);
const response = await globalThis.fetch(`${control}/fixtures`, {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ apiKeys: [{ name: 'scim-bridge', owner: 'admin@acme.example' }] }),
});
const { apiKeys } = await response.json();
writeFileSync(file, apiKeys[0].key, { mode: 0o600 });
