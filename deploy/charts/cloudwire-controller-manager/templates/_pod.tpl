{{/* The pod of every variant. */}}
{{- define "cloudwire.podSpec" -}}
{{- $root := . -}}
{{- $isStatic := eq .Values.kind "StaticPod" -}}
{{- if not $isStatic }}
serviceAccountName: {{ .Values.name }}
{{- end }}
# Kubelet would mount the token into every container; the controller alone gets one, below.
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- if .Values.hostNetwork }}
hostNetwork: true
{{- end }}
dnsPolicy: {{ .Values.dnsPolicy | default (.Values.hostNetwork | ternary "Default" "ClusterFirst") }}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext: {{- toYaml .Values.podSecurityContext | nindent 2 }}
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
{{- if not $isStatic }}
{{- include "cloudwire.placement" . }}
{{- end }}
{{- if .Values.nativeSidecars }}
{{- if .Values.providers }}
initContainers:
{{- range .Values.providers }}
{{- include "cloudwire.provider" (dict "root" $root "provider" .) | nindent 2 }}
{{- end }}
{{- end }}
containers:
{{- include "cloudwire.controller" . | nindent 2 }}
{{- else }}
containers:
{{- include "cloudwire.controller" . | nindent 2 }}
{{- range .Values.providers }}
{{- include "cloudwire.provider" (dict "root" $root "provider" .) | nindent 2 }}
{{- end }}
{{- end }}
volumes: {{- include "cloudwire.volumes" . | nindent 2 }}
{{- end }}

{{- define "cloudwire.placement" }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .Values.affinity }}
affinity: {{- toYaml .Values.affinity | nindent 2 }}
{{- else }}
affinity:
  {{- if .Values.controlPlaneNodes }}
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms:
        - matchExpressions:
            - key: node-role.kubernetes.io/control-plane
              operator: Exists
  {{- end }}
  {{- if eq .Values.kind "Deployment" }}
  # A second replica on a node would be of no use when the node is lost.
  podAntiAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      - topologyKey: kubernetes.io/hostname
        labelSelector:
          matchLabels: {{- include "cloudwire.selectorLabels" . | nindent 12 }}
  {{- end }}
{{- end }}
{{- if eq .Values.kind "Deployment" }}
topologySpreadConstraints:
  - topologyKey: topology.kubernetes.io/zone
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "cloudwire.selectorLabels" . | nindent 8 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "cloudwire.volumes" -}}
{{- $root := . -}}
{{- $isStatic := eq .Values.kind "StaticPod" -}}
# Sockets. The group of fsGroup may use them; they are not reachable from outside the pod.
- name: cloud-provider
  emptyDir:
    medium: Memory
    sizeLimit: 1Mi
{{- if .Values.kubeconfig.hostPath }}
- name: kubeconfig
  hostPath:
    path: {{ .Values.kubeconfig.hostPath }}
    type: File
{{- else if .Values.kubeconfig.secretName }}
- name: kubeconfig
  secret:
    secretName: {{ .Values.kubeconfig.secretName }}
    defaultMode: 0440
{{- else }}
- name: kube-api-access
  projected:
    sources:
      - serviceAccountToken:
          path: token
          expirationSeconds: 3607
      - configMap:
          name: kube-root-ca.crt
          items:
            - key: ca.crt
              path: ca.crt
      - downwardAPI:
          items:
            - path: namespace
              fieldRef:
                fieldPath: metadata.namespace
{{- end }}
{{- if not $isStatic }}
- name: config
  configMap:
    name: {{ .Values.name }}
{{- end }}
{{- if .Values.webhook.enabled }}
- name: webhook-certificate
  secret:
    secretName: {{ .Values.webhook.secretName | default (printf "%s-webhook" .Values.name) }}
    defaultMode: 0440
{{- end }}
{{- range $provider := .Values.providers }}
{{- if $provider.files }}
- name: {{ $provider.name }}-files
  configMap:
    name: {{ printf "%s-%s" $root.Values.name $provider.name }}
{{- end }}
{{- range $index, $secret := $provider.secrets }}
- name: {{ printf "%s-secret-%d" $provider.name $index }}
  secret:
    secretName: {{ $secret.name }}
    defaultMode: 0440
{{- end }}
{{- end }}
{{- with .Values.volumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
