// Declares types that are described in another source file than the types that use them. Only api/*.cpp
// include it.
#pragma once
#include "api/core.hpp"
#include "api/describe.hpp"

namespace api {

extern template const Type& type_of<ObjectMeta>();
extern template const Type& type_of<OwnerReference>();
extern template const Type& type_of<DeleteOptions>();
extern template const Type& type_of<Condition>();
extern template const Type& type_of<StringMap>();
extern template const Type& type_of<std::vector<std::string>>();
extern template const Type& type_of<LabelSelector>();
extern template const Type& type_of<NodeSelector>();
extern template const Type& type_of<ObjectReference>();
extern template const Type& type_of<Toleration>();
extern template const Type& type_of<PodSpec>();
extern template const Type& type_of<PersistentVolumeClaimSpec>();
extern template const Type& type_of<Taint>();

}  // namespace api
