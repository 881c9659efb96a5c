// Writes the present digest of the base image into the Dockerfile. Needs docker with buildx and the registry.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const BASE = /^ARG NODE_IMAGE=([^@\s]+)@(sha256:[0-9a-f]{64})$/m;

/** @returns the Dockerfile with another digest of the base image */
export function withDigest(dockerfile, digest) {
  return dockerfile.replace(BASE, (_line, name) => `ARG NODE_IMAGE=${name}@${digest}`);
}

if (process.argv[1]?.endsWith('base-image.mjs')) {
  const dockerfile = readFileSync('Dockerfile', 'utf8');
  // `present`: the digest that the Dockerfile has now.
  const [, name, present] = BASE.exec(dockerfile) ?? [];
  const inspect = spawnSync(
    'docker',
    ['buildx', 'imagetools', 'inspect', name, '--format', '{{ .Manifest.Digest }}'],
    {
      encoding: 'utf8',
    },
  );
  const digest = inspect.stdout?.trim() ?? '';
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) {
    console.error(`The digest of ${name} cannot be read: ${inspect.stderr ?? inspect.error?.message}`);
    process.exit(1);
  }
  console.log(digest === present ? `${name} is current.` : `${name}: ${present} → ${digest}`);
  writeFileSync('Dockerfile', withDigest(dockerfile, digest));
}
