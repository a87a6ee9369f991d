package bridge

import (
	"context"
	"errors"

	cloudprovider "k8s.io/cloud-provider"

	"cloudwire.dev/provider-sdk/go/provider"
)

// Define makes a provider of cloud: it initializes it as upstream's cloud-controller-manager does (Initialize, SetInformers)
// and says what it serves. What it starts ends with life.
func Define(life context.Context, cloud cloudprovider.Interface, options Options) (*provider.Definition, error) {
	if cloud == nil {
		return nil, errors.New("bridge: there is no cloud: InitCloudProvider answers nil for an empty name")
	}
	b, err := newBridge(life, cloud, options)
	if err != nil {
		return nil, err
	}
	if err := b.start(life); err != nil {
		return nil, err
	}
	return b.definition(), nil
}

// Serve serves cloud where endpoint says, until ctx ends.
func Serve(ctx context.Context, cloud cloudprovider.Interface, options Options, endpoint provider.Options) error {
	life, end := context.WithCancel(ctx)
	defer end()
	definition, err := Define(life, cloud, options)
	if err != nil {
		return err
	}
	return provider.Serve(ctx, definition, endpoint)
}
