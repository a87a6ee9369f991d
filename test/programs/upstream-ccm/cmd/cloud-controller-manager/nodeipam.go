package main

import (
	"context"
	"fmt"
	"net"
	"strings"

	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/app"
	"k8s.io/cloud-provider/app/config"
	cliflag "k8s.io/component-base/cli/flag"
	genericcontrollermanager "k8s.io/controller-manager/app"
	"k8s.io/controller-manager/controller"
	kcmoptions "k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	kcmnames "k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/controller/nodeipam"
	nodeipamconfig "k8s.io/kubernetes/pkg/controller/nodeipam/config"
	"k8s.io/kubernetes/pkg/controller/nodeipam/ipam"
	netutils "k8s.io/utils/net"
)

// Default mask sizes, as in k8s.io/kubernetes/cmd/cloud-controller-manager v1.37.2.
const (
	defaultMaskIPv4 = 24
	defaultMaskIPv6 = 64
)

// addNodeIPAM adds the node-ipam-controller under the name, alias and client identity of upstream's example of it.
func addNodeIPAM(constructors map[string]app.ControllerInitFuncConstructor, aliases map[string]string, flags *cliflag.NamedFlagSets) {
	settings := kcmoptions.NodeIPAMControllerOptions{NodeIPAMControllerConfiguration: &nodeipamconfig.NodeIPAMControllerConfiguration{}}
	settings.AddFlags(flags.FlagSet(kcmnames.NodeIpamController))
	aliases["nodeipam"] = kcmnames.NodeIpamController
	constructors[kcmnames.NodeIpamController] = app.ControllerInitFuncConstructor{
		InitContext: app.ControllerInitContext{ClientName: "node-controller"},
		Constructor: func(init app.ControllerInitContext, completed *config.CompletedConfig, cloud cloudprovider.Interface) app.InitFunc {
			return func(ctx context.Context, contexts genericcontrollermanager.ControllerContext) (controller.Interface, bool, error) {
				return startNodeIPAM(ctx, init, completed, settings, contexts, cloud)
			}
		},
	}
}

func startNodeIPAM(ctx context.Context, init app.ControllerInitContext, completed *config.CompletedConfig, settings kcmoptions.NodeIPAMControllerOptions, contexts genericcontrollermanager.ControllerContext, cloud cloudprovider.Interface) (controller.Interface, bool, error) {
	shared := completed.ComponentConfig.KubeCloudShared
	if !shared.AllocateNodeCIDRs {
		return nil, false, nil
	}
	if errs := settings.Validate(); len(errs) > 0 {
		return nil, false, fmt.Errorf("node IPAM settings: %v", errs)
	}
	applied := nodeipamconfig.NodeIPAMControllerConfiguration{}
	if err := settings.ApplyTo(&applied); err != nil {
		return nil, false, err
	}
	clusterCIDRs, err := netutils.ParseCIDRs(strings.Split(shared.ClusterCIDR, ","))
	if err != nil {
		return nil, false, err
	}
	serviceCIDR, err := parseOptional(applied.ServiceCIDR)
	if err != nil {
		return nil, false, err
	}
	secondaryServiceCIDR, err := parseOptional(applied.SecondaryServiceCIDR)
	if err != nil {
		return nil, false, err
	}
	ipamController, err := nodeipam.NewNodeIpamController(ctx, contexts.InformerFactory.Core().V1().Nodes(), cloud,
		contexts.ClientBuilder.ClientOrDie(init.ClientName), clusterCIDRs, serviceCIDR, secondaryServiceCIDR,
		maskSizes(applied, clusterCIDRs), ipam.CIDRAllocatorType(shared.CIDRAllocatorType))
	if err != nil {
		return nil, true, err
	}
	go ipamController.Run(ctx)
	return nil, true, nil
}

func parseOptional(cidr string) (*net.IPNet, error) {
	if cidr == "" {
		return nil, nil
	}
	_, parsed, err := netutils.ParseCIDRSloppy(cidr)
	return parsed, err
}

// maskSizes answers one size a cluster CIDR. The suites give only combinations of flags that upstream accepts.
func maskSizes(settings nodeipamconfig.NodeIPAMControllerConfiguration, clusterCIDRs []*net.IPNet) []int {
	sizes := make([]int, 0, len(clusterCIDRs))
	for _, cidr := range clusterCIDRs {
		if netutils.IsIPv6CIDR(cidr) {
			sizes = append(sizes, firstSet(settings.NodeCIDRMaskSize, settings.NodeCIDRMaskSizeIPv6, defaultMaskIPv6))
		} else {
			sizes = append(sizes, firstSet(settings.NodeCIDRMaskSize, settings.NodeCIDRMaskSizeIPv4, defaultMaskIPv4))
		}
	}
	return sizes
}

func firstSet(sizes ...int32) int {
	for _, size := range sizes {
		if size != 0 {
			return int(size)
		}
	}
	return 0
}
