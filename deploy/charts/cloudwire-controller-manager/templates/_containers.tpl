{{- define "cloudwire.controller" -}}
{{- $isStatic := eq .Values.kind "StaticPod" -}}
{{- $hasKubeconfig := or .Values.kubeconfig.hostPath .Values.kubeconfig.secretName -}}
{{- $port := include "cloudwire.securePort" . -}}
{{- $address := include "cloudwire.setting" (dict "root" . "path" "Generic.Address" "default" "") -}}
- name: controller
  image: {{ include "cloudwire.image" (dict "root" . "image" .Values.image "repository" "cloudwire-controller-manager") | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  args:
    {{- if $isStatic }}
    {{- include "cloudwire.configFlags" . | trim | nindent 4 }}
    {{- else }}
    - --config=/etc/cloudwire/config.yaml
    {{- end }}
    {{- if $hasKubeconfig }}
    - --kubeconfig=/etc/cloudwire-kubeconfig/kubeconfig
    {{- end }}
    {{- with .Values.extraArgs }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if or .Values.apiServer.host .Values.env }}
  env:
    {{- if .Values.apiServer.host }}
    - name: KUBERNETES_SERVICE_HOST
      value: {{ .Values.apiServer.host | quote }}
    - name: KUBERNETES_SERVICE_PORT
      value: {{ .Values.apiServer.port | quote }}
    {{- end }}
    {{- with .Values.env }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
  {{- with .Values.envFrom }}
  envFrom: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if or (ne $port "0") .Values.webhook.enabled }}
  ports:
    {{- if ne $port "0" }}
    - name: https
      containerPort: {{ $port }}
      protocol: TCP
    {{- end }}
    {{- if .Values.webhook.enabled }}
    - name: webhook
      containerPort: {{ include "cloudwire.webhookPort" . }}
      protocol: TCP
    {{- end }}
  {{- end }}
  {{- if ne $port "0" }}
  livenessProbe:
    httpGet: {{- include "cloudwire.probe" (dict "path" "/livez" "port" $port "scheme" "HTTPS" "host" $address) | nindent 6 }}
    periodSeconds: 10
    timeoutSeconds: 15
    failureThreshold: 6
  readinessProbe:
    httpGet: {{- include "cloudwire.probe" (dict "path" "/readyz" "port" $port "scheme" "HTTPS" "host" $address) | nindent 6 }}
    periodSeconds: 5
    timeoutSeconds: 5
  {{- end }}
  resources: {{- toYaml .Values.resources | nindent 4 }}
  securityContext: {{- toYaml .Values.securityContext | nindent 4 }}
  volumeMounts:
    - name: cloud-provider
      mountPath: /run/cloud-provider
    {{- if .Values.kubeconfig.hostPath }}
    - name: kubeconfig
      mountPath: /etc/cloudwire-kubeconfig/kubeconfig
      readOnly: true
    {{- else if .Values.kubeconfig.secretName }}
    - name: kubeconfig
      mountPath: /etc/cloudwire-kubeconfig
      readOnly: true
    {{- else }}
    - name: kube-api-access
      mountPath: /var/run/secrets/kubernetes.io/serviceaccount
      readOnly: true
    {{- end }}
    {{- if not $isStatic }}
    - name: config
      mountPath: /etc/cloudwire
      readOnly: true
    {{- end }}
    {{- if .Values.webhook.enabled }}
    - name: webhook-certificate
      mountPath: /etc/cloudwire-webhook
      readOnly: true
    {{- end }}
    {{- with .Values.volumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{/* Where a probe asks; the pod's own address unless the program listens at another. */}}
{{- define "cloudwire.probe" -}}
path: {{ .path }}
port: {{ .port }}
scheme: {{ .scheme }}
{{- if not (has (.host | default "") (list "" "0.0.0.0" "::")) }}
host: {{ .host | quote }}
{{- end }}
{{- end }}

{{/* The address of a provider's probes and metrics; empty: all addresses of both families. Arguments: root, provider. */}}
{{- define "cloudwire.httpHost" -}}
{{- .provider.httpHost | default (.root.Values.hostNetwork | ternary "127.0.0.1" "") -}}
{{- end }}

{{/* Whether clients other than the node's kubelet can reach them. Arguments: root, provider. */}}
{{- define "cloudwire.isReachable" -}}
{{- and .provider.httpPort (not (has (include "cloudwire.httpHost" .) (list "127.0.0.1" "::1" "localhost"))) | empty | not -}}
{{- end }}

{{/* Arguments: root, provider. */}}
{{- define "cloudwire.provider" -}}
{{- $root := .root -}}
{{- $provider := .provider -}}
{{- $httpHost := include "cloudwire.httpHost" . -}}
{{- $image := default dict $provider.image -}}
- name: {{ $provider.name }}
  image: {{ include "cloudwire.image" (dict "root" $root "image" $image "repository" (printf "cloudwire-provider-%s" $provider.name)) | quote }}
  imagePullPolicy: {{ $image.pullPolicy | default $root.Values.image.pullPolicy }}
  {{- if $root.Values.nativeSidecars }}
  # A sidecar: started before the controller and ended after it.
  restartPolicy: Always
  {{- end }}
  {{- with $provider.args }}
  args: {{- toYaml . | nindent 4 }}
  {{- end }}
  env:
    - name: CLOUD_PROVIDER_ENDPOINT
      value: unix://{{ include "cloudwire.socket" $provider.name }}
    {{- with $root.Values.podSecurityContext.fsGroup }}
    - name: CLOUD_PROVIDER_SOCKET_GROUP
      value: {{ . | quote }}
    {{- end }}
    {{- with $provider.httpPort }}
    - name: CLOUD_PROVIDER_HTTP_ADDRESS
      value: {{ printf "%s:%v" $httpHost . | quote }}
    {{- end }}
    {{- with $provider.env }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with $provider.envFrom }}
  envFrom: {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $provider.httpPort }}
  ports:
    - name: {{ printf "http-%v" . }}
      containerPort: {{ . }}
      protocol: TCP
  # Not for readiness: the controller says at /readyz what a provider lacks.
  livenessProbe:
    httpGet: {{- include "cloudwire.probe" (dict "path" "/livez" "port" . "scheme" "HTTP" "host" $httpHost) | nindent 6 }}
    periodSeconds: 10
    timeoutSeconds: 15
    failureThreshold: 6
  {{- end }}
  resources: {{- toYaml ($provider.resources | default $root.Values.providerResources) | nindent 4 }}
  securityContext: {{- toYaml ($provider.securityContext | default $root.Values.securityContext) | nindent 4 }}
  volumeMounts:
    - name: cloud-provider
      mountPath: /run/cloud-provider
    {{- if $provider.files }}
    - name: {{ $provider.name }}-files
      mountPath: /etc/cloud-provider
      readOnly: true
    {{- end }}
    {{- range $index, $secret := $provider.secrets }}
    - name: {{ printf "%s-secret-%d" $provider.name $index }}
      mountPath: {{ $secret.mountPath }}
      readOnly: true
    {{- end }}
    {{- with $provider.volumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
