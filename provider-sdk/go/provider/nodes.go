package provider

import (
	"fmt"
	"sync"
	"unsafe"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/state/lru"
	"google.golang.org/protobuf/proto"
)

// defaultMaxInlineNodes is the contract's, where the provider declares nothing: Limits.max_inline_nodes.
const defaultMaxInlineNodes = 15_000

// nodeResolver turns node selections, however they travel, into the one thing that a provider sees: the whole list.
type nodeResolver struct {
	maxInline    int
	sets         *nodeSetStore
	acknowledged *acknowledgedNodes
}

func newNodeResolver(limits *cpv1.Limits, sets *cpv1.NodeSetCapability) *nodeResolver {
	return &nodeResolver{
		maxInline:    int(orDefault(limits.GetMaxInlineNodes(), defaultMaxInlineNodes)),
		sets:         newNodeSetStore(sets.GetMaxSets()),
		acknowledged: newAcknowledgedNodes(),
	}
}

// resolve answers the nodes of a selection; it is refused rather than read as "none" when it cannot be resolved.
func (n *nodeResolver) resolve(key string, selection *cpv1.NodeSelection) (TargetNodes, error) {
	nodes, err := n.find(key, selection)
	if err != nil {
		return TargetNodes{}, err
	}
	if len(nodes) != int(selection.GetCount()) {
		return TargetNodes{}, NewError(ReasonNodeSetIntegrity,
			fmt.Sprintf("nodes.count is %d, but the selection has %d nodes; send them whole", selection.GetCount(), len(nodes)),
			Field("nodes.count"))
	}
	return TargetNodes{
		Nodes: nodes, NodesFingerprint: selection.GetFingerprint(), NodesDiff: n.acknowledged.diff(key, nodes),
	}, nil
}

func (n *nodeResolver) find(key string, selection *cpv1.NodeSelection) ([]*cpv1.TargetNode, error) {
	switch source := selection.GetSource().(type) {
	case *cpv1.NodeSelection_Inline:
		return n.inline(source.Inline.GetNodes())
	case *cpv1.NodeSelection_NodeSetId:
		return n.fromSet(source.NodeSetId, selection.GetFingerprint())
	case *cpv1.NodeSelection_Unchanged:
		return n.unchanged(key, selection.GetFingerprint())
	default:
		return nil, NewError(ReasonFieldMissing, "nodes.source is required", Field("nodes.source"))
	}
}

func (n *nodeResolver) inline(nodes []*cpv1.TargetNode) ([]*cpv1.TargetNode, error) {
	const field = "nodes.inline.nodes"
	if len(nodes) > n.maxInline {
		return nil, NewError(ReasonFieldTooLarge,
			fmt.Sprintf("%s has %d nodes; at most %d are taken", field, len(nodes), n.maxInline), Field(field))
	}
	firstAt := make(map[string]int, len(nodes))
	for i, node := range nodes {
		if earlier, twice := firstAt[node.GetProviderId()]; twice {
			path := fmt.Sprintf("%s[%d].provider_id", field, i)
			return nil, NewError(ReasonFieldInvalid,
				fmt.Sprintf("%s is %s, as %s[%d] is already", path, rules.Quote(node.GetProviderId()), field, earlier), Field(path))
		}
		firstAt[node.GetProviderId()] = i
	}
	return nodes, nil
}

func (n *nodeResolver) fromSet(id, fingerprint string) ([]*cpv1.TargetNode, error) {
	set := n.sets.get(id)
	if set != nil && set.fingerprint == fingerprint {
		return set.nodes, nil
	}
	state, held := "not known here", ""
	if set != nil {
		state, held = "held at fingerprint "+rules.Quote(set.fingerprint), set.fingerprint
	}
	return nil, NewError(ReasonNodeSetUnknown,
		fmt.Sprintf("node set %s is %s; upload it at %s", rules.Quote(id), state, rules.Quote(fingerprint)),
		Metadata("node_set_id", id), Metadata("fingerprint", held))
}

func (n *nodeResolver) unchanged(key, fingerprint string) ([]*cpv1.TargetNode, error) {
	known := n.acknowledged.get(key)
	if known != nil && known.fingerprint == fingerprint {
		return known.nodes, nil
	}
	state, held := "are not known here", ""
	if known != nil {
		state, held = "have fingerprint "+rules.Quote(known.fingerprint), known.fingerprint
	}
	return nil, NewError(ReasonNodesFingerprintMismatch,
		fmt.Sprintf("the nodes of this load balancer %s, not %s; send them whole", state, rules.Quote(fingerprint)),
		Metadata("fingerprint", held))
}

// maxRememberedBalancers are those whose nodes are remembered; beyond it a node change costs one full list again.
const maxRememberedBalancers = 10_000

// nodeList are nodes that load balancers were last given with success.
type nodeList struct {
	fingerprint string
	nodes       []*cpv1.TargetNode
	holders     int
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

// nodesIdentity tells two slices apart without looking at what they hold.
type nodesIdentity struct {
	first  **cpv1.TargetNode
	length int
}

func identityOf(nodes []*cpv1.TargetNode) nodesIdentity {
	return nodesIdentity{unsafe.SliceData(nodes), len(nodes)}
}

func newAcknowledgedNodes() *acknowledgedNodes {
	a := &acknowledgedNodes{lists: map[string]*nodeList{}}
	a.byKey = lru.New[string](lru.Options[*nodeList]{MaxEntries: maxRememberedBalancers, Evicted: a.release})
	return a
}

func (a *acknowledgedNodes) get(key string) *nodeList {
	a.mu.Lock()
	defer a.mu.Unlock()
	known, _ := a.byKey.Get(key)
	return known
}

func (a *acknowledgedNodes) set(key string, wanted TargetNodes) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.deleteLocked(key)
	list := a.lists[wanted.NodesFingerprint]
	if list == nil || len(list.nodes) != len(wanted.Nodes) {
		list = &nodeList{fingerprint: wanted.NodesFingerprint, nodes: wanted.Nodes}
		a.lists[wanted.NodesFingerprint] = list
	}
	list.holders++
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
	list.holders--
	if list.holders == 0 && a.lists[list.fingerprint] == list {
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

// NodeAddresses are addresses of one kind; empty texts are left out.
func NodeAddresses(kind cpv1.NodeAddressType, addresses ...string) []*cpv1.NodeAddress {
	var out []*cpv1.NodeAddress
	for _, address := range addresses {
		if address != "" {
			out = append(out, &cpv1.NodeAddress{Type: kind, Address: address})
		}
	}
	return out
}

// IngressIPs are the addresses at which traffic enters a load balancer; empty texts are left out. Without any it says nothing
// about them.
func IngressIPs(addresses ...string) *cpv1.LoadBalancerIngressList {
	var out *cpv1.LoadBalancerIngressList
	for _, address := range addresses {
		if address == "" {
			continue
		}
		if out == nil {
			out = &cpv1.LoadBalancerIngressList{}
		}
		out.Items = append(out.Items, &cpv1.LoadBalancerIngress{Ip: &address})
	}
	return out
}

// InternalIP is the first internal IP address of a node; empty if it has none.
func InternalIP(node *cpv1.TargetNode) string {
	for _, address := range node.GetAddresses() {
		if address.GetType() == cpv1.NodeAddressType_NODE_ADDRESS_TYPE_INTERNAL_IP {
			return address.GetAddress()
		}
	}
	return ""
}
