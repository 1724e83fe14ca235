{{/* Refuses values that exclude each other, which values.schema.json cannot express. */}}
{{- define "kubenodesmith.checks" -}}
{{- with include "kubenodesmith.withoutElection" . -}}
{{- if gt (int $.Values.replicas) 1 -}}
{{- fail (printf "%s with replicas=%d: nothing would keep several operators from acting at the same time. Set replicas to 1, or leave the election on" . (int $.Values.replicas)) -}}
{{- end -}}
{{- if eq (dig "type" "Recreate" $.Values.strategy) "RollingUpdate" -}}
{{- fail (printf "%s with strategy.type=RollingUpdate: the old and the new operator would act at the same time. Use Recreate" .) -}}
{{- end -}}
{{- end -}}
{{- if and (not .Values.serviceAccount.create) (not .Values.serviceAccount.name) -}}
{{- fail "serviceAccount.create=false: serviceAccount.name must name the existing ServiceAccount that the operator runs as" -}}
{{- end -}}
{{- if and (ne (toString .Values.podDisruptionBudget.minAvailable) "<nil>") (ne (toString .Values.podDisruptionBudget.maxUnavailable) "<nil>") -}}
{{- fail "podDisruptionBudget.minAvailable and podDisruptionBudget.maxUnavailable exclude each other: set one of them" -}}
{{- end -}}
{{- if and .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled -}}
{{- fail "metrics.serviceMonitor.enabled and metrics.podMonitor.enabled exclude each other: with both each series would be there twice" -}}
{{- end -}}
{{- if and .Values.bootstrapServer.enabled (not .Values.bootstrapServer.advertiseURL) -}}
{{- fail "bootstrapServer.advertiseURL must say where machines reach the operator" -}}
{{- end -}}
{{- $service := .Values.bootstrapServer.service -}}
{{- if and $service.nodePort (eq $service.type "ClusterIP") -}}
{{- fail "bootstrapServer.service.nodePort needs bootstrapServer.service.type NodePort or LoadBalancer" -}}
{{- end -}}
{{- if and (or $service.loadBalancerClass $service.loadBalancerIP $service.loadBalancerSourceRanges) (ne $service.type "LoadBalancer") -}}
{{- fail "bootstrapServer.service.loadBalancerClass, loadBalancerIP and loadBalancerSourceRanges need bootstrapServer.service.type LoadBalancer" -}}
{{- end -}}
{{- if and $service.externalTrafficPolicy (eq $service.type "ClusterIP") -}}
{{- fail "bootstrapServer.service.externalTrafficPolicy needs bootstrapServer.service.type NodePort or LoadBalancer" -}}
{{- end -}}
{{- $ports := list (int .Values.health.port) (int .Values.metrics.port) (int .Values.bootstrapServer.port) -}}
{{- if ne (len (uniq $ports)) 3 -}}
{{- fail (printf "health.port=%d, metrics.port=%d and bootstrapServer.port=%d must differ" (index $ports 0) (index $ports 1) (index $ports 2)) -}}
{{- end -}}
{{- end -}}
