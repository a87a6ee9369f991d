package simcloud

// Tags by which the sidecar of this cloud knows what is whose; both peers set the same, so that effects can be compared.
const (
	clusterTag          = "cloudwire.dev/cluster-id"
	clusterNameTag      = "cloudwire.dev/cluster-name"
	serviceUIDTag       = "cloudwire.dev/service-uid"
	serviceNamespaceTag = "cloudwire.dev/service-namespace"
	serviceNameTag      = "cloudwire.dev/service-name"
	nodeNameTag         = "cloudwire.dev/node-name"
)

func clusterTags(id, name string) map[string]string {
	return map[string]string{clusterTag: id, clusterNameTag: name}
}
