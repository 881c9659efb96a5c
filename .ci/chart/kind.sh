#!/usr/bin/env bash
# Installs the chart with the image of this checkout on a new kind cluster, runs `helm test`, pushes a person, upgrades,
# and removes the cluster. KEEP=1 keeps it.
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
need docker kind kubectl helm
cluster=scim-bridge-check
here=.ci/chart
[ "${KEEP:-}" = 1 ] || trap 'step kind delete cluster --name "$cluster"' EXIT
step docker build --tag scim-bridge:check --build-arg VERSION="$version" --build-arg REVISION="$revision" .
step kind create cluster --name "$cluster" --wait 120s
step kind load docker-image scim-bridge:check --name "$cluster"
step kubectl create namespace identity
step kubectl --namespace identity apply --filename $here/kind-redis.yaml
step kubectl --namespace identity rollout status deployment/redis --timeout 180s
step helm install bridge helm/scim-bridge --namespace identity --values $here/kind-values.yaml --wait --timeout 180s
step helm test bridge --namespace identity --timeout 120s || {
  step kubectl --namespace identity logs pod/bridge-scim-bridge-test --all-containers
  exit 1
}
step kubectl --namespace identity exec deployment/bridge-scim-bridge -- node --input-type=module --eval "$(cat $here/kind-push.mjs)"
step helm upgrade bridge helm/scim-bridge --namespace identity --values $here/kind-values.yaml --set all.replicas=3 --wait --timeout 180s
step kubectl --namespace identity exec deployment/bridge-scim-bridge -- scim-bridge --version
