#!/usr/bin/env bash
# Lints the chart, renders it with each set of values of helm/scim-bridge/ci, and packs it into .local/chart.
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
need helm
rm -rf .local/chart
mkdir -p .local/chart
for values in helm/scim-bridge/ci/*-values.yaml; do
  step helm lint helm/scim-bridge --strict --quiet --values "$values"
  echo "+ helm template --values $values"
  [ "${DRY_RUN:-}" = 1 ] || helm template bridge helm/scim-bridge --namespace identity --values "$values" > .local/chart/rendered.yaml
done
step helm package helm/scim-bridge --destination .local/chart
