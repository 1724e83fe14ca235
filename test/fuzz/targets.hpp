// Every parser of foreign input, each as one function over any bytes. A target fails in three ways: an
// exception that the parser does not document, a property that does not hold (check), or a finding of a
// sanitizer.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>
#include <utility>

namespace fuzz {

using Target = void (*)(std::string_view input);

// Input from Kubernetes.
void json(std::string_view input);
void refusal(std::string_view input);
void quantity(std::string_view input);
void duration(std::string_view input);
void secret(std::string_view input);
void kubeconfig(std::string_view input);
void plugin_output(std::string_view input);
void signing_request(std::string_view input);
void certificate(std::string_view input);
// Input from Proxmox and BMCs.
void proxmox_response(std::string_view input);
void redfish_response(std::string_view input);
void property_string(std::string_view input);
void vm_option(std::string_view input);
// Other input.
void yaml(std::string_view input);
void user_data(std::string_view input);
void template_text(std::string_view input);
void url(std::string_view input);
void http_response(std::string_view input);

const std::map<std::string_view, Target>& all_targets();

// Returns the text up to the first line break, and the rest. The rest is empty if the text has no line break.
inline std::pair<std::string_view, std::string_view> first_line(std::string_view text) {
    auto end = text.find('\n');
    if (end == std::string_view::npos) return {text, {}};
    return {text.substr(0, end), text.substr(end + 1)};
}

inline void check(bool property, const char* what) {
    if (property) return;
    std::fprintf(stderr, "property violated: %s\n", what);
    std::abort();
}

}  // namespace fuzz
