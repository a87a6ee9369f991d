package rules

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestCommonReasonsAreThoseOfTheSpecification(t *testing.T) {
	text, err := os.ReadFile("../../../../proto/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for begin, want := range map[string][]string{"Common reasons, ": commonReasons, "Cloud reasons, ": cloudReasons} {
		_, line, _ := strings.Cut(string(text), "\n"+begin)
		line, _, _ = strings.Cut(line, "\n")
		var got []string
		for _, each := range regexp.MustCompile("`([A-Z_]+)`").FindAllStringSubmatch(line, -1) {
			got = append(got, each[1])
		}
		if len(got) != len(want) {
			t.Fatalf("%s%v, want %v", begin, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s%s, want %s", begin, got[i], want[i])
			}
		}
	}
}

func TestCutToBytesKeepsWholeCharacters(t *testing.T) {
	tests := []struct {
		text string
		max  int
		want string
	}{
		{"short", 5, "short"}, {"longer", 5, "lo…"}, {"üüü", 6, "üüü"}, {"üüüü", 6, "ü…"}, {"", 3, ""}, {"a\xffb", 9, "a\uFFFDb"},
	}
	for _, test := range tests {
		if got := CutToBytes(test.text, test.max); got != test.want {
			t.Errorf("%q to %d is %q, want %q", test.text, test.max, got, test.want)
		}
	}
}
