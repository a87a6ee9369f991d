{{/* What the generators know of the controller: its rights, its controllers and its settings. */}}
{{- define "cloudwire.facts" -}}
{{ .Files.Get "files/facts.yaml" }}
{{- end }}

{{- define "cloudwire.selectorLabels" -}}
app.kubernetes.io/name: {{ .Values.name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Of the pod of `helm test`. */}}
{{- define "cloudwire.testLabels" -}}
app.kubernetes.io/name: {{ .Values.name }}-installed
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "cloudwire.labels" -}}
{{ include "cloudwire.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/component: cloud-controller-manager
app.kubernetes.io/part-of: cloudwire
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{/* The name of an image. Arguments: root, image, repository (where the image has none). */}}
{{- define "cloudwire.image" -}}
{{- $image := .image -}}
{{- $registry := hasKey $image "registry" | ternary $image.registry .root.Values.image.registry -}}
{{- $repository := $image.repository | default .repository -}}
{{- with $registry }}{{ . }}/{{ end }}{{ $repository }}
{{- with $image.digest }}@{{ . }}{{ else }}:{{ $image.tag | default .root.Chart.AppVersion }}{{ end }}
{{- end }}
