// One store of memory for all threads: the process starts again, once, as it was started.
import { useOneArena } from '../../../src/cli/one-arena.ts';

interface Started {
  file: string;
  args: string[];
  env: NodeJS.ProcessEnv;
}

function start(changes: Partial<Parameters<typeof useOneArena>[0]> = {}): Started[] {
  const started: Started[] = [];
  useOneArena({
    platform: 'linux',
    env: { HOME: '/home/ada' },
    execPath: '/bin/node',
    execArgv: ['--trace-gc'],
    argv: ['/bin/node', 'main.js', 'serve', '--role', 'api'],
    execve: (file, args, env) => void started.push({ file, args, env }),
    ...changes,
  });
  return started;
}

test('starts the same program with the same arguments and environment', () => {
  expect(start()).toEqual([
    {
      file: '/bin/node',
      args: ['/bin/node', '--trace-gc', 'main.js', 'serve', '--role', 'api'],
      env: { HOME: '/home/ada', MALLOC_ARENA_MAX: '1' },
    },
  ]);
});

test('the number that somebody has set stays, so it starts again once', () => {
  expect(start({ env: { MALLOC_ARENA_MAX: '4' } })).toEqual([]);
  expect(start({ env: start()[0]?.env ?? {} })).toEqual([]);
});

test('nothing happens where it can not be done, or would cut the line to a parent', () => {
  expect(start({ platform: 'darwin' })).toEqual([]);
  const refuse = (): never => {
    throw new Error('ERR_ACCESS_DENIED');
  };
  expect(start({ execve: refuse })).toEqual([]);
  expect(start({ channel: {} as NonNullable<NodeJS.Process['channel']> })).toEqual([]);
  const bare = { ...process, env: {}, platform: 'linux' as const, execve: undefined };
  expect(() => useOneArena(bare as unknown as Parameters<typeof useOneArena>[0])).not.toThrow();
});
