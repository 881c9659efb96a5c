// Runs the script of `helm test` against servers of its own: what it says when the bridge does not answer as it should.
import { spawn } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ofKind, rendered } from './chart.ts';

const [pod] = ofKind(rendered('minimal'), 'Pod');
const [, , , SCRIPT = ''] = pod.spec.containers.find(({ name }: { name: string }) => name === 'service').command;

/** Serves the status of each path; 404 for others. */
const serve = (statuses: Record<string, number>): Promise<Server> =>
  new Promise((resolve) => {
    const server = createServer((request, response) => {
      response.writeHead(statuses[request.url ?? ''] ?? 404).end();
    });
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
const addressOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** Runs the script with both Services at these addresses. */
function run(scim: string, admin: string): Promise<{ code: number | null; stderr: string }> {
  const script = SCRIPT.replace(/http:\/\/[\w-]+:80\b/, scim).replace(/http:\/\/[\w-]+-admin:8081\b/, admin);
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  let stderr = '';
  child.stderr.on('data', (text) => (stderr += text));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stderr })));
}

let scim: Server;
let admin: Server;
beforeAll(async () => {
  scim = await serve({ '/scim/v2/Users': 401 });
  admin = await serve({ '/readyz': 200 });
});
afterAll(() => {
  scim.close();
  admin.close();
});

test("the chart's test passes for a bridge that is ready and refuses requests without a token", async () => {
  expect(await run(addressOf(scim), addressOf(admin))).toEqual({ code: 0, stderr: '' });
});

test("the chart's test fails for a bridge that accepts a request without a token, and names the address", async () => {
  const open = await serve({ '/scim/v2/Users': 200 });
  const address = addressOf(open);
  const { code, stderr } = await run(address, addressOf(admin));
  open.close();
  expect({ code, stderr }).toEqual({ code: 1, stderr: `${address}/scim/v2/Users should answer 401 or 403\n` });
});

test("the chart's test fails and names the address of the Service that does not answer", async () => {
  const gone = await serve({});
  const address = addressOf(gone);
  await new Promise((resolve) => gone.close(resolve));
  const { code, stderr } = await run(addressOf(scim), address);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `${address}/readyz does not answer (ECONNREFUSED): is a pod of the bridge ready?\n`,
  });
});
