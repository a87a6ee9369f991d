// Command hollow-kubelet runs a real kubelet over a container runtime that only pretends: the Node registers, renews its
// lease and reports status, and pods become Running without a process behind them. One Node a process: upstream registers
// the kubelet's metrics in a registry of the process, and panics the second time.
package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"
	v1 "k8s.io/api/core/v1"
	cliflag "k8s.io/component-base/cli/flag"
	utilflag "k8s.io/kubernetes/pkg/util/flag"

	"cloudwire.dev/test/control-plane/internal/parent"
)

// node is what the flags say. All but the last two are flags of the kubelet with its meaning.
type node struct {
	name          string
	kubeconfig    string
	rootDir       string
	cloudProvider string
	providerID    string
	nodeIP        string
	labels        map[string]string
	taints        []v1.Taint
	maxPods       int
	port          int

	bootstrapServingCertificate bool
}

func main() {
	parent.Follow()
	if err := start(parse()); err != nil {
		fmt.Fprintln(os.Stderr, "hollow-kubelet:", err)
		os.Exit(1)
	}
	select {}
}

func parse() node {
	wanted := node{labels: map[string]string{}}
	labels := cliflag.ConfigurationMap(wanted.labels)
	flags := pflag.CommandLine
	flags.StringVar(&wanted.name, "hostname-override", "", "Name of the Node; required")
	flags.StringVar(&wanted.kubeconfig, "kubeconfig", "", "File with the rights of system:node:<name>; required")
	flags.StringVar(&wanted.rootDir, "root-dir", "", "Directory for the kubelet's files, made when absent; required")
	flags.StringVar(&wanted.cloudProvider, "cloud-provider", "external", "external: the Node waits for a cloud controller; empty: it does not")
	flags.StringVar(&wanted.providerID, "provider-id", "", "Empty: the cloud controller has to find the Node")
	flags.StringVar(&wanted.nodeIP, "node-ip", "", "An address of this machine, not loopback; empty: the cloud controller sets the addresses")
	flags.Var(&labels, "node-labels", "key=value,...")
	flags.Var(utilflag.RegisterWithTaintsVar{Value: &wanted.taints}, "register-with-taints", "key=value:effect,...")
	flags.IntVar(&wanted.maxPods, "max-pods", 110, "")
	flags.IntVar(&wanted.port, "port", 0, "Port of the kubelet's server on 127.0.0.1; 0: no server")
	flags.BoolVar(&wanted.bootstrapServingCertificate, "rotate-server-certificates", false, "Ask for a serving certificate by CertificateSigningRequest")
	pflag.Parse()
	return wanted
}
