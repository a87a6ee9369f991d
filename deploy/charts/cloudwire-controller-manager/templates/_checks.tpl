{{/* Conflicts between values, which the schema cannot express. */}}
{{- define "cloudwire.checks" -}}
{{- $names := list -}}
{{- $ports := list -}}
{{- range $index, $provider := .Values.providers }}
{{- if has $provider.name $names }}
{{- fail (printf "providers[%d].name: %s is also the name of another provider; names must be unique" $index $provider.name) }}
{{- end }}
{{- $names = append $names $provider.name -}}
{{- with $provider.httpPort }}
{{- if has . $ports }}
{{- fail (printf "providers[%d].httpPort: %v is also the port of another provider; containers of a pod share its ports" $index .) }}
{{- end }}
{{- $ports = append $ports . -}}
{{- end }}
{{- end }}
{{- if ne (include "cloudwire.leaderElect" .) "true" }}
{{- if or (eq .Values.kind "DaemonSet") (and (eq .Values.kind "Deployment") (gt (int .Values.replicas) 1)) }}
{{- fail (printf "config.Generic.LeaderElection.LeaderElect: is false, but all replicas of a %s would then be active at the same time; use kind: Deployment and replicas: 1" .Values.kind) }}
{{- end }}
{{- end }}
{{- if and .Values.webhook.enabled (not .Values.webhook.csiDrivers) (not .Values.webhook.inTreePlugins) }}
{{- fail "webhook.csiDrivers and webhook.inTreePlugins: are both empty; name the volumes that the webhook handles, such as csiDrivers: [ebs.csi.aws.com]" }}
{{- end }}
{{- if eq .Values.kind "StaticPod" }}
{{- include "cloudwire.staticPodChecks" . }}
{{- end }}
{{- end }}

{{/* A kubelet starts a static pod without the API server, so the pod cannot refer to API objects. */}}
{{- define "cloudwire.staticPodChecks" -}}
{{- $needsAPIObject := "is an API object, which a static pod cannot read; put the file on the host and mount it with volumes and volumeMounts" -}}
{{- range $index, $provider := .Values.providers }}
{{- range list "secrets" "files" "envFrom" }}
{{- if get $provider . }}
{{- fail (printf "providers[%d].%s: %s" $index . $needsAPIObject) }}
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.envFrom }}{{ fail (printf "envFrom: %s" $needsAPIObject) }}{{ end }}
{{- if .Values.kubeconfig.secretName }}{{ fail (printf "kubeconfig.secretName: %s" $needsAPIObject) }}{{ end }}
{{- if .Values.webhook.enabled }}{{ fail "webhook.enabled: a static pod cannot read the Secret of the webhook's certificate; use a Deployment or a DaemonSet" }}{{ end }}
{{- if not .Values.kubeconfig.hostPath }}
{{- fail "kubeconfig.hostPath: is empty, but a static pod has no service account; set it to a kubeconfig on the host, such as /etc/kubernetes/cloud-controller-manager.conf" }}
{{- end }}
{{- end }}
