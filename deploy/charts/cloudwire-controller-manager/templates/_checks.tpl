{{/* What no schema can say: values that do not fit each other. */}}
{{- define "cloudwire.checks" -}}
{{- $names := list -}}
{{- $ports := list -}}
{{- range $index, $provider := .Values.providers }}
{{- if has $provider.name $names }}
{{- fail (printf "providers[%d].name: %s is the name of another one, too; each has a name of its own" $index $provider.name) }}
{{- end }}
{{- $names = append $names $provider.name -}}
{{- with $provider.httpPort }}
{{- if has . $ports }}
{{- fail (printf "providers[%d].httpPort: %v is the port of another one, too; containers of a pod share its ports" $index .) }}
{{- end }}
{{- $ports = append $ports . -}}
{{- end }}
{{- end }}
{{- if ne (include "cloudwire.leaderElect" .) "true" }}
{{- if or (eq .Values.kind "DaemonSet") (and (eq .Values.kind "Deployment") (gt (int .Values.replicas) 1)) }}
{{- fail (printf "config.Generic.LeaderElection.LeaderElect: is false, but a %s with several replicas would have all of them work at once; take kind: Deployment and replicas: 1" .Values.kind) }}
{{- end }}
{{- end }}
{{- if and .Values.webhook.enabled (not .Values.webhook.csiDrivers) (not .Values.webhook.inTreePlugins) }}
{{- fail "webhook.csiDrivers: is empty, and so is webhook.inTreePlugins; name the volumes that the webhook is asked about, such as csiDrivers: [ebs.csi.aws.com]" }}
{{- end }}
{{- if eq .Values.kind "StaticPod" }}
{{- include "cloudwire.staticPodChecks" . }}
{{- end }}
{{- end }}

{{/* A kubelet starts a static pod without the API server, so it may name no object of it. */}}
{{- define "cloudwire.staticPodChecks" -}}
{{- $isOfAnObject := "is an object of the cluster, which a static pod cannot read; put the file on the host and mount it by volumes and volumeMounts" -}}
{{- range $index, $provider := .Values.providers }}
{{- range list "secrets" "files" "envFrom" }}
{{- if get $provider . }}
{{- fail (printf "providers[%d].%s: %s" $index . $isOfAnObject) }}
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.envFrom }}{{ fail (printf "envFrom: %s" $isOfAnObject) }}{{ end }}
{{- if .Values.kubeconfig.secretName }}{{ fail (printf "kubeconfig.secretName: %s" $isOfAnObject) }}{{ end }}
{{- if .Values.webhook.enabled }}{{ fail "webhook.enabled: a static pod cannot read the Secret of the webhook's certificate; take a Deployment or a DaemonSet" }}{{ end }}
{{- if not .Values.kubeconfig.hostPath }}
{{- fail "kubeconfig.hostPath: is empty, but a static pod has no service account; give the kubeconfig on the host, such as /etc/kubernetes/cloud-controller-manager.conf" }}
{{- end }}
{{- end }}
