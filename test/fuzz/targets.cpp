#include "test/fuzz/targets.hpp"

namespace fuzz {

const std::map<std::string_view, Target>& all_targets() {
    static const std::map<std::string_view, Target> kTargets{
        {"json", json},
        {"refusal", refusal},
        {"quantity", quantity},
        {"duration", duration},
        {"secret", secret},
        {"kubeconfig", kubeconfig},
        {"plugin_output", plugin_output},
        {"proxmox_response", proxmox_response},
        {"redfish_response", redfish_response},
        {"property_string", property_string},
        {"vm_option", vm_option},
        {"signing_request", signing_request},
        {"certificate", certificate},
        {"yaml", yaml},
        {"user_data", user_data},
        {"template_text", template_text},
        {"url", url},
        {"http_response", http_response},
    };
    return kTargets;
}

}  // namespace fuzz
