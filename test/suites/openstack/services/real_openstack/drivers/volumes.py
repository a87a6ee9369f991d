"""Volumes of Cinder that have no bytes."""

from cinder import interface
from cinder.volume import driver


@interface.volumedriver
class NoBytes(driver.VolumeDriver):
    """Says that all was done."""

    VERSION = "1.0"

    def check_for_setup_error(self):
        """Needs nothing."""

    def create_volume(self, volume):
        """Nothing to do."""

    def delete_volume(self, volume):
        """Nothing to do."""

    def ensure_export(self, context, volume):
        """Nothing to do."""

    def create_export(self, context, volume, connector):
        """Nothing to do."""

    def remove_export(self, context, volume):
        """Nothing to do."""

    def _update_volume_stats(self):
        self._stats = {
            "volume_backend_name": "none",
            "vendor_name": "Cloudwire",
            "driver_version": self.VERSION,
            "storage_protocol": "local",
            "total_capacity_gb": "infinite",
            "free_capacity_gb": "infinite",
        }
