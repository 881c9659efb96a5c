{{/*
Choices that contradict each other or would do harm, one sentence per line; empty when all is well. Each says what to do.
Shapes and words are checked before this by values.schema.json.
*/}}
{{- define "scim-bridge.faults" -}}
{{- range $about := list "settings" "secret" "run" "edge" "upgrade" }}
{{- include (printf "scim-bridge.%sFaults" $about) $ }}
{{- end }}
{{- end }}

{{/* About `config`. */}}
{{- define "scim-bridge.settingsFaults" -}}
{{- $config := .Values.config -}}
{{- if not $config.redis }}
* config.redis is missing. Give the address of Redis, such as config.redis.url '${file:/etc/scim-bridge/secret/REDIS_URL}'.
{{- else if eq (empty $config.redis.url) (empty $config.redis.cluster) }}
* Give exactly one of config.redis.url and config.redis.cluster.
{{- end }}
{{- if not $config.connections }}
* config.connections is missing. Name at least one identity provider and its tokens.
{{- end }}
{{- if not $config.targets }}
* config.targets is missing. Name at least one platform tenant with its url and token.
{{- end }}
{{- range $key := list "port" "host" "metricsPort" }}
{{- if hasKey ($config.server | default dict) $key }}
* config.server.{{ $key }} is set by the chart. Remove it.
{{- end }}
{{- end }}
{{- if hasKey ($config.reconcile | default dict) "schedule" }}
* config.reconcile.schedule is set by the chart. Use reconcile.schedule, or reconcile.runner none to switch it off.
{{- end }}
{{- if hasKey ($config.reconcile | default dict) "timezone" }}
* config.reconcile.timezone is set by the chart. Use reconcile.timeZone.
{{- end }}
{{- end }}

{{/* A secret that is written out would be readable in the ConfigMap. */}}
{{- define "scim-bridge.secretFaults" -}}
{{- $places := dict -}}
{{- $_ := set $places "config.server.adminToken" (dig "server" "adminToken" "" .Values.config) -}}
{{- range $name, $connection := .Values.config.connections -}}
{{- range $index, $token := $connection.tokens -}}
{{- $_ := set $places (printf "config.connections.%s.tokens[%d].secret" $name $index) $token.secret -}}
{{- end }}
{{- end }}
{{- range $name, $connection := .Values.config.connections -}}
{{- $events := $connection.events | default dict -}}
{{- $_ := set $places (printf "config.connections.%s.events.key" $name) $events.key -}}
{{- $_ := set $places (printf "config.connections.%s.events.poll.token" $name) (dig "poll" "token" "" $events) -}}
{{- $_ := set $places (printf "config.connections.%s.events.push.token" $name) (dig "push" "token" "" $events) -}}
{{- end }}
{{- range $name, $target := .Values.config.targets -}}
{{- $_ := set $places (printf "config.targets.%s.token" $name) $target.token -}}
{{- $_ := set $places (printf "config.targets.%s.scimToken" $name) $target.scimToken -}}
{{- end }}
{{- range $place, $value := $places }}
{{- if and $value (not (regexMatch "^\\$\\{[^}]+\\}$" (toString $value))) }}
* {{ $place }} is written out. Put it into the Secret and refer to it, such as '${file:/etc/scim-bridge/secret/NAME}'.
{{- end }}
{{- end }}
{{- $redis := .Values.config.redis | default dict -}}
{{- range $address := concat (list ($redis.url | default "")) ($redis.cluster | default list) }}
{{- if regexMatch "//[^/@$]*:[^@$]+@" $address }}
* An address in config.redis carries a password. Put the whole address, or the password, into the Secret and refer to it.
{{- end }}
{{- end }}
{{- if and .Values.secret.existingSecret .Values.secret.values }}
* secret.existingSecret and secret.values exclude each other. Keep one.
{{- else if not (or .Values.secret.existingSecret .Values.secret.values) }}
* secret.existingSecret is missing. Name the Secret whose keys config refers to (or, for a trial, give secret.values).
{{- end }}
{{- if and .Values.extraCa.configMap .Values.extraCa.secret }}
* extraCa.configMap and extraCa.secret exclude each other. Keep one.
{{- end }}
{{- end }}

{{/* About how pods run and scale. */}}
{{- define "scim-bridge.runFaults" -}}
{{- range $role := splitList " " (include "scim-bridge.roles" .) }}
{{- $values := index $.Values $role -}}
{{- $hpa := $values.autoscaling | default dict -}}
{{- $keda := $values.keda | default dict -}}
{{- if and $hpa.enabled $keda.enabled }}
* {{ $role }}.autoscaling and {{ $role }}.keda would fight over the number of replicas. Enable one.
{{- end }}
{{- if and $keda.enabled (not $keda.prometheusAddress) }}
* {{ $role }}.keda.prometheusAddress is missing. Give the address of the Prometheus that scrapes the bridge.
{{- end }}
{{- if and $keda.enabled (not $.Values.metrics.enabled) }}
* {{ $role }}.keda scales on a metric. Set metrics.enabled.
{{- end }}
{{- range $word, $limits := dict "autoscaling" $hpa "keda" $keda }}
{{- if and $limits.enabled (gt (int $limits.minReplicas) (int $limits.maxReplicas)) }}
* {{ $role }}.{{ $word }}.minReplicas is above maxReplicas.
{{- end }}
{{- end }}
{{- end }}
{{- if lt (int .Values.terminationGracePeriodSeconds) (add .Values.preStopSeconds 45 | int) }}
* terminationGracePeriodSeconds is too short: the bridge takes up to 40 s to finish what it has begun. Set at least preStopSeconds + 45 ({{ add .Values.preStopSeconds 45 }}).
{{- end }}
{{- end }}

{{/* About what meets the outside. */}}
{{- define "scim-bridge.edgeFaults" -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.hosts) }}
* ingress.hosts is missing. Name the host under which the identity provider reaches the bridge.
{{- end }}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) }}
* httpRoute.parentRefs is missing. Name the Gateway.
{{- end }}
{{- if and (or .Values.ingress.enabled .Values.httpRoute.enabled) (not (dig "server" "publicUrl" "" .Values.config)) }}
* config.server.publicUrl is missing. Behind a proxy the bridge cannot know its own address; identity providers get it in every answer.
{{- end }}
{{- if has "/" .Values.publicPaths }}
* publicPaths has /, which lets everybody through to the operators' page and the health addresses. Name the paths that are meant.
{{- end }}
{{- $metrics := .Values.metrics -}}
{{- if and $metrics.serviceMonitor.enabled $metrics.podMonitor.enabled }}
* metrics.serviceMonitor and metrics.podMonitor would scrape everything twice. Enable one.
{{- end }}
{{- if and (not $metrics.enabled) (or $metrics.serviceMonitor.enabled $metrics.podMonitor.enabled) }}
* Monitors need metrics.enabled.
{{- end }}
{{- end }}

{{/* What an upgrade would lose. The state before it stands in the annotations of the ConfigMap in the cluster. */}}
{{- define "scim-bridge.upgradeFaults" -}}
{{- if .Release.IsUpgrade -}}
{{- $installed := lookup "v1" "ConfigMap" .Release.Namespace (include "scim-bridge.fullname" .) | default dict -}}
{{- $before := dig "metadata" "annotations" dict $installed -}}
{{- $prefix := dig "redis" "prefix" "scim-bridge" .Values.config -}}
{{- $old := index $before "scim-bridge/redis-prefix" | default $prefix -}}
{{- if and (ne $old $prefix) (not .Values.upgrade.allowPrefixChange) }}
* config.redis.prefix was {{ $old | quote }} and would become {{ $prefix | quote }}, which is an empty state. If that is meant, set upgrade.allowPrefixChange and let the identity provider push everything again.
{{- end }}
{{- range $kind := list "connections" "targets" }}
{{- range $name := index $before (printf "scim-bridge/%s" $kind) | default "" | splitList "," }}
{{- if and $name (not (hasKey (index $.Values.config $kind | default dict) $name)) (not $.Values.upgrade.allowRemoval) }}
* config.{{ $kind }}.{{ $name }} is installed and would disappear. Its accounts would be left alone for good, also when it was only renamed. If that is meant, set upgrade.allowRemoval.
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
