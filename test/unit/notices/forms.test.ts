// Tests the bodies of messages, their signature, and their links into the page.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { noticeBodyOf, type NoticeContent } from '../../../src/notices/forms.ts';
import { signatureHeaders } from '../../../src/notices/signature.ts';
import { NOTICE_VIEWS, toNoticeItem } from '../../../src/notices/summary.ts';

const root = join(import.meta.dirname, '../../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const AT = Date.parse('2026-11-24T08:00:00Z');
const item = toNoticeItem(
  {
    key: 'held',
    state: 'new',
    condition: {
      about: 'held',
      connection: 'a<b>&c',
      target: '*main*',
      reason: null,
      count: 2,
      grade: 0,
      since: AT,
    },
  },
  'https://bridge.example.com',
);
const content: NoticeContent = { id: 'msg_1', at: AT, items: [item, { ...item, state: 'resolved' }] };
const parsed = (form: 'webhook' | 'slack' | 'teams'): any => JSON.parse(noticeBodyOf(form, content));

test('a webhook message has items with counts, names and a link', () => {
  expect(parsed('webhook')).toEqual({
    type: 'scim-bridge.notice',
    id: 'msg_1',
    timestamp: '2026-11-24T08:00:00.000Z',
    data: { items: content.items },
  });
  expect(item).toMatchObject({
    about: 'held',
    count: 2,
    since: '2026-11-24T08:00:00.000Z',
    link: 'https://bridge.example.com/admin/#/approvals',
  });
});

test('a Slack message has an escaped text and a block for each item', () => {
  const { text, blocks } = parsed('slack');
  expect(text).toContain('a&lt;b&gt;&amp;c');
  expect(blocks).toHaveLength(2);
  expect(blocks[0].text.text).toMatch(/^● a&lt;b&gt;&amp;c → .*<https:\/\/bridge\.example\.com\/.*\|Open>$/);
  expect(blocks[1].text.text).toContain('✔ resolved: ');
});

test('a Teams message is an adaptive card with escaped text', () => {
  const { type, attachments } = parsed('teams');
  const [{ contentType, content: card }] = attachments;
  expect([type, contentType, card.type]).toEqual([
    'message',
    'application/vnd.microsoft.card.adaptive',
    'AdaptiveCard',
  ]);
  expect(card.body[1].text).toContain(String.raw`a\<b\>&c`);
  expect(card.body[1].text).toContain(String.raw`\*main\*`);
  expect(card.body[1].text).toContain('[Open](https://bridge.example.com/admin/#/approvals)');
});

test("every view that a notice links to exists on the operators' page", () => {
  const [, views = ''] = /const VIEWS = \{(.*?)\n\};/s.exec(read('src/ui/page.js')) ?? [];
  const names = [...views.matchAll(/^ {2}'?([a-z-]+)'?: \{/gm)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(5);
  for (const view of Object.values(NOTICE_VIEWS)) expect(names).toContain(view);
});

/** The signature example in the specification of Standard Webhooks. */
const KNOWN = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  sentAt: 1_614_265_330_000,
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};

test('a webhook message is signed as Standard Webhooks specifies', () => {
  expect(signatureHeaders(KNOWN.secret, KNOWN)).toEqual({
    'webhook-id': KNOWN.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': KNOWN.signature,
  });
});

test('the example code of docs/notices.md accepts signed messages of the bridge and refuses all others', async () => {
  const [, code = ''] = /```js\n(.*?)```/s.exec(read('docs/notices.md')) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'scim-bridge-notices-'));
  const file = join(folder, 'open-notice.mjs');
  writeFileSync(file, code);
  const { openNotice } = (await import(file)) as {
    openNotice: (secret: string, headers: Record<string, string>, body: string) => any;
  };
  rmSync(folder, { recursive: true });
  const body = noticeBodyOf('webhook', content);
  const signed = (sentAt: number) => signatureHeaders(KNOWN.secret, { id: 'msg_1', sentAt, body });
  const now = signed(Date.now());
  expect(openNotice(KNOWN.secret, now, body).data.items).toHaveLength(2);
  expect(() => openNotice(KNOWN.secret, now, body.replace('"count":2', '"count":3'))).toThrow('not signed');
  expect(() => openNotice(KNOWN.secret.replace('Mf', 'mF'), now, body)).toThrow('not signed');
  expect(() => openNotice(KNOWN.secret, { ...now, 'webhook-id': 'msg_2' }, body)).toThrow('not signed');
  expect(() => openNotice(KNOWN.secret, signed(Date.now() - 600_000), body)).toThrow('last minutes');
});
