// How a Talos machine joins: by a machine configuration of the user's for workers, in which what makes the
// machine this Node is ours. By Talos' documents and sources; no Talos machine has proven it.
// https://docs.siderolabs.com/talos/v1.13/platform-specific-installations/cloud-platforms/nocloud:
// the image nocloud reads user-data that does not begin with #cloud-config from a volume labelled cidata, or
// from where the SMBIOS serial number says (internal/app/machined/pkg/runtime/v1alpha1/platform/nocloud in
// github.com/siderolabs/talos).
#pragma once

#include <string>

#include "bootstrap/join.hpp"

namespace bootstrap {

// The plan is a document only. Throws std::invalid_argument that never holds the configuration's text, which
// has secrets.
JoinPlan plan_talos(const JoinRequest& request);

// Ours in the user's: the host name (a document HostnameConfig where there is one, as since Talos 1.12, else
// machine.network.hostname), labels, taints and providerID as machine.kubelet.extraArgs (all that Talos
// refuses there are paths of its own: kubelet_spec.go in internal/app/machined/pkg/controllers/k8s), and as
// cluster.token the bootstrap token of this machine: with that its kubelet asks for its certificate, while
// machine.token stays, which is for Talos' own API. Endpoint and CA of the cluster are added where they are
// missing. Everything else, other documents too, is kept.
// https://docs.siderolabs.com/talos/v1.13/reference/configuration/v1alpha1/config
std::string talos_machine_config(const JoinRequest& request);

}  // namespace bootstrap
