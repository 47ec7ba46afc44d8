{{/* The prefix of all object names. */}}
{{- define "rollcall.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels that identify an object of the release; `name` is its service or task. */}}
{{- define "rollcall.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{/* Selects the serving pods of a service, not those of its tasks. */}}
{{- define "rollcall.serverSelector" -}}
{{ include "rollcall.selector" . }}
rollcall/role: server
{{- end -}}

{{- define "rollcall.labels" -}}
{{ include "rollcall.selector" . }}
app.kubernetes.io/part-of: rollcall
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- with .root.Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The enabled services with their defaults. */}}
{{- define "rollcall.services" -}}
{{- $services := dict -}}
{{- range $name, $block := .Values.services -}}
{{- $service := mergeOverwrite (deepCopy $.Values.serviceDefaults) (deepCopy (default dict $block)) -}}
{{- if $service.enabled }}{{ $_ := set $services $name $service }}{{ end -}}
{{- end -}}
{{- range prepend (default list (default dict .Values.services.gateway).calls) "gateway" -}}
{{- if not (hasKey $services .) }}{{ fail (printf "services.%s is off: the gateway needs the address of every service of the contract" .) }}{{ end -}}
{{- end -}}
{{- toYaml $services -}}
{{- end -}}

{{/* The name of the one service that clients reach. */}}
{{- define "rollcall.public" -}}
{{- $public := list -}}
{{- range $name, $service := include "rollcall.services" . | fromYaml -}}
{{- if $service.public }}{{ $public = append $public $name }}{{ end -}}
{{- end -}}
{{- if ne (len $public) 1 -}}
{{- fail (printf "exactly one service has to be public, not %d: %s" (len $public) (join ", " $public)) -}}
{{- end -}}
{{- first $public -}}
{{- end -}}

{{- define "rollcall.image" -}}
{{- $image := .service.image -}}
{{- $registry := required "image.registry is missing: set it to where the images are, as in registry.example.com/rollcall" .root.Values.image.registry -}}
{{- $repository := default (printf "%s/%s" $registry .name) $image.repository -}}
{{- if $image.digest -}}
{{ $repository }}@{{ $image.digest }}
{{- else if .root.Values.image.requireDigests -}}
{{- fail (printf "services.%s.image.digest is missing: image.requireDigests is on" .name) -}}
{{- else -}}
{{ $repository }}:{{ coalesce $image.tag .root.Values.image.tag .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "rollcall.podSecurity" -}}
runAsNonRoot: true
runAsUser: {{ .Values.securityContext.runAsUser }}
runAsGroup: {{ .Values.securityContext.runAsGroup }}
fsGroup: {{ .Values.securityContext.runAsGroup }}
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "rollcall.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* A setting as plain text; numbers in values files arrive as floats. */}}
{{- define "rollcall.text" -}}
{{- if kindIs "float64" . }}{{ printf "%.0f" . }}{{ else }}{{ toString . }}{{ end -}}
{{- end -}}

{{/* The entry of the keys' Secret with a service's own key. */}}
{{- define "rollcall.assertionKey" -}}
ASSERTION_KEY_{{ . | upper | replace "-" "_" }}
{{- end -}}

{{/* The Secret with a service's own certificate. */}}
{{- define "rollcall.certificateSecret" -}}
{{ .root.Values.mtls.secret }}-{{ .name }}
{{- end -}}

{{/* The gRPC address that resolves to all replicas of a service. */}}
{{- define "rollcall.address" -}}
dns:///{{ include "rollcall.host" . }}:{{ .port }}
{{- end -}}

{{/* The DNS name of a service's headless Service. */}}
{{- define "rollcall.host" -}}
{{ include "rollcall.fullname" .root }}-{{ .name }}-headless.{{ .root.Release.Namespace }}.svc.{{ .root.Values.clusterDomain }}
{{- end -}}
