// Everything that parses what others send, each as one function over any bytes. A target fails by an
// exception that the parser does not document, by a property that does not hold (check), or by what a
// sanitizer finds.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace fuzz {

void json(std::string_view input);
void quantity(std::string_view input);
void duration(std::string_view input);
void yaml(std::string_view input);
void kubeconfig(std::string_view input);
void proxmox_response(std::string_view input);
void redfish_response(std::string_view input);
void property_string(std::string_view input);
void template_text(std::string_view input);
void url(std::string_view input);

inline void check(bool property, const char* what) {
    if (property) return;
    std::fprintf(stderr, "property violated: %s\n", what);
    std::abort();
}

}  // namespace fuzz
