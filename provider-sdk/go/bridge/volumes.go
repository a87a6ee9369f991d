package bridge

import (
	"context"
	"errors"
	"maps"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	cloudprovider "k8s.io/cloud-provider"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/provider"
)

// zoneSeparator stands between the zones of a volume that has several. k8s.io/cloud-provider/volume/helpers v0.28.2.
const zoneSeparator = "__"

// volumes serves cloudprovider.PVLabeler.
type volumes struct {
	labeler cloudprovider.PVLabeler
	errors  errorMapper
}

func (v *volumes) definition(features *cpv1.VolumeCapabilities) *provider.Volumes {
	return &provider.Volumes{Features: features, Get: v.get}
}

func (v *volumes) get(ctx context.Context, ref *cpv1.VolumeRef) (provider.VolumeResult, error) {
	volume, id, known := volumeOf(ref)
	if !known {
		return provider.NotOwned("volumes of plugin " + ref.GetInTree().GetPlugin() + " are not known to the bridge"), nil
	}
	labels, err := guarded(ctx, "GetLabelsForVolume", func(ctx context.Context) (map[string]string, error) {
		return v.labeler.GetLabelsForVolume(ctx, volume)
	})
	if errors.Is(err, cloudprovider.DiskNotFound) {
		return provider.Absent(provider.LookupMiss), nil
	}
	if err != nil {
		return nil, v.errors.toContract(err, readRPC, "look up volume "+id)
	}
	return provider.PresentVolume(volumeToContract(id, labels)), nil
}

// volumeOf rebuilds the PersistentVolume; known is false for a plugin without counterpart.
func volumeOf(ref *cpv1.VolumeRef) (volume *v1.PersistentVolume, id string, known bool) {
	volume = &v1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: ref.GetName(), UID: types.UID(ref.GetUid())}}
	source := &volume.Spec.PersistentVolumeSource
	if csi := ref.GetCsi(); csi != nil {
		source.CSI = &v1.CSIPersistentVolumeSource{Driver: csi.GetDriver(), VolumeHandle: csi.GetVolumeHandle()}
		return volume, csi.GetVolumeHandle(), true
	}
	id = ref.GetInTree().GetVolumeId()
	switch ref.GetInTree().GetPlugin() {
	case "kubernetes.io/aws-ebs":
		source.AWSElasticBlockStore = &v1.AWSElasticBlockStoreVolumeSource{VolumeID: id}
	case "kubernetes.io/gce-pd":
		source.GCEPersistentDisk = &v1.GCEPersistentDiskVolumeSource{PDName: id}
	case "kubernetes.io/cinder":
		source.Cinder = &v1.CinderPersistentVolumeSource{VolumeID: id}
	case "kubernetes.io/azure-disk":
		source.AzureDisk = &v1.AzureDiskVolumeSource{DiskName: id[strings.LastIndex(id, "/")+1:], DataDiskURI: id}
	case "kubernetes.io/vsphere-volume":
		source.VsphereVolume = &v1.VsphereVirtualDiskVolumeSource{VolumePath: id}
	default:
		return nil, id, false
	}
	return volume, id, true
}

// inTreePlugins are those whose volumes belong to a cloud of this ProviderName.
var inTreePlugins = map[string]string{
	"aws":       "kubernetes.io/aws-ebs",
	"gce":       "kubernetes.io/gce-pd",
	"openstack": "kubernetes.io/cinder",
	"azure":     "kubernetes.io/azure-disk",
	"vsphere":   "kubernetes.io/vsphere-volume",
}

func volumeToContract(id string, labels map[string]string) *cpv1.Volume {
	rest := maps.Clone(labels)
	zones := takeLabel(rest, v1.LabelTopologyZone, v1.LabelFailureDomainBetaZone)
	volume := &cpv1.Volume{Id: id, Region: optional(takeLabel(rest, v1.LabelTopologyRegion, v1.LabelFailureDomainBetaRegion))}
	if zones != "" {
		volume.Zones = strings.Split(zones, zoneSeparator)
	}
	volume.Labels = rest
	return volume
}

// takeLabel takes all of the keys out and gives the value of the first that is there.
func takeLabel(labels map[string]string, keys ...string) string {
	value := ""
	for _, key := range keys {
		if value == "" {
			value = labels[key]
		}
		delete(labels, key)
	}
	return value
}
