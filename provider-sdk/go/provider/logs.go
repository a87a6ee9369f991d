package provider

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"

	"cloudwire.dev/provider-sdk/go/internal/state"

	"google.golang.org/grpc/codes"
)

// logFailure writes what the peer must not see, as loud as it matters to an operator.
func logFailure(log *slog.Logger, told *Error, err error, unexpected bool) {
	fields := []any{"reason", told.reason, "error", errorText(err)}
	var panicked *state.PanicError
	switch {
	case errors.As(err, &panicked):
		log.Error("A call panicked", append(fields, "stack", string(panicked.Stack))...)
	case unexpected:
		log.Error("A call failed in a way the provider did not expect", fields...)
	case told.code == codes.Unknown || told.code == codes.PermissionDenied || told.code == codes.Internal || told.code == codes.Unauthenticated:
		log.Warn("A call failed", fields...)
	default:
		log.Debug("A call failed", fields...)
	}
}

// errorText is an error with the errors behind it.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	// The methods of a vendor's error may panic, those of a nil pointer in an error above all.
	text, failed := state.Recovered(func() (string, error) {
		text := err.Error()
		var stated *Error
		if errors.As(err, &stated) && stated.cause != nil {
			text += ": " + stated.cause.Error()
		}
		return text, nil
	})
	if failed != nil {
		return fmt.Sprintf("a %T whose methods panic", err)
	}
	return text
}

// newLogger writes JSON lines as the other SDKs do: time, level in lower case, message, then the facts; without secrets.
func newLogger(to io.Writer, level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{Level: level, ReplaceAttr: replaceAttr}))
}

var (
	secretKey = regexp.MustCompile(`(?i)(password|passwd|secret|token|authorization|api-?_?key|credential|cookie)`)
	// secretText finds secrets inside a text: of an HTTP header, of a URL's query.
	secretText = regexp.MustCompile(`(?i)((?:bearer|basic)\s+|[?&](?:access_token|token|api_?key|password|secret|signature|x-amz-signature)=)[^\s"'&@,;]+`)
	// urlUser finds users in URLs.
	urlUser = regexp.MustCompile(`(://)[^\s/?#@]+@`)
)

const redacted = "***"

func replaceAttr(groups []string, attr slog.Attr) slog.Attr {
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
