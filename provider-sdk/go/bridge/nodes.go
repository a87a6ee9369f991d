package bridge

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// nodeMemory is how long a Node is kept after its last request: the bridge does not see deletions. The controller requests
// each Node every few minutes.
const nodeMemory = time.Hour

// nodeStore remembers the Nodes that the controller has shown, for providers that look for them by themselves and for routes,
// which name them. It is a memory only: after a restart it fills up again with the first calls.
type nodeStore struct {
	now func() time.Time

	mu       sync.Mutex
	nodes    map[string]rememberedNode
	revision uint64
	pruned   time.Time
	watchers map[chan nodeEvent]struct{}
	// changed is the name of the Node that changed last, to revision.
	changed string
	// first is closed when there is a Node.
	first chan struct{}
}

type rememberedNode struct {
	node *v1.Node
	seen time.Time
}

// nodeEvent is one change: kind is that of Kubernetes' watch events.
type nodeEvent struct {
	kind string
	node *v1.Node
}

func newNodeStore(now func() time.Time) *nodeStore {
	return &nodeStore{
		now:      now,
		nodes:    map[string]rememberedNode{},
		watchers: map[chan nodeEvent]struct{}{},
		first:    make(chan struct{}),
	}
}

// lookedUp remembers the Node of a lookup and gives it back as it is handed to the provider: a copy of its own.
func (s *nodeStore) lookedUp(ref *cpv1.NodeRef) *v1.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(nodeOfRef(ref))
}

// targets are the Nodes of a load balancer, completed from earlier lookups.
func (s *nodeStore) targets(targets []*cpv1.TargetNode) []*v1.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes := make([]*v1.Node, 0, len(targets))
	for _, target := range targets {
		nodes = append(nodes, s.put(nodeOfTarget(target, s.nodes[target.GetName()].node)))
	}
	return nodes
}

// routed is the Node that a route leads to.
func (s *nodeStore) routed(route *cpv1.Route) *v1.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(nodeOfRoute(route, s.nodes[route.GetTargetNodeName()].node))
}

// named is the Node of this name, or nil.
func (s *nodeStore) named(name string) *v1.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodes[name].node.DeepCopy()
}

// nameOf is the name of the Node with this provider ID; empty if none has been shown.
func (s *nodeStore) nameOf(providerID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, remembered := range s.nodes {
		if remembered.node.Spec.ProviderID == providerID {
			return name
		}
	}
	return ""
}

// learned remembers the instance that the cloud found for a Node which has no provider ID yet.
func (s *nodeStore) learned(name, providerID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	remembered, known := s.nodes[name]
	if !known || remembered.node.Spec.ProviderID != "" {
		return
	}
	node := remembered.node.DeepCopy()
	node.Spec.ProviderID = providerID
	s.put(node)
}

// gone forgets a Node whose instance does not exist, unless another instance has its name by now.
func (s *nodeStore) gone(name, providerID string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if remembered, known := s.nodes[name]; known && isSameMachine(remembered.node.Spec.ProviderID, providerID) {
		s.remove(name)
	}
}

func (s *nodeStore) put(node *v1.Node) *v1.Node {
	s.prune()
	before, known := s.nodes[node.Name]
	kind := "ADDED"
	if known {
		kind = "MODIFIED"
		node.ResourceVersion = before.node.ResourceVersion
		if reflect.DeepEqual(before.node, node) {
			s.nodes[node.Name] = rememberedNode{node: before.node, seen: s.now()}
			return node
		}
	}
	s.revision++
	node.ResourceVersion = strconv.FormatUint(s.revision, 10)
	kept := node.DeepCopy()
	s.nodes[node.Name] = rememberedNode{node: kept, seen: s.now()}
	s.notify(nodeEvent{kind: kind, node: kept})
	return node
}

func (s *nodeStore) remove(name string) {
	s.revision++
	node := s.nodes[name].node.DeepCopy()
	node.ResourceVersion = strconv.FormatUint(s.revision, 10)
	delete(s.nodes, name)
	s.notify(nodeEvent{kind: "DELETED", node: node})
}

// prune looks at all Nodes, so not each time.
func (s *nodeStore) prune() {
	now := s.now()
	if now.Sub(s.pruned) < nodeMemory/10 {
		return
	}
	s.pruned = now
	for name, remembered := range s.nodes {
		if now.Sub(remembered.seen) > nodeMemory {
			s.remove(name)
		}
	}
}

// watcherBuffer is how many events a reader may be behind; one that is further behind is cut off and lists again.
const watcherBuffer = 1024

func (s *nodeStore) notify(event nodeEvent) {
	s.changed = event.node.Name
	if s.revision == 1 {
		close(s.first)
	}
	for watcher := range s.watchers {
		select {
		case watcher <- event:
		default:
			delete(s.watchers, watcher)
			close(watcher)
		}
	}
}

// list is all Nodes and the revision at which they are so.
func (s *nodeStore) list() (nodes []*v1.Node, revision uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(s.nodes)) {
		nodes = append(nodes, s.nodes[name].node)
	}
	return nodes, s.revision
}

// lastChange is the Node that changed last, and whether it is still there; revision 0: none has.
func (s *nodeStore) lastChange() (name string, revision uint64, exists bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, exists = s.nodes[s.changed]
	return s.changed, s.revision, exists
}

// waitForFirst waits until a Node has been shown.
func (s *nodeStore) waitForFirst(ctx context.Context) error {
	select {
	case <-s.first:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// watch begins after revision since; ok is false if there were changes after it, which are not kept: list again. The channel
// is closed when the reader is too slow.
func (s *nodeStore) watch(since uint64) (events <-chan nodeEvent, stop func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if since != s.revision {
		return nil, nil, false
	}
	watcher := make(chan nodeEvent, watcherBuffer)
	s.watchers[watcher] = struct{}{}
	return watcher, func() { s.unwatch(watcher) }, true
}

func (s *nodeStore) unwatch(watcher chan nodeEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, watching := s.watchers[watcher]; watching {
		delete(s.watchers, watcher)
		close(watcher)
	}
}

// providerIDOf is that of the Node of this name; empty if it is not known.
func (s *nodeStore) providerIDOf(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if remembered, known := s.nodes[name]; known {
		return remembered.node.Spec.ProviderID
	}
	return ""
}
