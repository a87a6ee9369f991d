package provider_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
	"cloudwire.dev/provider-sdk/go/providertest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// everything is a provider that claims all there is and answers anything.
func everything() *provider.Definition {
	definition := listDefinition(3, nil)
	definition.Instances.Watch = provider.WatchInstancesFromList(definition.Instances.List, time.Hour)
	balancers := withBalancers(&provider.LoadBalancers{
		Features: &cpv1.LoadBalancerCapabilities{ValidateOnly: true, Adopt: true, SourceRanges: true, SessionAffinity: true, RequestedIp: true},
		List:     func(context.Context, func(*cpv1.LoadBalancer) error) error { return nil },
		UpdateNodes: func(context.Context, *provider.UpdateNodesRequest) (provider.LoadBalancerResult, error) {
			return provider.Ready(&cpv1.LoadBalancer{Id: "lb-1"}), nil
		},
	}).LoadBalancers
	balancers.Watch = provider.WatchLoadBalancersFromList(balancers.List, time.Hour)
	definition.LoadBalancers = balancers
	definition.Routes = &provider.Routes{
		List: func(context.Context, func(*cpv1.Route) error) error { return nil },
		Ensure: func(_ context.Context, route *cpv1.Route) (provider.RouteResult, error) {
			return provider.RouteReady(&cpv1.Route{Id: "r-1", DestinationCidr: route.GetDestinationCidr()}), nil
		},
		Delete: func(context.Context, *cpv1.Route) (*provider.PendingResult, error) { return nil, nil },
	}
	definition.Volumes = &provider.Volumes{
		Features: &cpv1.VolumeCapabilities{CsiDrivers: []string{"x"}, InTreePlugins: []string{"x"}},
		Get: func(context.Context, *cpv1.VolumeRef) (provider.VolumeResult, error) {
			return provider.Absent(provider.LookupMiss), nil
		},
	}
	return definition
}

func methodAt(index byte) protoreflect.MethodDescriptor {
	methods := cpv1.File_cloudprovider_v1_cloud_provider_proto.Services().Get(0).Methods()
	return methods.Get(int(index) % methods.Len())
}

// send calls a method with any bytes and checks how it ends: OK, or an error of the contract with a reason. No call hangs.
func send(t *testing.T, p *providertest.Provider, method protoreflect.MethodDescriptor, bytes []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	path := "/cloudprovider.v1.CloudProvider/" + string(method.Name())
	var err error
	if method.IsStreamingServer() {
		var stream grpc.ClientStream
		if stream, err = p.Connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, path, grpc.ForceCodecV2(rawCodec{})); err == nil {
			if err = stream.SendMsg(bytes); err == nil {
				stream.CloseSend()
				// A watch that was accepted says something only after a heartbeat: opening it is enough.
				ctx2, stop := context.WithTimeout(ctx, 20*time.Millisecond)
				context.AfterFunc(ctx2, cancel)
				err = stream.RecvMsg(&[]byte{})
				stop()
			}
		}
		if status.Code(err) == codes.Canceled {
			return
		}
	} else {
		err = p.Connection.Invoke(ctx, path, bytes, &[]byte{}, grpc.ForceCodecV2(rawCodec{}))
	}
	if err == nil {
		return
	}
	switch reason := providertest.Reason(err); reason {
	case "", provider.ReasonUnmappedError, provider.ReasonInvariantBroken, provider.ReasonDeadlinePassed, provider.ReasonCloudTimeout:
		t.Errorf("%s of %x ended with %v", method.Name(), bytes, err)
	}
}

// seeds are many, and always the same: each run of the tests fuzzes for a moment.
const seeds = 400

func FuzzAnyBytes(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range seeds {
		bytes := make([]byte, random.IntN(64))
		for i := range bytes {
			bytes[i] = byte(random.Uint32())
		}
		f.Add(byte(random.Uint32()), bytes)
	}
	p := providertest.Start(f, everything())
	f.Fuzz(func(t *testing.T, method byte, bytes []byte) { send(t, p, methodAt(method), bytes) })
}

func FuzzAnyMessage(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range seeds {
		f.Add(byte(random.Uint32()), random.Uint64())
	}
	p := providertest.Start(f, everything())
	f.Fuzz(func(t *testing.T, index byte, seed uint64) {
		method := methodAt(index)
		message := dynamicpb.NewMessage(method.Input())
		fill(message, rand.New(rand.NewPCG(seed, 5)), 0, p.Context())
		bytes, err := proto.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		send(t, p, method, bytes)
	})
}

var likelyTexts = []string{
	"", "x", "acme://m-1", "gce://x", "10.0.0.0/8", "10.0.0.1/8", "::1", "csi.x", strings.Repeat("x", 64), strings.Repeat("ü", 700), "nodes-1", "\x00",
}

const maxDepth = 6

// fill sets about two of three fields of a message, mostly with values that get through the checks.
func fill(message protoreflect.Message, random *rand.Rand, depth int, call *cpv1.CallContext) {
	fields := message.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if random.IntN(3) == 0 || depth > maxDepth {
			continue
		}
		switch {
		case field.IsMap():
			text := protoreflect.ValueOfString(likelyTexts[random.IntN(len(likelyTexts))])
			message.Mutable(field).Map().Set(text.MapKey(), text)
		case field.IsList():
			for range random.IntN(4) {
				list := message.Mutable(field).List()
				if field.Message() == nil {
					list.Append(scalar(field, random))
					continue
				}
				fill(list.AppendMutable().Message(), random, depth+1, call)
			}
		case field.Message() != nil && field.Message().Name() == "CallContext" && random.IntN(8) > 0:
			bytes, _ := proto.Marshal(call)
			_ = proto.Unmarshal(bytes, message.Mutable(field).Message().Interface())
		case field.Message() != nil:
			fill(message.Mutable(field).Message(), random, depth+1, call)
		default:
			message.Set(field, scalar(field, random))
		}
	}
}

func scalar(field protoreflect.FieldDescriptor, random *rand.Rand) protoreflect.Value {
	number := []int64{0, 1, 2, 3, 80, 65535, 70000, -1}[random.IntN(8)]
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(number > 1)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(number))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(likelyTexts[random.IntN(len(likelyTexts))])
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte{1, 2})
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(number))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(number << random.IntN(50))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(number))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(number))
	default:
		return protoreflect.ValueOfFloat64(float64(number))
	}
}
