package state

import (
	"sync"
	"unsafe"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/state/lru"
	"google.golang.org/protobuf/proto"
)

// MaxRememberedLoadBalancers are those whose nodes are remembered; beyond it a node change costs one full list again.
const MaxRememberedLoadBalancers = 10_000

// nodeList are nodes that load balancers were last given with success.
type nodeList struct {
	fingerprint string
	nodes       []*cpv1.TargetNode
	refs        int
}

// acknowledgedNodes remembers the nodes of each load balancer, for "unchanged" and for differences. Equal lists are kept
// once.
type acknowledgedNodes struct {
	mu    sync.Mutex
	byKey *lru.Map[string, *nodeList]
	lists map[string]*nodeList
	// last is the difference made last: many load balancers go from one list to the same other.
	last struct {
		before, after *nodesIdentity
		diff          *NodesDiff
	}
}

// nodesIdentity distinguishes two slices without comparing their elements.
type nodesIdentity struct {
	first  **cpv1.TargetNode
	length int
}

func identityOf(nodes []*cpv1.TargetNode) nodesIdentity {
	return nodesIdentity{unsafe.SliceData(nodes), len(nodes)}
}

func newAcknowledgedNodes() *acknowledgedNodes {
	a := &acknowledgedNodes{lists: map[string]*nodeList{}}
	a.byKey = lru.New[string](lru.Options[*nodeList]{MaxEntries: MaxRememberedLoadBalancers, Evicted: a.release})
	return a
}

func (a *acknowledgedNodes) get(key string) *nodeList {
	a.mu.Lock()
	defer a.mu.Unlock()
	known, _ := a.byKey.Get(key)
	return known
}

func (a *acknowledgedNodes) set(key, fingerprint string, nodes []*cpv1.TargetNode) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.deleteLocked(key)
	list := a.lists[fingerprint]
	if list == nil || len(list.nodes) != len(nodes) {
		list = &nodeList{fingerprint: fingerprint, nodes: nodes}
		a.lists[fingerprint] = list
	}
	list.refs++
	a.byKey.Set(key, list)
}

func (a *acknowledgedNodes) delete(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.deleteLocked(key)
}

func (a *acknowledgedNodes) deleteLocked(key string) {
	if before, ok := a.byKey.Get(key); ok {
		a.byKey.Delete(key)
		a.release(before)
	}
}

// release is called with the lock held: the map evicts within set.
func (a *acknowledgedNodes) release(list *nodeList) {
	list.refs--
	if list.refs == 0 && a.lists[list.fingerprint] == list {
		delete(a.lists, list.fingerprint)
	}
}

// diff is what distinguishes these nodes from those that a load balancer has; nil when these are not known.
func (a *acknowledgedNodes) diff(key string, after []*cpv1.TargetNode) *NodesDiff {
	a.mu.Lock()
	defer a.mu.Unlock()
	known, ok := a.byKey.Get(key)
	if !ok {
		return nil
	}
	from, to := identityOf(known.nodes), identityOf(after)
	if a.last.diff == nil || *a.last.before != from || *a.last.after != to {
		a.last.before, a.last.after, a.last.diff = &from, &to, diffNodes(known.nodes, after)
	}
	return a.last.diff
}

// diffNodes is what distinguishes two lists, by provider ID.
func diffNodes(before, after []*cpv1.TargetNode) *NodesDiff {
	old := make(map[string]*cpv1.TargetNode, len(before))
	for _, node := range before {
		old[node.GetProviderId()] = node
	}
	diff := &NodesDiff{}
	for _, node := range after {
		earlier, known := old[node.GetProviderId()]
		delete(old, node.GetProviderId())
		switch {
		case !known:
			diff.Added = append(diff.Added, node)
		case earlier != node && !proto.Equal(earlier, node):
			diff.Changed = append(diff.Changed, node)
		}
	}
	for _, node := range before {
		if _, gone := old[node.GetProviderId()]; gone {
			diff.Removed = append(diff.Removed, node)
		}
	}
	return diff
}
