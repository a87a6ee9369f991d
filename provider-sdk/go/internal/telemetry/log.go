// Package telemetry is what operators see of calls: logs, metrics and traces.
package telemetry

import (
	"io"
	"log/slog"
	"regexp"
	"strings"
)

// NewLogger writes JSON lines as the other SDKs do: time, level in lower case, message, then the facts; without secrets.
// errorText is an error with the errors behind it.
func NewLogger(to io.Writer, level slog.Leveler, errorText func(error) string) *slog.Logger {
	replace := func(groups []string, attr slog.Attr) slog.Attr { return replaceAttr(groups, attr, errorText) }
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level, ReplaceAttr: replace}))
}

var (
	secretKey = regexp.MustCompile(`(?i)(password|passwd|secret|token|authorization|api-?_?key|credential|cookie)`)
	// secretText finds secrets inside a text: of an HTTP header, of a URL's query.
	secretText = regexp.MustCompile(`(?i)((?:bearer|basic)\s+|[?&](?:access_token|token|api_?key|password|secret|signature|x-amz-signature)=)[^\s"'&@,;]+`)
	// urlUser finds users in URLs.
	urlUser = regexp.MustCompile(`(://)[^\s/?#@]+@`)
)

const redacted = "***"

func replaceAttr(groups []string, attr slog.Attr, errorText func(error) string) slog.Attr {
	if len(groups) == 0 {
		switch attr.Key {
		case slog.MessageKey:
			attr.Key = "message"
		case slog.LevelKey:
			return slog.String(slog.LevelKey, strings.ToLower(attr.Value.String()))
		case slog.TimeKey:
			return attr
		}
	}
	if secretKey.MatchString(attr.Key) {
		return slog.String(attr.Key, redacted)
	}
	switch value := attr.Value.Any().(type) {
	case string:
		return slog.String(attr.Key, redactText(value))
	case error:
		return slog.String(attr.Key, redactText(errorText(value)))
	}
	return attr
}

func redactText(text string) string {
	text = urlUser.ReplaceAllString(text, "${1}"+redacted+"@")
	return secretText.ReplaceAllString(text, "${1}"+redacted)
}
