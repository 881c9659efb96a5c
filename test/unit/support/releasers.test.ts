// Tests the order in which parts are released at shutdown.
import { createLogger, silentLogger } from '../../../src/support/logger.ts';
import { createReleasers } from '../../../src/support/releasers.ts';

describe('releasers at shutdown', () => {
  it('releasers run in the reverse order of construction, one after the other', async () => {
    const log: string[] = [];
    const releasers = createReleasers(silentLogger);
    releasers.add('redis', () => void log.push('redis'));
    releasers.add('worker', async () => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      log.push('worker');
    });
    releasers.add('http', () => Promise.resolve(log.push('http')));
    await releasers.releaseAll();
    expect(log).toEqual(['http', 'worker', 'redis']);
  });

  it('a failing release is logged by name, and the others still run', async () => {
    const lines: string[] = [];
    const released: string[] = [];
    const releasers = createReleasers(createLogger('warn', { write: (line) => void lines.push(line) }));
    releasers.add('redis', () => void released.push('redis'));
    releasers.add('worker', () => Promise.reject(new Error('hangs')));
    releasers.add('relay', () => {
      throw new Error('broken');
    });
    await releasers.releaseAll();
    expect(released).toEqual(['redis']);
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { part: 'relay', reason: 'broken' },
      { part: 'worker', reason: 'hangs' },
    ]);
  });

  it('a second release does not run a releaser again', async () => {
    let count = 0;
    const releasers = createReleasers(silentLogger);
    releasers.add('once', () => void count++);
    await Promise.all([releasers.releaseAll(), releasers.releaseAll()]);
    await releasers.releaseAll();
    expect(count).toBe(1);
  });
});
