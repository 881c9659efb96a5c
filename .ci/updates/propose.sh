#!/usr/bin/env bash
# Looks for newer packages and a newer base image, makes what follows from them, runs all checks, and proposes the change
# on a branch. Nothing is merged without a review.
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
need node npm docker gh git
branch=updates/weekly
step node .ci/updates/packages.mjs
step node .ci/updates/base-image.mjs
step node .ci/prepare.mjs --without-redis
step node .ci/release/lock-hashes.mjs
step node .ci/release/licenses.mjs
if [ "${DRY_RUN:-}" != 1 ] && git diff --quiet; then
  echo 'Everything is current.'
  exit 0
fi
step bash .ci/run
step git switch --force-create "$branch"
step git -c user.name=updates -c user.email=updates@users.noreply.github.com commit --all --message 'build: update packages and base image'
step git push --force origin "$branch"
if [ "${DRY_RUN:-}" = 1 ] || [ "$(gh pr list --head "$branch" --json number --jq length)" = 0 ]; then
  step gh pr create --head "$branch" --title 'build: update packages and base image' \
    --body 'Made by .github/workflows/updates.yml. All checks have passed with it; read the changelogs of what is new.'
fi
