{{/*
Returns the variables of a service as YAML: `plain` (name to text) and `secret` (name to Secret and key). With `task`,
those of its migration. The names are those in the service's config.ts.
*/}}
{{- define "rollcall.variables" -}}
{{- $values := .root.Values -}}
{{- $service := .service -}}
{{- $isTask := default false .task -}}
{{- $seconds := $values.shutdown -}}
{{- if ge (int $seconds.drainSeconds) (int $seconds.graceSeconds) -}}
{{- fail "shutdown.drainSeconds has to be less than shutdown.graceSeconds, which includes it" -}}
{{- end -}}
{{- $plain := dict
  "LISTEN_HOST" "0.0.0.0"
  "LOG_LEVEL" $values.logLevel
  "PORT" $service.port
  "INTERNAL_PORT" $service.internalPort
  "SHUTDOWN_GRACE_MS" (mul $seconds.graceSeconds 1000)
  "SHUTDOWN_DRAIN_MS" (ternary 0 (mul $seconds.drainSeconds 1000) $isTask)
-}}
{{- $secret := dict -}}
{{- if eq $service.protocol "grpc" }}{{ $_ := set $plain "RPC_MAX_CONNECTION_AGE_MS" $service.maxConnectionAgeMs }}{{ end -}}
{{- if and $values.mtls.enabled (not $isTask) }}{{ $_ := set $plain "RPC_TLS_DIR" "/etc/rollcall/mtls" }}{{ end -}}
{{- with $values.tracing.endpoint -}}
{{- $_ := set $plain "OTEL_EXPORTER_OTLP_ENDPOINT" . -}}
{{- $_ := set $plain "OTEL_TRACES_SAMPLER_ARG" $values.tracing.sampleRatio -}}
{{- end -}}
{{- if and $values.bounces.enabled (eq .name $values.bounces.service) }}{{ $_ := set $plain "BOUNCE_SMTP_PORT" $values.bounces.containerPort }}{{ end -}}
{{- if $service.public -}}
{{- $behindProxy := or $values.ingress.enabled $values.httpRoute.enabled -}}
{{- $trusted := default (ternary "1" "0" $behindProxy) $values.trustProxy -}}
{{- if and (regexMatch "^([1-9]|10)$" $trusted) (not $values.networkPolicy.enabled) -}}
{{- fail (printf "trustProxy is a number of hops (%s), which trusts every direct connection: list the CIDR blocks of the proxies, or set networkPolicy.enabled" $trusted) -}}
{{- end -}}
{{- $_ := set $plain "TRUST_PROXY" $trusted -}}
{{- end -}}
{{- range $callee := $service.calls -}}
{{- $target := index (include "rollcall.services" $.root | fromYaml) $callee -}}
{{- if not $target }}{{ fail (printf "services.%s.calls names %s, which is no enabled service" $.name $callee) }}{{ end -}}
{{- $address := include "rollcall.address" (dict "root" $.root "name" $callee "port" ($target.port | int)) -}}
{{- $_ := set $plain (printf "%s_ADDRESS" ($callee | upper | replace "-" "_")) $address -}}
{{- end -}}
{{- if has "mongodb" $service.stores -}}
{{- $_ := set $secret "MONGODB_URL" $values.stores.mongodb.secret -}}
{{- $_ := set $plain "MONGODB_DATABASE" (printf "%s%s" $values.stores.mongodb.databasePrefix .name) -}}
{{- $_ := set $plain "MONGODB_TIMEOUT_MS" (ternary $values.migrations.timeoutMs $values.stores.mongodb.timeoutMs $isTask) -}}
{{- $_ := set $plain "MONGODB_POOL_SIZE" $values.stores.mongodb.poolSize -}}
{{- $_ := set $plain "MONGODB_FILTERED_READS" $values.stores.mongodb.filteredReads -}}
{{- $_ := set $plain "MONGODB_STREAMS" $values.stores.mongodb.streams -}}
{{- $_ := set $plain "MONGODB_ALL_STREAMS" $values.stores.mongodb.allStreams -}}
{{- $_ := set $plain "MIGRATE_AT_START" (not (and $service.migrates $values.migrations.enabled)) -}}
{{- end -}}
{{- if has "kafka" $service.stores -}}
{{- $kafka := $values.stores.kafka -}}
{{- if $kafka.brokers }}{{ $_ := set $plain "KAFKA_BROKERS" (join "," $kafka.brokers) }}{{ else }}{{ $_ := set $secret "KAFKA_BROKERS" $kafka.secret }}{{ end -}}
{{- $_ := set $plain "KAFKA_TLS" $kafka.tls -}}
{{- $_ := set $plain "KAFKA_SASL" $kafka.sasl.mechanism -}}
{{- $_ := set $plain "KAFKA_PARTITIONS" $kafka.partitions -}}
{{- $_ := set $plain "TOPIC_PREFIX" $kafka.topicPrefix -}}
{{- if ne $kafka.sasl.mechanism "none" -}}
{{- $sasl := $kafka.sasl.secret -}}
{{- $name := ternary (printf "%s-%s" $sasl.name .name) $sasl.name $sasl.perService -}}
{{- $_ := set $secret "KAFKA_USERNAME" (dict "name" $name "key" $sasl.usernameKey) -}}
{{- $_ := set $secret "KAFKA_PASSWORD" (dict "name" $name "key" $sasl.passwordKey) -}}
{{- end -}}
{{- end -}}
{{- if has "redisCache" $service.stores }}{{ $_ := set $secret "REDIS_CACHE_URL" $values.stores.redisCache.secret }}{{ end -}}
{{- if has "redisQueue" $service.stores }}{{ $_ := set $secret "REDIS_QUEUE_URL" $values.stores.redisQueue.secret }}{{ end -}}
{{- range $service.keys -}}
{{- if eq . "ASSERTION_KEY" -}}
{{- $_ := set $secret . (dict "name" $values.keys.secret "key" (include "rollcall.assertionKey" $.name)) -}}
{{- $_ := set $secret "ASSERTION_PUBLIC_KEYS" (dict "name" $values.keys.secret "key" "ASSERTION_PUBLIC_KEYS") -}}
{{- else -}}
{{- $_ := set $secret . (dict "name" $values.keys.secret "key" .) -}}
{{- end -}}
{{- end -}}
{{- /* Only the program that creates the owner gets the password: the migration, if there is one. */ -}}
{{- if and $service.bootstraps $values.bootstrap.secret (or $isTask (not $values.migrations.enabled)) -}}
{{- range list "BOOTSTRAP_EMAIL" "BOOTSTRAP_PASSWORD" }}{{ $_ := set $secret . (dict "name" $values.bootstrap.secret "key" .) }}{{ end -}}
{{- $_ := set $plain "BOOTSTRAP_ORGANIZATION" $values.bootstrap.organization -}}
{{- end -}}
{{- $fromPublicUrl := dict "PUBLIC_URL" $values.publicUrl "CONSOLE_URL" (printf "%s/console" (trimSuffix "/" $values.publicUrl)) -}}
{{- range $name, $value := $service.settings -}}
{{- if regexMatch "(_KEYS?|_PASSWORD|_SECRET)$|^(MONGODB|REDIS_CACHE|REDIS_QUEUE|SMTP)_URL$" $name -}}
{{- fail (printf "services.%s.settings.%s would show a secret: name the Secret that holds it in services.%s.secrets.%s" $.name $name $.name $name) -}}
{{- end -}}
{{- if and (hasKey $plain $name) (ne $name "LOG_LEVEL") -}}
{{- fail (printf "services.%s.settings.%s is set by the chart from another value" $.name $name) -}}
{{- end -}}
{{- if and (hasKey $fromPublicUrl $name) (not $value) }}{{ $value = index $fromPublicUrl $name }}{{ end -}}
{{- $_ := set $plain $name $value -}}
{{- end -}}
{{- range $name, $from := $service.secrets -}}
{{- $_ := unset $plain $name -}}
{{- $_ := set $secret $name $from -}}
{{- end -}}
{{- toYaml (dict "plain" $plain "secret" $secret) -}}
{{- end -}}

{{/* The variables as environment entries of a container. */}}
{{- define "rollcall.environment" -}}
{{- $variables := include "rollcall.variables" . | fromYaml -}}
{{- range $name, $value := $variables.plain }}
- name: {{ $name }}
  value: {{ include "rollcall.text" $value | quote }}
{{- end }}
{{- range $name, $from := $variables.secret }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $from.name }}, key: {{ $from.key }} } }
{{- end }}
- name: NODE_OPTIONS
  value: --max-old-space-size={{ include "rollcall.heap" . }}
- name: NODE_NO_WARNINGS
  value: "1"
{{- with .root.Values.trustedAuthorities }}
{{- if .secret }}
- name: NODE_EXTRA_CA_CERTS
  value: /etc/rollcall/authorities/{{ .key }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Returns --max-old-space-size in megabytes; fails if the memory limit is too low for it. */}}
{{- define "rollcall.heap" -}}
{{- $of := ternary .root.Values.migrations .service (default false .task) -}}
{{- $place := ternary "migrations" (printf "services.%s" .name) (default false .task) -}}
{{- $needed := add $of.nodeMemoryMegabytes 176 -}}
{{- with dig "limits" "memory" "" $of.resources -}}
{{- if lt (include "rollcall.mebibytes" . | float64) (float64 $needed) -}}
{{- fail (printf "%s.resources.limits.memory is %s, but has to be at least %dMi: nodeMemoryMegabytes plus 176 MiB" $place (include "rollcall.text" .) $needed) -}}
{{- end -}}
{{- end -}}
{{- $of.nodeMemoryMegabytes | int -}}
{{- end -}}

{{/* Converts an amount of memory to MiB. */}}
{{- define "rollcall.mebibytes" -}}
{{- $text := include "rollcall.text" . -}}
{{- $number := regexFind "^[0-9.]+" $text -}}
{{- $bytes := dict "" 1 "m" 0.001 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
{{- divf (mulf (float64 $number) (index $bytes (trimPrefix $number $text))) 1048576 -}}
{{- end -}}

{{/*
Returns a checksum of every Secret that a service reads at its start, so that a changed Secret restarts the pods. Without
access to the cluster it is constant. Services read mTLS certificates again without a restart.
*/}}
{{- define "rollcall.secretsChecksum" -}}
{{- $names := list -}}
{{- range (include "rollcall.variables" . | fromYaml).secret }}{{ $names = append $names .name }}{{ end -}}
{{- with .root.Values.trustedAuthorities.secret }}{{ $names = append $names . }}{{ end -}}
{{- $contents := list -}}
{{- range $names | uniq | sortAlpha -}}
{{- with lookup "v1" "Secret" $.root.Release.Namespace . }}{{ $contents = append $contents .data }}{{ end -}}
{{- end -}}
{{- $contents | toJson | sha256sum -}}
{{- end -}}

{{/* Settings of every pod of the release: scheduling, security and volumes. */}}
{{- define "rollcall.podSettings" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "rollcall.podSecurity" .root | nindent 2 }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .service.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .service.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .service.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: { sizeLimit: 64Mi }
  {{- if and .root.Values.mtls.enabled (not .task) }}
  {{- $secret := include "rollcall.certificateSecret" . }}
  - name: mtls
    projected:
      defaultMode: 0440
      sources:
        - secret: { name: {{ $secret }}, items: [{ key: tls.crt, path: tls.crt }, { key: tls.key, path: tls.key }] }
        - secret: { name: {{ default $secret .root.Values.mtls.authorities }}, items: [{ key: ca.crt, path: ca.crt }] }
  {{- end }}
  {{- with .root.Values.trustedAuthorities.secret }}
  - name: authorities
    secret: { secretName: {{ . }} }
  {{- end }}
  {{- if not .task }}
  {{- with .service.volumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- end }}
{{- end -}}

{{- define "rollcall.volumeMounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if and .root.Values.mtls.enabled (not .task) }}
- { name: mtls, mountPath: /etc/rollcall/mtls, readOnly: true }
{{- end }}
{{- if .root.Values.trustedAuthorities.secret }}
- { name: authorities, mountPath: /etc/rollcall/authorities, readOnly: true }
{{- end }}
{{- if not .task }}
{{- with .service.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end -}}
