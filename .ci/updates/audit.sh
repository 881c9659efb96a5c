#!/usr/bin/env bash
# Fails when a package of the service has a known weakness of severity high or critical.
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
need npm
step npm audit --omit=dev --audit-level=high
step npm audit signatures --omit=dev
