{{/* Names and labels of everything. */}}

{{- define "scim-bridge.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 40 characters, so that the longest suffix still fits a DNS label (a CronJob's name has 52 at most). */}}
{{- define "scim-bridge.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains (include "scim-bridge.name" .) .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "scim-bridge.name" .) | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Name of the objects of a role: (dict "root" . "role" "api") */}}
{{- define "scim-bridge.roleName" -}}
{{- if eq .role "all" -}}
{{- include "scim-bridge.fullname" .root -}}
{{- else -}}
{{- printf "%s-%s" (include "scim-bridge.fullname" .root) .role -}}
{{- end -}}
{{- end -}}

{{/* Namespace of every object. */}}
{{- define "scim-bridge.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* The roles that run as Deployments, separated by blanks. */}}
{{- define "scim-bridge.roles" -}}
{{- if ne .Values.topology "split" -}}
all
{{- end -}}
{{- if eq .Values.topology "both" }} {{ end -}}
{{- if eq .Values.topology "single" -}}
{{- else if eq .Values.reconcile.runner "schedule" -}}
api worker scheduler
{{- else -}}
api worker
{{- end -}}
{{- end -}}

{{/* The role that takes pushes; in topology both, the first of the two that do. */}}
{{- define "scim-bridge.inboundRole" -}}
{{- ternary "api" "all" (eq .Values.topology "split") -}}
{{- end -}}

{{/* Selects the pods that take pushes, whatever their role, so that a change of topology keeps the Service filled. */}}
{{- define "scim-bridge.inboundSelector" -}}
{{ include "scim-bridge.selector" . }}
scim-bridge/takes: pushes
{{- end -}}

{{/* Seconds that a pod may take to end: preStopSeconds, server.drainMs, 40 s to finish what it has begun, and 5 s more. */}}
{{- define "scim-bridge.leastGrace" -}}
{{- $drain := dig "server" "drainMs" 3000 .Values.config -}}
{{- $drain = ternary 30000 $drain (kindIs "string" $drain) -}}
{{- add .Values.preStopSeconds (div (add (int $drain) 999) 1000) 45 -}}
{{- end -}}

{{- define "scim-bridge.grace" -}}
{{- .Values.terminationGracePeriodSeconds | default (include "scim-bridge.leastGrace" .) -}}
{{- end -}}

{{/* What selects all pods of the release. */}}
{{- define "scim-bridge.selector" -}}
app.kubernetes.io/name: {{ include "scim-bridge.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* What selects the pods of a role: (dict "root" . "role" "api") */}}
{{- define "scim-bridge.roleSelector" -}}
{{ include "scim-bridge.selector" .root }}
app.kubernetes.io/component: {{ .role }}
{{- end -}}

{{/* Labels of an object; with a component when it belongs to one: (dict "root" . "component" "api") */}}
{{- define "scim-bridge.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "scim-bridge.selector" .root }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: scim-bridge
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/*
The metadata of an object, without its first line:
(dict "root" . "name" "x" "component" "api" "annotations" dict "labels" dict); the last three may be left out.
*/}}
{{- define "scim-bridge.metadata" -}}
name: {{ .name }}
namespace: {{ include "scim-bridge.namespace" .root }}
labels:
  {{- include "scim-bridge.labels" . | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- $annotations := merge (dict) (.annotations | default dict) .root.Values.commonAnnotations }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "scim-bridge.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "scim-bridge.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "scim-bridge.secretName" -}}
{{- default (include "scim-bridge.fullname" .) .Values.secret.existingSecret -}}
{{- end -}}

{{/* An image in the registry of the umbrella chart, which replaces the one it names: (dict "root" . "image" "x") */}}
{{- define "scim-bridge.inRegistry" -}}
{{- $registry := (.root.Values.global | default dict).imageRegistry -}}
{{- if $registry -}}
{{- printf "%s/%s" $registry (regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" .image "") -}}
{{- else -}}
{{- .image -}}
{{- end -}}
{{- end -}}

{{- define "scim-bridge.image" -}}
{{- $repository := include "scim-bridge.inRegistry" (dict "root" . "image" .Values.image.repository) -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}
