// Defines the settings of notices: the channels, and the subjects that each channel reports.
// Arguments (node.ts): section(description, keys, required keys), whole(description, default, smallest, largest).
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
  type NodeOf,
  type ValueOf,
} from './node.ts';

const NOTICE_FORMS = ['webhook', 'slack', 'teams'] as const;
const NOTICE_SUBJECTS = ['held', 'exceptions', 'deadLetters', 'breaker', 'reconcile', 'tokens'] as const;

const SUBJECT: NodeOf<(typeof NOTICE_SUBJECTS)[number]> = { type: 'string', enum: NOTICE_SUBJECTS };

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
      ...list('Subjects of the notices to it.', SUBJECT, NOTICE_SUBJECTS),
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

export type NoticeChannelConfig = ValueOf<typeof channelSchema>;

export const noticesSchema = section(
  'Messages about what waits for a person: held changes, exceptions, dead letters, a platform that fails, a failed reconcile, tokens that expire.',
  {
    pageUrl: optionalText(
      'Address under which readers of notices open the page, without /admin; null = server.adminUrl.',
    ),
    // notice-checks.ts checks the number.
    channels: named(
      'Receivers by name, at most 10; none = nothing is sent.',
      NAME_PATTERN,
      channelSchema,
      {},
    ),
  },
);
