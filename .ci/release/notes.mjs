// Writes the notes of a release from both changelogs.
import { sectionsOf } from './versions.mjs';

/** Links of the changelog lead to the files of the tag. */
function withAbsoluteLinks(text, folder, base) {
  return base === undefined ? text : text.replace(/\]\((?!https?:|#)([^)]+)\)/g, `](${base}/${folder}$1)`);
}

/**
 * @param env GITHUB_SERVER_URL and GITHUB_REPOSITORY of the pipeline; without them links stay relative
 * @returns the notes as Markdown
 */
export function notesOf({ manifest, changelog, chartChangelog }, env) {
  const { version } = JSON.parse(manifest);
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository } = env;
  const base = server && repository ? `${server}/${repository}/blob/v${version}` : undefined;
  const section = (text) => sectionsOf(text).get(version) ?? '';
  const owner = (repository ?? 'OWNER/scim-bridge').split('/')[0].toLowerCase();
  return `${withAbsoluteLinks(section(changelog), '', base)}

## Chart

${withAbsoluteLinks(section(chartChangelog), 'helm/scim-bridge/', base)}

## Install

- Image: \`ghcr.io/${owner}/scim-bridge:${version}\`
- Chart: \`helm install bridge oci://ghcr.io/${owner}/charts/scim-bridge --version ${version}\`
- Command: \`npm install --global scim-bridge@${version}\`
- Platform client: \`npm install @scim-bridge/platform-client@${version}\`

Signatures, SBOM and provenance: ${withAbsoluteLinks('[verify a release](docs/security.md#verify-a-release)', '', base)}.
`;
}
