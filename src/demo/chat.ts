// Asks the platform's chat as a user, with the rights that this user has at the time of the question.
import { createChatClient, finalAnswer, type ChatRecord, type SessionSettings } from '../platform/library.ts';
import type { ReadyLine } from '../sandbox/server.ts';

/** Number of orders by country that the user can see. */
export type OrdersByCountry = Record<string, number>;

export type Chat = ReturnType<typeof createChat>;

export const QUESTION = 'How many orders by country?';

/**
 * Creates the chat client. It authenticates with the platform's API key; `internalId` in each question names
 * the user whose rights apply.
 */
export function createChat({ chatHost, accountName, fixtures }: ReadyLine, signal: AbortSignal) {
  // The sandbox has a deployment, an agent and an admin key, so `''` only satisfies the types.
  const client = createChatClient({
    url: chatHost,
    accountName,
    agentId: fixtures.deployments[0]?.agents[0] ?? '',
    apiKey: fixtures.apiKeys.admin ?? '',
    allowLoopbackHttp: true,
  });
  return {
    /** Asks the question of the demo. @throws PlatformError when the user is refused or the answer ends early */
    ask: async (userName: string, onRecord?: (record: ChatRecord) => void): Promise<OrdersByCountry> => {
      const records: ChatRecord[] = [];
      const sessionSettings: SessionSettings = { internalId: userName };
      for await (const record of client.ask({ input: QUESTION, sessionSettings }, { signal })) {
        records.push(record);
        onRecord?.(record);
      }
      if (!finalAnswer(records)) throw new Error(`Chat gave ${userName} no answer.`);
      return countsIn(records);
    },
    close: () => client.close(),
  };
}

/** Tool of the platform's agent that queries the data (contract 0.2). */
const QUERY_TOOL = 'serviceSqlApi';

/** Returns the result of the agent's last query as counts; empty when the user may query nothing. */
function countsIn(records: readonly ChatRecord[]): OrdersByCountry {
  const results = records.flatMap(({ toolCall }) =>
    toolCall?.name === QUERY_TOOL && toolCall.result !== undefined ? [toolCall.result] : [],
  );
  const { data = [] } = (results.at(-1) ?? {}) as { data?: [country: string, count: string][] };
  // The platform sends numbers as text.
  return Object.fromEntries(data.map(([country, count]) => [country, Number(count)]));
}
