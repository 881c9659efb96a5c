// Tests fifty concurrent chats with aborts and lost connections. CHAT_SOAK_SECONDS=600 makes it a long test.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { eventually } from '../../support/eventually.ts';
import { as, startChat, type ChatRig } from './chat-rig.ts';

const PEOPLE = 50;
const SECONDS = Number(process.env['CHAT_SOAK_SECONDS'] ?? 4);
const QUESTION = 'How many orders by country?';
/** Largest memory of a kept thread in bytes; a leaked run or reader takes several times as much. */
const BYTES_PER_THREAD = 40_000;
/** Growth of the heap that is not a leak, bytes. */
const SPARE_BYTES = 8_000_000;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const heapBytes = (): number => {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
};

let rig: ChatRig;

beforeAll(async () => {
  rig = await startChat();
  await rig.group('everything');
});
afterAll(() => rig.stop());

/** Rebuilds the messages of a thread from the records of one connection, and checks every step. */
function createListener() {
  const texts = new Map<string, string>();
  const finished = new Map<string, string>();
  let lastSort = -1;
  let last: any;
  return {
    hear(record: any): void {
      expect(record.error).toBeUndefined();
      expect(record.sort).toBeGreaterThan(lastSort);
      lastSort = record.sort;
      last = record;
      if (record.id === '__cutoff__')
        for (const { id, content } of record.state.messages) texts.set(id, content);
      else if (record.isDelta) texts.set(record.id, (texts.get(record.id) ?? '') + record.content);
      else if (!record.id.startsWith('__') && !record.toolCall) {
        expect(finished.has(record.id)).toBe(false);
        // The increments add up to the text of the finished message.
        if (texts.has(record.id)) expect(texts.get(record.id)).toBe(record.content);
        finished.set(record.id, record.content);
      }
    },
    last: () => last,
  };
}

type Stream = Awaited<ReturnType<ChatRig['open']>>;

async function hearAll(stream: Stream, listener: ReturnType<typeof createListener>): Promise<any> {
  for (let record = await stream.next(); record; record = await stream.next()) listener.hear(record);
  expect(listener.last()).toMatchObject({ id: '__state__', state: { isStreaming: false } });
  return listener.last();
}

/** Runs one conversation: completed, aborted, or disconnected and resumed. Returns the final state record. */
async function converse(person: string, turn: number, end: 'hear' | 'abort' | 'resume'): Promise<any> {
  const messageId = `${1_700_000_000_000 + turn}-message`;
  const body = { input: QUESTION, messageId, ...as(person, { groups: ['everything'] }) };
  const stream = await rig.open(body);
  const listener = createListener();
  const cutoff = await stream.next();
  listener.hear(cutoff);
  // Reads up to six records before the abort or the disconnect.
  for (let heard = turn % 7; heard > 0; heard -= 1) {
    const record = await stream.next();
    if (record) listener.hear(record);
  }
  const { chatId } = cutoff.state;
  if (end === 'abort') expect((await rig.abort({ chatId, ...as(person) })).status).toBe(204);
  if (end !== 'resume') return hearAll(stream, listener);
  stream.close();
  return hearAll(await rig.open({ ...body, chatId }), createListener());
}

test(
  `in ${PEOPLE} parallel chat streams with aborts and reconnects each question has one answer, and no reader, run or memory is left`,
  async () => {
    await rig.set({ chatRecordDelayMs: 2 });
    // These first conversations also load the engine, before the memory is measured.
    const reference = await converse('warm', 0, 'hear');
    const answer = reference.state.messages.at(-1).content;
    expect(answer).toContain('Orders');
    await Promise.all(Array.from({ length: PEOPLE }, (_, place) => converse(`w${place}`, 0, 'hear')));
    const heapBefore = heapBytes();
    const threadsBefore = (await rig.threads()).length;
    const deadline = Date.now() + SECONDS * 1000;
    const kinds = ['hear', 'abort', 'resume'] as const;
    let conversations = 0;
    await Promise.all(
      Array.from({ length: PEOPLE }, async (_, place) => {
        for (let turn = 1; Date.now() < deadline; turn += 1) {
          const end = kinds[(turn + place) % 3] ?? 'hear';
          const { state } = await converse(`p${place}`, turn, end);
          conversations += 1;
          expect(state.messages.filter(({ role }: any) => role === 'user')).toHaveLength(1);
          const answers = state.messages.filter((one: any) => one.role === 'assistant' && !one.toolCall);
          expect(answers.length).toBeLessThanOrEqual(1);
          if (end !== 'abort') expect(answers[0].content).toBe(answer);
        }
      }),
    );
    await eventually('no reader and no run is left', async () =>
      (await rig.threads()).every(({ readers, isStreaming }: any) => readers === 0 && !isStreaming),
    );
    const threads = await rig.threads();
    const runs = threads.flatMap((thread: any) => thread.runs);
    expect(runs.every(({ outcome }: any) => outcome === 'completed' || outcome === 'aborted')).toBe(true);
    expect(conversations).toBeGreaterThan(PEOPLE);
    expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length).toBeLessThan(PEOPLE);
    await rig.control('DELETE', '/requests');
    const grown = heapBytes() - heapBefore;
    expect(grown).toBeLessThan(SPARE_BYTES + (threads.length - threadsBefore) * BYTES_PER_THREAD);
  },
  (SECONDS + 60) * 1000,
);
