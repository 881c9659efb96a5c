#!/usr/bin/env bash
# Refuses a tag that does not fit the checkout, and a lock file with a package without a hash. Reads GITHUB_REF_NAME.
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
need node npm
step node .ci/prepare.mjs --without-redis
step node .ci/release/release.mjs --check "${GITHUB_REF_NAME:-v$version}"
step node .ci/release/lock-hashes.mjs --check
