{{/* The volume that backups pass through or stay in: (dict "root" . "kept" true) */}}
{{- define "scim-bridge.backupVolume" -}}
{{- $backup := .root.Values.backup -}}
{{- if .kept }}
- name: backup
  persistentVolumeClaim:
    claimName: {{ $backup.volume.existingClaim | default (printf "%s-backup" (include "scim-bridge.fullname" .root)) }}
{{- else }}
- name: backup
  emptyDir:
    sizeLimit: {{ $backup.scratchSize }}
{{- end }}
{{- end -}}

{{/* A container that runs a command of the operator on the file of a backup: (dict "root" . "name" "x" "command" list "shell" "") */}}
{{- define "scim-bridge.backupCommand" -}}
{{- $backup := .root.Values.backup -}}
- name: {{ .name }}
  image: {{ if $backup.image }}{{ include "scim-bridge.inRegistry" (dict "root" .root "image" $backup.image) }}{{ else }}{{ include "scim-bridge.image" .root }}{{ end }}
  imagePullPolicy: {{ .root.Values.image.pullPolicy }}
  securityContext:
    {{- toYaml .root.Values.securityContext | nindent 4 }}
  command:
    {{- toYaml (concat (list "sh" "-c" .shell) .command) | nindent 4 }}
  {{- with $backup.env }}
  env:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $backup.envFrom }}
  envFrom:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts:
    - { name: backup, mountPath: /backup }
    - { name: tmp, mountPath: /tmp }
  resources:
    {{- toYaml $backup.resources | nindent 4 }}
{{- end -}}

{{/* How the jobs of backup and restore fail: (dict "codes" list), of all containers, or with "container" "x" of that one */}}
{{- define "scim-bridge.backupFailures" -}}
podFailurePolicy:
  rules:
    # 2 and 100: a backup lacks damaged items. 65: the data is of a newer version. 78: the settings are wrong. Trying again does not help.
    - action: FailJob
      onExitCodes:
        {{- with .container }}
        containerName: {{ . }}
        {{- end }}
        operator: In
        values: {{ toJson .codes }}
    - action: Ignore
      onPodConditions:
        - type: DisruptionTarget
          status: 'True'
{{- end -}}

{{/* Where the pods of jobs run. */}}
{{- define "scim-bridge.jobPlacement" -}}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with index $.Values $key }}
{{ $key }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}
