// The host of a template that serves every host, in Health::template_revisions and in the provider's status.
#pragma once

namespace providers {

inline constexpr const char* kAllHosts = "*";

}  // namespace providers
