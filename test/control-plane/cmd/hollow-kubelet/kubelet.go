package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
	fakecri "k8s.io/cri-api/pkg/apis/testing"
	kubeletapp "k8s.io/kubernetes/cmd/kubelet/app"
	"k8s.io/kubernetes/cmd/kubelet/app/options"
	kubeletconfig "k8s.io/kubernetes/pkg/kubelet/apis/config"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubemark"
)

const (
	// clientQPS and clientBurst are those of a kubelet, not of upstream's hollow node (10, 20), which starts pods slowly.
	clientQPS   = 50
	clientBurst = 100
)

// start returns when the kubelet runs. Upstream has no way to end a kubelet but to end its process.
func start(wanted node) error {
	flags, config, err := configure(wanted)
	if err != nil {
		return err
	}
	client, heartbeat, err := connect(wanted.kubeconfig, config)
	if err != nil {
		return err
	}
	ctx := context.Background()
	hollow := kubemark.NewHollowKubelet(flags, config, client, heartbeat, &cadvisortest.Fake{NodeName: wanted.name},
		fakecri.NewFakeImageService(), newRuntime(), cm.NewStubContainerManager())
	if wanted.bootstrapServingCertificate {
		if hollow.KubeletDeps.TLSOptions, err = kubeletapp.InitializeTLS(ctx, flags, config); err != nil {
			return err
		}
	}
	server := &options.KubeletServer{KubeletFlags: *flags, KubeletConfiguration: *config}
	return kubeletapp.RunKubelet(ctx, server, hollow.KubeletDeps)
}

// newRuntime is called by the kubelet directly. Upstream's hollow node puts a gRPC server on a socket in between, by
// functions that change from minor to minor.
func newRuntime() *fakecri.FakeRuntimeService {
	runtime := fakecri.NewFakeRuntimeService()
	runtime.FakeStatus = &cri.RuntimeStatus{Conditions: []*cri.RuntimeCondition{
		{Type: cri.RuntimeReady, Status: true},
		{Type: cri.NetworkReady, Status: true},
	}}
	return runtime
}

func configure(wanted node) (*options.KubeletFlags, *kubeletconfig.KubeletConfiguration, error) {
	flags, config := kubemark.GetHollowKubeletConfig(&kubemark.HollowKubeletOptions{
		NodeName:           wanted.name,
		KubeletPort:        wanted.port,
		MaxPods:            wanted.maxPods,
		NodeLabels:         wanted.labels,
		RegisterWithTaints: wanted.taints,
	})
	if err := moveTo(wanted.rootDir, flags, config); err != nil {
		return nil, nil, err
	}
	flags.CloudProvider = wanted.cloudProvider
	flags.NodeIP = wanted.nodeIP
	config.ProviderID = wanted.providerID
	config.Address = "127.0.0.1"
	config.EnableServer = wanted.port != 0
	config.ServerTLSBootstrap = wanted.bootstrapServingCertificate
	// The kubelet sets its limit of open files to this number: let it keep the one it has.
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil, nil, fmt.Errorf("read the limit of open files: %w", err)
	}
	config.MaxOpenFiles = int64(limit.Max)
	return flags, config, nil
}

// moveTo replaces the directory that upstream makes in /tmp, whatever TMPDIR says, and that no one would remove.
func moveTo(rootDir string, flags *options.KubeletFlags, config *kubeletconfig.KubeletConfiguration) error {
	if err := os.RemoveAll(flags.RootDirectory); err != nil {
		return fmt.Errorf("remove upstream's directory: %w", err)
	}
	flags.RootDirectory = rootDir
	flags.CertDirectory = filepath.Join(rootDir, "pki")
	config.StaticPodPath = filepath.Join(rootDir, "static-pods")
	config.PodLogsDir = filepath.Join(rootDir, "pod-logs")
	for _, dir := range []string{flags.CertDirectory, config.StaticPodPath, config.PodLogsDir} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make the kubelet's directory: %w", err)
		}
	}
	return nil
}

func connect(path string, config *kubeletconfig.KubeletConfiguration) (client, heartbeat *kubernetes.Clientset, err error) {
	clientConfig, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		return nil, nil, fmt.Errorf("read kubeconfig %s: %w", path, err)
	}
	clientConfig.UserAgent = "hollow-kubelet"
	clientConfig.ContentType = "application/vnd.kubernetes.protobuf"
	clientConfig.QPS = clientQPS
	clientConfig.Burst = clientBurst
	if client, err = kubernetes.NewForConfig(clientConfig); err != nil {
		return nil, nil, err
	}
	// Heartbeats share no rate limit and no timeout with the rest, so that a busy node still looks alive.
	heartbeatConfig := rest.CopyConfig(clientConfig)
	heartbeatConfig.QPS = -1
	heartbeatConfig.Timeout = min(config.NodeStatusUpdateFrequency.Duration, time.Duration(config.NodeLeaseDurationSeconds)*time.Second)
	heartbeat, err = kubernetes.NewForConfig(heartbeatConfig)
	return client, heartbeat, err
}
