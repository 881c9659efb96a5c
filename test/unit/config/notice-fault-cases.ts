// Lists settings of notices with one fault each, and the path and message of the fault.
import { fileWith, SECRET } from './settings-folder.ts';

const PAGE = 'server: { adminUrl: https://bridge.example.com }';
const WHSEC = `whsec_${'a'.repeat(32)}`;
const channel = (body: string, page = PAGE): string =>
  fileWith('', `${page}\nnotices: { channels: { chat: { ${body} } } }`);
const eleven = Array.from({ length: 11 }, (_, n) => `c${n}: { url: 'https://a.example', form: slack }`);

export const NOTICE_FAULTS: [what: string, file: string, path: string, message: RegExp][] = [
  [
    'a notice without secret',
    channel("url: 'https://a.example'"),
    '/notices/channels/chat/secret',
    /needs a secret.*openssl/,
  ],
  [
    'a notice with a short secret',
    channel("url: 'https://a.example', secret: whsec_YWJj"),
    '/notices/channels/chat/secret',
    /24 to 64 bytes/,
  ],
  [
    'a notice with a secret of another kind',
    channel(`url: 'https://a.example', secret: ${SECRET}`),
    '/notices/channels/chat/secret',
    /must be whsec_/,
  ],
  [
    'a secret for Slack',
    channel(`url: 'https://a.example', form: slack, secret: ${WHSEC}`),
    '/notices/channels/chat/secret',
    /Remove the secret/,
  ],
  [
    'a notice by http',
    channel(`url: 'http://a.example', allowLoopbackHttp: true, secret: ${WHSEC}`),
    '/notices/channels/chat/url',
    /by https/,
  ],
  [
    'a notice by http to this machine',
    channel(`url: 'http://127.0.0.1:9', secret: ${WHSEC}`),
    '/notices/channels/chat/url',
    /allowLoopbackHttp/,
  ],
  [
    'a notice address with user and password',
    channel(`url: 'https://me:secret@a.example', secret: ${WHSEC}`),
    '/notices/channels/chat/url',
    /user and password/,
  ],
  [
    'a notice about nothing',
    channel(`url: 'https://a.example', secret: ${WHSEC}, about: []`),
    '/notices/channels/chat/about',
    /at least one/,
  ],
  [
    'a notice about something unknown',
    channel(`url: 'https://a.example', secret: ${WHSEC}, about: [weather]`),
    '/notices/channels/chat/about/0',
    /held, exceptions/,
  ],
  [
    'a notice without a page',
    channel(`url: 'https://a.example', secret: ${WHSEC}`, ''),
    '/notices/pageUrl',
    /link to the page/,
  ],
  [
    'a page of notices by http',
    fileWith('', "notices: { pageUrl: 'http://b.example' }"),
    '/notices/pageUrl',
    /by https/,
  ],
  [
    'too many channels',
    fileWith('', `${PAGE}\nnotices: { channels: { ${eleven.join(', ')} } }`),
    '/notices/channels',
    /at most 10/,
  ],
];
