{{- define "kubenodesmith.name" -}}
{{- default .Release.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
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

{{- define "kubenodesmith.serviceAccount" -}}
{{- default (include "kubenodesmith.name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "kubenodesmith.priorityClass" -}}
{{- if .Values.priorityClass.create -}}
{{- default (include "kubenodesmith.name" .) .Values.priorityClass.name -}}
{{- else -}}
{{- .Values.priorityClass.name -}}
{{- end -}}
{{- end -}}

{{/* The roles of config/rbac name themselves kubenodesmith...: here they are called after the release. */}}
{{- define "kubenodesmith.roleName" -}}
{{- $name := include "kubenodesmith.name" .root -}}
{{- .name | trimPrefix "kubenodesmith" | printf "%s%s" $name -}}
{{- end -}}
