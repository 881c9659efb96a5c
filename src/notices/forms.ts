// Writes the bodies of messages: for webhooks, for Slack and for Microsoft Teams.
import { isoTime } from '../support/sources.ts';
import type { NoticeItem } from './summary.ts';

export type NoticeForm = 'webhook' | 'slack' | 'teams';

export interface NoticeContent {
  /** Id of the message, the same in every attempt. */
  id: string;
  /** Unix milliseconds. */
  at: number;
  items: readonly NoticeItem[];
}

/** Returns the JSON text of a message. It is the same in every attempt, so that a receiver can recognise a repetition. */
export const noticeBodyOf = (form: NoticeForm, content: NoticeContent): string =>
  JSON.stringify(BODIES[form](content));

const TITLE = 'scim-bridge';

const BODIES: Record<NoticeForm, (content: NoticeContent) => object> = {
  webhook: ({ id, at, items }) => ({
    type: 'scim-bridge.notice',
    id,
    timestamp: isoTime(at),
    data: { items },
  }),
  slack: ({ items }) => ({
    // Slack shows this text in notifications, which cannot show blocks.
    text: escapeSlack(`${TITLE}: ${items.map(lineOf).join('; ')}`).slice(0, LONGEST_TEXT),
    blocks: items.map((item) => ({
      type: 'section',
      text: {
        type: 'mrkdwn',
        text: `${SIGNS[item.state]} ${escapeSlack(lineOf(item))} <${escapeSlack(item.link)}|Open>`,
      },
    })),
  }),
  teams: ({ items }) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'TextBlock', text: TITLE, weight: 'Bolder', wrap: true },
            ...items.map((item) => ({
              type: 'TextBlock',
              wrap: true,
              text: `${SIGNS[item.state]} ${escapeMarkdown(lineOf(item))} [Open](${item.link})`,
            })),
          ],
        },
      },
    ],
  }),
};

const SIGNS: Record<NoticeItem['state'], string> = { new: '●', resolved: '✔' };
/** Largest number of characters in the field `text` of Slack. */
const LONGEST_TEXT = 3000;

const lineOf = ({ state, summary }: NoticeItem): string =>
  state === 'resolved' ? `resolved: ${summary}` : summary;

/** Slack requires the escaping of these three characters only. */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const escapeMarkdown = (text: string): string => text.replaceAll(/[\\`*_{}[\]()#+!|<>~-]/g, '\\$&');
