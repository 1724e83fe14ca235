{{/* Adds the rules of the chart to the affinity in the values. Root on the operator's node has the operator's rights. So the operator
     runs on Nodes with a label that no kubelet can set on its own Node (admission plugin NodeRestriction), and never on nodes that
     it may remove. Where no Node is of the control plane:
     kubectl label node NAME node-restriction.kubernetes.io/kubenodesmith-operator= */}}
{{- define "kubenodesmith.affinity" -}}
{{- $given := .Values.affinity | default dict -}}
{{- $nodes := get $given "nodeAffinity" | default dict -}}
{{- $required := dig "requiredDuringSchedulingIgnoredDuringExecution" "nodeSelectorTerms" list $nodes | default (list dict) -}}
{{- $terms := list -}}
{{- range $label := list "node-role.kubernetes.io/control-plane" "node-restriction.kubernetes.io/kubenodesmith-operator" -}}
{{- range $term := $required -}}
{{- $rule := list
      (dict "key" $label "operator" "Exists")
      (dict "key" "topology.kubenodesmith.io/pool" "operator" "DoesNotExist")
      (dict "key" "kubenodesmith.io/nodeclaim" "operator" "DoesNotExist") -}}
{{- $expressions := concat $rule (get $term "matchExpressions" | default list) -}}
{{- $terms = append $terms (merge (dict "matchExpressions" $expressions) (omit $term "matchExpressions")) -}}
{{- end -}}
{{- end -}}
{{- $apart := dict "weight" 100 "podAffinityTerm" (dict "topologyKey" "kubernetes.io/hostname"
      "labelSelector" (dict "matchLabels" (include "kubenodesmith.selector" . | fromYaml))) -}}
{{- $against := get $given "podAntiAffinity" | default dict -}}
{{- $preferred := append (get $against "preferredDuringSchedulingIgnoredDuringExecution" | default list) $apart -}}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      {{- toYaml $terms | nindent 6 }}
  {{- with omit $nodes "requiredDuringSchedulingIgnoredDuringExecution" }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with get $given "podAffinity" }}
podAffinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
podAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
    {{- toYaml $preferred | nindent 4 }}
  {{- with omit $against "preferredDuringSchedulingIgnoredDuringExecution" }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- define "kubenodesmith.spread" -}}
{{- range .Values.topologySpreadConstraints }}
- {{ toYaml (merge (deepCopy .) (dict "labelSelector" (dict "matchLabels" (include "kubenodesmith.selector" $ | fromYaml)))) | nindent 2 | trim }}
{{- end }}
{{- end -}}

{{/* The flags of the operator. */}}
{{- define "kubenodesmith.args" -}}
- run
{{- if .Values.leaderElection.enabled }}
- --leader-elect
{{- else }}
- --leader-elect=false
{{- end }}
{{- with .Values.leaderElection.id }}
- --leader-election-id={{ . }}
{{- end }}
{{- with .Values.leaderElection.namespace }}
- --leader-election-namespace={{ . }}
{{- end }}
{{- with .Values.leaderElection.leaseDuration }}
- --leader-elect-lease-duration={{ . }}
{{- end }}
{{- with .Values.leaderElection.renewDeadline }}
- --leader-elect-renew-deadline={{ . }}
{{- end }}
{{- with .Values.leaderElection.retryPeriod }}
- --leader-elect-retry-period={{ . }}
{{- end }}
- --health-probe-bind-address=:{{ int .Values.health.port }}
- --metrics-bind-address=:{{ int .Values.metrics.port }}
{{- if not .Values.metrics.secure }}
- --metrics-secure=false
{{- end }}
{{- if .Values.metrics.certificateSecret }}
- --metrics-cert-path=/etc/kubenodesmith/metrics
{{- end }}
{{- if .Values.metrics.statusPage }}
- --status-page
{{- end }}
{{- if .Values.metrics.legacyKproximate }}
- --legacy-kproximate-metrics
{{- end }}
- --namespaces={{ include "kubenodesmith.managedNamespaces" . }}
{{- $role := include "kubenodesmith.roleName" (dict "root" $ "name" "kubenodesmith-credentials") }}
{{- if ne $role "kubenodesmith-credentials" }}
- --credentials-role={{ $role }}
{{- end }}
- --log-format={{ .Values.log.format }}
- --log-level={{ .Values.log.level }}
{{- if .Values.bootstrapServer.enabled }}
- --bootstrap-bind-address=:{{ int .Values.bootstrapServer.port }}
- --bootstrap-advertise-url={{ .Values.bootstrapServer.advertiseURL }}
{{- end }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "kubenodesmith.podSecurityContext" -}}
{{- $own := dict "runAsNonRoot" true "runAsUser" 65532 "seccompProfile" (dict "type" "RuntimeDefault") -}}
{{- toYaml (mustMergeOverwrite $own (deepCopy (.Values.podSecurityContext | default dict))) -}}
{{- end -}}

{{- define "kubenodesmith.containerSecurityContext" -}}
{{- $own := dict "allowPrivilegeEscalation" false "readOnlyRootFilesystem" true "capabilities" (dict "drop" (list "ALL")) -}}
{{- toYaml (mustMergeOverwrite $own (deepCopy (.Values.containerSecurityContext | default dict))) -}}
{{- end -}}
