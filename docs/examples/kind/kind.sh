#!/usr/bin/env bash
# Makes a cluster with kind, installs Redis and the chart, and runs `helm test`.
# Needs docker, kind, kubectl and helm. `kind delete cluster --name scim-bridge` removes everything.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
here=docs/examples/kind

docker build --tag scim-bridge:example .
kind create cluster --name scim-bridge --wait 120s
kind load docker-image scim-bridge:example --name scim-bridge
kubectl create namespace identity
kubectl --namespace identity apply --filename "$here/redis.yaml"
kubectl --namespace identity rollout status deployment/redis --timeout 180s
helm install bridge helm/scim-bridge --namespace identity --values "$here/values.yaml" --wait --timeout 180s
helm test bridge --namespace identity --timeout 120s

echo 'SCIM:            kubectl --namespace identity port-forward service/bridge-scim-bridge 8080:80'
echo "Operators' page: kubectl --namespace identity port-forward service/bridge-scim-bridge-admin 8081:8081"
echo 'Status:          kubectl --namespace identity exec deployment/bridge-scim-bridge --container bridge -- scim-bridge status'
