/** What a configuration file says that it is. */
export const API_VERSION = "cloudcontrollermanager.config.k8s.io/v1alpha1";
export const KIND = "CloudControllerManagerConfiguration";
