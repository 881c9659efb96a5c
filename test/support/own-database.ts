// Gives each Jest worker a database of its own in the Redis server of the run, and empties it before each test file: a scan of all
// keys, as `untilIdle` and some commands do, would take longer with every file that has run.
import { once } from 'node:events';
import { connect } from 'node:net';

/** Databases of a Redis server by default; workers without one of their own use the first. */
const DATABASES = 16;

/** @returns the address of the emptied database of this worker */
async function emptyDatabase(url: string, worker: number): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  // Inline commands, because loading a client would take longer than most unit tests.
  socket.end(`SELECT ${worker}\r\nFLUSHDB ASYNC\r\nQUIT\r\n`);
  let answer = '';
  socket.on('data', (data) => (answer += data.toString()));
  await once(socket, 'close');
  if (!answer.startsWith('+OK\r\n+OK\r\n')) throw new Error(`database ${worker} was not emptied: ${answer}`);
  return `${url}/${worker}`;
}

const worker = Number(process.env.JEST_WORKER_ID);
// The server that REDIS_URL names is not emptied.
if (process.env.TEST_REDIS_IS_OWN === '1' && worker < DATABASES)
  process.env.TEST_REDIS_URL = await emptyDatabase(process.env.TEST_REDIS_URL ?? '', worker);
