#!/usr/bin/env bash
# Writes the release of the tag at the forge: notes of both changelogs, digests, and the archives of chart and packages.
# Reads IMAGE_DIGEST and CHART_DIGEST.
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
need gh node helm
step node .ci/prepare.mjs --without-redis
step node .ci/release/packages.mjs --repository "git+$source_url.git"
step bash .ci/chart/check.sh
if [ "${DRY_RUN:-}" = 1 ]; then
  : "${IMAGE_DIGEST:=sha256:of-the-image}" "${CHART_DIGEST:=sha256:of-the-chart}"
fi
notes=$(mktemp)
trap 'rm -f "$notes"' EXIT
{
  node .ci/release/release.mjs --notes
  printf '\nDigests:\n\n- `%s@%s`\n- `%s/scim-bridge@%s`\n' "$image" "${IMAGE_DIGEST:?}" "$charts" "${CHART_DIGEST:?}"
} > "$notes"
[ "${DRY_RUN:-}" = 1 ] && cat "$notes"
kind=(--latest)
is_newest "" || kind=(--latest=false)
[[ $version == *-* ]] && kind=(--prerelease)
step gh release create "v$version" --verify-tag --title "v$version" --notes-file "$notes" "${kind[@]}" \
  ".local/packages/scim-bridge-$version.tgz" ".local/packages/scim-bridge-platform-client-$version.tgz" \
  ".local/chart/scim-bridge-$version.tgz" THIRD-PARTY-LICENSES
