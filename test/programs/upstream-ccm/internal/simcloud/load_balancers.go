package simcloud

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	cloudprovider "k8s.io/cloud-provider"
	servicehelpers "k8s.io/cloud-provider/service/helpers"
)

// Annotations of this cloud, as the sidecar reads them.
const (
	flavorAnnotation      = "simulated.cloudwire.dev/flavor"
	idleTimeoutAnnotation = "simulated.cloudwire.dev/idle-timeout-seconds"
	ipModeAnnotation      = "simulated.cloudwire.dev/ip-mode"
	servedAnnotation      = "simulated.cloudwire.dev/served"
)

const (
	pollInterval = 200 * time.Millisecond
	readyTimeout = 60 * time.Second
)

type listener struct {
	Port       int32  `json:"port"`
	Protocol   string `json:"protocol"`
	TargetPort int32  `json:"targetPort"`
}

type healthCheck struct {
	Protocol string `json:"protocol"`
	Port     int32  `json:"port"`
	Path     string `json:"path,omitempty"`
}

// settings is what can be changed on a load balancer.
type settings struct {
	Listeners       []listener        `json:"listeners"`
	SourceRanges    []string          `json:"sourceRanges"`
	SessionAffinity string            `json:"sessionAffinity"`
	IdleTimeoutMs   int               `json:"idleTimeoutMs"`
	HealthCheck     *healthCheck      `json:"healthCheck"`
	Tags            map[string]string `json:"tags"`
}

type loadBalancer struct {
	settings
	ID          string `json:"id"`
	Address     string `json:"address"`
	State       string `json:"state"`
	StateReason string `json:"stateReason"`
}

type loadBalancerAnswer struct {
	LoadBalancer loadBalancer `json:"loadBalancer"`
}

type loadBalancers struct {
	client    *client
	clusterID string
}

func (l *loadBalancers) GetLoadBalancerName(_ context.Context, _ string, service *v1.Service) string {
	return cloudprovider.DefaultLoadBalancerName(service)
}

func (l *loadBalancers) GetLoadBalancer(ctx context.Context, _ string, service *v1.Service) (*v1.LoadBalancerStatus, bool, error) {
	found, err := l.find(ctx, service)
	if err != nil || found == nil {
		return nil, false, err
	}
	return statusOf(service, found), true, nil
}

func (l *loadBalancers) EnsureLoadBalancer(ctx context.Context, clusterName string, service *v1.Service, nodes []*v1.Node) (*v1.LoadBalancerStatus, error) {
	if service.Annotations[servedAnnotation] == "false" {
		return nil, cloudprovider.ImplementedElsewhere
	}
	wanted, err := l.desired(clusterName, service)
	if err != nil {
		return nil, err
	}
	existing, err := l.find(ctx, service)
	if err != nil {
		return nil, err
	}
	if existing == nil {
		existing, err = l.create(ctx, service, wanted, nodes)
	} else {
		existing, err = l.change(ctx, existing, wanted, nodes)
	}
	if err != nil {
		return nil, err
	}
	ready, err := l.waitUntilReady(ctx, existing)
	if err != nil {
		return nil, err
	}
	return statusOf(service, ready), nil
}

func (l *loadBalancers) UpdateLoadBalancer(ctx context.Context, _ string, service *v1.Service, nodes []*v1.Node) error {
	if service.Annotations[servedAnnotation] == "false" {
		return cloudprovider.ImplementedElsewhere
	}
	existing, err := l.find(ctx, service)
	if err != nil {
		return err
	}
	if existing == nil {
		return fmt.Errorf("Service %s/%s has no load balancer", service.Namespace, service.Name)
	}
	_, err = l.replaceTargets(ctx, existing.ID, nodes)
	return err
}

func (l *loadBalancers) EnsureLoadBalancerDeleted(ctx context.Context, _ string, service *v1.Service) error {
	existing, err := l.find(ctx, service)
	if err != nil || existing == nil {
		return err
	}
	err = l.client.call(ctx, http.MethodDelete, "/v1/load-balancers/"+existing.ID, nil, nil, nil)
	if isRefusal(err, "LoadBalancerNotFound") {
		return nil
	}
	return err
}

func (l *loadBalancers) find(ctx context.Context, service *v1.Service) (*loadBalancer, error) {
	tags := []string{clusterTag + "=" + l.clusterID, serviceUIDTag + "=" + string(service.UID)}
	all, err := list[loadBalancer](ctx, l.client, "/v1/load-balancers", url.Values{"tag": tags})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

func (l *loadBalancers) create(ctx context.Context, service *v1.Service, wanted *settings, nodes []*v1.Node) (*loadBalancer, error) {
	spec := map[string]any{
		"name":            cloudprovider.DefaultLoadBalancerName(service),
		"class":           cmp.Or(service.Annotations[flavorAnnotation], "standard"),
		"listeners":       wanted.Listeners,
		"sourceRanges":    wanted.SourceRanges,
		"sessionAffinity": wanted.SessionAffinity,
		"idleTimeoutMs":   wanted.IdleTimeoutMs,
		"tags":            wanted.Tags,
		"targets":         targetIDs(nodes),
	}
	if wanted.HealthCheck != nil {
		spec["healthCheck"] = wanted.HealthCheck
	}
	if service.Spec.LoadBalancerIP != "" {
		spec["requestedAddress"] = service.Spec.LoadBalancerIP
	}
	var answer loadBalancerAnswer
	if err := l.client.call(ctx, http.MethodPost, "/v1/load-balancers", nil, spec, &answer); err != nil {
		return nil, err
	}
	return &answer.LoadBalancer, nil
}

func (l *loadBalancers) change(ctx context.Context, existing *loadBalancer, wanted *settings, nodes []*v1.Node) (*loadBalancer, error) {
	if err := l.client.call(ctx, http.MethodPatch, "/v1/load-balancers/"+existing.ID, nil, wanted, nil); err != nil {
		return nil, err
	}
	return l.replaceTargets(ctx, existing.ID, nodes)
}

func (l *loadBalancers) replaceTargets(ctx context.Context, id string, nodes []*v1.Node) (*loadBalancer, error) {
	var answer loadBalancerAnswer
	if err := l.client.call(ctx, http.MethodPut, "/v1/load-balancers/"+id+"/targets", nil, map[string]any{"targets": targetIDs(nodes)}, &answer); err != nil {
		return nil, err
	}
	return &answer.LoadBalancer, nil
}

// waitUntilReady asks the cloud only if the last answer did not say that it is.
func (l *loadBalancers) waitUntilReady(ctx context.Context, last *loadBalancer) (*loadBalancer, error) {
	if last.State == "active" {
		return last, nil
	}
	var now loadBalancer
	err := wait.PollUntilContextTimeout(ctx, pollInterval, readyTimeout, true, func(ctx context.Context) (bool, error) {
		now = loadBalancer{}
		if err := l.client.call(ctx, http.MethodGet, "/v1/load-balancers/"+last.ID, url.Values{"consistent": {"true"}}, nil, &now); err != nil {
			return false, err
		}
		if now.State == "failed" {
			return false, fmt.Errorf("load balancer %s failed: %s", last.ID, now.StateReason)
		}
		return now.State == "active", nil
	})
	return &now, err
}

// desired is what the Service asks for, in the cloud's terms.
func (l *loadBalancers) desired(clusterName string, service *v1.Service) (*settings, error) {
	listeners := make([]listener, 0, len(service.Spec.Ports))
	for _, port := range service.Spec.Ports {
		if port.Protocol != v1.ProtocolTCP {
			return nil, fmt.Errorf("protocol %s of port %d is not supported", port.Protocol, port.Port)
		}
		listeners = append(listeners, listener{Port: port.Port, Protocol: "tcp", TargetPort: cmp.Or(port.NodePort, port.Port)})
	}
	slices.SortFunc(listeners, func(a, b listener) int { return cmp.Compare(a.Port, b.Port) })
	idleTimeout, err := strconv.Atoi(cmp.Or(service.Annotations[idleTimeoutAnnotation], "60"))
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w", idleTimeoutAnnotation, err)
	}
	ranges, err := sourceRanges(service)
	if err != nil {
		return nil, err
	}
	wanted := settings{
		Listeners:       listeners,
		SourceRanges:    ranges,
		SessionAffinity: "none",
		IdleTimeoutMs:   idleTimeout * 1000,
		Tags:            clusterTags(l.clusterID, clusterName),
	}
	if service.Spec.SessionAffinity == v1.ServiceAffinityClientIP {
		wanted.SessionAffinity = "clientIp"
	}
	if path, port := servicehelpers.GetServiceHealthCheckPathPort(service); path != "" {
		wanted.HealthCheck = &healthCheck{Protocol: "http", Port: port, Path: path}
	}
	wanted.Tags[serviceUIDTag] = string(service.UID)
	wanted.Tags[serviceNamespaceTag] = service.Namespace
	wanted.Tags[serviceNameTag] = service.Name
	return &wanted, nil
}

// sourceRanges reads the ranges as vendors do, with upstream's helper, which makes them canonical. Empty: all clients are allowed.
func sourceRanges(service *v1.Service) ([]string, error) {
	annotated := service.Annotations[v1.AnnotationLoadBalancerSourceRangesKey]
	if len(service.Spec.LoadBalancerSourceRanges) == 0 && strings.TrimSpace(annotated) == "" {
		return []string{}, nil
	}
	ranges, err := servicehelpers.GetLoadBalancerSourceRanges(service)
	if err != nil {
		return nil, err
	}
	return slices.Sorted(slices.Values(ranges.StringSlice())), nil
}

// targetIDs leaves out nodes that have no machine of this cloud.
func targetIDs(nodes []*v1.Node) []string {
	ids := []string{}
	for _, node := range nodes {
		if parts := providerIDForm.FindStringSubmatch(node.Spec.ProviderID); parts != nil {
			ids = append(ids, parts[2])
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// statusOf leaves out the mode VIP, as providers do that know no modes.
func statusOf(service *v1.Service, found *loadBalancer) *v1.LoadBalancerStatus {
	ingress := v1.LoadBalancerIngress{IP: found.Address}
	if mode := v1.LoadBalancerIPModeProxy; service.Annotations[ipModeAnnotation] != string(v1.LoadBalancerIPModeVIP) {
		ingress.IPMode = &mode
	}
	for _, one := range found.Listeners {
		ingress.Ports = append(ingress.Ports, v1.PortStatus{Port: one.Port, Protocol: v1.ProtocolTCP})
	}
	return &v1.LoadBalancerStatus{Ingress: []v1.LoadBalancerIngress{ingress}}
}
