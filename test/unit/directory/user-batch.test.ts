// Tests a batch of new users that is split, when Redis fails between its parts.
import { createBatch } from '../../../src/directory/redis/scripts.ts';
import type { Scripts } from '../../../src/directory/redis/scripts.ts';
import { createUserBatch } from '../../../src/directory/resources/user-writes.ts';

const newcomer = (id: string, userName = id) => ({
  id,
  record: '{}',
  entries: [['u', userName]] as [string, string][],
  request: 'r',
});

/** Returns a batch on a Redis that replies once with `answer` and is then unavailable. */
function storeOver(answer: unknown): ReturnType<typeof createUserBatch> {
  const answers = [answer];
  const send = () =>
    answers.length > 0 ? Promise.resolve(answers.pop()) : Promise.reject(new Error('Connection is closed.'));
  return createUserBatch({ scripts: { batch: createBatch(), send } as unknown as Scripts, base: 'b:' }, '{}');
}

test.each([
  [
    'the first part contains a refused user',
    ['refused', 'ada', 'taken u eve'],
    [newcomer('ada'), newcomer('bob')],
    ['taken u eve', 'lost'],
  ],
  ['two users have one name', 'stored', [newcomer('ada'), newcomer('bob', 'ada')], ['stored ', 'lost']],
])(
  'a batch of new users fails midway → users already stored or refused keep their result, and the other calls reject: %s',
  async (_, answer, newcomers, expected) => {
    const store = storeOver(answer);
    // `lost`: the call rejects, because Redis is unavailable.
    const outcomes = await Promise.all(newcomers.map((each) => store(each).catch(() => 'lost')));
    expect(outcomes).toEqual(expected);
  },
);
