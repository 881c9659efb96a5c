// Runs slow scenarios concurrently, each with a bridge of its own.

export type Chapter<World> = (name: string, tell: (world: World) => Promise<void>, limitMs?: number) => void;

/**
 * Must be called outside of `describe`: all scenarios of a file start before its first test. The steps of one
 * scenario run in order, and each test awaits its own step.
 */
export function createStory<World>(
  open: () => World | Promise<World>,
  close: (world: World) => void | Promise<void>,
): Chapter<World> {
  const chapters: { tell: (world: World) => Promise<void>; ended?: Promise<void> }[] = [];
  let opened: Promise<World> | undefined;
  beforeAll(() => {
    const world = (opened = Promise.resolve(open()));
    let before: Promise<unknown> = world;
    for (const chapter of chapters) {
      const ended = before.then(async () => chapter.tell(await world));
      chapter.ended = ended;
      // A failure is reported by the test of its step; the next step runs nevertheless.
      before = ended.catch(() => undefined);
    }
  });
  afterAll(async () => {
    if (opened) await close(await opened);
  });
  return (name, tell, limitMs) => {
    const chapter: (typeof chapters)[number] = { tell };
    chapters.push(chapter);
    const heard = async (): Promise<void> => {
      if (!chapter.ended) throw new Error('the story has not begun');
      await chapter.ended;
    };
    test(name, heard, limitMs);
  };
}

/** Runs each test as a scenario with its own bridge and sandbox. */
export const createStories =
  <World>(
    open: () => World | Promise<World>,
    close: (world: World) => void | Promise<void>,
  ): Chapter<World> =>
  (...chapter) =>
    createStory(open, close)(...chapter);
