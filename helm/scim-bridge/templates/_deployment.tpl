{{/* The Deployment of a role: (dict "root" . "role" "api") */}}
{{- define "scim-bridge.deployment" -}}
{{- $root := .root -}}
{{- $values := index $root.Values .role -}}
{{- $inbound := has .role (list "all" "api") -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "scim-bridge.metadata" (dict "root" $root "name" (include "scim-bridge.roleName" .) "component" .role "annotations" $root.Values.deploymentAnnotations) | nindent 2 }}
spec:
  {{- if $root.Values.restore.enabled }}
  # Nothing is pushed or applied while a backup is put back.
  replicas: 0
  {{- else if not (or (dig "autoscaling" "enabled" false $values) (dig "keda" "enabled" false $values)) }}
  replicas: {{ $values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  minReadySeconds: 5
  strategy:
    {{- toYaml $root.Values.strategy | nindent 4 }}
  selector:
    matchLabels:
      {{- include "scim-bridge.roleSelector" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "scim-bridge.labels" (dict "root" $root "component" .role) | nindent 8 }}
        {{- if $inbound }}
        scim-bridge/takes: pushes
        {{- end }}
        {{- if $root.Values.metrics.enabled }}
        scim-bridge/serves: metrics
        {{- end }}
        {{- with $values.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      annotations:
        {{- include "scim-bridge.checksums" . | nindent 8 }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      {{- include "scim-bridge.podCommon" . | nindent 6 }}
      terminationGracePeriodSeconds: {{ include "scim-bridge.grace" $root }}
      {{- with $values.priorityClassName | default $root.Values.priorityClassName }}
      priorityClassName: {{ . }}
      {{- end }}
      {{- range $key := list "nodeSelector" "tolerations" "affinity" }}
      {{- with include "scim-bridge.placed" (dict "root" $root "role" $.role "key" $key) }}
      {{ $key }}:
        {{- . | nindent 8 }}
      {{- end }}
      {{- end }}
      {{- with include "scim-bridge.spread" . | trim }}
      topologySpreadConstraints:
        {{- . | nindent 8 }}
      {{- end }}
      {{- with $root.Values.initContainers }}
      initContainers:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      containers:
        - name: bridge
          {{- include "scim-bridge.containerCommon" . | nindent 10 }}
          args: [serve, --role, {{ .role }}]
          ports:
            - name: http
              containerPort: 8080
            - name: admin
              containerPort: 8081
            {{- if $root.Values.metrics.enabled }}
            - name: metrics
              containerPort: 9090
            {{- end }}
          startupProbe:
            {{- include "scim-bridge.probe" (dict "path" "/livez" "values" $root.Values.probes.startup) | nindent 12 }}
          livenessProbe:
            {{- include "scim-bridge.probe" (dict "path" "/livez" "values" $root.Values.probes.liveness) | nindent 12 }}
          readinessProbe:
            {{- include "scim-bridge.probe" (dict "path" "/readyz" "values" $root.Values.probes.readiness) | nindent 12 }}
          {{- if and $inbound $root.Values.preStopSeconds }}
          lifecycle:
            preStop:
              exec:
                command: [sleep, {{ $root.Values.preStopSeconds | quote }}]
          {{- end }}
          resources:
            {{- toYaml $values.resources | nindent 12 }}
        {{- with $root.Values.sidecars }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
{{- end -}}
