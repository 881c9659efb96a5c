// A person at the platform's chat: asks in their own name, with the rights that the platform gives them at that moment.
import { createChatClient, finalAnswer, type ChatRecord, type SessionSettings } from '../platform/library.ts';
import type { ReadyLine } from '../sandbox/server.ts';

/** Number of orders by country, as far as the person sees them. */
export type OrdersByCountry = Record<string, number>;

export interface Chat {
  /** Asks the one question of the demo. @throws PlatformError when the person is not let in or the answer breaks off */
  ask(userName: string, onRecord?: (record: ChatRecord) => void): Promise<OrdersByCountry>;
  close(): Promise<void>;
}

export const QUESTION = 'How many orders by country?';

/** Speaks with the platform's key, which answers for nobody: `internalId` says whose rights count. */
export function createChat({ chatHost, accountName, fixtures }: ReadyLine, signal: AbortSignal): Chat {
  const client = createChatClient({
    ...{ url: chatHost, accountName, agentId: fixtures.deployments[0]?.agents[0] ?? '' },
    ...{ apiKey: fixtures.apiKeys.admin ?? '', allowLoopbackHttp: true },
  });
  return {
    ask: async (userName, onRecord) => {
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

/** The rows that the agent's query returned; none when it found nothing that it may ask. */
function countsIn(records: readonly ChatRecord[]): OrdersByCountry {
  const results = records.flatMap(({ toolCall }) =>
    toolCall?.name === 'serviceSqlApi' && toolCall.result !== undefined ? [toolCall.result] : [],
  );
  const { data = [] } = (results.at(-1) ?? {}) as { data?: [country: string, count: string][] };
  return Object.fromEntries(data.map(([country, count]) => [country, Number(count)]));
}
