{{/* Every template asks for the name first, so this error comes before one about a missing value. */}}
{{- define "kubenodesmith.name" -}}
{{- if not (kindIs "map" .Values.leaderElection) -}}
{{- fail "the values lack leaderElection, which this version of the chart has: helm upgrade --reuse-values keeps the defaults of the older chart. Use --reset-then-reuse-values" -}}
{{- end -}}
{{- .Values.fullnameOverride | default .Values.nameOverride | default .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- end -}}

{{- define "kubenodesmith.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "kubenodesmith.selector" -}}
app.kubernetes.io/name: kubenodesmith
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "kubenodesmith.labels" -}}
{{ include "kubenodesmith.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{/* Labels and annotations of an object: (list ROOT LABELS ANNOTATIONS), where its own win over the common ones. */}}
{{- define "kubenodesmith.metadata" -}}
{{- $root := index . 0 -}}
{{- $own := mustMerge (include "kubenodesmith.labels" $root | fromYaml) (index . 1 | default dict | deepCopy) ($root.Values.commonLabels | default dict | deepCopy) -}}
labels:
  {{- toYaml $own | nindent 2 }}
{{- with mustMerge (index . 2 | default dict | deepCopy) ($root.Values.commonAnnotations | default dict | deepCopy) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "kubenodesmith.serviceAccount" -}}
{{- default (include "kubenodesmith.name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "kubenodesmith.subjects" -}}
- kind: ServiceAccount
  name: {{ include "kubenodesmith.serviceAccount" . }}
  namespace: {{ include "kubenodesmith.namespace" . }}
{{- end -}}

{{- define "kubenodesmith.priorityClass" -}}
{{- if .Values.priorityClassName -}}
{{- .Values.priorityClassName -}}
{{- else if .Values.priorityClass.create -}}
{{- default (include "kubenodesmith.name" .) .Values.priorityClass.name -}}
{{- else -}}
{{- .Values.priorityClass.name -}}
{{- end -}}
{{- end -}}

{{- define "kubenodesmith.image" -}}
{{- $image := .Values.image.registry | empty | ternary "" (printf "%s/" .Values.image.registry) | printf "%[2]s%[1]s" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $image .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $image (default .Chart.AppVersion .Values.image.tag) -}}
{{- end -}}
{{- end -}}

{{/* Every managed namespace, with that of the operator. */}}
{{- define "kubenodesmith.managedNamespaces" -}}
{{- append (.Values.managedNamespaces | default list) (include "kubenodesmith.namespace" .) | uniq | join "," -}}
{{- end -}}

{{/* The roles of config/rbac name themselves kubenodesmith...: here they are called after the release. */}}
{{- define "kubenodesmith.roleName" -}}
{{- $name := include "kubenodesmith.name" .root -}}
{{- .name | trimPrefix "kubenodesmith" | printf "%s%s" $name -}}
{{- end -}}

{{/* Not empty if nothing keeps two operators from acting at once. */}}
{{- define "kubenodesmith.withoutElection" -}}
{{- if not .Values.leaderElection.enabled -}}
leaderElection.enabled=false
{{- else -}}
{{- range .Values.extraArgs -}}
{{- if regexMatch "^--leader-elect=(false|f|0|no|n|off|disable|-)$" (lower .) -}}
extraArgs {{ . }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
