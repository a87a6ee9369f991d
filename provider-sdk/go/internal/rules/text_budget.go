package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxMessageBytes is the contract's longest message of an error, in bytes of UTF-8.
const MaxMessageBytes = 1024

// MaxShortTextBytes is the contract's longest stage of an operation, and description of what a deletion has left.
const MaxShortTextBytes = 253

// CutToBytes cuts a text to at most this number of bytes of UTF-8, never inside a character, and shows that it was cut.
func CutToBytes(text string, maxBytes int) string {
	return cutToCost(text, maxBytes, func(r rune) int { return utf8.RuneLen(r) })
}

// CutToHeaderBytes cuts a text so that its percent-encoded form, as grpc-message travels, is at most this many bytes.
func CutToHeaderBytes(text string, maxBytes int) string {
	return cutToCost(text, maxBytes, func(r rune) int {
		if r >= ' ' && r <= '~' && r != '%' {
			return 1
		}
		return 3 * utf8.RuneLen(r)
	})
}

// ResponseText is a text for people as a response may have it: cut, and without control characters except tabs and line
// breaks. The controller would refuse the whole response.
func ResponseText(text string, maxBytes int) string {
	return CutToBytes(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
			return utf8.RuneError
		}
		return r
	}, text), maxBytes)
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
