{{/*
Choices that contradict each other or would do harm, one sentence per line; empty when all is well. Each says what to do.
Shapes and words are checked before this by values.schema.json.
*/}}
{{- define "scim-bridge.faults" -}}
{{- range $about := list "settings" "secret" "run" "edge" "label" "alert" "backup" "upgrade" }}
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
{{- range $key := list "port" "host" "adminPort" "metricsPort" }}
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
{{- $signIn := dig "server" "signIn" dict .Values.config | default dict -}}
{{- $_ := set $places "config.server.signIn.openid.clientSecret" ($signIn.openid | default dict).clientSecret -}}
{{- range $name, $connection := .Values.config.connections -}}
{{- range $index, $token := $connection.tokens -}}
{{- $_ := set $places (printf "config.connections.%s.tokens[%d].secret" $name $index) $token.secret -}}
{{- end }}
{{- end }}
{{- $_ := set $places "config.backup.key" (dig "backup" "key" "" .Values.config) -}}
{{- range $name, $connection := .Values.config.connections -}}
{{- $events := $connection.events | default dict -}}
{{- $_ := set $places (printf "config.connections.%s.events.key" $name) $events.key -}}
{{- $_ := set $places (printf "config.connections.%s.events.poll.token" $name) (dig "poll" "token" "" $events) -}}
{{- $_ := set $places (printf "config.connections.%s.events.push.token" $name) (dig "push" "token" "" $events) -}}
{{- end }}
{{- $notices := .Values.config.notices | default dict -}}
{{- range $name, $channel := $notices.channels -}}
{{- $_ := set $places (printf "config.notices.channels.%s.url" $name) $channel.url -}}
{{- $_ := set $places (printf "config.notices.channels.%s.secret" $name) $channel.secret -}}
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
{{- include "scim-bridge.addressFaults" (dict "place" "config" "value" .Values.config) }}
{{- range $place, $variables := dict "extraEnv" .Values.extraEnv "backup.env" .Values.backup.env }}
{{- range $variable := $variables }}
{{- if and $variable.value (regexMatch "(?i)(token|secret|secret_?key|secret_?access_?key|password|passwd|passphrase|api_?key|private_?key)$" $variable.name) }}
* {{ $place }} has {{ $variable.name }} written out. Put it into a Secret and refer to it by valueFrom.secretKeyRef, or in config.
{{- end }}
{{- include "scim-bridge.addressFaults" (dict "place" (printf "%s.%s" $place $variable.name) "value" $variable.value) }}
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

{{/* Addresses that carry a secret, at any depth: (dict "place" "config" "value" .Values.config) */}}
{{- define "scim-bridge.addressFaults" -}}
{{- $place := .place -}}
{{- if kindIs "map" .value -}}
{{- range $key, $value := .value -}}
{{- include "scim-bridge.addressFaults" (dict "place" (printf "%s.%s" $place $key) "value" $value) -}}
{{- end -}}
{{- else if kindIs "slice" .value -}}
{{- range $index, $value := .value -}}
{{- include "scim-bridge.addressFaults" (dict "place" (printf "%s[%d]" $place $index) "value" $value) -}}
{{- end -}}
{{- else if kindIs "string" .value -}}
{{- if regexMatch "PRIVATE KEY-----" .value }}
* {{ $place }} has a private key written out. Put it into the Secret and refer to it, such as '${file:/etc/scim-bridge/secret/NAME}'.
{{- end -}}
{{- if contains "://" .value -}}
{{- /* References do not count. The password of a Redis address may hold a slash. */ -}}
{{- $bare := regexReplaceAll "\\$\\{[^}]*\\}" .value "" -}}
{{- $user := regexMatch "://[^/?#@]*:[^/?#@]+@" $bare -}}
{{- $redis := and (regexMatch "^rediss?" $bare) (regexMatch "://[^/?@]*:[^@]+@" $bare) -}}
{{- if or $user $redis (regexMatch "(?i)[?&][a-z_-]*(password|passwd|token|secret|key)=[^&#]+" $bare) }}
* {{ $place }} carries a password. Put the whole address, or the password, into the Secret and refer to it.
{{- end -}}
{{- end -}}
{{- end -}}
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
{{- $vpa := $values.verticalPodAutoscaler | default dict }}
{{- if and $hpa.enabled $vpa.enabled (ne (toString ($vpa.updateMode | default "Off")) "Off") }}
* {{ $role }}.autoscaling and {{ $role }}.verticalPodAutoscaler would fight over the use of CPU. Enable one, or set updateMode Off.
{{- end }}
{{- $budget := $values.podDisruptionBudget }}
{{- $replicas := int $values.replicas }}
{{- range $limits := list $hpa $keda }}
{{- if $limits.enabled }}
{{- $replicas = int $limits.minReplicas }}
{{- end }}
{{- end }}
{{- if $budget.enabled }}
{{- $most := toString $budget.maxUnavailable }}
{{- $count := int (trimSuffix "%" $most) }}
{{- if hasSuffix "%" $most }}
{{- /* Kubernetes rounds up. */}}
{{- $count = int (div (add (mul $count $replicas) 99) 100) }}
{{- end }}
{{- if and (eq $count 0) $replicas }}
* {{ $role }}.podDisruptionBudget.maxUnavailable {{ $most }} lets no pod go, so no node can be drained. Set at least 1.
{{- else if and (gt $replicas 1) (ge $count $replicas) }}
* {{ $role }}.podDisruptionBudget.maxUnavailable {{ $most }} lets all {{ $replicas }} pods go at once. Set less than {{ $replicas }}.
{{- end }}
{{- end }}
{{- range $word, $limits := dict "autoscaling" $hpa "keda" $keda }}
{{- if and $limits.enabled (gt (int $limits.minReplicas) (int $limits.maxReplicas)) }}
* {{ $role }}.{{ $word }}.minReplicas is above maxReplicas.
{{- end }}
{{- end }}
{{- end }}
{{- $least := include "scim-bridge.leastGrace" . }}
{{- if lt (int (include "scim-bridge.grace" .)) (int $least) }}
* terminationGracePeriodSeconds is too short: the bridge answers for config.server.drainMs and takes up to 40 s to finish what it has begun. Leave it out, or set at least {{ $least }}.
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
{{- range $key := list "loadBalancerClass" "loadBalancerSourceRanges" }}
{{- if and (index $.Values.service $key) (ne $.Values.service.type "LoadBalancer") }}
* service.{{ $key }} belongs to a Service of type LoadBalancer. Set service.type, or remove it.
{{- end }}
{{- end }}
{{- if and .Values.service.externalTrafficPolicy (eq .Values.service.type "ClusterIP") }}
* service.externalTrafficPolicy belongs to a Service of type LoadBalancer or NodePort. Set service.type, or remove it.
{{- end }}
{{- if and (or .Values.ingress.enabled .Values.httpRoute.enabled) (not (dig "server" "publicUrl" "" .Values.config)) }}
* config.server.publicUrl is missing. Behind a proxy the bridge cannot know its own address; identity providers get it in every answer.
{{- end }}
{{- range $path := .Values.publicPaths }}
{{- if not (regexMatch "^/(scim/v2|connections)(/|$)" $path) }}
* publicPaths has {{ $path }}, which is no SCIM address. Operators reach /admin and the health addresses by the Service {{ include "scim-bridge.fullname" $ }}-admin.
{{- end }}
{{- end }}
{{- $metrics := .Values.metrics -}}
{{- if and $metrics.serviceMonitor.enabled $metrics.podMonitor.enabled }}
* metrics.serviceMonitor and metrics.podMonitor would scrape everything twice. Enable one.
{{- end }}
{{- if and (not $metrics.enabled) (or $metrics.serviceMonitor.enabled $metrics.podMonitor.enabled) }}
* Monitors need metrics.enabled.
{{- end }}
{{- end }}

{{/* A label that is written twice makes an object that Kubernetes refuses. */}}
{{- define "scim-bridge.labelFaults" -}}
{{- $own := "^(helm\\.sh/chart|app\\.kubernetes\\.io/(name|instance|component|version|part-of|managed-by)|scim-bridge/.*)$" -}}
{{- $metrics := .Values.metrics -}}
{{- $places := dict "commonLabels" .Values.commonLabels "metrics.serviceMonitor.labels" $metrics.serviceMonitor.labels "metrics.podMonitor.labels" $metrics.podMonitor.labels "metrics.prometheusRule.labels" $metrics.prometheusRule.labels "metrics.grafanaDashboard.labels" $metrics.grafanaDashboard.labels -}}
{{- range $role := splitList " " (include "scim-bridge.roles" .) -}}
{{- $_ := set $places (printf "%s.podLabels" $role) (index $.Values $role).podLabels -}}
{{- end }}
{{- range $place, $labels := $places }}
{{- range $key := keys ($labels | default dict) | sortAlpha }}
{{- if regexMatch $own $key }}
* {{ $place }} has {{ $key }}, which the chart sets itself. Remove it.
{{- else if and (ne $place "commonLabels") (hasKey $.Values.commonLabels $key) }}
* {{ $place }} has {{ $key }}, which commonLabels has too. Remove one.
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* A name that no alert has would change nothing, and nobody would notice. */}}
{{- define "scim-bridge.alertFaults" -}}
{{- $known := list -}}
{{- range $group := (.Files.Get "files/alerts.yaml" | fromYaml).groups -}}
{{- range $rule := $group.rules -}}
{{- $known = append $known $rule.alert -}}
{{- end -}}
{{- end -}}
{{- $rules := .Values.metrics.prometheusRule -}}
{{- range $name := concat $rules.disabled (keys $rules.overrides) | uniq | sortAlpha }}
{{- if not (has $name $known) }}
* metrics.prometheusRule names the alert {{ $name }}, which does not exist. The names are in files/alerts.yaml.
{{- end }}
{{- end }}
{{- end }}

{{/* About backups and restores. */}}
{{- define "scim-bridge.backupFaults" -}}
{{- $backup := .Values.backup -}}
{{- $restore := .Values.restore -}}
{{- if and $backup.image (not (or $backup.command $restore.command)) }}
* backup.image runs backup.command and restore.command. Give one of them, or remove the image.
{{- end }}
{{- if $restore.enabled }}
{{- if eq (empty $restore.file) (empty $restore.command) }}
* Give exactly one of restore.file (on the volume of backups) and restore.command (writes the backup to its standard output).
{{- end }}
{{- if and $restore.file (not $backup.volume.existingClaim) (or (not $backup.enabled) $backup.command) }}
* restore.file is on a volume. Name it in backup.volume.existingClaim.
{{- end }}
{{- end }}
{{- end }}

{{/* What an upgrade would lose. The state before it stands in the annotations of the ConfigMap in the cluster. */}}
{{- define "scim-bridge.upgradeFaults" -}}
{{- if .Release.IsUpgrade -}}
{{- $installed := lookup "v1" "ConfigMap" (include "scim-bridge.namespace" .) (include "scim-bridge.fullname" .) | default dict -}}
{{- $before := dig "metadata" "annotations" dict $installed -}}
{{- $prefix := dig "redis" "prefix" "scim-bridge" .Values.config -}}
{{- $old := index $before "scim-bridge/redis-prefix" | default $prefix -}}
{{- if and (ne $old $prefix) (not .Values.upgrade.allowPrefixChange) }}
* config.redis.prefix was {{ $old | quote }} and would become {{ $prefix | quote }}, which is an empty state. If that is meant, set upgrade.allowPrefixChange and let the identity provider push everything again.
{{- end }}
{{- $topology := index $before "scim-bridge/topology" | default .Values.topology }}
{{- if and (ne $topology .Values.topology) (not (has "both" (list $topology .Values.topology))) }}
* topology was {{ $topology }} and would become {{ .Values.topology }} at once, which leaves no pod for pushes for a while. Upgrade to topology both first, wait until its pods are ready, then to {{ .Values.topology }}.
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
