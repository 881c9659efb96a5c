{{/*
Label matchers that select the metrics of this release. A monitor of the chart gives them a job of their own; without one the
job is unknown, and the namespace has to do.
*/}}
{{- define "scim-bridge.metricsScope" -}}
{{- $name := include "scim-bridge.fullname" . -}}
{{- $namespace := include "scim-bridge.namespace" . -}}
{{- if .Values.metrics.prometheusRule.selector -}}
{{- .Values.metrics.prometheusRule.selector -}}
{{- else if .Values.metrics.serviceMonitor.enabled -}}
{{- printf "namespace=%q,job=%q" $namespace (printf "%s-metrics" $name) -}}
{{- else if .Values.metrics.podMonitor.enabled -}}
{{- printf "namespace=%q,job=%q" $namespace (printf "%s/%s" $namespace $name) -}}
{{- else -}}
{{- printf "namespace=%q" $namespace -}}
{{- end -}}
{{- end -}}
