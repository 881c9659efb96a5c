# shellcheck shell=bash disable=SC2034
# Functions for the steps of the pipelines; sourced by scripts, in the root of the repository.
# DRY_RUN=1 prints the commands and runs none of them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# need TOOL...: ends with 69 and a sentence if a tool is missing.
need() {
  local tool
  [ "${DRY_RUN:-}" = 1 ] && return 0
  for tool in "$@"; do
    command -v "$tool" > /dev/null || { echo "$0 needs $tool on PATH. DRY_RUN=1 shows what it runs." >&2; exit 69; }
    if [ "$tool" = docker ] && ! docker info > /dev/null 2>&1; then
      echo "$0 needs a running Docker daemon. DRY_RUN=1 shows what it runs." >&2
      exit 69
    fi
  done
}

# step COMMAND ARGUMENT...: prints the command and runs it.
step() {
  echo "+ $*"
  [ "${DRY_RUN:-}" = 1 ] || "$@"
}

# login REGISTRY: signs docker and helm in with REGISTRY_TOKEN, which never is an argument of a command.
login() {
  echo "+ docker login, helm registry login $1"
  [ "${DRY_RUN:-}" = 1 ] && return 0
  docker login "$1" --username "$REGISTRY_USER" --password-stdin <<< "$REGISTRY_TOKEN"
  helm registry login "$1" --username "$REGISTRY_USER" --password-stdin <<< "$REGISTRY_TOKEN"
}

# output NAME VALUE: an output of the step, in a pipeline.
output() {
  echo "$1=$2" >> "${GITHUB_OUTPUT:-/dev/stdout}"
}

# is_newest PREFIX: whether this release is the newest of all tags v<PREFIX>… A version with a hyphen is a preview: it neither is
# the newest nor counts. Needs a checkout with all tags.
is_newest() {
  local newest
  newest=$({ git tag --list "v$1*" | grep -v -e - || true; echo "v$version"; } | sort -V | tail -n 1)
  [[ $version != *-* && $newest = "v$version" ]]
}

version=$(node -p 'require("./package.json").version')
revision=${GITHUB_SHA:-$(git rev-parse HEAD)}
owner=${GITHUB_REPOSITORY_OWNER:-local}
# Names of images are in lower case.
registry=ghcr.io
image=$registry/${owner,,}/scim-bridge
charts=$registry/${owner,,}/charts
source_url=${GITHUB_SERVER_URL:-https://github.com}/${GITHUB_REPOSITORY:-local/scim-bridge}
