// Implements the chat client: streams answers, resumes them after a lost connection, aborts them (contract 6).
import { randomInt } from 'node:crypto';
import { isRecord, platformMessage } from './readers.ts';
import { CUTOFF, STATE, toRecord, type ChatRecord, type SessionSettings } from './chat-records.ts';
import { PlatformConfiguration, PlatformConnection, PlatformResponse, type CallContext } from './errors.ts';
import { jsonLines } from './lines.ts';
import { ChatFailed, ChatUnauthorized, ThreadBusy, type PlatformRefusal } from './refusals.ts';
import type { CallOptions } from './request.ts';
import { createService, type Service, type ServiceOptions, type TokenSource } from './service.ts';
import type { OpenAnswer } from './streams.ts';

/** Part of the platform's message for a thread that is streaming another answer. */
const BUSY = 'Streaming for thread is in progress';
/** Pause before the first resume, milliseconds; each further pause is twice the previous one. */
const FIRST_PAUSE_MS = 100;

/** Requires exactly one of `agentId` and `deploymentId`, and one of `apiKey` and `token`; an API key needs `agentId`. */
export interface ChatOptions extends ServiceOptions {
  /** Address of the chat host, such as `https://host`. */
  url: string;
  accountName: string;
  agentId?: string;
  /** Uses the default agent of the deployment; with a token only. */
  deploymentId?: string;
  apiKey?: TokenSource;
  /** JWT of the deployment with scope `chat`. */
  token?: TokenSource;
  /** Name of the header that carries the token; default `x-service-auth-token`. */
  tokenHeader?: string;
}

export interface Question {
  input: string;
  /** Id of the thread to continue. Absent = a new thread; its id is in the first record. */
  chatId?: string;
  /** `<13 or more digits>-message`; generated when absent. A repeated id does not ask the question again. */
  messageId?: string;
  sessionSettings?: SessionSettings;
  /** Branch of the deployment that answers. */
  activeBranchName?: string;
  /** True when `activeBranchName` is the default branch. */
  isDefaultBranch?: boolean;
}

export interface AskOptions extends CallOptions {
  /** How often a lost connection is resumed, default 3. */
  resumes?: number;
}

/** Every call throws PlatformError; refusals by chat are ChatUnauthorized, ThreadBusy and ChatFailed. */
export interface ChatClient {
  /**
   * Sends a question and yields the records of the answer. After a lost connection the client resumes the same message: the
   * opening record is yielded again, followed by the missed records; a message in progress is yielded as a whole.
   */
  ask(question: Question, options?: AskOptions): AsyncIterable<ChatRecord>;
  /** Returns the stored records of a thread without sending a question. */
  read(
    thread: { chatId: string; sessionSettings?: SessionSettings },
    options?: CallOptions,
  ): AsyncIterable<ChatRecord>;
  /**
   * Stops the answer in progress. `externalId`: the user of the thread, as in SessionSettings. PlatformResponse 403 for a thread of
   * another user, 404 for an unknown one.
   */
  abort(thread: { chatId: string; externalId?: string }, options?: CallOptions): Promise<void>;
  /** Waits for running calls and streams, then closes the connections. */
  close(): Promise<void>;
}

/** Creates the client; it connects on the first call. @throws PlatformConfiguration for invalid or unsafe options */
export function createChatClient(options: ChatOptions): ChatClient {
  const { base, params } = addressOf(options);
  const service = serviceOf(options);
  const route = `${base}/stream-chat-state`;
  // Context for the errors of a refused question.
  const call: CallContext = { method: 'POST', route };

  /** Yields the records of one request. `isSafe`: the request only reads, so a lost answer leaves no doubt about a write. */
  async function* records(
    body: object,
    callOptions: CallOptions,
    { isSafe }: { isSafe: boolean },
  ): AsyncGenerator<ChatRecord, void, undefined> {
    const request = { family: 'chat', method: 'POST', route, params, body, isSafe } as const;
    try {
      yield* service.stream({ ...request, read: readRecords }, callOptions);
    } catch (fault) {
      throw asRefusal(fault, call);
    }
  }

  /** Implements `ask` of ChatClient. `losses`: number of connections that were lost before. */
  async function* ask(
    question: Question,
    { resumes = 3, ...callOptions }: AskOptions = {},
  ): AsyncGenerator<ChatRecord, void, undefined> {
    const messageId = question.messageId ?? newMessageId(service.clock.now());
    let chatId = question.chatId;
    let lastSort: number | undefined;
    for (let losses = 0; ; losses += 1) {
      const received = { messageId, lastSort, isNewThread: question.chatId === undefined };
      const { isMissed, isOfAnswer } = missedBy(received);
      try {
        const answer = records({ ...question, messageId, chatId }, callOptions, { isSafe: false });
        for await (const record of answer) {
          chatId = record.state?.chatId ?? chatId;
          if (losses === 0 || record.id === STATE) yield record;
          else if (record.id === CUTOFF) yield* missedRecords(record, isMissed);
          else if (isMissed(record)) yield record;
          // A resumed stream may repeat records of earlier turns, which are not part of this answer.
          const isReceived = losses === 0 || isOfAnswer();
          if (record.sort !== undefined && isReceived) lastSort = Math.max(lastSort ?? 0, record.sort);
        }
        return;
      } catch (fault) {
        // The platform does not answer a repeated message id anew, so a stream lost before its first record is resumed too.
        if (!(fault instanceof PlatformConnection) || losses >= resumes) throw fault;
        await service.clock.sleep(FIRST_PAUSE_MS * 2 ** losses, callOptions.signal);
      }
    }
  }

  return {
    ask,
    read: (thread, callOptions = {}) => records(thread, callOptions, { isSafe: true }),
    abort: ({ chatId, externalId }, callOptions) =>
      service.send(
        {
          family: 'chat',
          method: 'POST',
          route: `${base}/abort`,
          params,
          body: { chatId, ...(externalId === undefined ? {} : { sessionSettings: { externalId } }) },
          read: 'ignore',
        },
        callOptions,
      ),
    close: () => service.close(),
  };
}

/**
 * Returns the common start of the chat routes, and its path parameters. @throws PlatformConfiguration unless exactly one of agent
 * and deployment is given, and for a deployment without `token`
 */
function addressOf(options: ChatOptions): { base: string; params: Record<string, string> } {
  const { accountName, agentId, deploymentId } = options;
  const base = '/api/v1/public/{accountName}';
  if (agentId !== undefined && deploymentId === undefined) {
    return { base: `${base}/agents/{agentId}/chat`, params: { accountName, agentId } };
  }
  if (agentId !== undefined || deploymentId === undefined) {
    throw new PlatformConfiguration('agentId', 'or deploymentId is needed, and only one of them');
  }
  if (options.token === undefined) {
    throw new PlatformConfiguration('agentId', 'is needed with an API key');
  }
  return {
    base: `${base}/deployments/{deploymentId}/chat`,
    params: { accountName, deploymentId },
  };
}

/**
 * Creates the transport, which sends the credential in the header that its kind needs.
 * @throws PlatformConfiguration unless there is exactly one credential, and for an invalid option
 */
function serviceOf(options: ChatOptions): Service {
  const { apiKey, token } = options;
  const credential = apiKey ?? token;
  if (credential === undefined || (apiKey !== undefined && token !== undefined)) {
    throw new PlatformConfiguration('apiKey', 'or token is needed, and only one of them');
  }
  const header = options.tokenHeader ?? 'x-service-auth-token';
  return createService(
    options.url,
    credential,
    (secret) => (apiKey === undefined ? { [header]: secret } : { authorization: `Api-Key ${secret}` }),
    options,
  );
}

/** Yields records up to the closing one. Newer platforms may send more records after it; they are not read (contract 11.10). */
async function* readRecords(answer: OpenAnswer): AsyncGenerator<ChatRecord, void, undefined> {
  // A stream that ends without its closing record was cut short, even when the connection closed cleanly.
  const whenCut = (): PlatformConnection =>
    new PlatformConnection(undefined, answer.call, { redact: answer.redact });
  for await (const line of jsonLines(answer, whenCut)) {
    if (isRecord(line) && line['error'] !== undefined) throw refusalOf(line['error'], answer);
    const record = toRecord(line, answer);
    if (record) yield record;
    if (record?.id === STATE) return;
  }
  throw whenCut();
}

/** Returns the error for an error line of the stream. */
function refusalOf(error: unknown, answer: OpenAnswer): PlatformRefusal {
  const message = platformMessage(JSON.stringify({ error }), answer.redact);
  // A JSON-RPC error object means a refused credential (contract 6.1); a text means a failure.
  if (isRecord(error)) return new ChatUnauthorized(message, answer.call);
  return message.includes(BUSY) ? new ThreadBusy(message, answer.call) : new ChatFailed(message, answer.call);
}

/** Returns ThreadBusy for the HTTP error by which older platforms report a busy thread (contract 6.4), else the same error. */
function asRefusal(fault: unknown, call: CallContext): unknown {
  const isBusy = fault instanceof PlatformResponse && fault.platformMessage.includes(BUSY);
  return isBusy ? new ThreadBusy(fault.platformMessage, call) : fault;
}

/** Returns a message id; its random digits make ids of the same millisecond differ. */
const newMessageId = (nowMs: number): string =>
  `${nowMs}${String(randomInt(10 ** 12)).padStart(12, '0')}-message`;

/**
 * Returns two tests for a resumed stream, which may repeat the whole thread. `isMissed` is called with the messages in their order,
 * and returns whether a message was missed. `isOfAnswer` returns whether the messages from the last tested one on are of this
 * answer.
 * @param received.lastSort `sort` of the last received record. Undefined: none was received. In a continued thread, this answer
 *   then begins with the repeated question (`messageId`), and all messages before it are of earlier turns
 */
function missedBy(received: { messageId: string; lastSort: number | undefined; isNewThread: boolean }) {
  const { messageId, lastSort, isNewThread } = received;
  let isOfAnswer = lastSort !== undefined || isNewThread;
  const isMissed = ({ id, sort = Infinity }: ChatRecord): boolean => {
    isOfAnswer ||= id === messageId;
    return isOfAnswer && sort > (lastSort ?? 0);
  };
  return { isMissed, isOfAnswer: () => isOfAnswer };
}

/** Yields the opening record of a resumed stream, and those of its messages that were missed. */
function* missedRecords(
  cutoff: ChatRecord,
  isMissed: (message: ChatRecord) => boolean,
): Generator<ChatRecord, void, undefined> {
  yield cutoff;
  for (const message of cutoff.state?.messages ?? [])
    if (isMissed(message)) yield { ...message, isDelta: false };
}
