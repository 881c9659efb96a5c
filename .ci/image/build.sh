#!/usr/bin/env bash
# Builds the image for this machine and tries it: version, read-only root, no rights.
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
need docker
step docker build --tag scim-bridge:check --build-arg VERSION="$version" --build-arg REVISION="$revision" .
step docker run --rm --read-only --cap-drop ALL --security-opt no-new-privileges scim-bridge:check --version
step docker run --rm --read-only --cap-drop ALL --entrypoint scim-bridge scim-bridge:check check-config --help
step docker image inspect --format '{{ .Size }} bytes' scim-bridge:check
