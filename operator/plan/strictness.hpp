// Refuses mistyped kinds and fields of our API, which would silently have no effect. The API server refuses
// them, too.
#pragma once

#include <boost/json/object.hpp>

namespace kubenodesmith {

// Throws ViewError if the document is no Kubernetes object. Also throws for a written object of our API group
// with an unknown kind or spec field. Objects from a cluster are exempt, as its CRDs may be newer.
void refuse_misspelt(const boost::json::object& document);

}  // namespace kubenodesmith
