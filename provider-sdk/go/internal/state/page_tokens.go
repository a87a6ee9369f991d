package state

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
)

var pageToken = regexp.MustCompile(`^([\w-]{1,64})\.(\d{1,9})\.([\w-]{43})$`)

// PageTokens signs places in lists, so that no token but its own is followed.
type PageTokens struct{ key []byte }

// NewPageTokens makes one with its own key.
func NewPageTokens() *PageTokens {
	key := make([]byte, sha256.Size)
	rand.Read(key) // never fails, by its documentation
	return &PageTokens{key: key}
}

// Sign makes the token of a place in a list; binding are the facts that it is good for.
func (p *PageTokens) Sign(id string, offset int, binding string) string {
	payload := fmt.Sprintf("%s.%d", id, offset)
	return payload + "." + base64.RawURLEncoding.EncodeToString(p.signature(payload, binding))
}

// Read is the place that a token stands for; ok is false for one that was not made here.
func (p *PageTokens) Read(token, binding string) (id string, offset int, ok bool) {
	parts := pageToken.FindStringSubmatch(token)
	if parts == nil {
		return "", 0, false
	}
	given, err := base64.RawURLEncoding.DecodeString(parts[3])
	if err != nil || !hmac.Equal(given, p.signature(parts[1]+"."+parts[2], binding)) {
		return "", 0, false
	}
	offset, err = strconv.Atoi(parts[2])
	return parts[1], offset, err == nil
}

func (p *PageTokens) signature(payload, binding string) []byte {
	mac := hmac.New(sha256.New, p.key)
	mac.Write([]byte(payload + "\x00" + binding))
	return mac.Sum(nil)
}
