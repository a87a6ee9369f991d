package bridge

import (
	"reflect"

	v1 "k8s.io/api/core/v1"
	cloudprovider "k8s.io/cloud-provider"
)

// Fields that k8s.io/api and k8s.io/cloud-provider have got since v0.28, the oldest version this package compiles with, are
// read by name, so that vendors need not raise their versions.

// additionalLabels is InstanceMetadata.AdditionalLabels, new in v0.30.
func additionalLabels(metadata *cloudprovider.InstanceMetadata) map[string]string {
	field := reflect.ValueOf(metadata).Elem().FieldByName("AdditionalLabels")
	if !field.IsValid() {
		return nil
	}
	labels, _ := field.Interface().(map[string]string)
	return labels
}

// ipMode is LoadBalancerIngress.IPMode, new in v0.29; empty if it is not there or not set.
func ipMode(ingress *v1.LoadBalancerIngress) string {
	field := reflect.ValueOf(ingress).Elem().FieldByName("IPMode")
	if !field.IsValid() || field.Kind() != reflect.Pointer || field.IsNil() {
		return ""
	}
	return field.Elem().String()
}
