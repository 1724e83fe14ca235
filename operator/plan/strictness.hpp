// Refuses what the API server would refuse: a mistyped kind or field of ours would silently do nothing.
#pragma once

#include <boost/json/object.hpp>

namespace kubenodesmith {

// Throws ViewError if the document is no Kubernetes object, or if it is only written down, belongs to our API
// group, and has a kind or a field of its spec that there is not. What a cluster stores may be newer.
void refuse_misspelt(const boost::json::object& document);

}  // namespace kubenodesmith
