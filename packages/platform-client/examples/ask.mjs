// Asks the chat a question and prints the final answer. Reads CHAT_URL, ACCOUNT_NAME, AGENT_ID, PLATFORM_TOKEN and
// CHAT_USER, the address of the person who asks.
import { createChatClient, finalAnswer } from '@scim-bridge/platform-client';

const chat = createChatClient({
  url: process.env['CHAT_URL'] ?? '',
  accountName: process.env['ACCOUNT_NAME'] ?? '',
  agentId: process.env['AGENT_ID'] ?? '1',
  apiKey: process.env['PLATFORM_TOKEN'] ?? '',
  allowLoopbackHttp: true,
});

/** @type {import('@scim-bridge/platform-client').ChatRecord[]} */
const records = [];
const question = {
  input: 'how many orders by country',
  sessionSettings: { internalId: process.env['CHAT_USER'] ?? '' },
};
for await (const record of chat.ask(question)) records.push(record);
console.log(finalAnswer(records)?.content);
await chat.close();
