// Tests the state machine of a chat thread (contract 6.4), by table and at random against a model.
import fc from 'fast-check';
import type { MessageRecord } from '../../../../src/sandbox/chat/records.ts';
import { createRun, type Run } from '../../../../src/sandbox/chat/run.ts';
import {
  decide,
  messagesOf,
  noteEnd,
  noteStart,
  openThread,
  threadStateOf,
  type ThreadDecision,
  type ThreadState,
} from '../../../../src/sandbox/chat/threads.ts';
import { createState, type State } from '../../../../src/sandbox/state.ts';

const idle = (...answered: string[]): ThreadState => ({ kind: 'idle', answered: new Set(answered) });
const streaming = (messageId: string | null): ThreadState => ({ kind: 'streaming', messageId });

const TABLE: [string, ThreadState, string | null, string | null, ThreadDecision][] = [
  ['idle, question', idle(), 'q', null, 'start'],
  ['idle, question with a new id', idle('1'), 'q', '2', 'start'],
  ['idle, question with an answered id', idle('1'), 'q', '1', 'replay'],
  ['idle, no question', idle('1'), null, null, 'read'],
  ['idle, no question with an answered id', idle('1'), null, '1', 'read'],
  ['streaming, same id', streaming('1'), 'q', '1', 'attach'],
  ['streaming, same id without question', streaming('1'), null, '1', 'attach'],
  ['streaming, another id', streaming('1'), 'q', '2', 'busy'],
  ['streaming, no id', streaming('1'), 'q', null, 'busy'],
  ['streaming without id, no id', streaming(null), 'q', null, 'busy'],
  ['streaming, no question', streaming('1'), null, null, 'read'],
];

test.each(TABLE)(
  'a chat request to a thread is answered as its state requires: %s',
  (_name, standing, input, messageId, decision) => {
    expect(decide(standing, { input, messageId })).toBe(decision);
  },
);

type Step =
  | { kind: 'ask'; messageId: string | null; hasInput: boolean }
  | { kind: 'say'; isLast: boolean }
  | { kind: 'end' };

const messageId = fc.option(fc.constantFrom('1', '2', '3'), { nil: null });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('ask' as const), messageId, hasInput: fc.boolean() }),
  fc.record({ kind: fc.constant('say' as const), isLast: fc.boolean() }),
  fc.record({ kind: fc.constant('end' as const) }),
);

/** Drives one stored thread as chat does, without HTTP and agent. */
function createDriver(state: State) {
  const { chatId } = openThread(state, 0, { deploymentId: '1', owner: 'external:ada', keyName: null });
  const threadNow = () => {
    const [thread] = state.threads.find('chatId', chatId);
    if (!thread) throw new Error('The thread is gone');
    return thread;
  };
  let run: Run | undefined;
  let said = 0;
  return {
    threadNow,
    ask(ask: { messageId: string | null; input: string | null }): ThreadDecision {
      const thread = threadNow();
      const decision = decide(threadStateOf(state, thread), ask);
      if (decision !== 'start') return decision;
      run = createRun({ chatId, messageId: ask.messageId, userIds: new Set(), lastSort: thread.lastSort });
      const note = { agentId: '1', branchName: 'main', isDefaultBranch: true, startedAtMs: 0 };
      noteStart(state, thread, { ...note, messageId: ask.messageId, outcome: 'streaming', queries: [] });
      state.runs.add(run, () => undefined);
      return decision;
    },
    say(isLast: boolean) {
      said += 1;
      const base = { role: 'assistant' as const, content: String(said), graphPath: ['final'] };
      run?.append({ ...base, id: `m${said}`, isDelta: !isLast, isInProcess: !isLast });
    },
    end() {
      if (!run) return;
      const end = {
        nowMs: 0,
        outcome: 'completed' as const,
        messages: run.messages(),
        lastSort: run.lastSort() + 1,
      };
      noteEnd(state, threadNow().id, end);
      state.runs.remove(run);
      run.close([]);
      run = undefined;
    },
  };
}

test('after random actions a chat thread has one run at a time and one run per messageId, `sort` rises, and no record is lost', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const state = createState({ now: () => 0, isKept: () => false, changed: () => undefined });
      const driver = createDriver(state);
      let running: string | null | undefined;
      let expected = 0;
      const answered: string[] = [];
      for (const each of steps) {
        if (each.kind === 'ask') {
          const decision = driver.ask({ messageId: each.messageId, input: each.hasInput ? 'q' : null });
          const starts =
            running === undefined &&
            each.hasInput &&
            (each.messageId === null || !answered.includes(each.messageId));
          expect(decision === 'start').toBe(starts);
          if (running !== undefined && each.hasInput)
            expect(decision).toBe(each.messageId !== null && each.messageId === running ? 'attach' : 'busy');
          if (starts) {
            running = each.messageId;
            if (each.messageId !== null) answered.push(each.messageId);
          }
        } else if (each.kind === 'say') {
          driver.say(each.isLast);
          if (running !== undefined) expected += 1;
        } else {
          driver.end();
          running = undefined;
        }
        const thread = driver.threadNow();
        const messages: readonly MessageRecord[] = messagesOf(state, thread);
        expect(messages).toHaveLength(expected);
        expect(new Set(messages.map(({ id }) => id)).size).toBe(expected);
        expect(threadStateOf(state, thread).kind).toBe(running === undefined ? 'idle' : 'streaming');
        const ids = thread.runs.flatMap((run) => run.messageId ?? []);
        expect(new Set(ids).size).toBe(ids.length);
      }
      driver.end();
      const sorts = driver.threadNow().messages.map(({ sort }) => sort);
      expect(new Set(sorts).size).toBe(sorts.length);
      expect(Math.max(0, ...sorts)).toBeLessThanOrEqual(driver.threadNow().lastSort);
      expect(state.runs.count()).toBe(0);
    }),
    { numRuns: 300 },
  );
});
