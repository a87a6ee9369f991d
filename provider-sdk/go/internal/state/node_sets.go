package state

import (
	"fmt"
	"sync"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/state/lru"
)

// nodeSet is a set of nodes in force.
type nodeSet struct {
	fingerprint  string
	byProviderID map[string]*cpv1.TargetNode
	// nodes are the same as a list, made once: many load balancers share it.
	nodes []*cpv1.TargetNode
}

// staging is an upload that lacks chunks.
type staging struct {
	head   *cpv1.ApplyNodeSetRequest
	chunks map[uint32]*cpv1.ApplyNodeSetRequest
}

// stagingMaxAge: an upload whose caller went away is dropped after this.
const stagingMaxAge = 10 * time.Minute

// nodeSets keeps node sets: chunks are staged in any order, nothing is visible before the last missing one, then all at
// once.
type nodeSets struct {
	mu     sync.Mutex
	sets   *lru.Map[string, *nodeSet]
	staged *lru.Map[string, *staging]
}

func newNodeSets(maxSets uint32) *nodeSets {
	return &nodeSets{
		sets:   lru.New[string](lru.Options[*nodeSet]{MaxEntries: int(maxSets)}),
		staged: lru.New[string](lru.Options[*staging]{MaxEntries: int(maxSets), MaxAge: stagingMaxAge}),
	}
}

func (n *nodeSets) get(id string) *nodeSet {
	n.mu.Lock()
	defer n.mu.Unlock()
	set, _ := n.sets.Get(id)
	return set
}

// apply takes one chunk; with NODE_SET_BASE_MISMATCH or NODE_SET_INTEGRITY it commits nothing.
func (n *nodeSets) apply(chunk *cpv1.ApplyNodeSetRequest) (*cpv1.ApplyNodeSetResponse, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id := chunk.GetNodeSetId()
	held, _ := n.sets.Get(id)
	if held != nil && held.fingerprint == chunk.GetTargetFingerprint() && len(held.nodes) == int(chunk.GetTargetCount()) {
		n.staged.Delete(id)
		return stateOf(held, true), nil
	}
	if err := requireBase(chunk, held); err != nil {
		return nil, err
	}
	staged := n.stage(chunk)
	if len(staged.chunks) < int(chunk.GetChunkCount()) {
		return stateOf(held, false), nil
	}
	n.staged.Delete(id)
	built, err := staged.build(held)
	if err != nil {
		return nil, err
	}
	n.sets.Set(id, built)
	return stateOf(built, true), nil
}

// stage: chunks of one upload belong together; a chunk of another upload of the same set starts over.
func (n *nodeSets) stage(chunk *cpv1.ApplyNodeSetRequest) *staging {
	current, ok := n.staged.Get(chunk.GetNodeSetId())
	if !ok || !sameUpload(current.head, chunk) {
		current = &staging{head: chunk, chunks: map[uint32]*cpv1.ApplyNodeSetRequest{}}
	}
	current.chunks[chunk.GetChunkIndex()] = chunk
	n.staged.Set(chunk.GetNodeSetId(), current)
	return current
}

func sameUpload(left, right *cpv1.ApplyNodeSetRequest) bool {
	return left.GetBaseFingerprint() == right.GetBaseFingerprint() &&
		left.GetTargetFingerprint() == right.GetTargetFingerprint() &&
		left.GetChunkCount() == right.GetChunkCount() && left.GetTargetCount() == right.GetTargetCount()
}

func stateOf(set *nodeSet, committed bool) *cpv1.ApplyNodeSetResponse {
	out := &cpv1.ApplyNodeSetResponse{Committed: committed}
	if set != nil {
		out.Fingerprint, out.Count = set.fingerprint, uint32(len(set.nodes)) // bounded by max_nodes
	}
	return out
}

func requireBase(chunk *cpv1.ApplyNodeSetRequest, held *nodeSet) error {
	base, fingerprint, state := chunk.GetBaseFingerprint(), "", "not known here"
	if held != nil {
		fingerprint, state = held.fingerprint, "at fingerprint "+rules.Quote(held.fingerprint)
	}
	if base == "" || (held != nil && base == fingerprint) {
		return nil
	}
	return &Refusal{
		Reason:   "NODE_SET_BASE_MISMATCH",
		Message:  fmt.Sprintf("node set %s is %s, the difference is against %s; upload it whole", rules.Quote(chunk.GetNodeSetId()), state, rules.Quote(base)),
		Metadata: []Metadatum{{"fingerprint", fingerprint}},
	}
}

func (u *staging) build(held *nodeSet) (*nodeSet, error) {
	out := &nodeSet{fingerprint: u.head.GetTargetFingerprint(), byProviderID: map[string]*cpv1.TargetNode{}}
	var order []*cpv1.TargetNode
	if u.head.GetBaseFingerprint() != "" && held != nil {
		order = append(order, held.nodes...)
		for id, node := range held.byProviderID {
			out.byProviderID[id] = node
		}
	}
	for _, chunk := range u.chunks {
		for _, id := range chunk.GetRemovedProviderIds() {
			delete(out.byProviderID, id)
		}
	}
	for index := range u.head.GetChunkCount() {
		for _, node := range u.chunks[index].GetUpserts() {
			out.byProviderID[node.GetProviderId()] = node
			order = append(order, node)
		}
	}
	if count := len(out.byProviderID); count != int(u.head.GetTargetCount()) {
		return nil, &Refusal{
			Reason:   "NODE_SET_INTEGRITY",
			Message:  fmt.Sprintf("node set %s would have %d nodes instead of %d; upload it whole", rules.Quote(u.head.GetNodeSetId()), count, u.head.GetTargetCount()),
			Metadata: []Metadatum{{"count", fmt.Sprint(count)}, {"target_count", fmt.Sprint(u.head.GetTargetCount())}},
		}
	}
	out.nodes = make([]*cpv1.TargetNode, 0, len(out.byProviderID))
	for _, node := range order {
		if out.byProviderID[node.GetProviderId()] == node {
			out.nodes = append(out.nodes, node)
		}
	}
	return out, nil
}
