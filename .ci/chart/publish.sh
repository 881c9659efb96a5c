#!/usr/bin/env bash
# Packs the chart, pushes it as an OCI artefact, and signs its digest without a key. Output: digest.
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
need docker helm cosign
login "$registry"
rm -rf .local/chart
step helm package helm/scim-bridge --destination .local/chart
echo "+ helm push .local/chart/scim-bridge-$version.tgz oci://$charts"
if [ "${DRY_RUN:-}" = 1 ]; then
  # Nothing was pushed: a digest that fills the commands to be printed.
  digest=sha256:0000000000000000000000000000000000000000000000000000000000000000
else
  # helm tells the digest on standard error.
  digest=$(helm push ".local/chart/scim-bridge-$version.tgz" "oci://$charts" 2>&1 | tee /dev/stderr | sed -n 's/^Digest: //p')
fi
step cosign sign --yes "$charts/scim-bridge@$digest"
output digest "$digest"
