{{/* The settings file: `config`, and what the chart decides. */}}
{{- define "scim-bridge.settings" -}}
{{- $settings := deepCopy .Values.config -}}
{{- $server := $settings.server | default dict -}}
{{- $_ := set $server "port" 8080 -}}
{{- $_ := set $server "adminPort" 8081 -}}
{{- if .Values.metrics.enabled -}}
{{- $_ := set $server "metricsPort" 9090 -}}
{{- end -}}
{{- $_ := set $settings "server" $server -}}
{{- $reconcile := $settings.reconcile | default dict -}}
{{- if eq .Values.reconcile.runner "schedule" -}}
{{- $_ := set $reconcile "schedule" .Values.reconcile.schedule -}}
{{- $_ := set $reconcile "timezone" .Values.reconcile.timeZone -}}
{{- else -}}
{{- $_ := set $reconcile "schedule" nil -}}
{{- /* The alert about a reconcile that does not come follows the schedule of the CronJob. */}}
{{- if and (eq .Values.reconcile.runner "cronjob") (regexMatch "^[0-9A-Za-z*/, -]+$" .Values.reconcile.schedule) -}}
{{- $_ := set $reconcile "expectedSchedule" .Values.reconcile.schedule -}}
{{- $_ := set $reconcile "timezone" .Values.reconcile.timeZone -}}
{{- end -}}
{{- end -}}
{{- $_ := set $settings "reconcile" $reconcile -}}
{{- toYaml $settings -}}
{{- end -}}
