// Runs the comparison server, whose figures are the ceiling of the bridge: plain Express with default settings over
// the same Redis. A write is one EVALSHA that sets a hash and two index keys; a read is one GET. With `static` instead
// of a Redis address, node:http returns a fixed text, which shows the limit of the load generator.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import process from 'node:process';
import express from 'express';
import { Redis } from 'ioredis';

const WRITE = `
redis.call('HSET', KEYS[1], 'text', ARGV[1], 'version', ARGV[2])
redis.call('SET', KEYS[2], ARGV[3])
redis.call('SET', KEYS[3], ARGV[3])
return 1`;

/** Returns the Express application. @param {string} url address of Redis */
function createCeiling(url) {
  const redis = new Redis(url);
  redis.defineCommand('ceiling_write', { numberOfKeys: 3, lua: WRITE });
  const app = express();
  app.use(express.json());
  app.post('/users', async (request, response) => {
    const { userName, externalId } = request.body;
    const id = randomUUID();
    const text = JSON.stringify({ id, ...request.body });
    const keys = [`ceiling:user:${id}`, `ceiling:name:${userName}`, `ceiling:external:${externalId}`];
    await redis['ceiling_write'](...keys, text, '1', id);
    response.status(201).type('json').send(text);
  });
  app.get('/users/:id', async (request, response) => {
    // bench/run.mjs stores these texts before the run. POST /users stores none: its record is a hash.
    const text = await redis.get(`ceiling:text:${request.params.id}`);
    response
      .status(text === null ? 404 : 200)
      .type('json')
      .send(text ?? '{}');
  });
  return app;
}

const FIXED = JSON.stringify({ filler: 'x'.repeat(1000) });

function answerFixed(_request, response) {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': FIXED.length });
  response.end(FIXED);
}

const [url = 'static', port = '0'] = process.argv.slice(2);
createServer(url === 'static' ? answerFixed : createCeiling(url)).listen(Number(port), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
