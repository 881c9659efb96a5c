// Tests that tasks with one name run one after the other.
import { createSerially } from '../../../src/support/serially.ts';

function gate(): { open: () => void; opened: Promise<void> } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

describe('tasks that run serially by name', () => {
  it('tasks with one name run one at a time in the order of their calls', async () => {
    const serially = createSerially();
    const log: string[] = [];
    const first = gate();
    const running = [
      serially('a', async () => {
        log.push('first begins');
        await first.opened;
        log.push('first ends');
      }),
      serially('a', () => Promise.resolve(void log.push('second'))),
      serially('a', () => Promise.resolve(void log.push('third'))),
    ];
    await Promise.resolve();
    expect(log).toEqual(['first begins']);
    first.open();
    await Promise.all(running);
    expect(log).toEqual(['first begins', 'first ends', 'second', 'third']);
  });

  it('tasks with different names do not wait for each other', async () => {
    const serially = createSerially();
    const hanging = gate();
    const slow = serially('a', () => hanging.opened);
    await expect(serially('b', () => Promise.resolve('done'))).resolves.toBe('done');
    hanging.open();
    await slow;
  });

  it('each caller gets its own result or error, and later tasks run after an error', async () => {
    const serially = createSerially();
    const failing = serially('a', () => Promise.reject(new Error('no')));
    const next = serially('a', () => Promise.resolve(2));
    await expect(failing).rejects.toThrow('no');
    await expect(next).resolves.toBe(2);
    await expect(serially('a', () => Promise.resolve(3))).resolves.toBe(3);
  });
});
