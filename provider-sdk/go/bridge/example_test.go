package bridge_test

import (
	"os"
	"strings"
	"testing"

	"cloudwire.dev/provider-sdk/go/bridge"
)

// The vendor's package that registers its cloud is imported beside the bridge.
func Example() {
	// snippet: after
	bridge.Main(bridge.Options{
		Name:               "acme.example.com",
		CloudProvider:      "acme",
		AnnotationPrefixes: []string{"acme.example.com/"},
	})
	// end
}

func TestReadmeShowsTheExample(t *testing.T) {
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(example), "// snippet: after\n")
	snippet, _, found := strings.Cut(rest, "\t// end")
	if !found || !strings.Contains(string(readme), snippet) {
		t.Errorf("README.md does not show\n%s", snippet)
	}
}
