#!/usr/bin/env bash
# Builds, tries and publishes the npm packages with provenance. The identity of the pipeline publishes (trusted
# publishing), so there is no token that could be lost.
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
need npm node
step node .ci/prepare.mjs --without-redis
step node .ci/release/packages.mjs --repository "git+$source_url.git"
step node .ci/release/try-packages.mjs
# Without a version npm installs `latest`: a patch of an older line and a preview get tags of their own.
tag=latest
# npm accepts no tag that reads as a range of versions, such as 1.2.
is_newest "" || tag=patch-${version%.*}
[[ $version == *-* ]] && tag=next
for archive in scim-bridge-$version scim-bridge-platform-client-$version; do
  step npm publish ".local/packages/$archive.tgz" --provenance --access public --tag "$tag"
done
