// Lists warnings about settings that are valid but probably not intended.
import { parseRedisAddress } from '../support/redis-address.ts';
import { isLoopback } from '../support/loopback.ts';
import type { Config } from './schema.ts';

interface ConfigWarning {
  /** JSON pointer of the setting, or the name of an environment variable. */
  path: string;
  message: string;
  advice: string;
}

type Warned = Pick<Config, 'connections' | 'targets' | 'server' | 'redis'>;

export const configWarnings = (config: Warned, env: NodeJS.ProcessEnv = process.env): ConfigWarning[] => [
  ...certificateWarnings(env),
  ...publicAddressWarnings(config),
  ...redisWarnings(config),
  ...sharedTargetWarnings(config),
  ...sameAddressWarnings(config),
  ...approverWarnings(config),
];

/** Warns about certificates that are not checked. Node.js warns too, but only once at its start. */
function certificateWarnings({ NODE_TLS_REJECT_UNAUTHORIZED: checks }: NodeJS.ProcessEnv): ConfigWarning[] {
  if (checks !== '0') return [];
  return [
    {
      path: 'NODE_TLS_REJECT_UNAUTHORIZED',
      message:
        'certificates are not checked: a server that poses as the platform or as Redis gets the tokens',
      advice: 'Unset the variable, and name your own certificate authority with NODE_EXTRA_CA_CERTS.',
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
  const isOpen = (cluster ?? [url]).some((text) => {
    const address = parseRedisAddress(text);
    // A text is a fault, which the checks of the settings report.
    if (typeof address === 'string' || address.password !== undefined) return false;
    return address.hosts.some(({ host }) => !isLoopback(new URL(`redis://${bracketed(host)}`)));
  });
  // A client certificate identifies the bridge as a password does.
  if (!isOpen || tls.certFile !== null) return [];
  return [
    {
      path: cluster ? '/redis/cluster' : '/redis/url',
      message:
        'Redis is on another machine and needs no password: every client that reaches it can change access to data',
      advice: 'Give the bridge its own user in Redis (docs/redis.md), and block other clients.',
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
          'Keep their people and groups apart. An account or group belongs to the connection that is linked first; for the other connection it is a dead letter (TakenByConnection).',
      },
    ];
  });
}

/** Warns about targets that are one platform under several names. */
function sameAddressWarnings({ targets }: Warned): ConfigWarning[] {
  // An address in two spellings, such as with and without its usual port, is one address.
  const all = Object.entries(targets).map(([name, { url }]) => ({ name, address: new URL(url).href }));
  return all.flatMap(({ name: target, address }) => {
    const same = all.filter((each) => each.address === address).map(({ name }) => name);
    // One warning for each address, at the second target.
    if (same[1] !== target) return [];
    return [
      {
        path: `/targets/${target}/url`,
        message: `several targets have the same address: ${same.join(', ')}`,
        advice:
          'Give each target the address of its own platform, or keep their people and groups apart (users.scope, groups.include): otherwise all of them change the same accounts and groups.',
      },
    ];
  });
}

/** Warns about targets that need two approvers although the admin API knows one caller only, the holder of the admin token. */
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
