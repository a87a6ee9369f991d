// Command hollow-kubelet runs real kubelets over a container runtime that only pretends: Nodes register, renew their
// leases and report status, and pods become Running without a process behind them.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"cloudwire.dev/test/control-plane/internal/parent"
)

// node describes one hollow kubelet of this process.
type node struct {
	Name string `json:"name"`
	// Kubeconfig is the path of the file with the rights of system:node:<name>.
	Kubeconfig string `json:"kubeconfig"`
	// CloudProvider is the kubelet's flag: "external" waits for a cloud controller, "" does not.
	CloudProvider string `json:"cloudProvider"`
	// ProviderID is the kubelet's flag. Empty: the cloud controller finds the node by name.
	ProviderID string `json:"providerID"`
	// NodeIP is the kubelet's flag. The kubelet accepts only addresses of this machine other than loopback.
	NodeIP string `json:"nodeIP"`
	// Port of the kubelet's server on 127.0.0.1; 0: no server.
	Port               int               `json:"port"`
	ServingCertificate string            `json:"servingCertificate"`
	MaxPods            int               `json:"maxPods"`
	Labels             map[string]string `json:"labels"`
	Taints             []v1.Taint        `json:"taints"`
}

func main() {
	parent.Follow()
	klog.InitFlags(nil)
	path := flag.String("nodes", "", "JSON file with the list of nodes to run; required")
	flag.Parse()
	if err := run(*path); err != nil {
		fmt.Fprintln(os.Stderr, "hollow-kubelet:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	nodes, err := read(path)
	if err != nil {
		return err
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	for _, node := range nodes {
		if err := start(node); err != nil {
			return fmt.Errorf("start node %q: %w", node.Name, err)
		}
	}
	<-ended
	return nil
}

func read(path string) ([]node, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the list of nodes (--nodes): %w", err)
	}
	var nodes []node
	if err := json.Unmarshal(content, &nodes); err != nil {
		return nil, fmt.Errorf("read the list of nodes in %s: %w", path, err)
	}
	return nodes, nil
}
