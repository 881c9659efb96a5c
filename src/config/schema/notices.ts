// Defines the settings of notices: the channels, and the subjects that each channel reports.
// The schema describes each field of the types.
import {
  choice,
  flag,
  list,
  named,
  NAME_PATTERN,
  optionalText,
  section,
  text,
  whole,
  type SchemaNode,
} from './node.ts';

const NOTICE_FORMS = ['webhook', 'slack', 'teams'] as const;
const NOTICE_SUBJECTS = ['held', 'exceptions', 'deadLetters', 'breaker', 'reconcile', 'tokens'] as const;

export interface NoticeChannelConfig {
  /** A secret, because a chat accepts messages from every client that knows its address. */
  url: string;
  form: (typeof NOTICE_FORMS)[number];
  /** `whsec_` and a key in base64 for the form `webhook`; null for the other forms. */
  secret: string | null;
  allowLoopbackHttp: boolean;
  about: (typeof NOTICE_SUBJECTS)[number][];
  /** Time for which changes are collected into one message. */
  groupMs: number;
}

export interface NoticesConfig {
  /** Base address of the page that links lead to, without a trailing slash; null = server.adminUrl. */
  pageUrl: string | null;
  channels: Record<string, NoticeChannelConfig>;
}

const channelSchema = section(
  'One receiver of notices.',
  {
    url: text('Address that notices are posted to, by https://. It is masked like a secret.'),
    form: choice(
      'webhook: JSON with a signature (Standard Webhooks); slack: an incoming webhook of Slack; teams: a webhook of Workflows in Microsoft Teams.',
      NOTICE_FORMS,
    ),
    secret: optionalText(
      'Key that signs, for the form webhook only: whsec_ and 24 to 64 bytes in base64; make one with: echo "whsec_$(openssl rand -base64 32)".',
    ),
    allowLoopbackHttp: flag('Allow http:// when the receiver is on this machine.'),
    about: {
      ...list('Subjects of the notices to it.', { type: 'string', enum: NOTICE_SUBJECTS }, NOTICE_SUBJECTS),
      minItems: 1,
    },
    groupMs: whole(
      'How long a change lasts before it is told, in milliseconds; all changes of that time are one message.',
      30_000,
      0,
      3_600_000,
    ),
  },
  ['url'],
);

export const noticesSchema: SchemaNode = section(
  'Messages about what waits for a person: held changes, exceptions, dead letters, a platform that fails, a failed reconcile, tokens that expire.',
  {
    pageUrl: optionalText(
      'Address under which readers of notices open the page, without /admin; null = server.adminUrl.',
    ),
    channels: named(
      'Receivers by name, at most 10; none = nothing is sent.',
      NAME_PATTERN,
      channelSchema,
      {},
    ),
  },
);
