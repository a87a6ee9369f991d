package state

import (
	"fmt"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
)

// NodeResolver turns node selections, however they travel, into the one thing that a provider sees: the whole list.
type NodeResolver struct {
	maxInline    int
	sets         *nodeSets
	acknowledged *acknowledgedNodes
}

// NewNodeResolver makes one with the bounds of a provider.
func NewNodeResolver(maxInlineNodes, maxSets uint32) *NodeResolver {
	return &NodeResolver{maxInline: int(maxInlineNodes), sets: newNodeSets(maxSets), acknowledged: newAcknowledgedNodes()}
}

// Apply takes one chunk of a node set.
func (n *NodeResolver) Apply(chunk *cpv1.ApplyNodeSetRequest) (*cpv1.ApplyNodeSetResponse, error) {
	return n.sets.apply(chunk)
}

// Acknowledge remembers the nodes that a load balancer was given with success.
func (n *NodeResolver) Acknowledge(key, fingerprint string, nodes []*cpv1.TargetNode) {
	n.acknowledged.set(key, fingerprint, nodes)
}

// Forget drops what is remembered of a load balancer.
func (n *NodeResolver) Forget(key string) { n.acknowledged.delete(key) }

// NodesDiff is how nodes differ from those last acknowledged.
type NodesDiff struct{ Added, Removed, Changed []*cpv1.TargetNode }

// Resolve answers the nodes of a selection, and how they differ from the last ones where these are known; it is refused rather
// than read as "none" when it cannot be resolved.
func (n *NodeResolver) Resolve(key string, selection *cpv1.NodeSelection) ([]*cpv1.TargetNode, *NodesDiff, error) {
	nodes, err := n.find(key, selection)
	if err != nil {
		return nil, nil, err
	}
	if len(nodes) != int(selection.GetCount()) {
		return nil, nil, &Refusal{
			Reason:  "NODE_SET_INTEGRITY",
			Message: fmt.Sprintf("nodes.count is %d, but the selection has %d nodes; send them whole", selection.GetCount(), len(nodes)),
			Field:   "nodes.count",
		}
	}
	return nodes, n.acknowledged.diff(key, nodes), nil
}

func (n *NodeResolver) find(key string, selection *cpv1.NodeSelection) ([]*cpv1.TargetNode, error) {
	switch source := selection.GetSource().(type) {
	case *cpv1.NodeSelection_Inline:
		return n.inline(source.Inline.GetNodes())
	case *cpv1.NodeSelection_NodeSetId:
		return n.fromSet(source.NodeSetId, selection.GetFingerprint())
	case *cpv1.NodeSelection_Unchanged:
		return n.unchanged(key, selection.GetFingerprint())
	default:
		return nil, &Refusal{Reason: rules.Missing, Message: "nodes.source is required", Field: "nodes.source"}
	}
}

func (n *NodeResolver) inline(nodes []*cpv1.TargetNode) ([]*cpv1.TargetNode, error) {
	const field = "nodes.inline.nodes"
	if len(nodes) > n.maxInline {
		return nil, &Refusal{
			Reason: rules.TooLarge, Message: fmt.Sprintf("%s has %d nodes; at most %d are taken", field, len(nodes), n.maxInline), Field: field,
		}
	}
	firstAt := make(map[string]int, len(nodes))
	for i, node := range nodes {
		if earlier, twice := firstAt[node.GetProviderId()]; twice {
			path := fmt.Sprintf("%s[%d].provider_id", field, i)
			return nil, &Refusal{
				Reason:  rules.Invalid,
				Message: fmt.Sprintf("%s is %s, as %s[%d] is already", path, rules.Quote(node.GetProviderId()), field, earlier),
				Field:   path,
			}
		}
		firstAt[node.GetProviderId()] = i
	}
	return nodes, nil
}

func (n *NodeResolver) fromSet(id, fingerprint string) ([]*cpv1.TargetNode, error) {
	set := n.sets.get(id)
	if set != nil && set.fingerprint == fingerprint {
		return set.nodes, nil
	}
	state, held := "not known here", ""
	if set != nil {
		state, held = "held at fingerprint "+rules.Quote(set.fingerprint), set.fingerprint
	}
	return nil, &Refusal{
		Reason:   "NODE_SET_UNKNOWN",
		Message:  fmt.Sprintf("node set %s is %s; upload it at %s", rules.Quote(id), state, rules.Quote(fingerprint)),
		Metadata: []Metadatum{{"node_set_id", id}, {"fingerprint", held}},
	}
}

func (n *NodeResolver) unchanged(key, fingerprint string) ([]*cpv1.TargetNode, error) {
	known := n.acknowledged.get(key)
	if known != nil && known.fingerprint == fingerprint {
		return known.nodes, nil
	}
	state, held := "are not known here", ""
	if known != nil {
		state, held = "have fingerprint "+rules.Quote(known.fingerprint), known.fingerprint
	}
	return nil, &Refusal{
		Reason:   "NODES_FINGERPRINT_MISMATCH",
		Message:  fmt.Sprintf("the nodes of this load balancer %s, not %s; send them whole", state, rules.Quote(fingerprint)),
		Metadata: []Metadatum{{"fingerprint", held}},
	}
}
