// Creates the sandbox's own certificate for `--tls` and stores it in the data folder when there is one.
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { DataFolder } from './persistence/data-folder.ts';

export interface Certificate {
  /** Certificate as PEM; clients trust it as their authority (`NODE_EXTRA_CA_CERTS`, `curl --cacert`). */
  readonly cert: string;
  /** Private key as PEM; it is written only to the data folder. */
  readonly key: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const YEAR_MS = 365 * DAY_MS;
const CERT_FILE = 'certificate.pem';
const KEY_FILE = 'certificate.key';

/** Returns the names that the certificate is valid for. Types as in RFC 5280: 2 = DNS name, 7 = IP address. */
function altNames(host: string): ({ type: 2; value: string } | { type: 7; ip: string })[] {
  const names = new Set(['localhost', '127.0.0.1', '::1', host]);
  return [...names].map((name) => (isIP(name) ? { type: 7, ip: name } : { type: 2, value: name }));
}

async function makeCertificate(host: string): Promise<Certificate> {
  // Loaded on demand: the package is optional, and most sandboxes use plain http on loopback.
  const selfsigned = await import('selfsigned').catch((cause: unknown) => {
    throw new Error('--tls needs the optional package selfsigned: install it with npm install', { cause });
  });
  const nowMs = Date.now();
  const made = await selfsigned.default.generate([{ name: 'commonName', value: 'scim-bridge sandbox' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    // Earlier than now, so that clients with a slow clock accept it.
    notBeforeDate: new Date(nowMs - HOUR_MS),
    notAfterDate: new Date(nowMs + YEAR_MS),
    extensions: [
      // The certificate is its own authority, so a client has to trust this certificate only.
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', digitalSignature: true, keyCertSign: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: altNames(host) },
    ],
  });
  return { cert: made.cert, key: made.private };
}

/** Returns true when the certificate names the host and stays valid for another day. */
function isUsable({ cert }: Certificate, host: string): boolean {
  const parsed = new X509Certificate(cert);
  const isNamed = isIP(host) ? parsed.checkIP(host) : parsed.checkHost(host);
  return Date.parse(parsed.validTo) > Date.now() + DAY_MS && isNamed !== undefined;
}

/** Returns the stored certificate while it is valid for `host`, else a new one. @throws when the package is missing */
export async function certificateFor(host: string, folder: DataFolder | undefined): Promise<Certificate> {
  const cert = await folder?.read(CERT_FILE);
  const key = await folder?.read(KEY_FILE);
  if (cert !== undefined && key !== undefined && isUsable({ cert, key }, host)) return { cert, key };
  const made = await makeCertificate(host);
  await folder?.write(KEY_FILE, made.key, { isSecret: true });
  await folder?.write(CERT_FILE, made.cert);
  return made;
}
