{{/*
A value of a role, or the one of the same name at the top level when the role has none:
(dict "root" . "role" "api" "key" "nodeSelector"), as YAML; empty when neither is set.
*/}}
{{- define "scim-bridge.placed" -}}
{{- $own := index (index .root.Values .role) .key -}}
{{- with $own | default (index .root.Values .key) -}}
{{- toYaml . -}}
{{- end -}}
{{- end -}}

{{/* How the pods of a role are spread: (dict "root" . "role" "api") */}}
{{- define "scim-bridge.spread" -}}
{{- $context := . -}}
{{- if .root.Values.topologySpreadConstraints -}}
{{- toYaml .root.Values.topologySpreadConstraints -}}
{{- else -}}
{{- range $word, $key := dict "hostname" "kubernetes.io/hostname" "zone" "topology.kubernetes.io/zone" }}
{{- $rule := index $context.root.Values.topologySpread $word }}
{{- /* helm reads off without quotes as false. */}}
{{- if not (has (toString $rule) (list "off" "false")) }}
- maxSkew: 1
  topologyKey: {{ $key }}
  whenUnsatisfiable: {{ $rule }}
  labelSelector:
    matchLabels:
      {{- include "scim-bridge.roleSelector" $context | nindent 6 }}
  # Each revision by itself, so that a rolling update ends evenly spread.
  matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* What every pod of the bridge has, jobs included: (dict "root" . "volumes" list); the last may be left out. */}}
{{- define "scim-bridge.podCommon" -}}
serviceAccountName: {{ include "scim-bridge.serviceAccountName" .root }}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .root.Values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with concat ((.root.Values.global | default dict).imagePullSecrets | default list) .root.Values.imagePullSecrets | uniq }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- toYaml .root.Values.podSecurityContext | nindent 2 }}
volumes:
  - name: settings
    configMap:
      name: {{ include "scim-bridge.fullname" .root }}
  - name: secret
    projected:
      # 0440: readable by the group of the bridge (fsGroup), and by nobody else.
      defaultMode: 288
      sources:
        {{- range $name := prepend .root.Values.secret.additionalSecrets (include "scim-bridge.secretName" .root) }}
        - secret:
            name: {{ $name }}
        {{- end }}
  - name: tmp
    emptyDir:
      sizeLimit: 64Mi
  {{- if .root.Values.extraCa.configMap }}
  - name: ca
    configMap:
      name: {{ .root.Values.extraCa.configMap }}
  {{- else if .root.Values.extraCa.secret }}
  - name: ca
    secret:
      secretName: {{ .root.Values.extraCa.secret }}
  {{- end }}
  {{- with .volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .root.Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* What every container of the bridge has: (dict "root" . "mounts" list); the last may be left out. */}}
{{- define "scim-bridge.containerCommon" -}}
image: {{ include "scim-bridge.image" .root }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
securityContext:
  {{- toYaml .root.Values.securityContext | nindent 2 }}
env:
  - name: SCIM_BRIDGE_CONFIG
    value: /etc/scim-bridge/settings/bridge.yaml
  # The operator of a command in the pod, unless --by or SCIM_BRIDGE_OPERATOR names another.
  - name: POD_NAME
    valueFrom: { fieldRef: { fieldPath: metadata.name } }
  - name: POD_NAMESPACE
    valueFrom: { fieldRef: { fieldPath: metadata.namespace } }
  {{- if or .root.Values.extraCa.configMap .root.Values.extraCa.secret }}
  - name: NODE_EXTRA_CA_CERTS
    value: /etc/scim-bridge/ca/{{ .root.Values.extraCa.key }}
  {{- end }}
  {{- with .root.Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumeMounts:
  - name: settings
    mountPath: /etc/scim-bridge/settings
    readOnly: true
  - name: secret
    mountPath: /etc/scim-bridge/secret
    readOnly: true
  - name: tmp
    mountPath: /tmp
  {{- if or .root.Values.extraCa.configMap .root.Values.extraCa.secret }}
  - name: ca
    mountPath: /etc/scim-bridge/ca
    readOnly: true
  {{- end }}
  {{- with .mounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .root.Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* Annotations that change with the settings, so that pods are replaced when these change: (dict "root" .) */}}
{{- define "scim-bridge.checksums" -}}
checksum/settings: {{ include "scim-bridge.settings" .root | sha256sum }}
{{- if not .root.Values.secret.existingSecret }}
checksum/secret: {{ toJson .root.Values.secret.values | sha256sum }}
{{- end }}
{{- end -}}

{{/* (dict "path" "/livez" "values" .Values.probes.liveness) */}}
{{- define "scim-bridge.probe" -}}
httpGet:
  path: {{ .path }}
  port: admin
{{ toYaml .values }}
{{- end -}}
