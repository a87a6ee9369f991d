{{- define "cloudwire.socket" -}}
/run/cloud-provider/{{ . }}.sock
{{- end }}

{{/* The controller's configuration: what is in `config`, the sidecars before other providers, and the webhook's. */}}
{{- define "cloudwire.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $own := default dict $config.Cloudwire -}}
{{- $providers := list -}}
{{- range .Values.providers }}
{{- $providers = append $providers (printf "%s=unix://%s" .name (include "cloudwire.socket" .name)) -}}
{{- end }}
{{- range (kindIs "string" $own.Provider | ternary (list $own.Provider) $own.Provider) }}
{{- $providers = append $providers . -}}
{{- end }}
{{- if not $providers }}
{{- fail "providers: is empty; add at least one, such as providers: [{name: aws}], or set the address of a remote provider in config.Cloudwire.Provider" }}
{{- end }}
{{- $_ := set $own "Provider" $providers -}}
{{- if .Values.webhook.enabled }}
{{- $_ := set $config "Webhook" (dict "Webhooks" (list "persistent-volume-label")) -}}
{{- $_ := set $own "WebhookTlsCertFile" "/etc/cloudwire-webhook/tls.crt" -}}
{{- $_ := set $own "WebhookTlsPrivateKeyFile" "/etc/cloudwire-webhook/tls.key" -}}
{{- end }}
{{- $_ := set $config "Cloudwire" $own -}}
{{- toYaml $config -}}
{{- end }}

{{/* The value at a path of a dictionary, as JSON; empty where there is none. Arguments: of, path. */}}
{{- define "cloudwire.at" -}}
{{- $at := .of -}}
{{- $isThere := true -}}
{{- range splitList "." .path }}
{{- if and $isThere (kindIs "map" $at) (hasKey $at .) }}{{ $at = get $at . }}{{ else }}{{ $isThere = false }}{{ end }}
{{- end }}
{{- if $isThere }}{{ toJson (dict "value" $at) }}{{ end }}
{{- end }}

{{/* Arguments: root, path, default. A setting of the controller, as text. */}}
{{- define "cloudwire.setting" -}}
{{- $found := include "cloudwire.at" (dict "of" .root.Values.config "path" .path) -}}
{{- with $found }}{{ (fromJson .).value }}{{ else }}{{ .default }}{{ end }}
{{- end }}

{{- define "cloudwire.leaderElect" -}}
{{- include "cloudwire.setting" (dict "root" . "path" "Generic.LeaderElection.LeaderElect" "default" true) -}}
{{- end }}

{{- define "cloudwire.securePort" -}}
{{- include "cloudwire.setting" (dict "root" . "path" "Generic.Port" "default" 10258) -}}
{{- end }}

{{- define "cloudwire.webhookPort" -}}
{{- include "cloudwire.setting" (dict "root" . "path" "Cloudwire.WebhookSecurePort" "default" 10260) -}}
{{- end }}

{{/* What needs another process when it changes: the configuration without what the running one follows by itself. */}}
{{- define "cloudwire.configChecksum" -}}
{{- $config := include "cloudwire.config" . | fromYaml -}}
{{- range (include "cloudwire.facts" . | fromYaml).settings }}
{{- if .reloadable }}
{{- $keys := splitList "." .path -}}
{{- $at := $config -}}
{{- range initial $keys }}{{ $at = default dict (get $at .) }}{{ end }}
{{- $_ := unset $at (last $keys) -}}
{{- end }}
{{- end }}
{{- toYaml $config | sha256sum -}}
{{- end }}

{{/* The configuration as flags, one a line: a static pod may not read a ConfigMap. */}}
{{- define "cloudwire.configFlags" -}}
{{- $config := include "cloudwire.config" . | fromYaml -}}
{{- range (include "cloudwire.facts" . | fromYaml).settings }}
{{- $flag := .flag -}}
{{- with include "cloudwire.at" (dict "of" $config "path" .path) }}
{{- $value := (fromJson .).value -}}
{{- range (kindIs "slice" $value | ternary ($value | default (list "")) (list $value)) }}
- {{ printf "--%s=%v" $flag . | quote }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
