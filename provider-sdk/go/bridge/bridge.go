package bridge

import (
	"context"
	"runtime/debug"
	"time"

	cloudprovider "k8s.io/cloud-provider"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

// bridge is one cloud behind one definition.
type bridge struct {
	cloud   cloudprovider.Interface
	options Options
	nodes   *nodeStore
	kube    *kubeAccess
	changes *changes
	errors  errorMapper
}

// newBridge prepares cloud; life ends what it starts.
func newBridge(life context.Context, cloud cloudprovider.Interface, options Options) (*bridge, error) {
	options = options.complete(cloud)
	if err := options.check(); err != nil {
		return nil, err
	}
	nodes := newNodeStore(time.Now)
	kube, err := newKubeAccess(nodes, options.Kube, options.Log)
	if err != nil {
		return nil, err
	}
	b := &bridge{
		cloud:   cloud,
		options: options,
		nodes:   nodes,
		kube:    kube,
		changes: newChanges(life, answerWithin(options.Limits), options.ChangeTimeout, time.Now),
		errors:  errorMapper{domain: options.Name, custom: options.MapError},
	}
	return b, nil
}

// answerWithin leaves a little of the time in which the contract wants an answer.
func answerWithin(limits *cpv1.Limits) time.Duration {
	if soft := limits.GetSoftCallDuration(); soft != nil {
		return soft.AsDuration() * 8 / 10
	}
	return defaultAnswerWithin
}

// initializePatience is after which time it is said what the start waits for.
const initializePatience = 15 * time.Second

// start initializes the cloud as upstream's cloud-controller-manager does, and gives it what it asks of Kubernetes.
func (b *bridge) start(life context.Context) error {
	patience := time.AfterFunc(initializePatience, func() {
		b.options.Log.Warn("the provider's Initialize or SetInformers has not come back yet, and nothing is served before. " +
			"If it waits for informers: without --kubeconfig or --in-cluster they sync with the first Node that is shown, which is after it")
	})
	defer patience.Stop()
	_, err := guarded(life, "Initialize", func(context.Context) (struct{}, error) {
		b.cloud.Initialize(b.kube, life.Done())
		if user, wants := b.cloud.(cloudprovider.InformerUser); wants {
			b.kube.offer(user)
		}
		return struct{}{}, nil
	})
	if err != nil {
		return err
	}
	b.kube.factory.Start(life.Done())
	return nil
}

// definition is what the SDK serves.
func (b *bridge) definition() *provider.Definition {
	options := b.options
	definition := &provider.Definition{
		Name:               options.Name,
		Version:            options.Version,
		IDPrefixes:         options.IDPrefixes,
		Scope:              options.Scope,
		Check:              b.check,
		Limits:             options.Limits,
		AnnotationPrefixes: append(append([]string{}, serviceAnnotationPrefixes...), options.AnnotationPrefixes...),
		NodeLabelKeys:      append(append([]string{}, nodeLabelKeys...), options.NodeLabelKeys...),
		NodeAnnotationKeys: options.NodeAnnotationKeys,
		Build:              map[string]string{"bridge": "k8s.io/cloud-provider"},
	}
	if definition.Scope == nil {
		definition.Scope = provider.StaticScope(b.cloud.ProviderName())
		definition.Diagnostics = append(definition.Diagnostics, scopeNotReported)
	}
	source := b.machineSource()
	if source != nil {
		definition.Instances = (&machines{
			nodes: b.nodes, informed: b.kube.informed, errors: b.errors, options: options.Instances, source: source,
		}).definition(&cpv1.InstanceCapabilities{LookupByName: true, ShutdownState: !options.Instances.NoShutdownState})
	}
	if cloud, offered := b.cloud.LoadBalancer(); offered && cloud != nil {
		definition.LoadBalancers = (&balancers{
			cloud: cloud, nodes: b.nodes, informed: b.kube.informed, errors: b.errors, changes: b.changes, applied: newAppliedState(), readService: b.kube.service,
			slots: make(chan struct{}, options.ConcurrentServiceSyncs), clusterName: options.ClusterName,
		}).definition(options.LoadBalancers)
	}
	if cloud, offered := b.cloud.Routes(); offered && cloud != nil {
		definition.Routes = (&routes{
			cloud: cloud, nodes: b.nodes, informed: b.kube.informed, errors: b.errors, changes: b.changes, machines: source,
			clusterName: options.ClusterName, targetAddresses: options.Routes.GetTargetAddresses(),
		}).definition(options.Routes)
	}
	if labeler, offered := b.cloud.(cloudprovider.PVLabeler); offered && options.Volumes != nil {
		definition.Volumes = (&volumes{labeler: labeler, errors: b.errors}).definition(options.Volumes)
	}
	return definition
}

// machineSource is InstancesV2 where the provider has it, as upstream prefers it; nil if it has neither.
func (b *bridge) machineSource() machineSource {
	if instances, offered := b.cloud.InstancesV2(); offered && instances != nil {
		return machinesV2{instances: instances}
	}
	instances, offered := b.cloud.Instances()
	if !offered || instances == nil {
		return nil
	}
	source := machinesV1{providerName: b.cloud.ProviderName(), instances: instances}
	if zones, offered := b.cloud.Zones(); offered {
		source.zones = zones
	}
	return source
}

func (b *bridge) check(ctx context.Context) (*provider.CheckResult, error) {
	_, err := guarded(ctx, "Check", func(ctx context.Context) (struct{}, error) { return struct{}{}, b.options.Check(ctx) })
	if err != nil {
		return nil, b.errors.toContract(err, readRPC, "ask the cloud whether it is there")
	}
	return nil, nil //nolint:nilnil // says only that it works
}

// mainVersion is the version of the program that this package is linked into.
func mainVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "unknown"
}
