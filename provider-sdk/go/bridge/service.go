package bridge

import (
	"maps"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
)

// cleanupFinalizer is on every Service that the controller asks a load balancer for. cloud-provider/service/helpers v0.28.2.
const cleanupFinalizer = "service.kubernetes.io/load-balancer-cleanup"

// defaultAffinitySeconds is Kubernetes' own, 3 h. k8s.io/api/core/v1/types.go v0.28.2.
const defaultAffinitySeconds = 10_800

// serviceOfRef rebuilds a Service from the reference of a read or a deletion, which has no ports.
func serviceOfRef(ref *cpv1.ServiceRef, class string, annotations map[string]string) *v1.Service {
	service := &v1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   ref.GetNamespace(),
			Name:        ref.GetName(),
			UID:         types.UID(ref.GetUid()),
			Annotations: maps.Clone(annotations),
			Finalizers:  []string{cleanupFinalizer},
		},
		Spec: v1.ServiceSpec{Type: v1.ServiceTypeLoadBalancer, SessionAffinity: v1.ServiceAffinityNone},
	}
	if class != "" {
		service.Spec.LoadBalancerClass = &class
	}
	return service
}

// serviceOfSpec rebuilds the Service that a desired comes from.
func serviceOfSpec(ref *cpv1.ServiceRef, desired *cpv1.LoadBalancerSpec) *v1.Service {
	service := serviceOfRef(ref, desired.GetClass(), desired.GetAnnotations())
	spec := &service.Spec
	for _, port := range desired.GetPorts() {
		spec.Ports = append(spec.Ports, servicePortOf(port))
	}
	allocate := slices.ContainsFunc(spec.Ports, func(port v1.ServicePort) bool { return port.NodePort != 0 })
	spec.AllocateLoadBalancerNodePorts = &allocate
	spec.IPFamilies, spec.IPFamilyPolicy = familiesOf(desired.GetIpFamilies())
	spec.LoadBalancerSourceRanges = slices.Clone(desired.GetSourceRanges().GetCidrs())
	spec.ExternalTrafficPolicy = v1.ServiceExternalTrafficPolicyTypeCluster
	if desired.GetExternalTrafficPolicy() == cpv1.ExternalTrafficPolicy_EXTERNAL_TRAFFIC_POLICY_LOCAL {
		spec.ExternalTrafficPolicy = v1.ServiceExternalTrafficPolicyTypeLocal
		spec.HealthCheckNodePort = int32(desired.GetHealthCheck().GetPort()) //nolint:gosec // at most 65535
	}
	if affinity := desired.GetSessionAffinity(); affinity != nil {
		spec.SessionAffinity, spec.SessionAffinityConfig = affinityOf(affinity)
	}
	if ips := desired.GetRequestedIps(); len(ips) > 0 {
		spec.LoadBalancerIP = ips[0]
	}
	return service
}

func servicePortOf(port *cpv1.ServicePort) v1.ServicePort {
	out := v1.ServicePort{
		Name:        port.GetName(),
		Protocol:    protocolOf(port.GetProtocol()),
		AppProtocol: port.AppProtocol,
		Port:        int32(port.GetPort()),     //nolint:gosec // at most 65535
		NodePort:    int32(port.GetNodePort()), //nolint:gosec // at most 65535
	}
	if port.TargetPort != nil {
		out.TargetPort = intstr.FromInt32(int32(port.GetTargetPort())) //nolint:gosec // at most 65535
	}
	return out
}

func protocolOf(protocol cpv1.Protocol) v1.Protocol {
	return v1.Protocol(strings.TrimPrefix(protocol.String(), "PROTOCOL_"))
}

func protocolToContract(protocol v1.Protocol) cpv1.Protocol {
	return cpv1.Protocol(cpv1.Protocol_value["PROTOCOL_"+string(protocol)])
}

func familiesOf(families []cpv1.IpFamily) ([]v1.IPFamily, *v1.IPFamilyPolicy) {
	var out []v1.IPFamily
	for _, family := range families {
		if family == cpv1.IpFamily_IP_FAMILY_IPV6 {
			out = append(out, v1.IPv6Protocol)
		} else {
			out = append(out, v1.IPv4Protocol)
		}
	}
	policy := v1.IPFamilyPolicySingleStack
	switch len(out) {
	case 0:
		// Kubernetes fills both fields of every Service with an IP: the contract's default is IPv4.
		out = []v1.IPFamily{v1.IPv4Protocol}
	case 2:
		// The controller has already checked whether both are required.
		policy = v1.IPFamilyPolicyPreferDualStack
	}
	return out, &policy
}

func affinityOf(affinity *cpv1.SessionAffinity) (v1.ServiceAffinity, *v1.SessionAffinityConfig) {
	seconds := int32(defaultAffinitySeconds)
	if timeout := affinity.GetTimeout(); timeout != nil {
		seconds = int32(timeout.GetSeconds()) //nolint:gosec // at most a day, says Kubernetes
	}
	return v1.ServiceAffinityClientIP, &v1.SessionAffinityConfig{ClientIP: &v1.ClientIPConfig{TimeoutSeconds: &seconds}}
}

// ingressToContract converts the ingress points. An empty list means that there are none, as an empty status does upstream.
func ingressToContract(status *v1.LoadBalancerStatus) *cpv1.LoadBalancerIngressList {
	list := &cpv1.LoadBalancerIngressList{}
	for i := range status.Ingress {
		if item := ingressItem(&status.Ingress[i]); item != nil {
			list.Items = append(list.Items, item)
		}
	}
	return list
}

// ingressItem is nil for an entry that leads nowhere.
func ingressItem(ingress *v1.LoadBalancerIngress) *cpv1.LoadBalancerIngress {
	if ingress.IP == "" && ingress.Hostname == "" {
		return nil
	}
	item := &cpv1.LoadBalancerIngress{}
	if ingress.IP != "" {
		item.Ip = &ingress.IP
		item.IpMode = ipModeToContract(ipMode(ingress))
	}
	if ingress.Hostname != "" {
		// Kubernetes takes names in lower case only; clouds are not always so strict.
		hostname := strings.ToLower(ingress.Hostname)
		item.Hostname = &hostname
	}
	for _, port := range ingress.Ports {
		item.Ports = append(item.Ports, &cpv1.IngressPort{
			Port:     uint32(port.Port), //nolint:gosec // at most 65535
			Protocol: protocolToContract(port.Protocol),
			Error:    port.Error,
		})
	}
	return item
}

func ipModeToContract(mode string) cpv1.IpMode {
	switch mode {
	case "Proxy":
		return cpv1.IpMode_IP_MODE_PROXY
	case "VIP":
		return cpv1.IpMode_IP_MODE_VIP
	default:
		return cpv1.IpMode_IP_MODE_UNSPECIFIED
	}
}
