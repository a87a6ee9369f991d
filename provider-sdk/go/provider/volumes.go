package provider

import (
	"context"
	"slices"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/state"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// volumeBatch serves BatchGetVolumes from Get or GetMany.
type volumeBatch struct {
	s      *service
	lookUp *lookUp[*cpv1.VolumeRef, VolumeResult, *cpv1.Volume]
}

func newVolumeBatch(s *service, handlers *Volumes) *volumeBatch {
	b := &volumeBatch{s: s, lookUp: newLookUp[*cpv1.VolumeRef, VolumeResult, *cpv1.Volume](s)}
	b.lookUp.get, b.lookUp.getMany = handlers.Get, handlers.GetMany
	b.lookUp.found = func(answer VolumeResult) (*cpv1.Volume, time.Time, bool) {
		present, ok := answer.(*volumeFound)
		if !ok || present.volume == nil {
			return nil, time.Time{}, false
		}
		return present.volume, present.readTime, true
	}
	return b
}

// BatchGetVolumes looks volumes up.
func (s *service) BatchGetVolumes(ctx context.Context, request *cpv1.BatchGetVolumesRequest) (*cpv1.BatchGetVolumesResponse, error) {
	special := rules.Batch("volumes", len(request.GetVolumes()), s.capabilities.GetVolumes().GetMaxBatchSize())
	return read(ctx, s, request, special, func(ctx context.Context) (*cpv1.BatchGetVolumesResponse, error) {
		return s.volumes.answer(ctx, request)
	})
}

func (b *volumeBatch) answer(ctx context.Context, request *cpv1.BatchGetVolumesRequest) (*cpv1.BatchGetVolumesResponse, error) {
	call := CallOf(ctx)
	call.MaxDataAge = maxDataAge(request)
	results := make([]*cpv1.VolumeResult, len(request.GetVolumes()))
	requests := state.NewRequestDedup[*cpv1.VolumeRef](len(results))
	for i, volume := range request.GetVolumes() {
		if key, answered := b.plan(volume); answered != nil {
			results[i] = answered
		} else {
			requests.Add(i, key, volume)
		}
	}
	found, err := b.lookUp.ask(ctx, requests.Requests)
	if err != nil {
		return nil, err
	}
	for i, at := range requests.Of {
		results[i] = toVolumeResult(call, found[at])
	}
	scope, err := b.s.knownScope()
	if err != nil {
		return nil, err
	}
	return &cpv1.BatchGetVolumesResponse{Results: results, ScopeId: scope, Stats: call.recorder.takeStats()}, nil
}

// plan decides what needs no question to the provider: volumes of drivers that are not of this cloud.
func (b *volumeBatch) plan(volume *cpv1.VolumeRef) (key string, answered *cpv1.VolumeResult) {
	claimed := b.s.capabilities.GetVolumes()
	foreign := ""
	switch source := volume.GetSource().(type) {
	case *cpv1.VolumeRef_Csi:
		key = "csi " + string(state.Bytes(source.Csi))
		if !slices.Contains(claimed.GetCsiDrivers(), source.Csi.GetDriver()) {
			foreign = "CSI driver " + source.Csi.GetDriver() + " is not of this cloud"
		}
	case *cpv1.VolumeRef_InTree:
		key = "in-tree " + string(state.Bytes(source.InTree))
		if !slices.Contains(claimed.GetInTreePlugins(), source.InTree.GetPlugin()) {
			foreign = "plugin " + source.InTree.GetPlugin() + " is not of this cloud"
		}
	default:
		missing := NewError(ReasonFieldMissing, "PersistentVolume "+volume.GetName()+" has no source")
		return "", &cpv1.VolumeResult{Outcome: &cpv1.VolumeResult_Unknown{Unknown: missing.toItem()}}
	}
	if foreign == "" {
		return key, nil
	}
	notOwned := &cpv1.NotOwned{Message: rules.CutToBytes(foreign, rules.MaxMessageBytes)}
	return "", &cpv1.VolumeResult{Outcome: &cpv1.VolumeResult_NotOwned{NotOwned: notOwned}}
}

func toVolumeResult(call *Call, result lookUpResult[*cpv1.Volume]) *cpv1.VolumeResult {
	out := &cpv1.VolumeResult{ReadTime: timestamppb.New(result.readTime)}
	switch {
	case result.isFound:
		problem := answerProblem(result.found)
		if problem == nil {
			out.Outcome = &cpv1.VolumeResult_Volume{Volume: result.found}
			break
		}
		call.Log.Error("The provider answered a volume that breaks the contract", "error", problem.message)
		out.Outcome = &cpv1.VolumeResult_Unknown{Unknown: problem.toItem()}
	case result.absent != nil:
		out.Outcome = &cpv1.VolumeResult_Absent{Absent: result.absent}
	case result.notOwned != nil:
		out.Outcome = &cpv1.VolumeResult_NotOwned{NotOwned: result.notOwned}
	default:
		out.Outcome = &cpv1.VolumeResult_Unknown{Unknown: result.unknown.toItem()}
	}
	return out
}
