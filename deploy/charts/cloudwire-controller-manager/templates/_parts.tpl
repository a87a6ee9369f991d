{{/* The parts of the controller that the configuration turns on, and that need rights: {"parts": […]}. */}}
{{- define "cloudwire.parts" -}}
{{- $parts := list "every-replica" -}}
{{- if eq (include "cloudwire.leaderElect" .) "true" }}
{{- $parts = append $parts "leader-election" -}}
{{- if eq (include "cloudwire.setting" (dict "root" . "path" "Generic.LeaderMigrationEnabled" "default" false)) "true" }}
{{- $parts = append $parts "leader-migration" -}}
{{- end }}
{{- end }}
{{- if ne (include "cloudwire.securePort" .) "0" }}
{{- $parts = append $parts "serving" -}}
{{- end }}
{{- $facts := include "cloudwire.facts" . | fromYaml -}}
{{- $names := list "*" -}}
{{- with include "cloudwire.at" (dict "of" .Values.config "path" "Generic.Controllers") }}
{{- $given := (fromJson .).value -}}
{{- $names = kindIs "string" $given | ternary (splitList "," (toString $given)) $given -}}
{{- end }}
{{- range $controller := $facts.controllers }}
{{- /* As in the controller: the first mention of a name takes precedence; * means the controllers that are on by default. */ -}}
{{- $isOn := and (has "*" $names) (not $controller.offByDefault) -}}
{{- $isNamed := false -}}
{{- range $names }}
{{- $plain := trimPrefix "-" . -}}
{{- if and (not $isNamed) (eq (get $facts.aliases $plain | default $plain) $controller.name) }}
{{- $isNamed = true -}}
{{- $isOn = not (hasPrefix "-" .) -}}
{{- end }}
{{- end }}
{{- if $isOn }}{{ $parts = append $parts $controller.name }}{{ end }}
{{- end }}
{{- if eq (include "cloudwire.setting" (dict "root" . "path" "Cloudwire.Mode" "default" "")) "observe" }}
{{- $parts = list "observer" -}}
{{- end }}
{{- toJson (dict "parts" $parts) -}}
{{- end }}
