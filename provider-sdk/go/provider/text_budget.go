package provider

import (
	"strings"
	"unicode/utf8"

	"cloudwire.dev/provider-sdk/go/internal/rules"
)

// maxMessageBytes is the contract's longest message of an error, in bytes of UTF-8.
const maxMessageBytes = 1024

// cutToBytes cuts a text to so many bytes of UTF-8, never inside a character, and shows that it was cut.
func cutToBytes(text string, maxBytes int) string {
	return cutToCost(text, maxBytes, func(r rune) int { return utf8.RuneLen(r) })
}

// cutToHeaderBytes cuts a text so that its percent-encoded form, as grpc-message travels, is at most so many bytes.
func cutToHeaderBytes(text string, maxBytes int) string {
	return cutToCost(text, maxBytes, func(r rune) int {
		if r >= ' ' && r <= '~' && r != '%' {
			return 1
		}
		return 3 * utf8.RuneLen(r)
	})
}

const ellipsis = '…'

func cutToCost(text string, maxCost int, costOf func(rune) int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	cost, cut := 0, 0
	for i, r := range text {
		if cost+costOf(ellipsis) <= maxCost {
			cut = i
		}
		cost += costOf(r)
		if cost > maxCost {
			return text[:cut] + string(ellipsis)
		}
	}
	return text
}

func quote(text string) string { return rules.Quote(text) }
