// The sandbox's own certificate for `--tls`: made once, kept in the data folder when there is one.
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { DataFolder } from './persistence/data-folder.ts';

export interface Certificate {
  /** PEM; clients take it as their authority (`NODE_EXTRA_CA_CERTS`, `curl --cacert`). */
  readonly cert: string;
  /** PEM; never leaves the process and the folder. */
  readonly key: string;
}

const YEAR_MS = 365 * 86_400_000;
const CERT_FILE = 'certificate.pem';
const KEY_FILE = 'certificate.key';

/** Names under which the sandbox is reached on its own machine, and the one it was asked to listen on. */
function altNames(host: string): ({ type: 2; value: string } | { type: 7; ip: string })[] {
  const names = new Set(['localhost', '127.0.0.1', '::1', host]);
  return [...names].map((name) => (isIP(name) ? { type: 7, ip: name } : { type: 2, value: name }));
}

async function makeCertificate(host: string): Promise<Certificate> {
  // Loaded only now: the package is optional, and most sandboxes speak plain http on loopback.
  const selfsigned = await import('selfsigned').catch((cause: unknown) => {
    throw new Error('--tls needs the optional package selfsigned: install it with npm install', { cause });
  });
  const nowMs = Date.now();
  const made = await selfsigned.default.generate([{ name: 'commonName', value: 'scim-bridge sandbox' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notBeforeDate: new Date(nowMs - 3_600_000),
    notAfterDate: new Date(nowMs + YEAR_MS),
    extensions: [
      // Its own authority, so that a client needs to trust this one certificate only.
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: altNames(host) },
    ],
  });
  return { cert: made.cert, key: made.private };
}

function isUsable({ cert }: Certificate, host: string): boolean {
  const parsed = new X509Certificate(cert);
  const isNamed = isIP(host) ? parsed.checkIP(host) : parsed.checkHost(host);
  return Date.parse(parsed.validTo) > Date.now() + 86_400_000 && isNamed !== undefined;
}

/** The kept certificate while it is valid for `host`, else a new one. Throws when the package is missing. */
export async function certificateFor(host: string, folder: DataFolder | undefined): Promise<Certificate> {
  const [cert, key] = [await folder?.read(CERT_FILE), await folder?.read(KEY_FILE)];
  if (cert !== undefined && key !== undefined && isUsable({ cert, key }, host)) return { cert, key };
  const made = await makeCertificate(host);
  await folder?.write(KEY_FILE, made.key, true);
  await folder?.write(CERT_FILE, made.cert);
  return made;
}
