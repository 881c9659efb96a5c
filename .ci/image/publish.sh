#!/usr/bin/env bash
# Builds the image for amd64 and arm64 with SBOM and provenance, pushes it, and signs its digest without a key. The
# identity of the pipeline signs (Sigstore). Output: digest.
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
need docker helm cosign node
login "$registry"
metadata=$(mktemp)
trap 'rm -f "$metadata"' EXIT
tags=(--tag "$image:$version")
for line in "${version%.*}" "${version%%.*}"; do
  if is_newest "$line."; then tags+=(--tag "$image:$line"); fi
done
step docker buildx build . --platform linux/amd64,linux/arm64 --push "${tags[@]}" \
  --sbom=true --provenance=mode=max --metadata-file "$metadata" \
  --build-arg VERSION="$version" --build-arg REVISION="$revision" --build-arg SOURCE="$source_url"
if [ "${DRY_RUN:-}" = 1 ]; then
  # Nothing was pushed: a digest that fills the commands to be printed.
  digest=sha256:0000000000000000000000000000000000000000000000000000000000000000
else
  digest=$(node -p 'JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"))["containerimage.digest"]' "$metadata")
fi
step cosign sign --yes --recursive "$image@$digest"
output digest "$digest"
