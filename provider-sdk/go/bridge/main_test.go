package bridge

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/fake"
)

// taggedCloud is registered for the flags of this test; its cluster id is missing.
type taggedCloud struct{ *fake.Cloud }

func (taggedCloud) HasClusterID() bool { return false }

func init() {
	cloudprovider.RegisterCloudProvider("main-test", func(config io.Reader) (cloudprovider.Interface, error) {
		if config == nil {
			return nil, errors.New("no configuration")
		}
		return taggedCloud{&fake.Cloud{}}, nil
	})
}

func TestFlagsSayWhatIsWrong(t *testing.T) {
	cases := []struct {
		name      string
		arguments []string
		want      string
	}{
		{"no cloud", nil, "--cloud-provider is required"},
		{"another cloud", []string{"--cloud-provider=azure"}, "this program has no cloud of that name"},
		{"a controller's flag", []string{"--leader-elect=true"}, "controller's now"},
		{"no flag", []string{"--cloud-provider=main-test", "serve"}, `unexpected argument "serve"`},
		{"a file that is not there", []string{"--cloud-provider=main-test", "--cloud-config=/nowhere"}, "--cloud-config: open /nowhere"},
		{"too few at once", []string{"--cloud-provider=main-test", "--concurrent-service-syncs=0"}, "give 1 or more"},
		{"two clients", []string{"--cloud-provider=main-test", "--kubeconfig=x", "--in-cluster"}, "exclude each other"},
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			_, err := parseFlags(test.arguments, io.Discard, Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("is %v, want one line with %q", err, test.want)
			}
		})
	}
}

func TestFlagsOfTheOldProgramAreKept(t *testing.T) {
	var own string
	s, err := parseFlags([]string{"--cluster-name=prod", "--concurrent-service-syncs=5", "--scope=account-1", "-v=2", "--own=x"}, io.Discard,
		Options{CloudProvider: "main-test", AddFlags: func(flags *flag.FlagSet) { flags.StringVar(&own, "own", "", "") }})
	if err != nil {
		t.Fatal(err)
	}
	scope, err := s.options.Scope(t.Context())
	if err != nil || scope != "account-1" || s.options.ClusterName != "prod" || s.options.ConcurrentServiceSyncs != 5 || own != "x" {
		t.Errorf("options are %+v", s.options)
	}
}

func TestCloudNeedsAClusterID(t *testing.T) {
	config := filepath.Join(t.TempDir(), "cloud.conf")
	if err := os.WriteFile(config, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := &settings{cloudProvider: "main-test"}
	if _, err := s.cloud(); err == nil || !strings.Contains(err.Error(), "no configuration") {
		t.Errorf("the cloud's own error is %v", err)
	}
	s.cloudConfig = config
	if _, err := s.cloud(); err == nil || !strings.Contains(err.Error(), "--allow-untagged-cloud") {
		t.Errorf("without cluster id it is %v", err)
	}
	s.allowUntagged = true
	if cloud, err := s.cloud(); err != nil || cloud == nil {
		t.Errorf("allowed, it is %v", err)
	}
}
