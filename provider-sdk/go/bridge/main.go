package bridge

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/klog/v2"

	"cloudwire.dev/provider-sdk/go/provider"
)

// exitConfig is EX_CONFIG, as the SDK's: a mistake of the operator.
const (
	exitCrash  = 1
	exitConfig = 78
)

// Main is the whole main of a bridged provider: it makes the cloud that is registered under the name --cloud-provider, with
// the file --cloud-config, as upstream's cloud-controller-manager does, serves it as [provider.Main] does, and ends the
// process. `--help` lists the flags; those of the old program that are about controllers belong to the controller now.
func Main(options Options) {
	settings, err := parseFlags(os.Args[1:], os.Stderr, options)
	if err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(0)
		}
		fail(exitConfig, err)
	}
	cloud, err := settings.cloud()
	if err != nil {
		fail(exitCrash, err)
	}
	Run(cloud, settings.options)
}

// Run serves a cloud that the program has made itself, as [provider.Main] does, and ends the process.
func Run(cloud cloudprovider.Interface, options Options) {
	definition, err := Define(context.Background(), cloud, options)
	if err != nil {
		fail(exitCrash, err)
	}
	provider.Main(definition)
}

func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(code)
}

// settings are what flags say.
type settings struct {
	options       Options
	cloudProvider string
	cloudConfig   string
	allowUntagged bool
	kubeconfig    string
	inCluster     bool
	scope         string
}

func parseFlags(arguments []string, output io.Writer, options Options) (*settings, error) {
	s := &settings{options: options, cloudProvider: options.CloudProvider}
	flags := flag.NewFlagSet(os.Args[0], flag.ContinueOnError)
	// Parse would print all flags after a mistake; here one line says what it was.
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.cloudProvider, "cloud-provider", s.cloudProvider, "`name` under which the cloud is registered")
	flags.StringVar(&s.cloudConfig, "cloud-config", "", "the cloud's configuration `file`")
	flags.StringVar(&s.options.ClusterName, "cluster-name", options.ClusterName,
		"`name` of the cluster in names in the cloud; keep the old program's value (default: the controller's, else kubernetes)")
	flags.BoolVar(&s.allowUntagged, "allow-untagged-cloud", false, "run without a cluster id in the cloud's configuration")
	flags.IntVar(&s.options.ConcurrentServiceSyncs, "concurrent-service-syncs", max(options.ConcurrentServiceSyncs, 1),
		"`number` of load balancers that are changed at once")
	flags.StringVar(&s.scope, "scope", "", "what the credentials reach: account, project or region; a change stops destructive acts")
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "`file` to reach the API server with, for providers that need it")
	flags.BoolVar(&s.inCluster, "in-cluster", false, "reach the API server with the pod's service account, for providers that need it")
	klog.InitFlags(flags)
	if options.AddFlags != nil {
		options.AddFlags(flags)
	}
	if err := flags.Parse(arguments); errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(output)
		flags.PrintDefaults()
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w; --help lists the flags. Those about controllers (leader election, node and route sync) are the "+
			"controller's now", err)
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: all settings are flags, see --help", flags.Arg(0))
	}
	return s, s.complete()
}

func (s *settings) complete() error {
	if s.cloudProvider == "" {
		return errors.New("--cloud-provider is required: the name under which this program registers its cloud")
	}
	if !cloudprovider.IsCloudProvider(s.cloudProvider) {
		return fmt.Errorf("--cloud-provider %s: this program has no cloud of that name", s.cloudProvider)
	}
	if s.options.ConcurrentServiceSyncs < 1 {
		return fmt.Errorf("--concurrent-service-syncs is %d; give 1 or more", s.options.ConcurrentServiceSyncs)
	}
	if s.scope != "" {
		s.options.Scope = provider.StaticScope(s.scope)
	}
	var err error
	switch {
	case s.kubeconfig != "" && s.inCluster:
		return errors.New("--kubeconfig and --in-cluster exclude each other: give one")
	case s.kubeconfig != "":
		if s.options.Kube, err = clientcmd.BuildConfigFromFlags("", s.kubeconfig); err != nil {
			return fmt.Errorf("--kubeconfig %s: %w", s.kubeconfig, err)
		}
	case s.inCluster:
		if s.options.Kube, err = rest.InClusterConfig(); err != nil {
			return fmt.Errorf("--in-cluster: %w", err)
		}
	}
	if s.cloudConfig != "" {
		// InitCloudProvider ends the process with a stack trace for a file that cannot be read.
		file, err := os.Open(s.cloudConfig)
		if err != nil {
			return fmt.Errorf("--cloud-config: %w", err)
		}
		return file.Close()
	}
	return nil
}

func (s *settings) cloud() (cloudprovider.Interface, error) {
	cloud, err := cloudprovider.InitCloudProvider(s.cloudProvider, s.cloudConfig)
	if err != nil {
		return nil, fmt.Errorf("cloud provider %q cannot be initialized: %w", s.cloudProvider, err)
	}
	if cloud == nil {
		return nil, fmt.Errorf("cloud provider %q is not registered in this program", s.cloudProvider)
	}
	if !cloud.HasClusterID() && !s.allowUntagged {
		return nil, fmt.Errorf("cloud provider %q has no cluster id to distinguish this cluster's objects from those of others: "+
			"set it in --cloud-config or by the cloud's tags, or give --allow-untagged-cloud", s.cloudProvider)
	}
	return cloud, nil
}
