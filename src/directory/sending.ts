// What the client lacks on one connection to one server: writes are gathered, waiting has a limit, no error is unheard.
import type { Duplex } from 'node:stream';
import type { Redis } from 'ioredis';

/** So much leaves at once, so that Redis works while this turn goes on. */
const ENOUGH_BYTES = 512;

/** Commands of one turn of the event loop leave in few writes: the system call costs more than a command. */
export function gatherWrites(redis: Redis): void {
  const send = redis.sendCommand.bind(redis);
  let isGathering = false;
  redis.on('ready', () => joinTexts(redis.stream));
  redis.sendCommand = (command, stream) => {
    const socket = redis.stream;
    if (!isGathering && redis.status === 'ready') {
      isGathering = true;
      socket.cork();
      setImmediate(() => {
        isGathering = false;
        socket.uncork();
      });
    }
    const answered = send(command, stream);
    if (isGathering && socket.writableLength > ENOUGH_BYTES) {
      socket.uncork();
      socket.cork();
    }
    return answered;
  };
}

/** What was gathered is sent as one text: as a list, each piece would be converted and kept apart on its way. */
function joinTexts(socket: Duplex): void {
  const writeList = socket._writev?.bind(socket);
  socket._writev = (pieces, callback) => {
    const texts = pieces.map(({ chunk }) => chunk as unknown).filter((chunk) => typeof chunk === 'string');
    if (texts.length === pieces.length) socket._write(texts.join(''), 'utf8', callback);
    else writeList?.(pieces, callback);
  };
}

/**
 * Rejects what Redis does not answer in time. It answers in order, so it is enough to look at the oldest command now and
 * then; a timer for every command, as the client offers it, costs a fifth of the command. A connection that answers
 * nothing is given up for a new one: its server may hang or be cut off, and the address may lead elsewhere by now.
 */
export function limitWaiting(redis: Redis, limitMs: number): void {
  let oldest: unknown;
  let sinceMs = 0;
  const timer = setInterval(() => {
    const front = redis.commandQueue.peekFront();
    if (front !== oldest) {
      oldest = front;
      sinceMs = performance.now();
    } else if (front && performance.now() - sinceMs >= limitMs) {
      for (const { command } of redis.commandQueue.toArray()) command.reject(new Error('Command timed out'));
      redis.disconnect(true);
    }
  }, limitMs / 10);
  timer.unref();
  redis.once('end', () => clearInterval(timer));
}

/**
 * The client listens to the first error of a socket only. One over TLS may have two (our verdict on the certificate, and
 * the server's on ours), and the second would end the process.
 */
export function hearLateErrors(redis: Redis): void {
  const connector = Reflect.get(redis, 'connector') as { connect: (...args: unknown[]) => Promise<Duplex> };
  const connect = connector.connect.bind(connector);
  connector.connect = async (...args) => {
    const stream = await connect(...args);
    return stream.on('error', () => undefined);
  };
}
