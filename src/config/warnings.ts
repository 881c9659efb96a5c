// Lists warnings about settings that are valid and probably not intended.
import { parseRedisAddress } from '../support/redis-address.ts';
import { isLoopback } from './forms.ts';
import type { Config } from './schema.ts';

export interface ConfigWarning {
  path: string;
  message: string;
  /** Advice for the operator. */
  advice: string;
}

type Warned = Pick<Config, 'connections' | 'targets' | 'server' | 'redis'>;

export const configWarnings = (config: Warned, env: NodeJS.ProcessEnv = process.env): ConfigWarning[] => [
  ...certificateWarnings(env),
  ...publicAddressWarnings(config),
  ...redisWarnings(config),
  ...sharedTargetWarnings(config),
  ...approverWarnings(config),
];

/** The warning of Node.js itself appears once at its start and is easily missed. */
function certificateWarnings({ NODE_TLS_REJECT_UNAUTHORIZED: checks }: NodeJS.ProcessEnv): ConfigWarning[] {
  if (checks !== '0') return [];
  return [
    {
      path: 'NODE_TLS_REJECT_UNAUTHORIZED',
      message:
        'certificates are not checked: whoever answers in the place of the platform or of Redis gets the tokens',
      advice: 'Unset the variable, and name the authority of your own with NODE_EXTRA_CA_CERTS.',
    },
  ];
}

function publicAddressWarnings({ server: { publicUrl } }: Warned): ConfigWarning[] {
  const url = publicUrl === null ? undefined : new URL(publicUrl);
  if (url?.protocol !== 'http:' || isLoopback(url)) return [];
  return [
    {
      path: '/server/publicUrl',
      message: 'identity providers reach the bridge by http://, so tokens can be read on the way',
      advice: 'End TLS in front of the bridge and write https:// here.',
    },
  ];
}

/** Warns about a Redis that needs no credentials although other machines reach it. */
function redisWarnings({ redis: { url, cluster, tls } }: Warned): ConfigWarning[] {
  const isOpen = [...(cluster ?? [url])].some((text) => {
    const address = parseRedisAddress(text);
    if (typeof address === 'string' || address.password !== undefined) return false;
    return address.hosts.some(({ host }) => !isLoopback(new URL(`redis://${bracketed(host)}`)));
  });
  if (!isOpen || tls.certFile !== null) return [];
  return [
    {
      path: cluster ? '/redis/cluster' : '/redis/url',
      message:
        'Redis is on another machine and needs no password: everybody who reaches it decides about access',
      advice: 'Give the bridge a user of its own in Redis (docs/redis.md) and let nothing else reach it.',
    },
  ];
}

const bracketed = (host: string): string =>
  host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;

function sharedTargetWarnings({ connections, targets }: Warned): ConfigWarning[] {
  return Object.keys(targets).flatMap((target) => {
    const feeding = Object.values(connections).filter((connection) => connection.targets.includes(target));
    if (feeding.length < 2) return [];
    const names = feeding.map(({ name }) => name).join(', ');
    return [
      {
        path: `/targets/${target}`,
        message: `several connections feed ${target}: ${names}`,
        advice:
          'Keep their people and groups apart: an account or group belongs to the connection that is linked to it first, for the other one it is a dead letter (TakenByConnection).',
      },
    ];
  });
}

/** Warns where the admin API knows one caller only, so that two persons cannot approve there. */
function approverWarnings({ server: { signIn }, targets }: Warned): ConfigWarning[] {
  if (signIn !== null) return [];
  return Object.entries(targets)
    .filter(([, { guard }]) => guard.approvers > 1)
    .map(([name]) => ({
      path: `/targets/${name}/guard/approvers`,
      message: `two persons have to approve for ${name}, and all holders of the admin token count as one`,
      advice: 'Let people sign in (server.signIn); without it a second approval comes from the command line.',
    }));
}
