"""The provider sidecar of acme.example.com for the cloud-controller-manager of Cloudwire."""

__version__ = "0.1.0"
