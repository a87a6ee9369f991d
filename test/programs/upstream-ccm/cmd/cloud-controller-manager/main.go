// Command cloud-controller-manager is upstream's controllers, linked as a vendor links them, over the simulated cloud.
package main

import (
	"io"
	"os"

	"k8s.io/apimachinery/pkg/util/wait"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/app/config"
	"k8s.io/cloud-provider/names"
	"k8s.io/cloud-provider/options"
	"k8s.io/component-base/cli"
	cliflag "k8s.io/component-base/cli/flag"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	"k8s.io/klog/v2"

	"cloudwire.dev/test/programs/upstream-ccm/internal/simcloud"
)

func main() {
	go endWithParent()
	ccmOptions, err := options.NewCloudControllerManagerOptions()
	if err != nil {
		klog.Fatalf("make options: %v", err)
	}
	constructors, aliases, flags := app.DefaultInitFuncConstructors, names.CCMControllerAliases(), cliflag.NamedFlagSets{}
	addNodeIPAM(constructors, aliases, &flags)
	command := app.NewCloudControllerManagerCommand(ccmOptions, newCloud, constructors, aliases, flags, wait.NeverStop)
	os.Exit(cli.Run(command))
}

func newCloud(config *config.CompletedConfig) cloudprovider.Interface {
	cloud, err := cloudprovider.InitCloudProvider(simcloud.ProviderName, config.ComponentConfig.KubeCloudShared.CloudProvider.CloudConfigFile)
	if err != nil {
		klog.Fatalf("make the provider %s: %v", simcloud.ProviderName, err)
	}
	return cloud
}

// endWithParent waits for the end of standard input: the test process holds the other end, and the kernel closes it
// however that process ends.
func endWithParent() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}
